"""What becomes of a delivery that is like another one: it joins its issue, waits for it, or names it."""

import logging
from datetime import timedelta
from typing import Any

from integrations.delivery import coming_back
from integrations.folding import joining, looking
from integrations.folding.following import Fixed
from integrations.folding.looking import Alike
from integrations.issue.rendering import inert_title
from integrations.models import Delivery, Integration
from integrations.models.delivery import LeaseLost
from reports import secrets
from reports.screening import SecretInAddress

log = logging.getLogger(__name__)

SOON = timedelta(seconds=5)
WAITS = "A report that is like it is being sent right now."
LONGEST = 240  # characters of the words in a hint


def look(delivery: Delivery) -> Alike | None:
    """What it is like, if it was never posted; None, too, if that cannot be known now: no report waits for it."""
    if delivery.outcome_unknown_since:
        return None
    try:
        changed, notices = delivery.report.screen()
        if notices:
            delivery.report.note(notices, changed)
        return looking.look(delivery)
    except (LeaseLost, SecretInAddress):
        raise
    except Exception:
        log.exception("Cannot say what report %s is like", delivery.report_id)
        return None


def settles(delivery: Delivery, alike: Alike) -> bool:
    """Whether it has joined the issue of what it is like, or waits until that is there."""
    if not _folds(delivery, alike):
        return False
    if alike.follows:
        return _waits_for_another(delivery, alike.follows)
    if alike.is_under_way:
        delivery.wait_before_sending(WAITS, SOON)
        return True
    try:
        return joining.fold(delivery, alike)
    except LeaseLost:
        raise
    except Exception:
        log.exception("Report %s cannot join an issue", delivery.report_id)
        return False


def _waits_for_another(delivery: Delivery, fixed: Fixed) -> bool:
    waits = coming_back.has_to_wait(delivery, fixed)
    if waits:
        delivery.wait_before_sending(coming_back.WAITS, SOON)
    return waits


def hint(delivery: Delivery, alike: Alike | None) -> Alike | None:
    """What its issue may name as maybe the same, or follows; not one that it could not join, since that is gone."""
    if alike and alike.follows:
        return alike
    is_there = alike and not alike.is_under_way and not _folds(delivery, alike)
    return alike if is_there else None


def columns(hint: Alike | None) -> dict[str, Any]:
    """What is saved of a hint."""
    if hint is None:
        return {}
    found = {"rule": hint.rule, "words": hint.words}
    return found if hint.follows else found | {"maybe_lead": hint.lead.pk}


def line(hint: Alike | None) -> str:
    """A hint as it stands in the issue, with no mention, link or reference but the Hub's own."""
    if hint is None:
        return ""
    if hint.follows:
        return coming_back.line(hint.follows)
    closed = " (closed)" if hint.lead.is_closed else ""
    words, _ = secrets.remove(hint.words)
    return f"Maybe the same as #{hint.lead.number}{closed}: {inert_title(words, limit=LONGEST)}"


def _folds(delivery: Delivery, alike: Alike) -> bool:
    return delivery.integration.likeness == Integration.Likeness.FOLD and alike.is_same
