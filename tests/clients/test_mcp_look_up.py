"""Nothing leaves before the person agrees, not even the name of the page's host, which may say anything."""

from typing import Any

import pytest

from tests.clients.conftest import World
from tests.clients.mcp_desk import (
    BODY,
    NO,
    PROTOCOLS,
    REPORT,
    YES,
    Desk,
    Person,
    as_shown,
    at_desk,
    reply,
)
from tests.clients.stand_ins import HUB

desk = pytest.fixture(params=PROTOCOLS)(at_desk)

HOST, NAMED, SAYING = "docs.acme.com", "hub.acme.com", "moved.acme.com"
FILE = "/.well-known/docs-feedback.json"
LISTING = {"protocol_version": "0", "opt_in": True, "endpoint": f"https://{NAMED}/v1/reports"}
ELSEWHERE = {**REPORT, "doc_url": f"https://{HOST}/upgrade"}
TELLING = {**REPORT, "doc_url": f"https://{SAYING}/"}


@pytest.fixture(autouse=True)
def _hubs(world: World, examples: dict[str, Any]) -> None:
    taken = [examples["a new report"]["answer"]]
    named = [{"status": 200, "body": LISTING}]
    world.stage.answers = {HUB: taken, NAMED: taken, HOST: named, SAYING: named}


@pytest.fixture
def unset(desk: Desk) -> Desk:
    """Where no Hub is set, so that the page's host names it."""
    del desk.environment["DOCFEEDBACK_HUB_URL"]
    return desk


@pytest.mark.parametrize("person", [None, Person([NO]), Person([reply("cancel")])])
@pytest.mark.parametrize("is_set", [True, False])
def test_without_a_yes_no_host_is_looked_up(desk: Desk, person: Person | None, is_set: bool):
    if not is_set:
        del desk.environment["DOCFEEDBACK_HUB_URL"]

    outcomes = desk.call(TELLING, TELLING, REPORT, person=person)

    assert {outcome["status"] for outcome in outcomes} == {
        "not_sent" if person else "needs_approval"
    }
    assert (desk.network, desk.world.stage.asked) == ([], {})


def test_where_a_hub_is_set_the_person_is_asked_once(desk: Desk):
    person = Person([YES])

    (outcome,) = desk.call(REPORT, person=person)

    assert outcome["status"] == "sent"
    assert len(person.saw) == 1
    assert len(desk.world.stage.asked[HOST]) == 1
    assert desk.sent == [BODY]


def test_the_person_sees_which_host_is_asked_for_a_hub_and_then_the_report(unset: Desk):
    person = Person([YES])

    (outcome,) = unset.call(TELLING, person=person)

    assert outcome["status"] == "sent"
    look_up, send = person.saw
    assert look_up.startswith(f"Ask {SAYING} which Hub takes reports about its pages?")
    assert (
        "Only this is requested now, and where it redirects, at most 3 times, also to other hosts:"
        in look_up
    )
    assert look_up.endswith(f"```\nhttps://{SAYING}{FILE}\n```")
    assert send.startswith(f"Send this report to https://{NAMED}?")
    assert as_shown(send)["doc_url"] == TELLING["doc_url"]


def test_the_host_can_redirect_as_often_as_the_person_was_told(unset: Desk):
    unset.world.stage.answers |= {
        host: [{"status": 302, "headers": {"Location": f"https://{other}{FILE}"}, "text": ""}]
        for host, other in [(SAYING, HOST), (HOST, SAYING)]
    }
    person = Person([YES])

    (outcome,) = unset.call(TELLING, person=person)

    assert outcome["error"] == "no_hub_url"
    assert "at most 3 times, also to other hosts" in person.saw[0]
    asked = unset.world.stage.asked
    assert (len(asked[SAYING]), len(asked[HOST])) == (2, 2)  # the first time, and three redirects


def test_a_yes_to_a_look_up_is_none_to_the_report(unset: Desk):
    person = Person([YES, NO])

    outcomes = unset.call(REPORT, REPORT, person=person)

    assert [outcome["status"] for outcome in outcomes] == ["not_sent"] * 2
    assert len(person.saw) == 2
    assert set(unset.world.stage.asked) == {HOST}


def test_a_host_is_agreed_to_once_even_where_nothing_can_be_cached(unset: Desk):
    unset.environment["XDG_CACHE_HOME"] = "/dev/null"
    person = Person([YES])

    outcomes = unset.call(REPORT, ELSEWHERE, TELLING, person=person)

    assert [outcome["status"] for outcome in outcomes] == ["sent"] * 3
    assert [text.split()[0] for text in person.saw] == ["Ask", "Send", "Send", "Ask", "Send"]


def test_a_client_that_cannot_ask_hears_what_would_be_looked_up(unset: Desk):
    (result,) = unset.results(REPORT)

    fields = result.structured_content
    assert (fields["draft"], fields["link"]) == (BODY, None)
    assert f"{HOST} was not asked" in fields["message"]
    assert "--hub-url" not in fields["command"]
    assert f"\nhttps://{HOST}{FILE}\n" in result.content[2].text
    assert as_shown(result.content[2].text) == BODY


def test_who_agreed_to_everything_in_advance_is_asked_nothing(unset: Desk):
    unset.environment["DOCFEEDBACK_CONSENT"] = "preapproved"

    (outcome,) = unset.call(REPORT)

    assert outcome["status"] == "sent"
