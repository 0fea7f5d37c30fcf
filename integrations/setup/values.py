"""The settings that one form has, each by the name of its field: as they are wanted, and as they are stored."""

from typing import Any

from integrations.issue.rendering import DEFAULT_TEMPLATE
from integrations.models import Integration
from integrations.setup import labels
from integrations.setup.labels import Choice

TEMPLATE, ALERTS = "issue_template", "alerts"


def wanted(template: str, alerts: bool | None, choice: Choice) -> dict[str, Any]:
    """Those that are to be changed: neither `alerts` nor a part of the choice that is None."""
    told = {} if alerts is None else {ALERTS: alerts}
    return {TEMPLATE: template, **told, **labels.by_name(choice)}


def stored(mine: Integration) -> dict[str, Any]:
    """Those of the row. Without a repository, nobody has chosen whether bad news is told there."""
    alerts = None if mine.repository_id is None else mine.wants_alerts
    choice = Choice(mine.labels or {}, mine.assignees or [], mine.issue_type)
    return wanted(own_template(mine.issue_template), alerts, choice)


def own_template(template: str) -> str:
    """The template as it is stored: empty if it is blank, or the default."""
    return "" if template.strip() in ("", DEFAULT_TEMPLATE.strip()) else template
