"""A terminal that signs in, as the command lines do it."""

from typing import Any
from urllib.parse import urlencode

from django.test import Client

from orgs.models import Membership, User

CLI = "docfeedback-cli"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
FORM = "application/x-www-form-urlencoded"


def post(path: str, **fields: Any):
    """The answer of an endpoint to a form."""
    return Client().post(path, urlencode(fields, doseq=True), content_type=FORM)


def begin(scope: str = "orgs:read orgs:write") -> dict[str, Any]:
    """The codes of a new sign-in."""
    answer = post("/oauth/device", client_id=CLI, scope=scope)
    assert answer.status_code == 200, answer.content
    return answer.json()


def poll(codes: dict[str, Any]):
    """What the terminal is told."""
    device_code = codes["device_code"]
    return post("/oauth/token", client_id=CLI, grant_type=DEVICE, device_code=device_code)


def browser(user: User) -> Client:
    """Of somebody who is signed in."""
    client = Client()
    client.force_login(user)
    return client


def answer(user: User, codes: dict[str, Any], how: str = "approve"):
    """What the person sees who approves or denies."""
    own = Membership.objects.filter(user=user).values_list("organization", flat=True).first()
    form = {"user_code": codes["user_code"], "organization": own or "", "answer": how}
    return browser(user).post("/device/", form, follow=True)


def sign_in(user: User, scope: str = "orgs:read orgs:write") -> dict[str, Any]:
    """The tokens of a terminal in which this person has signed in."""
    codes = begin(scope)
    answer(user, codes)
    return poll(codes).json()


def refresh(tokens: dict[str, Any], **more: Any):
    """The answer to a refresh token."""
    value = tokens["refresh_token"]
    return post(
        "/oauth/token", client_id=CLI, grant_type="refresh_token", refresh_token=value, **more
    )


def me(tokens: dict[str, Any]):
    """The answer of a call with the access token."""
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    return Client(headers=headers).get("/v1/orgs/me")
