"""Notes that a problem is reported again after its issue was closed as completed: once for each closing.

Where it was closed for another reason, or less than a day ago, reports are counted and nothing is said.
"""

from datetime import datetime, timedelta
from typing import cast

from django.db.models import Q, Subquery
from django.db.models.functions import Coalesce

from core import clock
from core.prepared import PreparedStatement
from integrations.comments import again_words
from integrations.delivery import issue_states
from integrations.delivery.issue_states import AFTER, COMPLETED, fixed
from integrations.folding import joining
from integrations.github_api import IssueFacts
from integrations.models import Comment, Delivery, Hold, Integration
from integrations.models.statements import OF_REPORT, held_by

A_MOMENT = timedelta(milliseconds=1)
WORDS_FIRST = timedelta(minutes=10)  # for so long, an issue is not reopened without a word
Again, Purpose = Integration.Again, Comment.Purpose
WANTED = {  # by what the organization has chosen; who has an issue reopened wants to read why
    Again.COMMENT: (Purpose.AGAIN,),
    Again.REOPEN: (Purpose.AGAIN, Purpose.REOPEN),
    Again.ISSUE: (Purpose.AGAIN,),  # of what has no issue of its own
}
UNHEARD = PreparedStatement(
    "Has a report no delivery, though its organization has chosen a repository? Or is the issue that it has "
    "joined gone, or the one that it became, or has joined, closed as completed for so long, and nobody was told "
    "that it came again, and no operator holds what comes from this source, or is like that?",
    f"""
    SELECT 1 FROM reports_report r
    JOIN integrations_integration i ON i.organization_id = r.organization_id
    LEFT JOIN integrations_delivery d ON d.report_id = r.id
    LEFT JOIN integrations_delivery l ON l.id = COALESCE(d.lead_id, d.id)
    WHERE r.id = %s AND i.repository_id IS NOT NULL AND (
        d.id IS NULL OR (
            l.status = 'sent' AND l.integration_id = i.id AND (
                (d.status = 'folded' AND l.issue_state = 'deleted') OR (
                    l.repository_id = i.repository_id
                    AND l.issue_state = 'closed' AND l.issue_state_reason = 'completed'
                    AND l.issue_closed_at <= {{now}} - %s::interval
                    AND i.when_reported_again <> 'nothing'
                    AND NOT EXISTS (
                        SELECT 1 FROM integrations_comment c
                        WHERE c.lead_id = l.id AND c.purpose IN ('again', 'reopen')
                            AND c.occasion = l.issue_closed_at
                    )
                )
            )
            AND NOT EXISTS (
                {held_by(**OF_REPORT, source="%s::text")}
            )
        )
    )
    """,  # noqa: S608  (no values)
)


def is_unheard(report_id: str, source: str) -> bool:
    """Whether a repeat of this report has to be acted on: to deliver it, or to say that it came again."""
    return UNHEARD.first(report_id, AFTER, source) is not None


def note_repeat(report_id: str, source: str) -> None:
    """The same report has come again: have what the organization wants done, if its issue was closed.

    If the issue that it has joined is gone, it is sent by itself.
    """
    if not is_unheard(report_id, source):
        return
    mine = Delivery.objects.filter(report=report_id)
    its_lead = mine.values(its_lead=Coalesce("lead_id", "pk"))
    if lead := fixed().filter(pk=Subquery(its_lead)).first():
        _want(lead)
    joining.unfold(mine.filter(lead__issue_state=Delivery.IssueState.DELETED))


def note_folded(delivery: Delivery) -> None:
    """A report alike has joined an issue: the same, if it came in a day or more after that was closed."""
    before = delivery.report.received_at - AFTER
    if lead := fixed().filter(pk=cast(int, delivery.lead_id), issue_closed_at__lte=before).first():
        _want(lead)


def note_missed(lead_id: int) -> None:
    """What has come was counted before it was known that the issue is closed: the same for that.

    Not for what an operator holds. Where a repeat came from is not kept, so while any source is held, only
    reports count that have joined since.
    """
    lead = fixed().filter(pk=lead_id).first()
    if lead is None or lead.issue_closed_at is None:
        return
    since = lead.issue_closed_at + AFTER
    came = again_words.came_since(lead_id, since).filter(report__erased_at=None)
    if Hold.objects.sources_in_force().exists():
        came = came.filter(report__received_at__gte=since)
    pks = set(came.values_list("pk", flat=True))
    if pks - Delivery.objects.on_hold(pks):
        _want(lead)


def note_missed_at(repository_id: int, number: int) -> None:
    """The same for the issue with this number, if it is one of the Hub's."""
    there = Delivery.objects.filter(repository_id=repository_id, issue_number=number)
    for lead_id in there.values_list("pk", flat=True):
        note_missed(lead_id)


def note_read(lead: Delivery, facts: IssueFacts) -> None:
    """Save what GitHub has just said of the issue."""
    there = (cast(int, lead.repository_id), cast(int, lead.issue_number))
    issue_states.note(*there, issue_states.read(facts))


def is_still_closed(comment: Comment, facts: IssueFacts) -> bool:
    """Whether the issue is closed as it was on this occasion: neither reopened nor closed anew."""
    is_completed = facts.state == Delivery.IssueState.CLOSED and facts.reason == COMPLETED
    return is_completed and facts.closed_at == comment.occasion


def is_wanted(comment: Comment) -> bool:
    """Whether the organization still wants that to be done where a problem is reported again."""
    chosen = WANTED.get(Again(comment.integration.when_reported_again), ())
    return comment.purpose == Purpose.ALSO or comment.purpose in chosen


def is_to_be_said_first(comment: Comment) -> bool:
    """Whether it is still to be said why the issue is reopened, and that can be soon."""
    there = Comment.objects.filter(lead=comment.lead_id, occasion=comment.occasion)
    waits = there.filter(purpose=Purpose.AGAIN, status=Comment.Status.PENDING, comment_id=None)
    is_new = Q(created_at__gt=clock.now() - WORDS_FIRST)
    return waits.filter(is_new | Q(due_at__lte=clock.now())).exists()


def _want(lead: Delivery) -> None:
    """Once for each closing, whatever is chosen later."""
    occasion = cast(datetime, lead.issue_closed_at)
    known = Comment.objects.filter(lead=lead, occasion=occasion)
    purposes = WANTED.get(Again(lead.integration.when_reported_again), ())
    if not purposes or known.filter(purpose__in=[Purpose.AGAIN, Purpose.REOPEN]).exists():
        return
    for place, each in enumerate(purposes):  # in this order: ids of one millisecond are in none
        Comment.objects.want(lead, each, occasion, after=place * A_MOMENT)
