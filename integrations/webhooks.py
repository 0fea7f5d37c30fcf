"""`POST /v1/webhooks/github`: what GitHub tells about installations, repositories and issues.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

import hashlib
import hmac
import json
import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.utils.crypto import constant_time_compare
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from integrations import following, holds
from integrations.github_api import repository_facts
from integrations.models import Delivery, Installation, Integration, Webhook
from integrations.models.integration import IntegrationQuerySet
from orgs.api import Unauthorized
from orgs.errors import ApiError

log = logging.getLogger(__name__)

Payload = dict[str, Any]
Action = Callable[[Payload], None]


class BadSignature(Unauthorized):
    default_detail = "The signature in X-Hub-Signature-256 is not the one of this body."


class NotAWebhook(ApiError):
    status_code = 400
    default_code = "validation_error"
    default_detail = "Send a JSON object with the headers X-GitHub-Event and X-GitHub-Delivery."


class TooLarge(ApiError):
    status_code = 413
    default_code = "payload_too_large"
    default_detail = "The body is larger than any webhook that matters here."


class GitHubWebhook(APIView):
    """Believes what GitHub has signed, once, and answers without asking anybody."""

    def post(self, request: Request) -> Response:
        body = _body(request)
        if not _is_signed(body, request.headers.get("X-Hub-Signature-256", "")):
            raise BadSignature
        delivery_id = request.headers.get("X-GitHub-Delivery", "")
        payload = _json(body)
        if not delivery_id.isprintable() or not 0 < len(delivery_id) <= 64 or payload is None:
            raise NotAWebhook
        act = ACTIONS.get((request.headers.get("X-GitHub-Event", ""), str(payload.get("action"))))
        if act:
            _once(delivery_id, act, payload)
        return Response(status=202)


def _body(request: Request) -> bytes:
    try:
        return request.body
    except RequestDataTooBig:
        raise TooLarge from None


def _once(delivery_id: str, act: Action, payload: Payload) -> None:
    """Act, and remember to have acted, or neither."""
    try:
        with transaction.atomic():
            if Webhook.objects.is_new(delivery_id):
                act(payload)
    except (KeyError, TypeError):
        log.exception("A signed webhook has another shape than GitHub's")
        raise NotAWebhook from None


def _is_signed(body: bytes, signature: str) -> bool:
    """Without a secret nothing is signed."""
    secret = settings.HUB_GITHUB_WEBHOOK_SECRET.encode()
    right = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    return bool(secret) and constant_time_compare(signature, right)


def _json(body: bytes) -> Payload | None:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _of_installation(act: Callable[[Installation], None]) -> Action:
    """`act` upon the installation that it is about, where an organization has it."""

    def do(payload: Payload) -> None:
        for installation in Installation.objects.filter(github_id=payload["installation"]["id"]):
            act(installation)

    return do


def _integrations(repository_id: int) -> IntegrationQuerySet:
    mine = Integration.objects.filter(repository_id=repository_id).select_for_update(of=("self",))
    return mine.select_related("installation", "organization")


def _of_selection(changed: str, act: Callable[[Integration], object]) -> Action:
    """`act` upon integrations with a repository that the installation was given, or has lost."""

    def do(payload: Payload) -> None:
        for repository in payload[changed]:
            for integration in _integrations(repository["id"]):
                if integration.installation.github_id == payload["installation"]["id"]:
                    act(integration)

    return do


def _account_renamed(payload: Payload) -> None:
    for installation in Installation.objects.filter(github_id=payload["installation"]["id"]):
        following.account_is(installation, payload["account"]["login"])


def _changed(payload: Payload) -> None:
    facts = repository_facts(payload["repository"])
    for integration in _integrations(facts.id):
        following.repository_is(integration, facts)


def _unarchived(payload: Payload) -> None:
    facts = repository_facts(payload["repository"])
    for integration in _integrations(facts.id):
        if following.repository_is(integration, facts):
            following.takes_issues_again(integration)


def _deleted(payload: Payload) -> None:
    for integration in _integrations(payload["repository"]["id"]):
        following.repository_is_deleted(integration)


def _issue(state: Delivery.IssueState) -> Action:
    def note(payload: Payload) -> None:
        following.issue_is(payload["repository"]["id"], payload["issue"]["number"], state)

    return note


ACTIONS: dict[tuple[str, str], Action] = {
    ("installation", "deleted"): _of_installation(following.is_uninstalled),
    ("installation", "suspend"): _of_installation(following.is_suspended),
    ("installation", "unsuspend"): _of_installation(holds.resume),
    ("installation_repositories", "added"): _of_selection(
        "repositories_added", following.takes_issues_again
    ),
    ("installation_repositories", "removed"): _of_selection(
        "repositories_removed", following.repository_is_out_of_reach
    ),
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
}
