"""Whether everybody may read a repository: receipts show links to issues in public ones only.

Each delivery says so for itself, since its integration may have moved on. Of many, the first are changed
at once, and the others by `maintain`.
"""

from collections.abc import Callable, Iterator, Sequence

from django.db import transaction

from core import batches
from integrations.github_api import RepositoryFacts
from integrations.models import Delivery, Integration, Visibility
from integrations.models.delivery import DELIVERED

UNSENT = [each for each in Delivery.Status if each not in DELIVERED]
REPOSITORIES = 100  # that one round goes on with


@transaction.atomic
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
    list(before.select_for_update())  # what is just being changed is over then
    left = _left(now)
    sum(_shown(now, some) for some in batches.of(left[: batches.AT_ONCE]))
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
        for each in some:
            yield from _a_few(each)


def _a_few(heard: Visibility) -> Iterator[int]:
    """Change `AT_ONCE` of its deliveries. Each batch asks anew what GitHub has said last."""
    left = _left(heard)
    for some in batches.of(left[: batches.AT_ONCE]):
        with transaction.atomic():
            now = Visibility.objects.select_for_update().filter(pk=heard.pk).first()
            changed = _shown(now, some) if now else 0
        yield changed
    with transaction.atomic():
        now = Visibility.objects.select_for_update().filter(pk=heard.pk).first()
        if now and not _left(now):
            now.delete()


def _left(now: Visibility) -> list[int]:
    """Deliveries that say otherwise, in the order of locking: `AT_ONCE`, and one more if there are more."""
    known = Delivery.objects.filter(repository_id=now.repository_id)
    others = known.exclude(repository_private=_is_private(now))
    there = Integration.objects.filter(installation__github_id=now.installation_id)
    sent = others.filter(issue_number__isnull=False)  # each by an index, and so not in one
    begun = others.filter(integration__in=there, status__in=UNSENT)
    first = (some.values_list("pk", flat=True)[: batches.AT_ONCE + 1] for some in (sent, begun))
    return [pk for pks in first for pk in sorted(pks)][: batches.AT_ONCE + 1]


def _shown(now: Visibility, pks: Sequence[int]) -> int:
    """Show or hide the issues of these deliveries; returns how many there are."""
    there = Delivery.objects.filter(pk__in=pks, repository_id=now.repository_id)
    return there.lock().update(repository_private=_is_private(now))


def _is_private(now: Visibility) -> bool:
    """Whether it is private: the integration may have heard of it since."""
    private = Integration.objects.filter(repository_id=now.repository_id, repository_private=True)
    return now.is_private or private.exists()
