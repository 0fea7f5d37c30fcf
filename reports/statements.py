"""What is asked of the database for each report, besides whose page it is (`orgs/ownership.py`)."""

# Asked where a report is inserted: is there one with this key, not too old, in the same words, and its
# owner's if the page has one, else nobody's, and not withheld? Then that is counted once more.
OR_COUNT = """
    DO UPDATE SET
        times_reported = reports_report.times_reported + 1,
        last_received_at = excluded.last_received_at
    WHERE reports_report.received_at > %s
        AND reports_report.summary = excluded.summary
        AND reports_report.details = excluded.details
        AND reports_report.evidence = excluded.evidence
        AND reports_report.suggested_fix = excluded.suggested_fix
        AND reports_report.withheld_for IS NULL
        AND (
            excluded.organization_id IS NULL
                AND (reports_report.unclaimed_name IS NOT NULL OR excluded.unclaimed_name IS NULL)
            OR reports_report.organization_id = excluded.organization_id
        )
    RETURNING id, received_at, organization_id
"""
