"""Notes the steps of deliveries for those who watch the Hub: a line in the log each, and a count."""

import logging

from core.watching import metrics
from integrations.models import Attempt, Delivery

log = logging.getLogger(__name__)

OPENED = (Attempt.Outcome.SENT, Attempt.Outcome.ADOPTED)


def note(delivery: Delivery, seconds: float) -> None:
    """Note how an attempt has ended. The reasons are in the database: they may quote what was sent."""
    if delivery.ended_as:
        metrics.attempts.up(delivery.ended_as)
        if delivery.maybe_lead_id and delivery.ended_as in OPENED:
            metrics.hints.up()
        log.info("delivery", extra={"facts": _facts(delivery, seconds)})


def _facts(delivery: Delivery, seconds: float) -> dict[str, object]:
    facts: dict[str, object] = {
        "report": delivery.report_id,
        "organization": delivery.report.organization_id or "",
        "attempt": delivery.tries,
        "outcome": str(delivery.ended_as),
    }
    if delivery.ended_for:
        facts["cause"] = str(delivery.ended_for)
    return {**facts, "ms": round(seconds * 1000, 1)}
