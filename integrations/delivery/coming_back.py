"""A report alike comes in a day or more after its problem was fixed: an issue of its own, which names the old one.

Only where its organization wants that, and one at a time: what comes in later joins the new issue.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction

from core import connections
from integrations import github_api
from integrations.delivery import issue_states
from integrations.delivery.issue_states import AFTER, IssueNews
from integrations.folding import looking, verdicts
from integrations.folding.following import Fixed
from integrations.folding.looking import Alike
from integrations.models import Delivery, Integration

SOON = timedelta(seconds=5)
WAITS = "Another report of this problem is being sent right now."


def ask(delivery: Delivery, alike: Alike | None, deadline: float) -> Alike | None:
    """What a delivery is like, and whether it follows that, since GitHub says that it is still closed."""
    if alike is None or not (fixed := _fixed(delivery, alike)):
        return alike
    connections.give_back()  # hold no connection while waiting for GitHub
    target = delivery.target
    try:
        facts = github_api.read_issue(target, fixed.number, deadline=deadline)
        news = issue_states.read(facts)
    except github_api.Locked:  # as far as is known it is closed
        return alike._replace(follows=fixed)
    except github_api.IssueGone:
        news = IssueNews(Delivery.IssueState.DELETED)
    issue_states.note(target.id, fixed.number, news)
    return alike._replace(follows=_fixed(delivery, alike))


def has_to_wait(delivery: Delivery, fixed: Fixed) -> bool:
    """Whether another delivery is becoming the issue that follows; if not, this one does.

    The row of the old one is locked, so that of two at once one waits, and only for a short time.
    """
    states = Delivery.Status
    with transaction.atomic():
        there = Delivery.objects.filter(pk=fixed.lead).select_for_update(no_key=True)
        there.values_list("pk").first()
        others = Delivery.objects.filter(follows=fixed.lead).exclude(pk=delivery.pk)
        under_way = others.filter(status__in=[states.PENDING, states.SENDING])
        if looking.may_wait(delivery) and under_way.exists():
            return True
        delivery.follow(fixed.lead)
    return False


def line(fixed: Fixed) -> str:
    """What the new issue says of the old one."""
    return f"Reported again: #{fixed.number} was closed on {fixed.closed_at:%-d %B %Y}."


def _fixed(delivery: Delivery, alike: Alike) -> Fixed | None:
    """The closed issue that a delivery is to follow; None if it is to join it, or has none to join."""
    mine = delivery.integration
    folds = mine.likeness == Integration.Likeness.FOLD and alike.is_same
    if not folds or mine.when_reported_again != Integration.Again.ISSUE or alike.is_under_way:
        return None
    before = delivery.report.received_at - AFTER
    there = issue_states.fixed().filter(pk=alike.lead.pk, issue_closed_at__lte=before)
    row: Any = there.values_list("pk", "issue_number", "issue_closed_at").first()
    return Fixed(*row) if row and not verdicts.stays_alone(delivery) else None
