"""What is asked of the database for each delivery, besides its turn (`integrations/delivery/pacing.py`)."""

from core.prepared import PreparedStatement

TARGET_COLUMNS = [
    "id",
    "repository_id",
    "problem",
    "paused_at",
    "rights_lost_at",
]  # as in the model


def held_by(*, page: str, agent: str, source: str, organization: str, beside: str = "") -> str:
    """Which hold of an operator matches these? Where there is none, one look at an empty index.

    Spaces around an agent's name do not count: nobody sees them. It has no other white space.
    """
    return f"""
        SELECT h.id FROM integrations_hold h {beside}
        WHERE h.released_at IS NULL AND (h.ends_at IS NULL OR h.ends_at > {{now}})
            AND h.value = CASE h.kind
                WHEN 'page' THEN {page} WHEN 'agent' THEN TRIM({agent})
                WHEN 'organization' THEN {organization} ELSE {source}
            END
        ORDER BY h.id LIMIT 1
    """  # noqa: S608  (no values)


HOLD_OF_NEW = held_by(
    page="%s::text", agent="%s::text", source="%s::text", organization="i.organization_id"
)
OF_REPORT = {
    "page": "r.canonical_url",
    "agent": "r.agent_name",
    "organization": "r.organization_id",
}
TARGET = PreparedStatement(
    "Where does a report of an organization go that has no delivery yet, which turn has it there "
    "after others from its source, and which hold of an operator matches it?",
    f"""
    SELECT {", ".join(TARGET_COLUMNS)}, COALESCE(
        (
            SELECT turn + 1 FROM integrations_delivery d
            WHERE d.integration_id = i.id AND d.source = %s ORDER BY turn DESC LIMIT 1
        ), 0
    ), ({HOLD_OF_NEW})
    FROM integrations_integration i
    WHERE organization_id = %s AND repository_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM integrations_delivery d WHERE d.report_id = %s)
    """,  # noqa: S608  (no values)
)
TAKE = PreparedStatement(
    "May this delivery be tried: does it wait, or has the lease of its last try expired? Then take it, "
    "and say which hold of an operator matches it.",
    f"""
    UPDATE integrations_delivery SET
        outcome_unknown_since = CASE
            WHEN status = 'sending' THEN COALESCE(outcome_unknown_since, posted_at)
            ELSE outcome_unknown_since
        END,
        posted_at = CASE -- it may be sent even now, if only the clock has gone forward
            WHEN status = 'sending' AND posted_at IS NOT NULL THEN {{now}}
            ELSE posted_at
        END,
        status = 'sending',
        changed_at = {{now}},
        lease_until = {{now}} + %s::interval,
        due_at = {{now}}, -- otherwise a killed process would be waited for
        trying_since = CASE
            WHEN last_tried_at < {{now}} - %s::interval THEN {{now}}
            ELSE COALESCE(trying_since, {{now}})
        END,
        last_tried_at = {{now}},
        tries = tries + 1
    WHERE report_id = %s
        AND (status = 'pending' OR (status = 'sending' AND lease_until < {{now}}))
    RETURNING ({held_by(**OF_REPORT, source="source", beside="JOIN reports_report r ON r.id = %s")})
    """,  # noqa: S608  (no values)
)
OLDER = PreparedStatement(
    "Which waiting delivery of its installation goes before this one: whose turn is no later, and which was "
    "due for this time when it came? One look at the index of turns for each integration (`coalesce` keeps "
    "SQLite from the index of the time).",
    """
    SELECT found.id FROM (
        SELECT (
            SELECT older.id FROM integrations_delivery older
            WHERE older.status = 'pending' AND older.integration_id = neighbor.id AND older.turn <= d.turn
                AND coalesce(older.due_at, d.created_at) < d.created_at - %s::interval
            ORDER BY older.turn, older.due_at, older.id LIMIT 1
        ) AS id
        FROM integrations_delivery d
        JOIN integrations_integration i ON i.id = d.integration_id
        JOIN integrations_integration neighbor ON neighbor.installation_id = i.installation_id
        WHERE d.report_id = %s
    ) found
    WHERE found.id IS NOT NULL LIMIT 1
    """,
)
ON_HOLD = PreparedStatement(
    "Which of these deliveries does a hold of an operator match?",
    f"""
    SELECT d.id FROM integrations_delivery d JOIN reports_report r ON r.id = d.report_id
    WHERE d.id = ANY(%s) AND EXISTS (
        {held_by(**OF_REPORT, source="d.source")}
    )
    """,  # noqa: S608  (no values)
)
RECORD = PreparedStatement(
    "Has this try still its lease? Then save what it is about to send, and where to. Whoever is changing "
    "whether that repository is private is waited for, or changes this delivery, too.",
    """
    UPDATE integrations_delivery SET
        posted_at = {now}, repository_id = %s, repository = %s, repository_private = COALESCE(
            (
                SELECT i.repository_private FROM integrations_integration i
                WHERE i.id = %s AND i.repository_id = %s
                FOR SHARE OF i
            ), TRUE
        ),
        title = %s, body = %s, maybe_lead_id = %s::bigint, likeness_rule = %s::smallint, likeness_words = %s
    WHERE id = %s AND status = 'sending' AND tries = %s
    RETURNING repository_private
    """,
)
SUCCEED = PreparedStatement(
    "Which delivery has become this issue? That is known even if its lease has expired.",
    """
    UPDATE integrations_delivery SET
        status = 'sent', changed_at = {now}, held_for = '', reason = '', issue_number = %s, issue_url = %s,
        outcome_unknown_since = NULL, lease_until = NULL,
        lead_id = NULL, folded_at = NULL, folded_by = ''
    WHERE id = %s
    RETURNING 1
    """,
)
END_ATTEMPT = PreparedStatement(
    "Which attempt is this? Save its end.",
    """
    UPDATE integrations_attempt SET ended_at = {now}, outcome = %s, reason = %s
    WHERE delivery_id = %s AND number = %s
    RETURNING 1
    """,
)
OUTCOME_COLUMNS = [  # as in the model
    "status",
    "held_for",
    "repository_id",
    "repository_private",
    "issue_url",
    "issue_state",
    "lead_id",
]
LEAD_COLUMNS = [  # as in the model
    "id",
    "repository_id",
    "repository_private",
    "issue_url",
    "issue_state",
]
ANSWER_COLUMNS = ["text", "link"]  # as in the model
RECEIVER_COLUMNS = [  # as in the model
    "id",
    "organization_id",
    "repository_id",
    "repo_owner",
    "repo_name",
    "repository_private",
    "rights_lost_at",
]
OUTCOME = PreparedStatement(
    "How far has the delivery of this report come, where is its issue, or that of its lead, what does "
    "the page's owner answer, and whose integration receives it?",
    f"""
    SELECT {", ".join(f"d.{name}" for name in OUTCOME_COLUMNS)},
        {", ".join(f"i.{name}" for name in RECEIVER_COLUMNS)},
        {", ".join(f"l.{name}" for name in LEAD_COLUMNS)},
        {", ".join(f"a.{name}" for name in ANSWER_COLUMNS)}
    FROM integrations_delivery d JOIN integrations_integration i ON i.id = d.integration_id
    LEFT JOIN integrations_delivery l ON l.id = d.lead_id
    LEFT JOIN integrations_answer a ON a.delivery_id = COALESCE(d.lead_id, d.id)
    WHERE d.report_id = %s
    """,  # noqa: S608  (no values)
)
LIMIT = PreparedStatement(
    "How many calls has GitHub left for this installation? Save it.",
    """
    UPDATE integrations_installation SET limit_left = %s, limit_seen_at = {now} WHERE id = %s
    RETURNING 1
    """,
)
