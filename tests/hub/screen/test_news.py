"""What an organization is told: a few of each kind on *Overview*, all of it on *News*."""

import json
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import counting
from hub.screen import news
from orgs.domains import claiming, reverification, verification
from orgs.models import Notice, Organization
from orgs.people import members
from tests import build
from tests.plans import plans_of, whole_tables_in

pytestmark = pytest.mark.django_db
PAGE = "/settings/news/"
Kind = Notice.Kind


@pytest.fixture
def acme() -> Organization:
    return build.organization()


@pytest.fixture
def alice(acme, client) -> Client:
    client.force_login(build.member(acme))
    return client


def text_of(client: Client, page: str) -> str:
    return re.sub(r"<[^>]+>", "", client.get(page).content.decode())


def on_overview(client: Client) -> list[str]:
    return [each.more for each in client.get("/settings/").context["attention"]]


@pytest.mark.django_db(transaction=True)
def test_claims_that_nobody_proves_hide_no_other_news(acme, alice, dns, clock):
    """The attack: a member claims names that they never prove, and leaves before these are removed."""
    mine = build.domain(acme, "acme.com")
    dns.txt(mine.record_name, mine.record_value)
    bob = build.member(acme, "bob", role="member").membership
    for number in range(6):
        claiming.claim_domain(bob, f"w{number}.bob.dev")
        clock.advance(minutes=1)  # each expires at another time
    clock.advance(days=29, hours=23, minutes=30)
    members.remove(bob, by=bob)
    evil = build.domain(build.organization("evil"), "docs.acme.com", verified=False)
    dns.txt(evil.record_name, evil.record_value)
    verification.check(evil, by=build.member(evil.organization, "evil").membership)

    for _ in range(60):
        clock.advance(minutes=1)
        claiming.drop_expired()
    reverification.maintain()

    assert acme.notices.filter(kind=Kind.UNPROVED).count() == 6
    shown = text_of(alice, "/settings/")
    assert "Other organizations have proved names below acme.com" in shown
    assert "bob, who is no longer a member, had claimed" in shown
    assert "was removed because its DNS record" in shown


def test_of_each_kind_the_newest_is_shown_before_a_second_of_any(acme, alice):
    for kind in Kind:
        for number in (1, 2):
            acme.tell(kind, f"{kind} {number}")
    for number in range(30):
        acme.tell(Kind.LOST, f"Lost {number}")

    shown = on_overview(alice)

    assert shown == ["Lost 29", *(f"{kind} 2" for kind in reversed(Kind) if kind != Kind.LOST)]


def test_a_few_of_one_kind_are_shown_if_there_are_no_others(acme, alice):
    acme.tell(Kind.BELOW, "Below 0")
    for number in range(9):
        acme.tell(Kind.LOST, f"Lost {number}")

    assert on_overview(alice) == ["Lost 8", "Lost 7", "Lost 6", "Lost 5", "Below 0"]


def test_what_the_version_before_has_told_is_shown_too(acme, alice):
    """Its processes know of no kinds, and run beside those of this version during an upgrade."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO orgs_notice (organization_id, at, text) VALUES (%s, %s, %s)",
            [acme.pk, timezone.now(), "Of before"],
        )
    for number in range(9):
        acme.tell(Kind.LOST, f"Lost {number}")

    assert on_overview(alice)[-1] == "Of before"
    assert "Of before" in text_of(alice, PAGE)


def test_the_overview_says_how_many_there_were_lately_and_leads_to_all(
    acme, alice, clock, monkeypatch
):
    monkeypatch.setattr(counting, "MOST", 6)
    nothing = PAGE in alice.get("/settings/").content.decode()
    acme.tell(Kind.BELOW, "Long ago")
    clock.advance(days=15)
    only_old = text_of(alice, "/settings/")
    for number in range(6):
        acme.tell(Kind.LOST, f"Lost {number}")
    six = text_of(alice, "/settings/")
    acme.tell(Kind.LOST, "Lost 6")
    many = alice.get("/settings/").content.decode()

    assert not nothing
    assert "All news 0 in the last 14 days" in only_old
    assert "Long ago" not in only_old
    assert "All news 6 in the last 14 days" in six
    assert f'<a href="{PAGE}">All news</a> <span class="hint">6+ in the last 14 days' in many


def test_all_news_are_listed_in_pages_newest_first(acme, alice, monkeypatch):
    monkeypatch.setattr(news, "PAGE_SIZE", 3)
    for number in range(7):
        acme.tell(Kind.BELOW, f"News <{number}>")
    build.organization("other").tell(Kind.BELOW, "News <99>")

    seen, page = [], PAGE
    while page:
        answer = alice.get(page)
        seen.append(re.findall(r"News &lt;(\d+)&gt;", answer.content.decode()))
        older = re.search(r'href="(\?after=\d+)" rel="next"', answer.content.decode())
        page = older and PAGE + older[1]

    assert seen == [["6", "5", "4"], ["3", "2", "1"], ["0"]]
    assert "Below a name of yours" in text_of(alice, PAGE)


def test_no_more_than_fifty_are_on_a_page(acme, alice):
    for number in range(51):
        acme.tell(Kind.BELOW, f"News {number}")

    assert len(re.findall(r"News \d", text_of(alice, PAGE))) == 50


def test_a_page_that_is_full_has_none_behind_it(acme, alice, monkeypatch):
    monkeypatch.setattr(news, "PAGE_SIZE", 2)
    for number in range(2):
        acme.tell(Kind.BELOW, f"News {number}")

    assert "Older" not in text_of(alice, PAGE)
    assert "No older news" in text_of(alice, f"{PAGE}?after={Notice.objects.earliest('pk').pk}")


@pytest.mark.parametrize("after", ["0", "-1", "x", "1.5", "9" * 19, "٣", "1 OR 1=1", "%00"])
def test_a_page_that_no_list_has_named_is_not_there(alice, after):
    assert alice.get(f"{PAGE}?after={after}").status_code == 404


def test_without_news_the_page_says_so(alice):
    answer = alice.get(PAGE)

    assert "No news yet" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]


def test_who_is_no_member_reads_none(acme, alice):
    acme.tell(Kind.BELOW, "docs.acme.com is somebody else's.")
    members.remove(acme.memberships.get(), by=build.member(acme, "anna").membership)

    assert "docs.acme.com" not in text_of(alice, PAGE)


def test_the_export_says_of_which_kind_each_is(acme, alice):
    acme.tell(Kind.BELOW, "docs.acme.com is somebody else's.")

    text = b"".join(alice.get("/settings/account/export.json").streaming_content).decode()

    [told] = json.loads(text)["notices"]
    assert told["kind"] == "below"


def test_news_are_read_by_one_statement_each_and_never_those_of_others(acme, alice):
    acme.tell(Kind.BELOW, "docs.acme.com is somebody else's.")
    plans = plans_of(lambda: [alice.get("/settings/"), alice.get(PAGE)])
    with CaptureQueriesContext(connection) as queries:
        alice.get("/settings/")

    assert len([each for each in queries if "orgs_notice" in each["sql"]]) == 2
    assert [each for each in plans if "orgs_notice" in each]
    assert not whole_tables_in(plans, "orgs_notice")


@pytest.mark.parametrize("page", [PAGE, f"{PAGE}?after=1000"])
def test_a_page_of_news_reads_no_news_of_others(alice, page):
    plans = plans_of(lambda: alice.get(page))

    [listed] = [each for each in plans if "orgs_notice" in each.sql]
    assert "notice_of_organization" in listed
