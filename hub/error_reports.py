"""Sends errors to a service that speaks Sentry's protocol, if `HUB_SENTRY_DSN` names one.

What the log says at level error, with the traceback, and nothing else: no request, no local variables.
"""

import logging
import re
from typing import Any

from django.conf import settings

from core.watching import current
from reports import secrets

LONGEST = 500  # characters of a message
KEPT = {  # of an event; all else is dropped
    "contexts", "environment", "event_id", "exception", "level", "logentry", "logger", "platform", "release",
    "sdk", "server_name", "tags", "timestamp",
}  # fmt: skip
QUERY = re.compile(r"\?[^\s'\"<>]*")
ADDRESS = re.compile(  # of a network or of mail; a time looks like none of them
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w:])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])"
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)


def begin() -> None:
    """Send errors from now on, in this process and those that are forked from it."""
    if not settings.HUB_SENTRY_DSN:
        return
    import sentry_sdk
    from sentry_sdk.integrations import atexit, dedupe, excepthook
    from sentry_sdk.integrations import logging as of_logging

    sentry_sdk.init(
        settings.HUB_SENTRY_DSN,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            atexit.AtexitIntegration(callback=lambda *_: None),
            dedupe.DedupeIntegration(),
            excepthook.ExcepthookIntegration(),
        ],
        # `send_default_pii` is off unless it is set, which newer versions warn about
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        send_client_reports=False,
        auto_session_tracking=False,
        before_send=_without_secrets,
    )
    root = logging.getLogger()
    if not any(isinstance(each, of_logging.EventHandler) for each in root.handlers):
        handler = of_logging.EventHandler(logging.ERROR)
        handler.addFilter(_is_ours)
        root.addHandler(handler)


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether it is an error of the Hub, and said for the first time: Django logs each answer of 500, too."""
    is_answer = record.name == "django.request" and not record.exc_info
    return not (is_answer or record.name.startswith("django.security."))


def _without_secrets(event: Any, hint: Any) -> Any:
    """The event with what is known to be no secret."""
    event = {name: value for name, value in event.items() if name in KEPT}
    event["tags"] = _tags()
    if entry := event.get("logentry"):
        event["logentry"] = {"formatted": _clean(str(entry.get("formatted") or entry["message"]))}
    for error in (event.get("exception") or {}).get("values", ()):
        error["value"] = _clean(str(error.get("value") or ""))
    return event


def _tags() -> dict[str, str]:
    asked = current.asked()
    facts = {
        "request_id": asked.id, "route": asked.route, "organization": asked.organization,
        "report": asked.report,
    } if asked else {}  # fmt: skip
    return {name: value for name, value in facts.items() if value}


def _clean(text: str) -> str:
    """The first line, cut: what a database quotes comes later. Without queries, secrets and addresses."""
    first = QUERY.sub("?…", text.partition("\n")[0][:LONGEST])
    return ADDRESS.sub("[address]", secrets.remove(first)[0])
