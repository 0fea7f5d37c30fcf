"""What is said of the files that a claimed host publishes."""

import json
import os
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import jsonschema
import pytest

from core import rates
from orgs.discovery import checking, kit, published
from orgs.discovery.published import Finding
from orgs.domains import verification
from orgs.models import Domain, Membership, Notice, Site
from tests import build
from tests.plans import plans_of, whole_tables_in
from tests.web_server import HOST

HUB = "https://hub.example"
SITE = f"https://{HOST}/"


def looked(web, file: object, *, opted_out: bool = False) -> tuple[Finding, bool | None]:
    """What is found in `docs-feedback.json`, and whether it refuses."""
    web.says(kit.WELL_KNOWN, file if isinstance(file, str) else json.dumps(file))
    found = published.look(SITE, HUB, opted_out=opted_out)
    return found.findings[0], found.refuses


def test_a_site_that_publishes_the_kit_has_all_that_agents_need(web):
    web.says(kit.WELL_KNOWN, kit.well_known(HUB, opted_out=False))
    web.says(kit.LLMS, "# Acme\n\n" + kit.llms_section(HUB, SITE))
    web.says("/", kit.lines(HUB, SITE)[-1].html)

    found = published.look(SITE, HUB, opted_out=False)

    assert [each.state for each in found.findings] == ["good"] * 3
    assert [each.url for each in found.findings] == [
        f"https://{HOST}/.well-known/docs-feedback.json",
        f"https://{HOST}/llms.txt",
        SITE,
    ]
    assert found.refuses is False


def test_a_site_that_publishes_nothing_yet(web):
    web.says("/", "<h1>Acme</h1>")
    web.says(kit.LLMS, "# Acme")

    found = published.look(SITE, HUB, opted_out=False).findings

    assert [(each.state, each.words) for each in found] == [
        ("todo", "It is not there."),
        ("todo", "It is there, without a link to this Hub."),
        ("todo", "It is there, without a link to this Hub."),
    ]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("<html>", "Clients cannot read it: it is not valid JSON."),
        ("[" * 60_000, "Clients cannot read it: it is not valid JSON."),
        (
            {"protocol_version": "1", "opt_in": True},
            'Clients cannot read it: its protocol_version is not "0".',
        ),
        ({"protocol_version": "0", "opt_in": "yes"}, "its opt_in is neither true nor false."),
        ({"protocol_version": "0"}, "its opt_in is neither true nor false."),
        ("[]", 'its protocol_version is not "0".'),
        (
            {"protocol_version": "0", "opt_in": True, "endpoint": 1},
            "its endpoint is not a string of",
        ),
        (
            {
                "protocol_version": "0",
                "opt_in": True,
                "endpoint": "https://other.example/v1/reports",
            },
            "Clients send reports elsewhere: to https://other.example/v1/reports.",
        ),
        ({"protocol_version": "0", "opt_in": True}, "an endpoint that it does not name"),
    ],
)
def test_what_clients_cannot_use_is_said(web, file, words):
    finding, _ = looked(web, file)

    assert finding.state == "bad"
    assert words in finding.words
    assert len(finding.words) < 400


@pytest.mark.parametrize(
    ("opt_in", "opted_out", "state"),
    [(False, False, "bad"), (False, True, "good"), (True, True, "bad"), (True, False, "good")],
)
def test_the_file_and_the_claim_should_agree(web, opt_in, opted_out, state):
    file = {"protocol_version": "0", "opt_in": opt_in, "endpoint": f"{HUB}/v1/reports"}

    finding, refuses = looked(web, file, opted_out=opted_out)

    assert finding.state == state
    assert refuses is not opt_in


def test_what_cannot_be_read_says_nothing(web):
    web.says(kit.WELL_KNOWN, "", status="503 Service Unavailable")

    found = published.look(SITE, HUB, opted_out=False)

    assert found.refuses is None
    assert found.findings[0].words == "The server answers 503."


@pytest.mark.parametrize("opted_out", [False, True])
def test_the_file_of_the_kit_is_what_the_protocol_asks_for(opted_out):
    folder = os.environ.get("HUB_PROTOCOL_DIR")
    if not folder:
        pytest.skip("HUB_PROTOCOL_DIR is not set: the protocol's schema is not tested.")
    schema = json.loads((Path(folder) / "well-known.schema.json").read_text())

    jsonschema.validate(json.loads(kit.well_known(HUB, opted_out=opted_out)), schema)


REFUSES = json.dumps({"protocol_version": "0", "opt_in": False})


@pytest.fixture
def claims(transactional_db) -> tuple[Domain, Site]:
    owner = build.organization()
    return build.domain(owner, HOST), build.site(owner, HOST, "/docs/")


@pytest.fixture
def alice(claims) -> Membership:
    return build.member(claims[0].organization).membership


@pytest.mark.django_db(transaction=True)
def test_a_refusal_is_noted_and_told_once_and_nothing_else_is_done(web, claims, clock):
    web.says(kit.WELL_KNOWN, REFUSES)

    assert checking.maintain() == 2
    clock.advance(days=2)
    assert checking.maintain() == 2

    domain, site = Domain.objects.get(), Site.objects.get()
    assert domain.refused_in_public_at
    assert site.refused_in_public_at
    assert not domain.opted_out_at
    [told] = Notice.objects.all()  # both claims have the same file
    assert told.kind == "refused"
    assert "says that you want no reports" in told.text


@pytest.mark.django_db(transaction=True)
def test_a_file_that_changes_again_and_again_is_told_once_a_day(web, claims, clock):
    """The attack: a member, or who has left, has their own host say so anew each time that it is read."""
    domain = Domain.objects.get()
    for _ in range(4):
        for refuses in (True, False):
            domain.note_refusal(refuses, "https://docs.acme.com/.well-known/docs-feedback.json")
        clock.advance(hours=7)

    before = Notice.objects.count()
    clock.advance(hours=20)
    domain.note_refusal(True, "https://docs.acme.com/.well-known/docs-feedback.json")

    assert (before, Notice.objects.count()) == (1, 2)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("file", [None, json.dumps({"protocol_version": "0", "opt_in": True})])
def test_a_refusal_that_is_over_is_forgotten(web, claims, clock, file):
    web.says(kit.WELL_KNOWN, REFUSES)
    checking.maintain()
    del web.answers[kit.WELL_KNOWN]
    if file:
        web.says(kit.WELL_KNOWN, file)

    clock.advance(days=2)
    checking.maintain()

    assert Domain.objects.get().refused_in_public_at is None


@pytest.mark.django_db(transaction=True)
def test_a_host_that_does_not_answer_changes_nothing(web, claims, clock):
    web.says(kit.WELL_KNOWN, REFUSES)
    checking.maintain()
    web.says(kit.WELL_KNOWN, "", status="500 Internal Server Error")

    clock.advance(days=2)
    checking.maintain()

    assert Domain.objects.get().refused_in_public_at


@pytest.mark.django_db(transaction=True)
def test_each_claim_is_read_once_a_day_and_only_while_it_counts(web, claims):
    build.domain(build.organization("other"), "docs.acme.org", verified=False)

    assert checking.maintain() == 2
    assert checking.maintain() == 0
    assert checking.maintain(lambda: False) == 0


@pytest.mark.django_db(transaction=True)
def test_a_member_has_a_claim_checked(web, claims, alice):
    web.says(kit.WELL_KNOWN, REFUSES)

    findings = checking.check(claims[0], by=alice)

    assert findings[0].words.startswith("It says that you want no reports")
    assert Domain.objects.get().refused_in_public_at


@pytest.mark.django_db(transaction=True)
def test_a_check_counts_also_where_a_refusal_was_noted_since_its_claim_was_read(web, claims, alice):
    domain, _ = claims
    web.says(kit.WELL_KNOWN, REFUSES)
    checking.maintain()
    del web.answers[kit.WELL_KNOWN]

    checking.check(domain, by=alice)

    assert Domain.objects.get().refused_in_public_at is None


@pytest.mark.django_db(transaction=True)
def test_an_organization_has_its_claims_checked_so_often(web, claims, alice, settings):
    settings.HUB_ASKING_RATE = "1/minute"
    checking.check(claims[0], by=alice)

    with pytest.raises(rates.RateLimited):
        checking.check(claims[1], by=alice)


@pytest.mark.django_db(transaction=True)
def test_what_nobody_foresaw_at_one_host_ends_no_other_reading(claims, monkeypatch, caplog):
    def failing(url: str):
        raise ValueError(url)

    monkeypatch.setattr(published, "fetch", failing)

    assert checking.maintain() == 2
    assert "The public file of docs.acme.com could not be read" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_claim_that_is_removed_while_it_is_read_ends_no_other_reading(web, claims, monkeypatch):
    web.says(kit.WELL_KNOWN, REFUSES)
    monkeypatch.setattr(checking.connections, "give_back", Domain.objects.all().delete)

    assert checking.maintain() == 2
    assert Site.objects.get().refused_in_public_at
    assert Notice.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_organization_with_many_claims_delays_no_other(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(checking.published, "refuses", asked.append)
    monkeypatch.setattr(checking, "AT_ONCE", 2)
    greedy = build.organization("greedy")
    for number in range(9):
        build.domain(greedy, f"docs{number}.greedy.com")
    build.domain(build.organization(), HOST)
    build.site(build.organization("third"), "third.github.io")
    rounds = iter([True, True])

    checking.maintain(lambda: next(rounds, False))

    assert {HOST, "third.github.io"} <= set(asked)
    assert len(asked) == 3


@pytest.mark.django_db(transaction=True)
def test_what_was_not_read_for_lack_of_time_stays_due(monkeypatch):
    monkeypatch.setattr(checking.published, "refuses", lambda _: None)
    monkeypatch.setattr(checking, "AT_ONCE", 2)
    owner = build.organization()
    for number in range(9):
        build.domain(owner, f"docs{number}.acme.com")
    rounds = iter([True])

    assert checking.maintain(lambda: next(rounds, False)) == 2
    assert checking.maintain() == 7


def test_what_is_due_is_found_by_an_index(claims):
    plans = plans_of(lambda: [*islice(checking._due(), 2)])

    assert any("domain_file_due" in plan for plan in plans)
    assert any("site_file_is_due" in plan for plan in plans)
    assert not whole_tables_in(plans, "orgs_domain", "orgs_site")


@pytest.mark.django_db(transaction=True)
def test_checks_of_sites_leave_half_of_the_threads_to_checks_of_domains(web, claims, alice):
    with ExitStack() as taken:
        for _ in range(checking._slots()._initial_value):
            taken.enter_context(checking._a_thread())

        with pytest.raises(checking.Busy):
            checking.check(claims[0], by=alice)
        left = verification.slots()._value

    assert left == verification.slots()._initial_value / 2
    assert checking.check(claims[0], by=alice)
