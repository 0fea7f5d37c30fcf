"""`GET /v1/orgs/me/reports`: what an organization has received."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integrations.api import report_list
from integrations.models import Delivery, Installation, Integration
from reports.models import Report
from tests import build
from tests.plans import plan_of, plans_of

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PATH = "/v1/orgs/me/reports"


@pytest.fixture
def acme():
    return build.organization()


@pytest.fixture
def alice(acme):
    return build.api(build.token(build.member(acme)))


def received(organization, *, at: datetime = NOON, **changes) -> Report:
    fields = {
        "doc_url": "https://docs.acme.com/install",
        "canonical_url": "https://docs.acme.com/install",
        "kind": "outdated",
        "summary": "The command is gone",
        "agent_name": "agent-x",
    }
    return Report.objects.create(
        organization=organization, received_at=at, last_received_at=at, **fields | changes
    )


def delivered(report: Report, **changes) -> Delivery:
    installation, _ = Installation.objects.get_or_create(github_id=1, account="acme")
    integration, _ = Integration.objects.get_or_create(
        organization=report.organization, installation=installation
    )
    return Delivery.objects.create(report=report, integration=integration, **changes)


def pages(client, **asked: str) -> list[list[str]]:
    """The summaries of every page."""
    found = []
    while True:
        answer = client.get(PATH, asked).json()
        found.append([each["summary"] for each in answer["reports"]])
        if answer["next_cursor"] is None:
            return found
        asked["cursor"] = answer["next_cursor"]


def test_a_report_is_shown_with_its_delivery(alice, acme):
    report = received(acme)
    delivered(
        report,
        status="sent",
        tries=2,
        issue_number=4,
        issue_url="https://github.com/acme/docs/issues/4",
        repository_id=7,
    )

    assert alice.get(PATH).json() == {
        "reports": [
            {
                "id": report.id,
                "received_at": "2026-01-01T12:00:00Z",
                "doc_url": "https://docs.acme.com/install",
                "kind": "outdated",
                "summary": "The command is gone",
                "agent_name": "agent-x",
                "times_reported": 1,
                "further_accounts": 0,
                "erased_at": None,
                "delivery": {
                    "status": "sent",
                    "held_for": None,
                    "reason": None,
                    "waits_for": None,
                    "issue_url": "https://github.com/acme/docs/issues/4",
                    "attempts": 2,
                    "lead": None,
                    "maybe_lead": None,
                    "folded_by": None,
                    "likeness_words": None,
                },
            }
        ],
        "next_cursor": None,
    }


def test_a_report_without_a_delivery_says_so(alice, acme):
    received(acme)

    assert alice.get(PATH).json()["reports"][0]["delivery"] is None


def test_newest_come_first_in_pages_of_fifty(alice, acme):
    for number in range(101):
        received(acme, at=NOON + timedelta(seconds=number), summary=str(number))

    assert pages(alice) == [
        [str(number) for number in range(100, 50, -1)],
        [str(number) for number in range(50, 0, -1)],
        ["0"],
    ]


def test_reports_of_the_same_moment_are_each_shown_once(alice, acme):
    everything = {received(acme, summary=str(number)).summary for number in range(120)}

    found = [summary for page in pages(alice) for summary in page]

    assert len(found) == 120
    assert set(found) == everything


def test_what_arrives_meanwhile_moves_no_page(alice, acme):
    for number in range(60):
        received(acme, at=NOON + timedelta(seconds=number), summary=str(number))
    cursor = alice.get(PATH).json()["next_cursor"]

    received(acme, at=NOON + timedelta(hours=1), summary="new")
    second = alice.get(PATH, {"cursor": cursor}).json()

    assert [each["summary"] for each in second["reports"]] == [str(n) for n in range(9, -1, -1)]


def test_fifty_are_one_page(alice, acme):
    for number in range(50):
        received(acme, summary=str(number))

    assert len(pages(alice)) == 1


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, {"sent", "held", "discarded", "matched"}),
        ({"status": "sent"}, {"sent"}),
        ({"status": "held"}, {"held"}),
        ({"status": "discarded"}, {"discarded"}),
        ({"status": "failed"}, set()),
        ({"status": "none"}, {"matched"}),
        ({"kind": "broken"}, {"held"}),
        ({"q": "HEL"}, {"held"}),
        ({"q": "docs.acme.com/b"}, {"matched"}),
        ({"q": "%"}, set()),
        ({"status": "sent", "kind": "broken"}, set()),
        ({"agent": "claude-code"}, {"sent"}),
        ({"agent": "claude"}, set()),
        ({"page": "https://docs.acme.com/b"}, {"matched"}),
        ({"page": "HTTPS://Docs.Acme.com/b/?utm_source=x#top"}, {"matched"}),
        ({"page": "/b"}, {"matched"}),
        ({"page": "/install"}, {"sent", "held", "discarded"}),
        ({"page": "/inst"}, set()),
        ({"claim": "docs.acme.com"}, {"sent", "held", "discarded", "matched"}),
        ({"claim": "ACME.com."}, {"sent", "held", "discarded", "matched"}),
        ({"claim": "me.com"}, set()),
        ({"claim": "https://docs.acme.com/b/"}, {"matched"}),
        ({"claim": "https://docs.acme.com/"}, {"sent", "held", "discarded", "matched"}),
        ({"since": "2026-01-01", "until": "2026-01-01"}, {"sent", "held", "discarded"}),
        ({"until": "2025-12-31"}, {"matched"}),
        ({"since": "2026-01-02"}, set()),
        ({"since": "2025-12-31", "kind": "broken"}, {"held"}),
        ({"status": "held", "until": "2025-12-31"}, set()),
        ({"status": "held", "since": "2026-01-01"}, {"held"}),
        (
            {"status": "", "kind": "", "q": "", "cursor": ""},
            {"sent", "held", "discarded", "matched"},
        ),
    ],
)
def test_filters_narrow_it_down(alice, acme, asked, found):
    sent = received(acme, summary="sent", agent_name="claude-code")
    delivered(sent, status="sent", issue_number=1, repository_id=7)
    delivered(received(acme, summary="held", kind="broken"), status="held", held_for="ownership")
    delivered(received(acme, summary="discarded"), status="held", held_for="discarded")
    address = "https://docs.acme.com/b"
    before = NOON.replace(hour=0) - timedelta(microseconds=1)
    received(acme, at=before, summary="matched", doc_url=address, canonical_url=address)

    assert {summary for page in pages(alice, **asked) for summary in page} == found


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("acme.github.io", {"top", "docs", "docs?", "docs/a", "docs2", "port"}),
        ("https://acme.github.io/", {"top", "docs", "docs?", "docs/a", "docs2", "port"}),
        ("https://acme.github.io/docs/", {"docs", "docs?", "docs/a", "port"}),
        ("https://acme.github.io/docs", {"docs", "docs?", "docs/a", "port"}),
        ("github.io", {"top", "docs", "docs?", "docs/a", "docs2", "port"}),
        ("e.github.io", set()),
    ],
)
def test_the_pages_of_a_claim(alice, acme, claim, found):
    site = "https://acme.github.io"
    addresses = {
        "top": f"{site}/",
        "docs": f"{site}/docs",
        "docs?": f"{site}/docs?v=2",
        "docs/a": f"{site}/docs/a",
        "docs2": f"{site}/docs2/a",
        "port": "http://acme.github.io:8080/docs/b",
        "path": "docs/a",
    }
    for name, address in addresses.items():
        received(acme, summary=name, canonical_url=address)

    assert {summary for page in pages(alice, claim=claim) for summary in page} == found


def test_days_end_where_pages_go_on(alice, acme):
    """A cursor and the end of the days are both kept."""
    for number in range(120):
        received(acme, at=NOON - timedelta(hours=number), summary=str(number))

    found = pages(alice, since="2025-12-29", until="2025-12-31")

    assert [len(page) for page in found] == [50, 22]
    assert [each for page in found for each in page] == [str(number) for number in range(13, 85)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status", "lost"),
        ("page", "install"),
        ("page", "ftp://docs.acme.com/"),
        ("page", "https://docs.acme.com/a b"),
        ("page", "/a\0b"),
        ("page", "/" + "a" * 2048),
        ("agent", "a" * 201),
        ("agent", "a\0b"),
        ("claim", "not a host"),
        ("claim", "docs/a"),
        ("claim", "https://"),
        ("claim", "a\0.com"),
        ("since", "yesterday"),
        ("since", "2026-02-30"),
        ("since", "0001-01-01"),
        ("until", "9999-12-31"),
        ("until", "20261130"),
        ("kind", "wrong"),
        ("q", "a\0b"),
        ("q", "a" * 2049),
        ("cursor", "1"),
        ("cursor", "99999999999999999-01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("cursor", "1-01ARZ3NDEKTSV4RRFFQ69G5FA\0"),
        ("cursor", "1-01ARZ3NDEKTSV4RRFFQ69G5FAV\n"),
    ],
)
def test_what_does_not_exist_is_refused(alice, name, value):
    answer = alice.get(PATH, {name: value})

    assert answer.status_code == 400
    assert answer.json()["error"] == "validation_error"
    assert [each["path"] for each in answer.json()["details"]] == [f"query:{name}"]


def test_days_that_end_before_they_begin_are_refused(alice):
    answer = alice.get(PATH, {"since": "2026-01-02", "until": "2026-01-01"})

    [fault] = answer.json()["details"]
    assert fault == {"path": "query:until", "message": "Must not be before since."}


def test_every_fault_is_named_at_once(alice):
    answer = alice.get(PATH, {"status": "lost", "kind": "wrong"})

    assert {each["path"] for each in answer.json()["details"]} == {"query:status", "query:kind"}


def test_nobody_sees_what_somebody_else_received(acme):
    bobs = build.organization("bobs")
    received(acme, summary="hers")
    received(None, summary="nobody's")
    received(bobs, summary="his")
    bob = build.api(build.token(build.member(bobs, "bob")))

    assert pages(bob) == [["his"]]


def test_a_report_that_waits_says_for_what(alice, acme, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    delivered(received(acme), status="failed", last_tried_at=timezone.now())
    for number in range(2):
        delivered(received(acme, at=NOON + timedelta(minutes=number)), status="pending")
    Integration.objects.update(repository_id=7, repo_owner="acme", repo_name="docs")

    failed, first, second = reversed(
        [each["delivery"]["waits_for"] for each in alice.get(PATH).json()["reports"]]
    )

    tried = Delivery.objects.earliest("pk").last_tried_at
    assert failed is None
    assert (first["cause"], second["cause"]) == ("turn", "turn")
    assert first["message"].startswith("Waiting its turn: at most 1 issue an hour go to acme. ")
    assert datetime.fromisoformat(first["about"]) == tried + timedelta(hours=1)
    assert datetime.fromisoformat(second["about"]) == tried + timedelta(hours=2)


@pytest.mark.slow
def test_a_page_costs_as_many_queries_at_five_hundred_reports(
    alice, acme, django_assert_num_queries
):
    for number in range(500):
        delivered(received(acme, at=NOON + timedelta(seconds=number)), status="pending")
    cursor = alice.get(PATH).json()["next_cursor"]

    # one each for the token, the integration and the state; three for why they wait
    with django_assert_num_queries(8):
        answer = alice.get(PATH, {"cursor": cursor, "status": "pending", "q": "gone"})

    assert len(answer.json()["reports"]) == 50


def test_searches_are_short_and_so_many(alice):
    """One reads the text of all reports: a long one took milliseconds for each."""
    with CaptureQueriesContext(connection) as long:
        alice.get(PATH, {"q": "a" * 201})
    answers = [alice.get(PATH, {"q": "a" * 200}).status_code for _ in range(21)]

    assert not any("instr(" in each["sql"] or "position" in each["sql"] for each in long)
    assert answers == 19 * [200] + 2 * [429]
    assert alice.get(PATH).status_code == 200


@pytest.mark.parametrize(
    ("filters", "most"),
    [
        ({"page": "/install"}, 20),
        ({"claim": "docs.acme.com"}, 20),
        ({"q": "x", "kind": "broken"}, 20),
        ({"kind": "broken"}, 60),
        ({"agent": "x", "status": "none"}, 60),
        ({"since": "2026-01-01"}, None),
        ({}, None),
    ],
)
def test_all_that_looks_at_many_reports_is_asked_so_often(acme, filters, most):
    """An attack: members of ten organizations, each of whose lists has 5,000 reports looked at for nothing."""
    limits = report_list.limits(build.member(acme, "bob", role="member").membership, filters)

    assert [each.rate for each in limits] == ([f"{most}/minute"] * 2 if most else [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("50% off", True),
        ("50_ off", False),
        ("c:\\new", True),
        ("ÉCOLE", True),
        ('it\'s "quoted"', True),
        ("\U0001f600 fin", True),
        ("\U0001f601", False),
        ("fin.", False),
    ],
)
def test_a_search_is_for_the_text_as_it_is(alice, acme, text, found):
    received(acme, summary='ÉCOLE: 50% OFF at C:\\New, it\'s "quoted" \U0001f600 fin')

    assert len(alice.get(PATH, {"q": text}).json()["reports"]) == found


def test_a_search_compares_the_first_2048_characters_of_an_address(alice, acme):
    """A character of an address becomes nine of its canonical form, and each costs whoever searches."""
    address = f"https://docs.acme.com/{'%E4%BD%A0' * 250}"
    report = received(acme)
    Report.objects.filter(pk=report.pk).update(canonical_url=f"{address}/end")
    assert len(address) > 2048

    found = [len(alice.get(PATH, {"q": text}).json()["reports"]) for text in ("%bd%a0", "/end")]

    assert found == [1, 0]


def test_no_search_begins_anew_at_each_place_of_a_text(acme, client):
    """With LIKE, four requests of one member took both databases 0.8 ms for each report, 33 s for 20,000."""
    received(acme, summary="a" * 500)
    client.force_login(build.member(acme, "bob"))

    with CaptureQueriesContext(connection) as asked:
        client.get("/settings/reports/?q=" + "a" * 199 + "b")
        client.post("/settings/reports/change/?q=" + "a" * 199 + "b", {"all": "discard"})
        b"".join(client.get("/settings/reports/reports.csv?q=" + "a" * 199 + "b"))

    searched = [each["sql"] for each in asked if "a" * 99 + "b" in each["sql"]]
    assert len(searched) == 3
    assert not any("LIKE" in each.upper() for each in searched)


@pytest.fixture
def short_sighted(monkeypatch) -> None:
    """A page looks at ten reports only, and no state has few deliveries."""
    monkeypatch.setattr(report_list, "LOOKED_AT", 10)
    monkeypatch.setattr(report_list, "FEW", -1)


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "broken"},
        {"q": "rare"},
        {"status": "none"},
        {"kind": "broken", "status": "none"},
        {"page": "https://docs.acme.com/rare"},
        {"page": "/rare"},
        {"agent": "rare"},
        {"claim": "rare.acme.com"},
    ],
)
def test_what_matches_rarely_is_found_a_look_at_a_time(alice, acme, short_sighted, asked):
    for number in range(35):
        at = NOON - timedelta(minutes=number)
        if number in (12, 34):
            address = f"https://{'rare' if 'claim' in asked else 'docs'}.acme.com/rare"
            rare = {"kind": "broken", "agent_name": "rare", "canonical_url": address}
            received(acme, at=at, summary=f"Rare {number}", **rare)
        else:
            delivered(received(acme, at=at))

    assert pages(alice, **asked) == [[], ["Rare 12"], [], ["Rare 34"]]


def test_a_page_that_is_full_ends_before_the_look_does(alice, acme, monkeypatch):
    monkeypatch.setattr(report_list, "LOOKED_AT", 110)
    for number in range(120):
        received(acme, at=NOON - timedelta(minutes=number), kind="broken", summary=str(number))

    found = pages(alice, kind="broken")

    assert [len(page) for page in found] == [50, 50, 20]
    assert [each for page in found for each in page] == [str(number) for number in range(120)]


@pytest.mark.parametrize("comes", [True, False])
def test_what_comes_or_goes_meanwhile_moves_no_page(alice, acme, short_sighted, monkeypatch, comes):
    for number in range(25):
        received(acme, at=NOON - timedelta(minutes=number), kind="broken", summary=str(number))
    end_of_look = report_list._end_of_look

    def end(reports):
        found = end_of_look(reports)
        if comes:
            received(acme, at=NOON + timedelta(hours=1), kind="broken", summary="New")
        else:
            Report.objects.filter(summary="5").delete()
        return found

    monkeypatch.setattr(report_list, "_end_of_look", end)
    found = [each for page in pages(alice, kind="broken") for each in page if each != "New"]

    assert [each for each in found if each != "5"] == [str(n) for n in range(25) if n != 5]


def test_withheld_reports_are_not_among_those_that_are_looked_at(alice, acme, short_sighted):
    for number in range(30):
        received(acme, at=NOON - timedelta(minutes=number), withheld_for=7)
    received(acme, at=NOON - timedelta(hours=1), kind="broken", summary="Shown")

    assert pages(alice, kind="broken") == [["Shown"]]


def test_a_state_that_few_are_in_is_found_at_once_however_old(alice, acme, monkeypatch):
    monkeypatch.setattr(report_list, "LOOKED_AT", 10)
    for number in range(35):
        delivered(received(acme, at=NOON - timedelta(minutes=number)))
    old = received(acme, at=NOON - timedelta(days=9), summary="Old")
    delivered(old, status="held", held_for="ownership")

    assert pages(alice, status="held") == [["Old"]]
    assert pages(alice, status="held", kind="broken") == [[]]


@pytest.mark.parametrize("cursor", ["", "1767268800000000-01ARZ3NDEKTSV4RRFFQ69G5FAV"])
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"kind": "broken"},
        {"status": "none"},
        {"status": "sent"},
        {"q": "a"},
        {"page": "/a"},
        {"page": "https://a.example/"},
        {"agent": "a"},
        {"claim": "a.example"},
        {"claim": "https://a.example/b/"},
        {"since": "2025-12-31"},
        {"until": "2026-01-02", "kind": "broken"},
    ],
)
def test_every_list_reads_one_index_in_its_order(acme, short_sighted, asked, cursor):
    delivered(received(acme))

    plans = plans_of(lambda: report_list.page(acme, {**asked, "cursor": cursor}))

    [rows] = [plan for plan in plans if "LIMIT 51" in plan.sql]
    assert "report_received" in rows
    assert not re.search("Sort|TEMP B-TREE|SCAN reports_report|Seq Scan", rows)
    if cursor or "until" in asked:
        assert re.search(r"\(organization_id,received_at,id\)<|ROW\(.*\) < ROW\(", rows)


@pytest.mark.postgresql
def test_a_deep_page_begins_where_it_begins(acme):
    """With two conditions for its beginning, PostgreSQL chose the wider one: it read all that came before."""
    received(acme)

    plan = plan_of(Report.objects.newest_first(acme, before=(NOON, ""))[:25])

    assert "report_received" in plan
    assert "ROW" in plan
    assert "(organization_id)::text <=" not in plan


def test_days_are_found_in_the_index(acme):
    received(acme)

    days = {"since": "2025-12-31", "until": "2026-01-02"}
    plans = plans_of(lambda: report_list.page(acme, days))

    [rows] = [plan for plan in plans if "LIMIT 51" in plan.sql]
    key = r"\(organization_id,received_at,id\)"
    assert re.search(f"{key}>.* AND {key}<|ROW.* > ROW.*ROW.* < ROW|ROW.* < ROW.*ROW.* > ROW", rows)


@pytest.mark.parametrize("status", ["pending", "sending", "sent", "held", "failed", "discarded"])
def test_how_many_are_in_a_state_is_read_from_an_index(acme, status):
    delivered(received(acme))

    plans = plans_of(lambda: report_list.page(acme, {"status": status}))

    [few] = [str(plan) for plan in plans if "LIMIT 1001" in plan.sql]
    assert re.search("delivery_turn|delivery_held", few)
    assert not re.search("Sort|TEMP B-TREE|SCAN integrations_delivery|Seq Scan", few)


def test_the_few_in_a_state_are_looked_up_by_their_ids(acme):
    for _ in range(20):
        delivered(received(acme))

    plans = plans_of(lambda: report_list.page(acme, {"status": "pending"}))

    [rows] = [plan for plan in plans if "LIMIT 51" in plan.sql]
    assert re.search(r"reports_report_1 \(id=\?\)|\(id\)::text = ANY", rows)
