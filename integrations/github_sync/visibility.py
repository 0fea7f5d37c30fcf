"""Whether everybody may read a repository: receipts show links to issues in public ones only.

Each delivery says so for itself, since its integration may have moved on. Of many, the first are changed
at once, and the others by `maintain`.
"""

from collections.abc import Callable, Iterator

from core import batches
from integrations.github_api import RepositoryFacts
from integrations.models import Delivery, Integration, Visibility
from integrations.models.delivery import DELIVERED

UNSENT = [each for each in Delivery.Status if each not in DELIVERED]
REPOSITORIES = 100  # that one round goes on with


def apply(repository: RepositoryFacts, *, installation_id: int) -> None:
    """Apply whether the repository is public; `installation_id` is GitHub's.

    Deliveries that have started through it, without an issue yet, are updated too.
    """
    now = Visibility(
        repository_id=repository.id,
        is_private=repository.is_private,
        installation_id=installation_id,
    )
    before = Visibility.objects.filter(repository_id=repository.id)
    left = _left(now)
    sum(_shown(now, left[: batches.AT_ONCE]))
    if len(left) > batches.AT_ONCE:
        before.update_or_create(
            repository_id=now.repository_id,
            defaults={"is_private": now.is_private, "installation_id": installation_id},
        )
    else:
        before.delete()


def finish(go_on: Callable[[], bool] = lambda: True) -> int:
    """Change what `apply` has left, until `go_on` returns False; returns how many deliveries."""
    return sum(batches.at_leisure(go_on, _finished()))


def _finished() -> Iterator[int]:
    """In rounds and in random order, so that one backlog does not delay the others."""
    while some := list(Visibility.objects.order_by("?")[:REPOSITORIES]):
        for now in some:
            heard = Visibility.objects.filter(pk=now.pk, is_private=now.is_private)
            now.is_private = _is_private(now)
            left = _left(now)
            yield from _shown(now, left[: batches.AT_ONCE])
            if len(left) <= batches.AT_ONCE:
                heard.delete()  # unless GitHub has said something else meanwhile


def _left(now: Visibility) -> list[int]:
    """Deliveries that say otherwise: `AT_ONCE` of them, and one more if there are more."""
    known = Delivery.objects.filter(repository_id=now.repository_id)
    others = known.exclude(repository_private=now.is_private)
    there = Integration.objects.filter(installation__github_id=now.installation_id)
    sent = others.filter(issue_number__isnull=False)  # each by an index, and so not in one
    begun = others.filter(integration__in=there, status__in=UNSENT)
    first = (some.values_list("pk", flat=True)[: batches.AT_ONCE + 1] for some in (sent, begun))
    return [pk for pks in first for pk in pks][: batches.AT_ONCE + 1]


def _shown(now: Visibility, pks: list[int]) -> Iterator[int]:
    """Show or hide the issues of these deliveries, in batches; yields how many in each."""
    for some in batches.of(pks):
        there = Delivery.objects.filter(pk__in=some, repository_id=now.repository_id)
        yield there.update(repository_private=_is_private(now))


def _is_private(now: Visibility) -> bool:
    """Whether it is private: meanwhile GitHub may have said so of what was public."""
    private = Integration.objects.filter(repository_id=now.repository_id, repository_private=True)
    return now.is_private or private.exists()
