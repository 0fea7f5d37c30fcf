"""What a new report is compared with: the newest leads of its page, and what is on its way at the same time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from core.prepared import PreparedStatement, time_of
from integrations.folding import stored_terms
from integrations.likeness.choosing import MOST_LEADS, MOST_MEMBERS
from integrations.likeness.terms import RULE, Terms
from integrations.models import Delivery
from integrations.models.delivery import DISMISSED

WINDOW = 250  # of each kind, the newest: a few of them are by the same agent
SCANNED = 2000  # of the newest that others may join: what was dismissed takes no other's place among so many
DISMISSED_AT_MOST = 50  # of all that are compared, where there are others
APART = timedelta(minutes=10)  # one agent reports no problem twice within this time
AT_ONCE = timedelta(
    minutes=2
)  # after its arrival, a report no longer waits for one that is like it
UNDER_WAY_AT_MOST = 20
AHEAD = timedelta(hours=2)  # at most: the clock of the Hub, before that of its database

LEADS = PreparedStatement(
    "Which are the newest leads of this page, dismissed or not, without what the same agent has reported at "
    "about that time?",
    f"""
    SELECT found.id, found.report_id, found.issue_number, found.issue_state, found.issue_state_reason, t.terms
    FROM (
        SELECT d.id, d.report_id, d.issue_number, d.issue_state, d.issue_state_reason, d.created_at, d.source,
            ROW_NUMBER() OVER (
                PARTITION BY d.issue_state_reason = ANY(%s) ORDER BY d.id DESC
            ) AS place
        FROM (
            SELECT delivery_id FROM integrations_terms
            WHERE integration_id = %s AND page = %s AND may_lead = TRUE
            ORDER BY delivery_id DESC LIMIT {SCANNED}
        ) newest
        JOIN integrations_delivery d ON d.id = newest.delivery_id
        WHERE d.status = 'sent' AND d.issue_state <> 'deleted' AND d.repository_id = %s AND d.id <> %s
    ) found
    JOIN integrations_terms t ON t.delivery_id = found.id AND t.rule = {RULE}
    WHERE found.place <= {WINDOW} AND NOT (
        found.created_at > %s AND found.source = %s AND EXISTS ( -- most are older, and their reports are not read
            SELECT 1 FROM reports_report r
            WHERE r.id = found.report_id AND r.agent_name = %s AND r.received_at > %s AND r.received_at < %s
        )
    )
    """,  # noqa: S608  (no values)
)
MEMBERS = PreparedStatement(
    "Which are the newest that have joined this lead, by whom, when, and in what terms?",
    # As a range, so that no database reads all deliveries by their id.
    f"""
    SELECT r.agent_name, d.source, r.received_at, t.terms
    FROM integrations_delivery d
    JOIN reports_report r ON r.id = d.report_id
    LEFT JOIN integrations_terms t ON t.delivery_id = d.id AND t.rule = {RULE}
    WHERE d.lead_id >= %s AND d.lead_id <= %s
    ORDER BY d.lead_id DESC, d.id DESC LIMIT {MOST_MEMBERS}
    """,  # noqa: S608  (no values)
)
UNDER_WAY = PreparedStatement(
    "Which deliveries of this integration are being sent that were taken before this one, and which older "
    "ones of its page wait for another try?",
    f"""
    SELECT d.id FROM integrations_delivery mine
    JOIN integrations_delivery d ON d.integration_id = mine.integration_id
    WHERE mine.id = %s AND d.status = 'sending' AND (
        COALESCE(d.last_tried_at, d.created_at), d.id -- in no index: those that are sent are few
    ) < (mine.last_tried_at, mine.id)
    UNION ALL
    SELECT newest.id FROM (
        SELECT d.id, d.status, d.trying_since, d.created_at
        FROM integrations_terms t JOIN integrations_delivery d ON d.id = t.delivery_id
        WHERE t.integration_id = %s AND t.page = %s AND t.may_lead = TRUE AND t.delivery_id < %s
        ORDER BY t.delivery_id DESC LIMIT {UNDER_WAY_AT_MOST}
    ) newest
    WHERE newest.status = 'pending' AND newest.trying_since IS NOT NULL
        AND newest.created_at > {{now}} - %s::interval
    """,  # noqa: S608  (no values)
)


class Lead(NamedTuple):
    """An issue that a report may be about; without a number while it is being opened."""

    pk: int
    report_id: str
    number: int | None
    is_closed: bool
    terms: Terms
    is_dismissed: bool = False  # closed as not planned or as a duplicate


class Member(NamedTuple):
    """What has joined a lead; without terms where these were erased, or are of an older rule."""

    agent: str
    source: str
    received_at: datetime
    terms: Terms | None


def leads(delivery: Delivery) -> list[Lead]:
    """The newest leads of the page of a delivery, in the repository where its issue would be.

    Few of those that were dismissed, if there are others: else junk that was closed would hide what is true.
    """
    report = delivery.report
    page = (delivery.integration_id, stored_terms.page_of(report))
    near = (report.received_at - APART, report.received_at + APART)
    here = (delivery.integration.repository_id, delivery.pk)
    sender = (delivery.source, report.agent_name)
    rows = LEADS.rows(list(DISMISSED), *page, *here, near[0] - AHEAD, *sender, *near)
    return [
        Lead(pk, report, number, state == "closed", stored_terms.read(terms), why in DISMISSED)
        for pk, report, number, state, why, terms in _compared(sorted(rows, reverse=True))
    ]


def _compared(newest: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """At most `MOST_LEADS` rows of `LEADS`, in their order."""
    dismissed = [each for each in newest if each[4] in DISMISSED]
    others = [each for each in newest if each[4] not in DISMISSED]
    few = dismissed[: max(DISMISSED_AT_MOST, MOST_LEADS - len(others))]
    return sorted([*few, *others[: MOST_LEADS - len(few)]], reverse=True)


def members(lead: Lead) -> list[Member]:
    """The newest that have joined a lead."""
    return [
        Member(agent, source, time_of(at), stored_terms.read(terms) if terms else None)
        for agent, source, at, terms in MEMBERS.rows(lead.pk, lead.pk)
    ]


def under_way(delivery: Delivery) -> list[Lead]:
    """Others about the same page whose issue is being opened, and that go before this one.

    Those that were taken before it, and older ones whose try has just failed: nothing waits in a circle.
    """
    report = delivery.report
    page = (delivery.integration_id, stored_terms.page_of(report), delivery.pk)
    pks = [pk for (pk,) in UNDER_WAY.rows(delivery.pk, *page, AT_ONCE)]
    return [_as_lead(other) for other in _about(delivery, pks)] if pks else []


def is_by_agent_of(delivery: Delivery, agent: str, source: str, received_at: datetime) -> bool:
    """Whether its agent has sent this, too, within `APART`: then they are about two problems.

    Many have one name, so it is the same agent only where it comes from the same network.
    """
    report = delivery.report
    is_same = (report.agent_name, delivery.source) == (agent, source)
    return is_same and abs(report.received_at - received_at) < APART


def _about(delivery: Delivery, pks: Sequence[int]) -> list[Delivery]:
    """Those of them that are about the same page, not by the same agent."""
    report = delivery.report
    there = {"report__canonical_url": report.canonical_url, "report__erased_at": None}
    found = Delivery.objects.filter(pk__in=pks, **there).select_related("report", "terms")
    some = found.order_by("-pk")[:UNDER_WAY_AT_MOST]
    return [each for each in some if not is_by_agent_of(delivery, *sent_by(each))]


def sent_by(delivery: Delivery) -> tuple[str, str, datetime]:
    """The name of its agent, its network and when it came."""
    report = delivery.report
    return report.agent_name, delivery.source, report.received_at


def _as_lead(other: Delivery) -> Lead:
    terms = _stored_of(other) or stored_terms.of(other.report)
    return Lead(other.pk, other.report_id, None, is_closed=False, terms=terms)


def _stored_of(other: Delivery) -> Terms | None:
    """Its terms as its first look has stored them, which may be going on right now."""
    stored = getattr(other, "terms", None)
    return Terms.from_json(stored.terms) if stored and stored.rule == RULE else None
