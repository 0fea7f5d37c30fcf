"""What is asked of the database for each report, besides whose page it is (`orgs/ownership.py`)."""

from core.prepared import PreparedStatement

COUNT = PreparedStatement(
    "Is there a report with this key, not too old, in the same words, and its owner's if the page has "
    "one? Then count it once more.",
    """
    UPDATE reports_report SET times_reported = times_reported + 1, last_received_at = %s
    WHERE dedup_key = %s AND received_at > %s
        AND summary = %s AND details = %s AND evidence = %s::jsonb AND suggested_fix = %s
        AND (%s::text IS NULL OR organization_id = %s)
    RETURNING id, received_at, organization_id
    """,
)

# The same, asked where a report that nobody owns is inserted.
OR_COUNT = """
    DO UPDATE SET
        times_reported = reports_report.times_reported + 1,
        last_received_at = excluded.last_received_at
    WHERE reports_report.received_at > %s
        AND reports_report.summary = excluded.summary
        AND reports_report.details = excluded.details
        AND reports_report.evidence = excluded.evidence
        AND reports_report.suggested_fix = excluded.suggested_fix
    RETURNING id, received_at, organization_id
"""
