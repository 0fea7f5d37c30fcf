"""Holds or releases what a request left over when an integration was paused, resumed or disconnected.

Whether an integration is paused, has push access and a repository decides which of its deliveries wait
and which are held. Deliveries that still wait while GitHub refuses all of them are not held here: GitHub
is asked about them one after the other.
"""

import random
import time
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from django.db.models import OuterRef, Subquery

from core import batches, counting
from integrations.delivery import withholding
from integrations.delivery.holds import NO_REPOSITORY
from integrations.models import Delivery, Integration
from integrations.models.delivery import DeliveryQuerySet
from integrations.models.integration import IntegrationQuerySet

LONGEST = 10  # seconds, for one round of `maintain`
INTEGRATIONS = 100  # that are looked at before the next rule has its turn
Cause = Delivery.Cause
Which = Callable[[DeliveryQuerySet], DeliveryQuerySet]
Change = Callable[[DeliveryQuerySet], int]


class Rule(NamedTuple):
    """A condition that deliveries must meet: `left` selects those that do not, `follow` corrects them."""

    integrations: Callable[[], IntegrationQuerySet]
    left: Which
    follow: Change

    def broken(self) -> IntegrationQuerySet:
        """The integrations with deliveries that break this rule. Reads one index entry for each, no backlog."""
        left = self.left(Delivery.objects.filter(integration=OuterRef("pk")))
        with_one = self.integrations().alias(one=Subquery(left.values("pk")[:1]))
        return with_one.filter(one__isnull=False)

    def enforce(self) -> Iterator[int]:
        """Correct the first `AT_ONCE` such deliveries of some integrations; yields the size of each batch."""
        for integration in self.broken().order_by("?")[:INTEGRATIONS]:
            for some in self.left(integration.deliveries.all()).in_batches():
                yield some.change(self.follow)


def catch_up(go_on: Callable[[], bool] = lambda: True) -> int:
    """Enforce all rules, batch by batch, until `go_on` returns False; returns how many were changed.

    Takes at most `LONGEST`, since everything else that is due waits meanwhile.
    """
    until = time.monotonic() + LONGEST
    return sum(batches.at_leisure(lambda: go_on() and time.monotonic() < until, _caught_up()))


def expected_held(integration: Integration) -> int:
    """How many deliveries will be held after the next catch-up, as `counting.up_to_most`; not the discarded."""
    return sum(counting.each_up_to_most(**about_to_be_held(integration)).values())


def about_to_be_held(integration: Integration) -> dict[str, DeliveryQuerySet]:
    """The deliveries that stay held after the next catch-up, and those that become so, if any do."""
    is_stopped = bool(integration.obstacle) or integration.repository_id is None
    lasting = [Cause.OWNERSHIP, Cause.OPERATOR]
    passing = [Cause.PAUSE, Cause.RIGHTS, Cause.INTEGRATION]
    held = integration.deliveries.filter(status=Delivery.Status.HELD).order_by("held_for")
    found = {"held": held.filter(held_for__in=lasting + passing * is_stopped)}
    if is_stopped:
        found["waiting"] = integration.deliveries.in_state(Delivery.Status.PENDING)
    return found


def _caught_up() -> Iterator[int]:
    """In rounds and in random order, so that one backlog does not delay the others."""
    changed = 1
    while changed:
        changed = 0
        works = [*(rule.enforce() for rule in RULES), withholding.shown_again()]
        random.shuffle(works)
        for count in chain.from_iterable(works):
            changed += count
            yield count


def _held_for(cause: Delivery.Cause) -> Which:
    return lambda deliveries: deliveries.held(cause)


def _released(cause: Delivery.Cause) -> Change:
    def release(some: DeliveryQuerySet) -> int:
        """How many are no longer held for it: `release` itself counts only those that wait now."""
        before = some.held(cause).count()
        some.release(cause)
        return before - some.held(cause).count()

    return release


def _held_instead(cause: Delivery.Cause) -> Change:
    return lambda some: some.hold_instead(cause, Cause.INTEGRATION, NO_REPOSITORY)


def _without_repository() -> IntegrationQuerySet:
    return Integration.objects.not_stopped().filter(repository_id=None)


def _without_problem() -> IntegrationQuerySet:
    return Integration.objects.running().filter(problem="")


RULES = [
    Rule(
        Integration.objects.stopped,
        lambda deliveries: deliveries.waiting(),
        DeliveryQuerySet.hold_stopped,
    ),
    Rule(
        _without_repository,
        lambda deliveries: deliveries.waiting().filter(repository_id=None),
        lambda some: some.hold(Cause.INTEGRATION, NO_REPOSITORY),
    ),
    Rule(_without_repository, _held_for(Cause.PAUSE), _held_instead(Cause.PAUSE)),
    Rule(_without_repository, _held_for(Cause.RIGHTS), _held_instead(Cause.RIGHTS)),
    Rule(Integration.objects.running, _held_for(Cause.PAUSE), _released(Cause.PAUSE)),
    Rule(Integration.objects.running, _held_for(Cause.RIGHTS), _released(Cause.RIGHTS)),
    Rule(_without_problem, _held_for(Cause.INTEGRATION), _released(Cause.INTEGRATION)),
]
