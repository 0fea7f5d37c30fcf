"""`POST /v1/webhooks/github`: GitHub's news about installations, repositories and issues.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

import json
import logging
from collections.abc import Callable, Collection
from typing import cast

from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from core import client_address, connections, rates
from core.cors import OneOrigin
from core.errors import ApiError
from core.locking import locked
from core.watching import current
from integrations.delivery import holds
from integrations.github_api import IS_LOCKED
from integrations.github_sync import applying, signature, visibility, webhook_payload
from integrations.github_sync.webhook_payload import NotAWebhook, Payload
from integrations.models import SEVERAL, Comment, Delivery, Installation, Integration, News, Webhook
from integrations.models.integration import IntegrationQuerySet
from integrations.ownership import site_claims
from orgs.api.authentication import Unauthorized

log = logging.getLogger(__name__)

Action = Callable[[Payload], None]

# GitHub sends from a few addresses for everybody, also what strangers have it send; so what is signed
# counts for its installation and event, and only what is not for its address. What the Hub does nothing about
# counts nowhere, as issues that strangers make, close and reopen: GitHub does not send again what is refused.
FORGED_RATE = "30/minute"
INSTALLATION_RATE = "600/minute"
MOST_NAMED = 4  # of our repositories in one webhook: of more, it is news of the whole installation


class BadSignature(Unauthorized):
    """401: the signature does not match the body."""

    default_detail = f"The signature in {signature.HEADER} does not match the body."


class WebhookTooLarge(ApiError):
    """413: the body is too large."""

    status_code = 413
    default_code = "payload_too_large"
    default_detail = "The body is too large for a webhook."


class GitHubWebhook(OneOrigin):
    """Applies a webhook that GitHub has signed, once, and answers without calling GitHub."""

    def post(self, request: Request) -> Response:
        body = _body(request)
        if not signature.is_signed(body, request.headers.get(signature.HEADER, "")):
            forgers = client_address.limits(request, FORGED_RATE, "forged webhooks")
            rates.check_all(*forgers, what="unsigned webhooks")
            raise BadSignature
        delivery_id = request.headers.get("X-GitHub-Delivery", "")
        payload = _json(body)
        if not delivery_id.isprintable() or not 0 < len(delivery_id) <= 64 or payload is None:
            raise NotAWebhook
        event = request.headers.get("X-GitHub-Event", "")
        act = ACTIONS.get((event, str(payload.get("action"))))
        if act and (event != "issues" or _is_ours(payload)):
            rates.check(INSTALLATION_RATE, "webhooks", _sender(payload), event, what="webhooks")
            current.note(changed=current.SETTINGS)
            _once(delivery_id, act, payload, _news(event, payload))
        return Response(status=202)


def _body(request: Request) -> bytes:
    try:
        return request.body
    except RequestDataTooBig:
        raise WebhookTooLarge from None


@connections.again_after_deadlock
def _once(delivery_id: str, act: Action, payload: Payload, news: list[News]) -> None:
    """Act and remember that, both in one transaction. GitHub sends no webhook again by itself."""
    with transaction.atomic():
        if Webhook.objects.is_new(delivery_id, news):
            act(payload)


def _is_ours(payload: Payload) -> bool:
    """Whether the Hub has opened this issue. Strangers open and close others as they like: they leave no row."""
    return applying.is_ours(*_issue_of(payload))


def _issue_of(payload: Payload) -> tuple[int, int]:
    """GitHub's number of the repository, and that of the issue. Raises `NotAWebhook`."""
    repository = webhook_payload.number(payload, "repository", "id")
    return repository, webhook_payload.number(payload, "issue", "number")


def _news(event: str, payload: Payload) -> list[News]:
    """What the webhook brings news of. Raises `NotAWebhook`, also for one that comes from no installation."""
    installation_id = webhook_payload.number(payload, "installation", "id")
    match event:
        case "issues":
            return [News()]
        case "repository":
            return [News(installation_id, webhook_payload.number(payload, "repository", "id"))]
        case "installation_repositories":
            return _news_of(installation_id, _selected(payload))
    return [News(installation_id)]


def _news_of(installation_id: int, listed: Collection[int]) -> list[News]:
    """News of these repositories, in few rows: of several, those are named that are ours."""
    if len(listed) == 1:
        return [News(installation_id, *listed)]
    ours = _ours(installation_id, listed)
    if len(ours) > MOST_NAMED:
        return [News(installation_id)]
    return [News(installation_id, each) for each in (SEVERAL, *sorted(ours))]


def _sender(payload: Payload) -> str:
    """The installation that it comes from; what comes from none, such as a ping, is counted as one."""
    installation = payload.get("installation")
    number = installation.get("id") if isinstance(installation, dict) else None
    return str(number) if type(number) is int else "none"


def _json(body: bytes) -> Payload | None:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _of_installation(act: Callable[[Installation], None]) -> Action:
    """`act` on the installation of the webhook, if an organization has it; GitHub is asked about it soon.

    An older webhook may have come after a newer one.
    """

    def do(payload: Payload) -> None:
        number = webhook_payload.number(payload, "installation", "id")
        for installation in Installation.objects.filter(github_id=number):
            act(installation)
            installation.ask_about_soon()

    return do


def _integrations(*repository_ids: int) -> IntegrationQuerySet:
    """Those that send their issues there, locked in the order of their ids."""
    mine = Integration.objects.filter(repository_id__in=repository_ids).order_by("pk")
    return locked(mine).select_related("installation", "organization")


def _ours(installation_id: int, listed: Collection[int]) -> set[int]:
    """Those of the listed repositories that integrations of the installation have."""
    ours = Integration.objects.filter(installation__github_id=installation_id).configured()
    return {*listed} & {*cast("list[int]", ours.values_list("repository_id", flat=True))}


def _selected(payload: Payload) -> dict[int, Payload]:
    """The repositories that were added to the installation, or removed from it, by their ids."""
    return webhook_payload.repositories(payload, f"repositories_{payload['action']}")


def _of_selection(act: Callable[[Integration, Payload], object]) -> Action:
    """`act` on integrations whose repository was added to the installation, or removed from it.

    It is also called with what the webhook says of the repository.
    """

    def do(payload: Payload) -> None:
        listed = _selected(payload)
        number = webhook_payload.number(payload, "installation", "id")
        for integration in _integrations(*_ours(number, listed)):
            if integration.installation.github_id == number:
                act(integration, listed[cast(int, integration.repository_id)])

    return do


def _added(integration: Integration, repository: Payload) -> None:
    """Its repository is in reach again, and may have been renamed meanwhile."""
    full_name = webhook_payload.name(repository, "full_name")
    number = cast(int, integration.repository_id)
    if not integration.may_not_learn(full_name):
        site_claims.follow(integration.organization, number, full_name, is_late=True)
    applying.mark_in_reach(integration)


def _out_of_reach(integration: Integration, repository: Payload) -> None:
    applying.mark_out_of_reach(integration)
    number = cast(int, integration.repository_id)
    visibility.hide([number], installation_id=integration.installation.github_id)
    integration.installation.ask_about_soon()


def _account_renamed(payload: Payload) -> None:
    login = webhook_payload.name(payload, "account", "login")
    number = webhook_payload.number(payload, "installation", "id")
    for installation in Installation.objects.filter(github_id=number):
        applying.apply_account(installation, login)


def _changed(payload: Payload) -> None:
    _follow(payload)


def _unarchived(payload: Payload) -> None:
    for integration in _follow(payload):
        applying.mark_unarchived(integration)


def _follow(payload: Payload) -> list[Integration]:
    """Update everything about the repository; returns the integrations that may use it.

    Webhooks overtake each other: that it is private is believed at once, and that it is public only
    when GitHub says so, which is asked soon. About one that no integration has it is not asked.
    """
    facts = webhook_payload.repository(payload)
    installation_id = webhook_payload.number(payload, "installation", "id")
    concerned = list(_integrations(facts.id))
    usable = [each for each in concerned if applying.apply_repository(each, facts, is_late=True)]
    if facts.is_private:
        visibility.apply(facts, installation_id=installation_id)
    through = {each.installation_id for each in concerned}
    Installation.objects.filter(pk__in=through).ask_about_soon()
    return usable


def _deleted(payload: Payload) -> None:
    repository_id = webhook_payload.number(payload, "repository", "id")
    for integration in _integrations(repository_id):
        applying.mark_repository_deleted(integration)
    installation_id = webhook_payload.number(payload, "installation", "id")
    visibility.hide([repository_id], installation_id=installation_id)


def _issue(state: Delivery.IssueState) -> Action:
    def note(payload: Payload) -> None:
        news = webhook_payload.issue_news(payload, state)
        applying.apply_issue_state(*_issue_of(payload), news)

    return note


def _unlocked(payload: Payload) -> None:
    Comment.objects.note_over(*_issue_of(payload), reason=IS_LOCKED)


ACTIONS: dict[tuple[str, str], Action] = {
    ("installation", "deleted"): _of_installation(applying.mark_uninstalled),
    ("installation", "suspend"): _of_installation(applying.mark_suspended),
    ("installation", "unsuspend"): _of_installation(holds.unsuspend),
    ("installation_repositories", "added"): _of_selection(_added),
    ("installation_repositories", "removed"): _of_selection(_out_of_reach),
    ("installation_target", "renamed"): _account_renamed,
    ("repository", "renamed"): _changed,
    ("repository", "transferred"): _changed,
    ("repository", "privatized"): _changed,
    ("repository", "publicized"): _changed,
    ("repository", "archived"): _changed,
    ("repository", "unarchived"): _unarchived,
    ("repository", "deleted"): _deleted,
    ("issues", "closed"): _issue(Delivery.IssueState.CLOSED),
    ("issues", "reopened"): _issue(Delivery.IssueState.OPEN),
    ("issues", "deleted"): _issue(Delivery.IssueState.DELETED),
    ("issues", "unlocked"): _unlocked,
    ("issues", "transferred"): _issue(Delivery.IssueState.DELETED),  # there it is gone
}
