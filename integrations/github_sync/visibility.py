"""Whether everybody may read a repository: receipts show links to issues in public ones only.

Each delivery says so for itself, since its integration may have moved on. Of many, the first are changed
at once, and the others by `maintain`. What GitHub cannot be asked about is not public, nor what no
integration has any more.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from django.db import transaction
from django.db.models import Max, Q

from core import after_commit, batches
from integrations.github_api import RepositoryFacts
from integrations.models import Delivery, Installation, Integration, Visibility
from integrations.models.delivery import DELIVERED, DeliveryQuerySet

UNSENT = [each for each in Delivery.Status if each not in DELIVERED]
REPOSITORIES = 100  # that one round goes on with


def apply(repository: RepositoryFacts, *, installation_id: int) -> None:
    """Apply whether the repository is public; `installation_id` is GitHub's.

    Deliveries that have started through it, without an issue yet, are updated too. That it is private counts for
    all that have it, until GitHub is asked for them.
    """
    _apply({repository.id}, is_private=repository.is_private, installation_id=installation_id)
    if repository.is_private:
        after_commit.do(_tell_others, repository.id)


@transaction.atomic
def _tell_others(repository_id: int) -> None:
    """Let it count as private for integrations that take it for public, and hide what was sent for them until now.

    After the commit: several integrations are locked in the order of their ids, before the deliveries.
    """
    others = Integration.objects.filter(repository_id=repository_id, repository_private=False)
    through = {*others.lock().values_list("installation__github_id", flat=True)}
    others.count_as_private()
    for each in sorted(through):
        _apply({repository_id}, is_private=True, installation_id=each)


def hide(repository_ids: Collection[int], *, installation_id: int) -> None:
    """The same for repositories that the installation cannot access any more: they count as private.

    Not for those that are public as another installation sees them.
    """
    elsewhere = Integration.objects.exclude(installation__github_id=installation_id)
    public = elsewhere.filter(repository_id__in=repository_ids, repository_private=False)
    hidden = {*repository_ids} - {*public.values_list("repository_id", flat=True)}
    if hidden:
        _apply(hidden, is_private=True, installation_id=installation_id)


@transaction.atomic
def hide_all(installation: Installation) -> None:
    """The same for the repositories of all integrations of an installation that can access none any more."""
    mine = Integration.objects.filter(installation=installation).lock()
    mine.count_as_private()
    chosen = mine.configured().values_list("repository_id", flat=True)
    hide({each for each in chosen if each}, installation_id=installation.github_id)


def leave(repository_id: int | None, *, installation_id: int) -> None:
    """The same for the repository, if any, that an integration has just left: maybe nobody asks about it any more.

    What another one has and knows to be public is shown again after the commit: to look for that first would hide
    nothing where both leave it at the same moment.
    """
    if repository_id:
        _apply({repository_id}, is_private=True, installation_id=installation_id)
        after_commit.do(_show_again, repository_id)


@transaction.atomic
def _show_again(repository_id: int) -> None:
    """Show what is in a repository that an integration still has and knows to be public. Those are locked first."""
    public = Integration.objects.filter(repository_id=repository_id, repository_private=False)
    through = public.lock().values_list("installation__github_id", flat=True).first()
    if through:
        _apply({repository_id}, is_private=False, installation_id=through)


def hide_left(go_on: Callable[[], bool] = lambda: True) -> None:
    """Have `finish` hide what is shown in repositories that no integration has.

    The version before has left them without `leave`: before the upgrade, beside this one, or after going back.
    It looks at all deliveries, which is too much for more than one time a day.
    """
    chosen = Integration.objects.configured().values("repository_id")
    shown = Delivery.objects.filter(issue_number__isnull=False, repository_private=False)
    left = shown.exclude(repository_id__in=chosen).order_by("repository_id")
    through = left.values_list("repository_id").annotate(
        Max("integration__installation__github_id")
    )
    found = {each: installation for each, installation in through if each}
    _save(
        [
            Visibility(repository_id=each, is_private=True, installation_id=installation)
            for each, installation in found.items()
        ]
    )
    for some in batches.of([*found]):
        again = Installation.objects.filter(integrations__repository_id__in=some)
        again.ask_about_soon()  # one may be chosen again just now


@transaction.atomic
def _apply(repository_ids: Collection[int], *, is_private: bool, installation_id: int) -> None:
    now = [
        Visibility(repository_id=each, is_private=is_private, installation_id=installation_id)
        for each in sorted(repository_ids)
    ]
    before = Visibility.objects.filter(repository_id__in=repository_ids).order_by("repository_id")
    list(before.select_for_update())  # what is just being changed is over then
    left = _left(now)
    sum(_shown(now, some) for some in batches.of(left[: batches.AT_ONCE]))
    if len(left) > batches.AT_ONCE:
        _save(now)
    else:
        before.delete()


def _save(now: Sequence[Visibility]) -> None:
    Visibility.objects.bulk_create(
        now,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["repository_id"],
        update_fields=["is_private", "installation_id"],
    )


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
    left = _left([heard])
    for some in batches.of(left[: batches.AT_ONCE]):
        with transaction.atomic():
            now = Visibility.objects.select_for_update().filter(pk=heard.pk).first()
            changed = _shown([now], some) if now else 0
        yield changed
    with transaction.atomic():
        now = Visibility.objects.select_for_update().filter(pk=heard.pk).first()
        if now and not _left([now]):
            now.delete()


def _left(now: Sequence[Visibility]) -> list[int]:
    """Deliveries that say otherwise, in the order of locking: `AT_ONCE`, and one more if there are more.

    Of several repositories the same is true.
    """
    others = _deliveries(now).exclude(repository_private=_is_private(now[0]))
    there = Integration.objects.filter(installation__github_id=now[0].installation_id)
    sent = others.filter(issue_number__isnull=False)  # each by an index, and so not in one
    begun = others.filter(integration__in=there, status__in=UNSENT)
    first = (some.values_list("pk", flat=True)[: batches.AT_ONCE + 1] for some in (sent, begun))
    return [pk for pks in first for pk in sorted(pks)][: batches.AT_ONCE + 1]


def _shown(now: Sequence[Visibility], pks: Sequence[int]) -> int:
    """Show or hide the issues of these deliveries; returns how many there are."""
    there = _deliveries(now).filter(pk__in=pks)
    return there.lock().update(repository_private=_is_private(now[0]))


def _deliveries(now: Sequence[Visibility]) -> DeliveryQuerySet:
    return Delivery.objects.filter(repository_id__in=[each.repository_id for each in now])


def _is_private(now: Visibility) -> bool:
    """Whether it is private: an integration may have heard of it since.

    Not one of another installation with a problem: it may not see the repository any more, and hears nothing new.
    """
    heard = Q(installation__github_id=now.installation_id) | Q(problem="")
    private = Integration.objects.filter(heard, repository_id=now.repository_id)
    return now.is_private or private.filter(repository_private=True, was_public=False).exists()
