"""The clients' examples of requests and answers (`clients/contract/examples.json`), held against the Hub."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from integrations.models import Integration
from orgs.models import Domain, Organization
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

CONTRACT = Path(__file__).resolve().parents[2] / "clients" / "contract"
EXAMPLES = json.loads((CONTRACT / "examples.json").read_text())
WORDS = {"error", "status", "path", "field", "kind", "protocol_version", "provider"}
TOKEN = "ghp" + "_abcdefghijklmnopqrstuvwABC0123456789"


class Scene:
    """What an example is about: its request, and what must be so beforehand."""

    def __init__(self, request: dict[str, Any], fixtures: pytest.FixtureRequest) -> None:
        self.request = request
        self.fixtures = fixtures
        self.client = Client(raise_request_exception=False)

    def send(self) -> Any:
        headers = dict(self.request["headers"])
        kind = headers.pop("Content-Type", "application/json")
        chunked = {"CONTENT_LENGTH": ""} if headers.pop("Transfer-Encoding", None) else {}
        body = json.dumps(self.request["body"]).encode() if "body" in self.request else b""
        method, path = self.request["method"], self.request["path"]
        return self.client.generic(method, path, body, kind, headers=headers, **chunked)

    def send_as(self, *scopes: str) -> Organization:
        """Take a token with these scopes; the organization that it opens."""
        owner = build.organization()
        token = build.token(build.member(owner), scopes)
        self.request["headers"]["Authorization"] = f"Bearer {token}"
        return owner

    def look_up(self, report_id: str) -> None:
        self.request["path"] = f"/v1/reports/{report_id}"

    def crash(self, place: str, error: Exception) -> None:
        def crash(*args: object, **kwargs: object) -> None:
            raise error

        self.fixtures.getfixturevalue("monkeypatch").setattr(place, crash)


def accepted_before(scene: Scene) -> None:
    assert scene.send().status_code == 201


def owner_opted_out(scene: Scene) -> None:
    build.domain(build.organization(), "docs.acme.com")
    Domain.objects.update(opted_out_at=timezone.now())


def secret_in_the_details(scene: Scene) -> None:
    scene.request["body"]["report"]["details"] = f"Use {TOKEN}"


def too_large(scene: Scene) -> None:
    scene.request["body"]["report"]["details"] = "x" * 65536


def too_many(scene: Scene) -> None:
    scene.fixtures.getfixturevalue("settings").HUB_REPORT_RATE = "1/minute"
    scene.send()


def crashes(scene: Scene) -> None:
    scene.crash("reports.intake.accept", ZeroDivisionError())


def database_away(scene: Scene) -> None:
    scene.crash("reports.intake.unclaimed", OperationalError("gone"))


def forwarded(scene: Scene) -> None:
    build.acme(scene.fixtures.getfixturevalue("code_host"))
    build.send(scene.client)
    scene.look_up(build.send(scene.client).json()["id"])


def not_forwarded(scene: Scene) -> None:
    scene.look_up(build.send(scene.client).json()["id"])


def may_read(scene: Scene) -> None:
    """As somebody whose organization has set up what the one of the example has."""
    owner = scene.send_as("orgs:read")
    build.integration(owner, scene.fixtures.getfixturevalue("code_host"))
    Integration.objects.update(issue_template="{summary}", problem="Issues are turned off.")
    build.domain(owner, "docs.acme.com")
    Domain.objects.update(last_checked_at=timezone.now())
    build.domain(owner, "acme.dev", verified=False)
    build.site(owner, "acme.github.io", "/docs/")


def may_not_read(scene: Scene) -> None:
    scene.send_as("orgs:write")


GIVEN: dict[str, Callable[[Scene], None]] = {
    "the same report was accepted before": accepted_before,
    "the owner of the page has opted out": owner_opted_out,
    "the details hold a GitHub token": secret_in_the_details,
    "the body is over 65536 bytes": too_large,
    "the address has sent too many reports": too_many,
    "the Hub crashes": crashes,
    "the database is away": database_away,
    "the report was forwarded to a public repository": forwarded,
    "the report is not forwarded": not_forwarded,
    "the token may read": may_read,
    "the token may not read": may_not_read,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_hub_answers_as_the_example_says(name: str, request: pytest.FixtureRequest):
    example = EXAMPLES[name]
    asked = example.get("request", EXAMPLES["a new report"]["request"])
    scene = Scene(json.loads(json.dumps(asked)), request)
    if "given" in example:
        GIVEN[example["given"]](scene)

    answer = scene.send()

    expected = example["answer"]
    assert answer.status_code == expected["status"]
    assert outline(answer.json()) == outline(expected["body"])
    assert [header for header in expected["headers"] if header not in answer] == []


def outline(value: Any, key: str = "") -> Any:
    """`value` without what stands for any: ids, times, addresses, names and sentences."""
    if isinstance(value, dict):
        return {name: outline(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [outline(item) for item in value]
    return "any" if isinstance(value, str) and key not in WORDS else value
