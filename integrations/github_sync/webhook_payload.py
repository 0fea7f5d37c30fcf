"""Reads the payload of GitHub's webhooks, and refuses what is in another format."""

import logging
import re
from datetime import UTC, datetime
from typing import Any, cast

from core import told
from core.errors import ApiError
from integrations.delivery.issue_states import REASONS, IssueNews
from integrations.github_api import RepositoryFacts, repository_facts
from integrations.models import Delivery

log = logging.getLogger(__name__)

Payload = dict[str, Any]

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)")


class NotAWebhook(ApiError):
    """400: the body is not in the format of GitHub's webhooks."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "Send a JSON object with the headers X-GitHub-Event and X-GitHub-Delivery."


def number(payload: Any, *path: str) -> int:
    """The id at `path`, such as `installation`, `id`. Raises `NotAWebhook` if there is none."""
    found = _at(payload, path)
    if told.is_id(found):
        return cast(int, found)
    raise another_shape(*path)


def name(payload: Any, *path: str) -> str:
    """The name of an account or repository at `path`. Raises `NotAWebhook` if there is none."""
    found = _at(payload, path)
    if told.is_name(found):
        return cast(str, found)
    raise another_shape(*path)


def repositories(payload: Payload, key: str) -> dict[int, Payload]:
    """The repositories that it lists at `key`, by their ids. Raises `NotAWebhook`."""
    listed = payload.get(key)
    if not isinstance(listed, list):
        raise another_shape(key)
    return {number(each, "id"): each for each in listed}


def repository(payload: Payload) -> RepositoryFacts:
    """The repository of the webhook. Raises `NotAWebhook`."""
    number(payload, "repository", "id")
    name(payload, "repository", "name")
    name(payload, "repository", "owner", "login")
    for key in ("private", "has_issues", "archived", "has_pages"):
        if not isinstance(payload["repository"].get(key, False), bool):
            raise another_shape("repository", key)
    return repository_facts(payload["repository"])


def issue_news(payload: Payload, state: Delivery.IssueState) -> IssueNews:
    """What the webhook says of its issue, which has this state by now. Raises `NotAWebhook`.

    A reason that is not known here is none.
    """
    reason, updated_at = _reason(payload), _time(payload, "issue", "updated_at")
    closed_at = _time(payload, "issue", "closed_at") or updated_at
    return IssueNews(state, reason if reason in REASONS else "", closed_at, updated_at)


def _reason(payload: Payload) -> str:
    found = _at(payload, ("issue", "state_reason"))
    if found is None or (isinstance(found, str) and len(found) <= told.LONGEST):
        return found or ""
    raise another_shape("issue", "state_reason")


def _time(payload: Payload, *path: str) -> datetime | None:
    """The time at `path`; None without one. Raises `NotAWebhook` if it is none."""
    found = _at(payload, path)
    if found is None:
        return None
    if not isinstance(found, str) or not TIME.fullmatch(found):
        raise another_shape(*path)
    try:
        return datetime.fromisoformat(found).astimezone(UTC)
    except (ValueError, OverflowError):
        raise another_shape(*path) from None


def another_shape(*path: str) -> NotAWebhook:
    """The error for a missing or wrong value at `path`; logs it."""
    place = ".".join(path)
    log.warning("A signed webhook is not in GitHub's format, at %s", place)
    return NotAWebhook(f"`{place}` is not in GitHub's format.")


def _at(payload: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        payload = payload.get(key) if isinstance(payload, dict) else None
    return payload
