"""The reference names every field of the API's responses, and no others."""

import pytest
from django.test import Client

from integrations.models import Answer, Delivery, Integration
from orgs.models import Membership
from tests import build
from tests.docs import tables

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "AKIA" + "IOSFODNN7EXAMPLF"


@pytest.fixture
def acme(code_host):
    return build.acme(code_host, "docs.example.com")


@pytest.fixture
def alice(acme, code_host):
    user = build.member(acme, github_id=code_host.account("alice").id)
    return build.api(build.token(user))


@pytest.fixture
def report_id():
    """The id of a report from which something was removed, and that came again in other words."""
    removed = build.report("https://docs.example.com/install", report__details=SECRET)
    report_id = build.send(Client(), removed).json()["id"]
    build.send(Client(), build.report("https://docs.example.com/install"))
    return report_id


def test_the_fields_of_what_reporters_are_answered(acme, report_id):
    sent = build.send(Client(), build.report(report__details=SECRET)).json()
    Answer.objects.create(
        delivery=Delivery.objects.get(report=report_id), text="Use --yes.", made_by="alice"
    )
    again = build.send(Client(), build.report("https://docs.example.com/install")).json()
    receipt = Client().get(f"/v1/reports/{report_id}").json()

    answered = paths(sent) | paths(again) | paths(receipt)
    assert fields("reports-api", "field", "type") == answered


def test_the_fields_of_what_is_known_of_a_page(acme, report_id):
    Integration.objects.update(shows_known=True)
    page = Client().get("/v1/pages", {"url": "https://docs.example.com/install"}).json()

    assert fields("reports-api", "field of a page") == paths(page)


def test_the_fields_of_the_organization(alice, acme):
    build.site(acme, "acme.github.io", "/docs/")
    build.domain(acme, "help.example.com", verified=False)
    mine = alice.get("/v1/orgs/me").json()

    domains, sites = mine.pop("domains"), mine.pop("sites")
    assert fields("maintainer-api", "field", "type") == paths(mine) | {"domains", "sites"}
    assert fields("maintainer-api", "field of a domain") == paths(domains[1])
    assert fields("maintainer-api", "field of a site") == paths(sites[0])


def test_the_fields_of_what_setting_up_answers(alice):
    begun = alice.get("/v1/integrations/github/install").json()
    listed = alice.get("/v1/integrations/github/repositories").json()

    assert fields("maintainer-api", "field of an installation") == paths(begun)
    assert fields("maintainer-api", "field of a repository") == paths(listed["repositories"][0])


def test_the_fields_of_a_report(alice, report_id):
    Delivery.objects.update(status="pending")
    Answer.objects.create(delivery=Delivery.objects.get(), text="Use --yes.", made_by="alice")
    listed = alice.get("/v1/orgs/me/reports").json()["reports"][0]
    whole = alice.get(f"/v1/orgs/me/reports/{report_id}").json()

    assert fields("maintainer-api", "field of a listed report") == paths(listed)
    assert fields("maintainer-api", "field of one report") == paths(whole) - paths(listed)


def test_the_fields_of_an_action_on_several_reports(alice, report_id):
    answer = alice.post(
        "/v1/orgs/me/reports/discard", {"ids": [report_id]}, content_type="application/json"
    ).json()

    assert fields("maintainer-api", "field of the answer") == paths(answer)


def test_calls_for_owners_alone_are_named(acme, report_id):
    bob = build.api(build.token(build.member(acme, "bob", role=Membership.Role.MEMBER)))
    site = build.site(acme, "acme.github.io", "/docs/")
    named = {"<domain>": "docs.example.com", "sites/<id>": f"sites/{site.id}", "<id>": report_id}
    calls = tables.rows("maintainer-api", "call", "scope", "who")

    refused = {
        call
        for call, scope, *_ in calls
        if tables.codes(scope) and _ask(bob, tables.codes(call)[0], named) == "not_an_owner"
    }
    assert refused == {call for call, _, who, _ in calls if who.startswith("owners")}


def _ask(client: Client, call: str, named: dict[str, str]) -> str:
    """The code of the response to a call, with a body that has what any of them needs."""
    method, path = call.split()
    for placeholder, value in named.items():
        path = path.replace(placeholder, value)
    body = {"opted_out": False} if method == "PATCH" else {}
    sent = getattr(client, method.lower())(path, body or None, content_type="application/json")
    return sent.json().get("error", "") if sent.content else ""


def fields(page: str, *header: str) -> set[str]:
    """The fields in the tables with this header."""
    return {tables.codes(name)[0] for name, *_ in tables.rows(page, *header)}


def paths(value: dict, prefix: str = "") -> set[str]:
    """The path of every field: `issue.url`, `attempts[].number`."""
    found = set()
    for name, each in value.items():
        found.add(f"{prefix}{name}")
        first = each[0] if isinstance(each, list) and each else None
        if isinstance(each, dict):
            found |= paths(each, f"{prefix}{name}.")
        elif isinstance(first, dict):
            found |= paths(first, f"{prefix}{name}[].")
    return found
