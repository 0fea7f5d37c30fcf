"""Holds a page, an agent, a source or an organization for an operator, whoever's reports these are.

The hold is saved first. From then on a new delivery asks for it when it is created, and every delivery
when it is taken, so none of them is sent. What waits already follows in short transactions, to be seen as held:
`batches.AT_ONCE` that wait are looked at here, and the rest by `maintain`, which also lets go what was released.
Comments ask when they are written, and are written anew once a hold is over.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import chain

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, Value
from django.db.models.functions import Trim
from django.utils import timezone

from core import after_commit, batches, clock, keyset
from integrations.delivery.pacing import SOURCES_KEPT
from integrations.models import Comment, Delivery, Hold
from integrations.models.delivery import DeliveryQuerySet
from integrations.models.hold import HoldQuerySet, digest
from orgs.models import Organization, User
from reports import canonical

MOST = 100  # in force: each report is compared with all of them
KEPT = timedelta(days=30)  # after it was released; a source as long as with deliveries
SOURCE = re.compile(r"[0-9a-f]{16}")
ORDER = ("due_at", "pk")  # of an index that has only what waits
PLACE = (keyset.stored("due_at"), "pk")
COLUMNS: dict[Hold.Kind, str | Trim] = {
    Hold.Kind.PAGE: "report__canonical_url",
    Hold.Kind.AGENT: Trim("report__agent_name"),
    Hold.Kind.SOURCE: "source",
    Hold.Kind.ORGANIZATION: "report__organization_id",
}


class CannotHold(ValueError):
    """It cannot be held; the message is a sentence for the operator."""


class Bookmark:
    """How far the deliveries that wait were looked at, by the id of the hold."""

    def __init__(self) -> None:
        self.last: dict[int, tuple[str, int]] = {}


def checked(kind: str, text: str) -> str:
    """The value of a hold that can be made now. Raises `CannotHold`."""
    value = _value(kind, text.strip())
    unreleased = Hold.objects.unreleased()
    if unreleased.filter(digest=digest(kind, value)).exists():
        raise CannotHold(f"This {kind} is on hold already.")
    if unreleased[MOST - 1 : MOST].exists():
        raise CannotHold(f"{MOST} holds are in force. Release one of them first.")
    return value


def make(hold: Hold, by: User) -> None:
    """Save a new hold, of a value that was `checked`; what waits follows. Raises `CannotHold`."""
    hold.digest, hold.made_by = digest(hold.kind, hold.value), by
    hold.ends_at = _end_of_today() if hold.kind == Hold.Kind.SOURCE else None
    try:
        with transaction.atomic():
            hold.save(force_insert=True)
    except IntegrityError:
        raise CannotHold(f"This {hold.kind} is on hold already.") from None
    _after_commit(_held(hold, Bookmark()))


def release(hold: Hold) -> bool:
    """End a hold: what it holds is sent in turn; False if it is over already."""
    mine = Hold.objects.unreleased().filter(pk=hold.pk)
    if not mine.update(released_at=clock.now(), followed_at=None):
        return False
    _after_commit(_let_go(hold))
    return True


def follow(go_on: Callable[[], bool] = lambda: True, bookmark: Bookmark | None = None) -> int:
    """Hold and let go what requests have left over, and end the days of sources; returns how many changed.

    Each hold has at most `batches.AT_ONCE` looked at, and continues where the last call stopped.
    """
    here = bookmark or Bookmark()
    Hold.objects.ended().update(released_at=F("ends_at"), followed_at=None)
    new = Hold.objects.unreleased().filter(followed_at=None)
    works = [_held(hold, here) for hold in new] + [_let_go(hold) for hold in _to_let_go()]
    return sum(batches.at_leisure(go_on, chain.from_iterable(works)))


def over() -> HoldQuerySet:
    """Those that were released `KEPT` ago, sources `SOURCES_KEPT`, and that hold nothing any more."""
    ago = clock.now()
    source = Q(kind=Hold.Kind.SOURCE, released_at__lt=ago - SOURCES_KEPT)
    old = Hold.objects.released().filter(source | Q(released_at__lt=ago - KEPT))
    return old.filter(~Exists(_of(OuterRef("pk"))))


def _to_let_go() -> Iterator[Hold]:
    """In two queries: with OR, PostgreSQL would read all deliveries."""
    released = Hold.objects.released()
    yield from released.filter(followed_at=None)
    yield from released.filter(Exists(_of(OuterRef("pk"))), followed_at__isnull=False)


def _of(hold: Hold | OuterRef) -> DeliveryQuerySet:
    return Delivery.objects.filter(operator_hold=hold)


def _after_commit(work: Iterator[int]) -> None:
    after_commit.do(_do, work)


def _do(work: Iterator[int]) -> None:
    sum(batches.at_leisure(lambda: True, work))


def _held(hold: Hold, bookmark: Bookmark) -> Iterator[int]:
    """Hold what waits and matches, a batch at a time; yields how many."""
    for _ in range(batches.AT_ONCE // batches.BATCH):
        waiting = Delivery.objects.waiting().order_by(*ORDER)
        if place := bookmark.last.get(hold.pk):
            since, pk = place
            waiting = keyset.after(waiting, ORDER, (Value(since), pk))
        rows = list(waiting.values_list(*PLACE, COLUMNS[Hold.Kind(hold.kind)])[: batches.BATCH])
        some = Delivery.objects.filter(pk__in=[pk for _, pk, value in rows if value == hold.value])
        yield some.change(partial(_hold, hold)) if _in_force(hold) else 0
        if len(rows) < batches.BATCH:
            bookmark.last.pop(hold.pk, None)
            Hold.objects.unreleased().filter(pk=hold.pk).update(followed_at=clock.now())
            return
        bookmark.last[hold.pk] = rows[-1][:2]


def _hold(hold: Hold, some: DeliveryQuerySet) -> int:
    return some.hold(Delivery.Cause.OPERATOR, hold.words, by=hold)


def _in_force(hold: Hold) -> bool:
    """Whether nobody has released it meanwhile."""
    return Hold.objects.unreleased().filter(pk=hold.pk).exists()


def _let_go(hold: Hold) -> Iterator[int]:
    for _ in range(batches.AT_ONCE // batches.BATCH):
        pks = list(_of(hold).order_by("pk").values_list("pk", flat=True)[: batches.BATCH])
        Delivery.objects.filter(pk__in=pks).change(lambda some: some.release_from(hold))
        yield len(pks)
        if len(pks) < batches.BATCH:
            Comment.objects.note_let_go()
            Hold.objects.filter(pk=hold.pk).update(followed_at=clock.now())
            return


def _value(kind: str, text: str) -> str:
    """The text as it is compared."""
    if kind == Hold.Kind.PAGE:
        try:
            return canonical.url(text)
        except canonical.InvalidURL as error:
            raise CannotHold(str(error)) from None
    if kind == Hold.Kind.ORGANIZATION and not Organization.objects.filter(pk=text).exists():
        raise CannotHold("No organization has this id.")
    if kind == Hold.Kind.SOURCE and not SOURCE.fullmatch(text):
        raise CannotHold("Must be 16 digits and letters, as Deliveries now lists sources.")
    return text


def _end_of_today() -> datetime:
    """The next midnight in UTC, when the hashes of sources change."""
    return datetime.combine(timezone.now().date() + timedelta(days=1), time(), UTC)
