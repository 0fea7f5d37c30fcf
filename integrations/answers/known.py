"""The open problems of a page that are known, for anybody who asks, where its owner shows them."""

from datetime import datetime
from typing import Any, NamedTuple

from core.errors import ApiError
from core.prepared import PreparedStatement, time_of
from integrations.answers import links
from integrations.folding import stored_terms
from integrations.folding.candidates import SCANNED
from integrations.models import Integration
from integrations.models.delivery import FORGOTTEN
from integrations.models.statements import held_by
from integrations.ownership import public_files
from orgs.ownership import Claim, claim_covering
from reports.models import PREFIX

MOST = 50  # problems
# Of each list: what only waits is among the reports alone; what was erased or never compared has no terms.
NEWEST = 500  # open leads of the page, issues of its repository, and reports about the page
JOINED = 100  # the newest of those that have joined an issue, which are counted
OF_LEAD = {
    "page": "lr.canonical_url",
    "agent": "lr.agent_name",
    "organization": "lr.organization_id",
    "source": "l.source",
}

PROBLEMS = PreparedStatement(
    "Which open issues that everybody may see are among the newest leads of this page, the newest issues of "
    "its repository, or what its newest reports were sent to, but for what an operator holds, of each sender "
    "one before a second, how often was each problem reported, and what does the page's owner answer?",
    f"""
    SELECT shown.issue_url, shown.repository_id, shown.title, shown.kind, shown.received_at, shown.last_received_at,
        shown.times_reported,
        (
            SELECT SUM(joined.times_reported) FROM (
                SELECT r.times_reported FROM integrations_delivery d
                JOIN reports_report r ON r.id = d.report_id
                WHERE d.lead_id >= shown.id AND d.lead_id <= shown.id
                ORDER BY d.lead_id DESC, d.id DESC LIMIT {JOINED}
            ) joined
        ),
        (
            SELECT MAX(joined.last_received_at) FROM (
                SELECT r.last_received_at FROM integrations_delivery d
                JOIN reports_report r ON r.id = d.report_id
                WHERE d.lead_id >= shown.id AND d.lead_id <= shown.id
                ORDER BY d.lead_id DESC, d.id DESC LIMIT {JOINED}
            ) joined
        ),
        shown.text, shown.link
    FROM ( -- those first, since SQLite would count what has joined all others, too
        SELECT l.id, l.issue_url, l.repository_id, l.title, lr.kind, lr.received_at,
            lr.last_received_at, lr.times_reported, a.text, a.link, leads.newest,
            -- one sender's come in turn with those of others, also once it is not known whose they are
            CASE WHEN l.source = '{FORGOTTEN}' THEN l.turn ELSE ROW_NUMBER() OVER (
                PARTITION BY l.source ORDER BY leads.newest DESC, l.id DESC
            ) - 1 END AS turn
        FROM (
            SELECT id, MAX(reported) AS newest FROM (
                SELECT d.id, r.last_received_at AS reported
                FROM (
                    SELECT lead.id, lead.report_id FROM (
                        SELECT delivery_id FROM integrations_terms
                        WHERE integration_id = %s AND page = %s AND may_lead = TRUE
                        ORDER BY delivery_id DESC LIMIT {SCANNED}
                    ) compared
                    JOIN integrations_delivery lead ON lead.id = compared.delivery_id
                    WHERE lead.status = 'sent' AND lead.issue_state <> 'closed' AND lead.issue_state <> 'deleted'
                    ORDER BY lead.id DESC LIMIT {NEWEST}
                ) d
                JOIN reports_report r ON r.id = d.report_id
                WHERE r.withheld_for IS NULL
                UNION ALL
                SELECT opened.id, r.last_received_at
                FROM (
                    SELECT id, report_id FROM integrations_delivery
                    WHERE repository_id = %s AND issue_number IS NOT NULL
                    ORDER BY repository_id DESC, issue_number DESC LIMIT {NEWEST}
                ) opened
                JOIN reports_report r ON r.id = opened.report_id
                WHERE r.canonical_url = %s AND r.withheld_for IS NULL
                UNION ALL
                SELECT COALESCE(d.lead_id, d.id), page.last_received_at
                FROM (
                    SELECT id, canonical_url, last_received_at FROM reports_report
                    WHERE (organization_id || SUBSTR(canonical_url, 1, {PREFIX})) >= %s::text
                        AND (organization_id || SUBSTR(canonical_url, 1, {PREFIX})) <= %s::text
                        AND organization_id IS NOT NULL AND withheld_for IS NULL
                    ORDER BY (organization_id || SUBSTR(canonical_url, 1, {PREFIX})) DESC,
                        received_at DESC, id DESC
                    LIMIT {NEWEST}
                ) page
                JOIN integrations_delivery d ON d.report_id = page.id
                WHERE page.canonical_url = %s
            ) found
            GROUP BY id
        ) leads
        JOIN integrations_delivery l ON l.id = leads.id
        JOIN reports_report lr ON lr.id = l.report_id
        LEFT JOIN integrations_answer a ON a.delivery_id = l.id
        WHERE l.integration_id = %s AND l.status = 'sent' AND l.issue_url <> ''
            AND l.issue_state <> 'closed' AND l.issue_state <> 'deleted' AND NOT l.repository_private
            AND NOT EXISTS ({held_by(**OF_LEAD)})
        ORDER BY turn, leads.newest DESC, l.id DESC LIMIT {MOST}
    ) shown
    ORDER BY shown.newest DESC, shown.id DESC
    """,  # noqa: S608  (no values)
)


class NotShown(ApiError):
    """404: nobody shows the problems of this page. Which of the causes it is, is not said."""

    status_code = 404
    default_code = "not_found"
    default_detail = (
        "No known problems are shown for this page: nobody has claimed it on this Hub, or its owner does "
        "not show them."
    )


class Problem(NamedTuple):
    """One open issue, how often its problem was reported, and what the page's owner answers."""

    issue_url: str
    title: str | None
    kind: str
    times_reported: int
    first_reported_at: datetime
    last_reported_at: datetime
    answer: dict[str, str | None] | None


def of_page(url: str) -> list[Problem]:
    """The problems of the page at `url`, a canonical URL, what was reported last first. Raises `NotShown`.

    At most four statements, or five where answers link to files of a repository.
    """
    claim = claim_covering(url)
    shows = Integration.objects.configured().filter(shows_known=True)
    mine = shows.of(claim.organization_id).first() if claim and not claim.opted_out_at else None
    if claim is None or mine is None or not _is_told(mine, url):
        raise NotShown
    return _problems(claim, mine, url)


def _is_told(mine: Integration, url: str) -> bool:
    """Whether it may speak of the page to strangers: not of a private repository's files, nor without push access."""
    if mine.withholds(url):
        return False
    return not public_files.are_at(url) or public_files.are_of(mine, url)


def _problems(claim: Claim, mine: Integration, url: str) -> list[Problem]:
    page = claim.organization_id + url[:PREFIX]
    leads = (mine.pk, stored_terms.page_at(url))
    rows = PROBLEMS.rows(*leads, mine.repository_id, url, page, page, url, mine.pk)
    shown = links.shown([link for *_, link in rows if link], claim.organization_id)
    return [_problem(mine, row, shown) for row in rows]


def _problem(mine: Integration, row: tuple[Any, ...], shown: set[str]) -> Problem:
    issue_url, repository_id, title, kind, first, last, times, more, latest, text, link = row
    return Problem(
        mine.url_now(issue_url, repository_id),
        title or None,  # it was erased here
        kind,
        times + int(more or 0),
        time_of(first),
        max(time_of(each) for each in (last, latest) if each),
        None if text is None else {"text": text, "link": link if link in shown else None},
    )
