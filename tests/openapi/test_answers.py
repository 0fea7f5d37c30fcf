"""schemathesis asks whatever the document allows and forbids; every answer has to be described there.

It asks the real application in this process, with a code host and a DNS server on loopback. What it asks
is the same each time.
"""

import json
from collections import Counter
from typing import Any

import pytest
import schemathesis
from django.test import Client
from schemathesis import Case
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.pytest.lazy import get_all_tests

from core import rates
from hub.docs import for_agents
from hub.wsgi import application
from integrations.models import Delivery, Integration
from orgs.models import Site
from sandbox import CodeHost
from tests import build
from tests.dns_server import DNSServer
from tests.openapi.calls import CALLS
from tests.openapi.strict import Document, strict

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

CONFIG = {
    "seed": 1,
    "generation": {
        "deterministic": True,
        "max-examples": 6,
        "no-shrink": True,
        "database": "none",
        "with-security-parameters": False,  # the tests have their tokens
    },
    "checks": {
        "ignored_auth": {"enabled": False},  # tests/hub/test_every_call.py asks that of every call
        # Not all that is refused can be said in a schema: a template that is too long, a host that is none.
        "positive_data_acceptance": {"enabled": False},
    },
}
NOBODYS = "01J9ZK3V5T8Q2M4N6P7R8S9T0V"


class World:
    """acme, which has what the calls are about. What a call takes away is there again for the next."""

    def __init__(self, code_host: CodeHost) -> None:
        self.acme = build.acme(code_host)
        self.alice = build.member(self.acme, github_id=code_host.account("alice").id)
        self.integration = Integration.objects.values().get()
        self.sent, self.failed = (
            build.send(Client(), build.report(report__summary=each)).json()["id"] for each in "ab"
        )
        self.undelivered = Delivery.objects.get(report=self.failed)
        self.undelivered.status = Delivery.Status.FAILED
        self.site = build.site(self.acme, "acme.github.io", "/docs/")
        self.domains = list(self.acme.domains.all())
        self.domains.append(build.domain(self.acme, "help.acme.com", verified=False))

    def restore(self) -> None:
        """What there was at first; nobody has asked too often."""
        rates.forget()
        Integration.objects.update(**self.integration)
        Site.objects.exclude(pk=self.site.pk).delete()
        for each in (self.site, *self.domains):
            each.save()
        self.undelivered.save()

    def in_paths(self) -> dict[str, list[str]]:
        """What may stand in an address: what there is, and what there is not."""
        return {
            "report_id": [self.sent, self.failed, NOBODYS],
            "site_id": [self.site.pk, NOBODYS],
            "domain": [*(each.name for each in self.domains), "unknown.acme.com", "no name"],
        }


@pytest.fixture
def world(code_host: CodeHost, dns: DNSServer) -> World:
    return World(code_host)


@pytest.fixture
def document(world: World, settings: Any) -> Document:
    """As it is served, with what there is in the place of what varies in addresses."""
    settings.ALLOWED_HOSTS = ["localhost"]  # as which schemathesis calls what is in its process
    document = strict(json.loads(for_agents.openapi(settings.HUB_BASE_URL)))
    for path in document["paths"].values():
        for operation in path.values():
            for each in operation.get("parameters", []):
                if each["in"] == "path":
                    each["schema"] = {"type": "string", "enum": world.in_paths()[each["name"]]}
    return document


def loaded(document: Document, **phases: Any) -> Any:
    """The calls of a document, ready to be asked."""
    config = SchemathesisConfig.from_dict({**CONFIG, "phases": phases})
    api = schemathesis.openapi.from_dict(document, config=config)
    api.app = application
    return api


def ask_all(api: Any, world: World, **headers: str) -> Counter[str]:
    """Ask each call many times; how many times, by call. Fails with all that is wrong with the answers."""
    asked: Counter[str] = Counter()
    wrong: list[str] = []

    def ask(case: Case) -> None:
        world.restore()
        asked[case.operation.label] += 1
        case.call_and_validate(headers=headers)

    # As `api.parametrize()`, which would generate all of this whenever tests are collected.
    for each in get_all_tests(schema=api, test_func=ask, settings=None, given_kwargs=None):
        operation, test = each.ok()
        try:
            test()
        except FailureGroup as group:
            wrong += [f"{operation.label}: {failure}" for failure in group.exceptions]
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)
    return asked


def test_what_everybody_is_answered_is_described(document, world):
    asked = ask_all(loaded(document).include(tag="Reports"), world)

    assert len(asked) == 3


def test_what_is_answered_without_a_token_is_described(document, world):
    once = {"fuzzing": {"generation": {"max-examples": 1}}, "coverage": {"enabled": False}}
    asked = ask_all(loaded(document, **once).exclude(tag="Reports"), world)

    assert len(asked) == len(CALLS) - 3


def test_what_members_are_answered_is_described(document, world):
    token = f"Bearer {build.token(world.alice)}"
    asked = ask_all(loaded(document).exclude(tag="Reports"), world, Authorization=token)

    assert len(asked) == len(CALLS) - 3
