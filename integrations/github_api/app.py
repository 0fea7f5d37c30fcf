"""What GitHub knows of the app: who it is, what it may do, and what became of its webhooks.

https://docs.github.com/en/rest/apps/apps (get the authenticated app) and
https://docs.github.com/en/rest/apps/webhooks
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from django.conf import settings

from integrations.github_api import shapes, tokens
from integrations.github_api.answers import GitHubAnswer, date, making_sense, raise_for_limit
from integrations.github_api.errors import Unreachable
from integrations.github_api.transport import bounded_by, post_form

LISTED = 30  # webhooks
NO_CODE = "check-setup"  # as the code of a person; GitHub looks at it after the app's credentials


class AppFacts(NamedTuple):
    """The app as GitHub describes it. `settings_page` is where its owner changes it.

    `clock_ahead` is how far this machine's clock is ahead of GitHub's.
    """

    slug: str
    client_id: str
    permissions: Mapping[str, str]
    events: frozenset[str]
    settings_page: str
    clock_ahead: timedelta


class WebhookFacts(NamedTuple):
    """Where GitHub sends webhooks, and how; `url` is empty if it sends none."""

    url: str
    content_type: str
    checks_certificate: bool


class SentWebhook(NamedTuple):
    """A webhook that GitHub has sent. `status` is the receiver's, 0 if there was none."""

    event: str
    at: datetime
    status: int
    outcome: str

    @property
    def was_taken(self) -> bool:
        """Whether the receiver said that all is well."""
        return 200 <= self.status < 300


def app_facts(*, deadline: float) -> AppFacts:
    """The app that the key belongs to."""
    with making_sense():
        answer = bounded_by(partial(_ask, "/app"), deadline=deadline)
        body = answer.body
        return AppFacts(
            shapes.name(body["slug"]),
            shapes.text(body.get("client_id")),
            dict(body["permissions"]),
            frozenset(body["events"]),
            _settings_page(body),
            datetime.now(UTC) - date(answer),
        )


def webhook_facts(*, deadline: float) -> WebhookFacts:
    """Where GitHub sends the app's webhooks."""
    with making_sense():
        body = bounded_by(partial(_ask, "/app/hook/config"), deadline=deadline).body
        return WebhookFacts(
            shapes.text(body.get("url")),
            shapes.text(body.get("content_type")) or "form",
            str(body.get("insecure_ssl", "0")) == "0",
        )


def sent_webhooks(*, deadline: float) -> list[SentWebhook]:
    """The latest webhooks, newest first; GitHub keeps them for some days."""
    ask = partial(_ask, "/app/hook/deliveries", per_page=LISTED)
    with making_sense():
        return [_sent(each) for each in bounded_by(ask, deadline=deadline).body]


def takes_credentials(*, deadline: float) -> bool:
    """Whether GitHub knows the client id with this client secret."""
    answer = bounded_by(_try_credentials, deadline=deadline)
    said = answer.body.get("error") if isinstance(answer.body, dict) else ""
    if answer.status == 404 or said in ("incorrect_client_credentials", "Not Found"):
        return False
    if said in ("bad_verification_code", "redirect_uri_mismatch"):
        return True
    raise_for_limit(answer)
    raise Unreachable(f"GitHub answered {answer.status} when asked about the client secret.")


def _try_credentials() -> GitHubAnswer:
    fields = {
        "client_id": settings.HUB_GITHUB_CLIENT_ID,
        "client_secret": settings.HUB_GITHUB_CLIENT_SECRET,
        "code": NO_CODE,
    }
    return post_form("/login/oauth/access_token", fields)


def _ask(path: str, **parameters: Any) -> GitHubAnswer:
    answer = tokens.ask_as_app("GET", path, parameters=parameters)
    if answer.status == 404:
        raise Unreachable(f"GitHub has no app with the id {settings.HUB_GITHUB_APP_ID}.")
    if answer.status != 200:
        raise Unreachable(f"GitHub answered {answer.status} when asked for {path}.")
    return answer


def _settings_page(body: Mapping[str, Any]) -> str:
    owner = body.get("owner") or {}
    is_shared = owner.get("type") == "Organization"
    folder = f"/organizations/{quote(shapes.name(owner['login']), safe='')}" if is_shared else ""
    return f"{settings.HUB_GITHUB_URL}{folder}/settings/apps/{quote(body['slug'], safe='')}"


def _sent(body: Mapping[str, Any]) -> SentWebhook:
    name = f"{shapes.text(body['event'])} {shapes.text(body.get('action'))}".strip()
    at = datetime.fromisoformat(body["delivered_at"]).astimezone(UTC)
    return SentWebhook(name, at, int(body.get("status_code") or 0), shapes.text(body.get("status")))
