"""Reports about one problem in different words, and what becomes of them."""

from datetime import timedelta
from typing import Any

from django.test import Client

from integrations.models import Delivery, Integration
from reports.models import Report
from tests import build

PUSH: dict[str, Any] = {
    "report__summary": "Step 3 runs `shipyard push --force`, but that flag was removed in 4.0",
    "report__details": "`shipyard push --help` lists only `--overwrite`.",
    "agent__name": "claude-code",
}
AGAIN: dict[str, Any] = {
    "report__summary": "`shipyard push --force` fails: the flag is called `--overwrite` since 4.0",
    "report__details": "The command of step 3 exits with code 2.",
    "agent__name": "cursor",
}
ONCE_MORE: dict[str, Any] = {
    "report__summary": "`--force` of `shipyard push` is gone, it should say `--overwrite`",
    "agent__name": "codex",
}
OTHER: dict[str, Any] = {
    "report__summary": "The page does not say which registry is the default",
    "agent__name": "aider",
}


def mode(name: str) -> None:
    Integration.objects.update(likeness=name)


def send(words: dict[str, Any], client: Client | None = None, **changes: Any) -> dict[str, Any]:
    """The Hub's answer to such a report."""
    return build.send(client or Client(), build.report(**{**words, **changes})).json()


def of(answer: dict[str, Any]) -> Delivery:
    return Delivery.objects.select_related("report", "lead").get(report=answer["id"])


def sent(words: dict[str, Any], **changes: Any) -> Delivery:
    """The delivery of such a report, as it is now."""
    return of(send(words, **changes))


def earlier(delivery: Delivery, ago: timedelta) -> None:
    """As if its report had come in so long ago."""
    at = delivery.report.received_at - ago
    Report.objects.filter(pk=delivery.report_id).update(received_at=at)
