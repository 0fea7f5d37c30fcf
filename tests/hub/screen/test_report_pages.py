"""`/settings/reports/`: the list, one report, and trying again."""

import csv
import io
import re
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import batches, counting
from hub.screen import csv_lines, report_rows, reports
from integrations.answers.saying import NOBODY
from integrations.api import report_list
from integrations.delivery.trying_again import NEVER_SENT
from integrations.models import Attempt, Delivery, Installation, Integration
from integrations.models.integration import PAUSED
from reports.models import Report
from tests import build

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PAGE = "/settings/reports/"


@pytest.fixture
def acme(db):
    return build.organization()


@pytest.fixture
def alice(acme, client):
    client.force_login(build.member(acme))
    return client


def received(organization, *, at: datetime = NOON, **changes) -> Report:
    fields = {
        "doc_url": "https://docs.acme.com/install",
        "canonical_url": "https://docs.acme.com/install",
        "kind": "outdated",
        "summary": "The command is gone",
        "agent_name": "agent-x",
    }
    return Report(
        organization=organization, received_at=at, last_received_at=at, **fields | changes
    )


def stored(organization, **changes) -> Report:
    report = received(organization, **changes)
    report.save()
    return report


def delivered(report: Report, **changes) -> Delivery:
    installation, _ = Installation.objects.get_or_create(github_id=1, account="acme")
    integration, _ = Integration.objects.get_or_create(
        organization=report.organization, installation=installation
    )
    return Delivery.objects.create(report=report, integration=integration, **changes)


def text_of(answer) -> str:
    return answer.content.decode()


def test_the_list_shows_what_became_of_each(alice, acme):
    sent = stored(acme, summary="First")
    issue = "https://github.com/acme/docs/issues/4"
    delivered(sent, status="sent", issue_number=4, repository_id=7, issue_url=issue)
    stored(acme, summary="Second")

    page = text_of(alice.get(PAGE))

    assert f'<a class="title" href="{PAGE}{sent.id}/">First</a>' in page
    assert '<span class="state good">Sent</span>' in page
    assert f'<a class="soft" href="{issue}" aria-label="Issue #4 on GitHub">#4</a>' in page
    assert '<span class="state off">Not forwarded</span>' in page


@pytest.mark.parametrize(
    ("status", "mark"),
    [
        ({"status": "pending"}, '<span class="pill wait">Waiting</span>'),
        ({"status": "failed"}, '<span class="pill bad">Failed</span>'),
        ({"status": "held", "held_for": "ownership"}, '<span class="pill wait">Held</span>'),
        ({"status": "held", "held_for": "discarded"}, '<span class="state off">Discarded</span>'),
    ],
)
def test_what_may_need_somebody_is_loud(alice, acme, status, mark):
    delivered(stored(acme), **status)

    assert mark in text_of(alice.get(PAGE))


def test_a_row_says_where_who_how_often_and_when(alice, acme):
    at = timezone.now() - timedelta(minutes=18)
    stored(acme, at=at, times_reported=37, doc_url="https://docs.acme.com/install?v=2#top")

    page = text_of(alice.get(PAGE))

    assert "<span>/install?v=2</span><span>agent-x</span>" in page
    assert '<span title="Reported 37 times">×37</span>' in page
    assert re.search(
        f'<time datetime="{at:%Y-%m-%dT%H:%M}[^"]+" title="{at.day} .* UTC">18 min ago<', page
    )


def test_hosts_are_shown_where_there_are_several(alice, acme):
    stored(acme)
    stored(acme, doc_url="https://api.acme.com/", canonical_url="https://api.acme.com/")

    page = text_of(alice.get(PAGE))

    assert "<span>docs.acme.com/install</span>" in page
    assert "<span>api.acme.com/</span>" in page


@pytest.mark.parametrize(
    "url", ["https://[::1", "https://ａｂ℀.com/", "docs/a:b", "https://a.example\n/"]
)
def test_no_address_is_too_odd_for_a_row(url):
    assert report_rows.short_addresses([url])


def test_the_tabs_count_the_states(alice, acme):
    for each in ("failed", "failed", "pending"):
        delivered(stored(acme), status=each)
    delivered(stored(acme), status="held", held_for="ownership")
    delivered(stored(acme), status="held", held_for="discarded")
    stored(acme)

    every, failed = alice.get(PAGE), alice.get(PAGE, {"status": "failed"})
    searched = alice.get(PAGE, {"status": "failed", "kind": "outdated"})

    numbers = [(each.name, each.number) for each in every.context["tabs"]]
    assert numbers == [
        ("All", "6"),
        ("Waiting", "1"),
        ("Held", "1"),
        ("Failed", "2"),
        ("Sent", "0"),
        ("Joined", "0"),
        ("Discarded", "1"),
        ("Not forwarded", ""),
    ]
    assert "Newest 6 of 6" in text_of(every)
    assert "Newest 2 of 2" in text_of(failed)
    assert [each.name for each in failed.context["tabs"] if each.is_current] == ["Failed"]
    assert not any(each.number for each in searched.context["tabs"])
    assert f'{PAGE}?status=pending&amp;kind=outdated"' in text_of(searched)


def test_tabs_stop_counting(alice, acme, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 2)
    for _ in range(4):
        delivered(stored(acme), status="failed")

    tabs = {each.name: each.number for each in alice.get(PAGE).context["tabs"]}

    assert (tabs["All"], tabs["Failed"], tabs["Held"]) == ("2+", "2+", "0")


def test_what_cannot_be_counted_without_what_is_withheld_is_not(alice, acme):
    delivered(stored(acme, withheld_for=7), status="failed")

    assert not any(each.number for each in alice.get(PAGE).context["tabs"])


def test_each_filter_can_be_removed(alice, acme):
    build.domain(acme, "docs.acme.com")
    stored(acme)
    asked = {
        "page": "/install",
        "agent": "agent-x",
        "claim": "docs.acme.com",
        "since": "2026-01-01",
    }

    shown = alice.get(PAGE, asked | {"kind": "outdated"})

    chosen = {each.label: (each.value, each.address) for each in shown.context["chosen"]}
    assert list(chosen) == ["Page", "Agent", "Claim", "From"]
    assert chosen["Page"] == (
        "/install",
        f"{PAGE}?agent=agent-x&claim=docs.acme.com&since=2026-01-01&kind=outdated",
    )
    assert '<option value="docs.acme.com" selected>docs.acme.com</option>' in text_of(shown)
    assert len(shown.context["rows"]) == 1


def test_a_claim_that_is_none_of_theirs_is_still_shown_as_chosen(alice):
    page = text_of(alice.get(PAGE, {"claim": "gone.example"}))

    assert '<option value="gone.example" selected>gone.example</option>' in page
    assert "Nothing matches" in page


def test_the_filters_are_in_the_address_and_in_the_form(alice, acme):
    stored(acme, summary="Gone", kind="broken")
    stored(acme, summary="Stale", kind="outdated")

    page = text_of(alice.get(PAGE, {"kind": "broken", "status": "none", "q": "go"}))

    assert "Gone" in page
    assert "Stale" not in page
    assert '<option value="broken" selected>' in page
    assert 'value="go"' in page
    assert "reports.csv?kind=broken&amp;status=none&amp;q=go" in page
    assert '<input type="hidden" name="status" value="none">' in page


def test_a_long_address_of_the_overview_finds_its_reports(alice, acme):
    address = "https://docs.acme.com/" + "a" * 1000
    now = timezone.now()
    stored(acme, canonical_url=address, doc_url=f"{address}?x", at=now, summary="Gone 1")

    overview = text_of(alice.get("/settings/"))
    [link] = re.findall(r'href="(/settings/reports/\?page=[^"]+)"', overview)
    found = alice.get(link)

    assert found.status_code == 200
    assert "Gone 1" in text_of(found)


def test_what_comes_next_is_said_where_there_is_nothing(alice):
    empty = text_of(alice.get(PAGE))

    assert "No reports yet" in empty
    assert 'action="/settings/integration/install/"' in empty
    assert "Install the app</button>" in empty
    assert "Nothing matches" in text_of(alice.get(PAGE, {"q": "x"}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "lost"},
        {"kind": "wrong"},
        {"q": "a" * 2049},
        {"q": "a\0"},
        {"cursor": "1"},
        {"page": "install"},
        {"agent": "a" * 201},
        {"claim": "not a host"},
        {"since": "yesterday"},
        {"until": "2026-02-30"},
    ],
)
def test_an_address_that_nobody_gave_out_is_answered_in_words(alice, wrong):
    answer = alice.get(PAGE, wrong)

    assert answer.status_code == 400
    assert "<title>Error: Reports" in text_of(answer)
    assert "must" in text_of(answer) or "incomplete" in text_of(answer)
    assert alice.get(f"{PAGE}reports.csv", wrong).status_code == 404


def test_everything_wrong_in_an_address_is_said_at_its_field(alice):
    wrong = {"status": "lost", "page": "install", "since": "2026-01-02", "until": "2026-01-01"}

    page = text_of(alice.get(PAGE, wrong))

    assert "<li>Status must be one of none, pending, " in page
    for field in ("page", "until"):
        assert f'<a href="#id_{field}">' in page
    assert page.count("To must not be before since.") == 2  # in the summary, and at the field
    assert '<details class="menu" open>' in page


def test_pages_lead_on_and_back_with_the_filters(alice, acme):
    for number in range(26):
        stored(acme, at=NOON + timedelta(seconds=number), summary=f"Number {number}.")

    first = alice.get(PAGE, {"kind": "outdated"})
    older = alice.get(PAGE + first.context["next_page"])

    assert "Number 25." in text_of(first)
    assert "Number 0." not in text_of(first)
    assert "Number 0." in text_of(older)
    assert older.context["first_page"] == "?kind=outdated"
    assert older.context["next_page"] == ""


@pytest.mark.slow
def test_a_page_costs_few_queries_at_ten_thousand_reports(
    alice, acme, django_assert_max_num_queries
):
    many = [received(acme, at=NOON + timedelta(seconds=n), summary=f"N{n}") for n in range(10_000)]
    Report.objects.bulk_create(many)
    delivered(many[-1], status="pending")
    delivered(many[-2], status="pending")

    with django_assert_max_num_queries(10 + 3):
        whole = alice.get(PAGE)
    with django_assert_max_num_queries(10 + 3):
        answer = alice.get(PAGE, {"q": "n"})
    with django_assert_max_num_queries(9):
        nothing = alice.get(PAGE, {"page": "/nowhere", "agent": "x", "claim": "docs.acme.com"})

    assert len(answer.context["rows"]) == len(whole.context["rows"]) == 25
    assert not nothing.context["rows"]


def test_a_filter_that_matches_rarely_looks_further_on_request(alice, acme, monkeypatch):
    monkeypatch.setattr(report_list, "LOOKED_AT", 10)
    for number in range(15):
        stored(acme, at=NOON - timedelta(minutes=number), summary=f"Number {number}.")

    first = alice.get(PAGE, {"q": "number 14"})
    further = alice.get(PAGE + first.context["next_page"])

    assert "Nothing matches yet" in text_of(first)
    assert "Looked at 10 reports, back to 1 January 2026, 11:51 UTC." in text_of(first)
    assert "Look further" in text_of(first)
    assert "Number 14." in text_of(further)
    assert "Look further" not in text_of(further)


def table(answer) -> list[list[str]]:
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


def test_the_table_for_a_spreadsheet_has_all_that_the_filters_let_through(alice, acme):
    for number in range(120):
        stored(acme, at=NOON + timedelta(seconds=number), summary=f'Number "{number}",\nfine')
    stored(acme, kind="broken")
    stored(build.organization("bobs"))

    answer = alice.get(f"{PAGE}reports.csv", {"kind": "outdated"})
    rows = table(answer)

    assert answer["Content-Type"].startswith("text/csv")
    assert "attachment" in answer["Content-Disposition"]
    assert rows[0][:4] == ["id", "received_at", "kind", "summary"]
    assert [row[3] for row in rows[1:]] == [f'Number "{n}",\nfine' for n in range(119, -1, -1)]


def test_a_formula_is_a_text_in_the_table(alice, acme):
    stored(acme, summary='=HYPERLINK("https://evil.example")', agent_name="@SUM(1)")

    row = table(alice.get(f"{PAGE}reports.csv"))[1]

    assert row[3] == '\'=HYPERLINK("https://evil.example")'
    assert row[5] == "'@SUM(1)"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=1", "'=1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("  =1", "'  =1"),
        ("\u00a0=1", "'\u00a0=1"),
        ("＝1", "'＝1"),
        ("a=1", "a=1"),
        ("", ""),
        (-1, -1),
    ],
)
def test_no_cell_is_a_formula(cell, shown):
    assert csv_lines.harmless(cell) == shown


def test_a_separator_of_another_country_begins_no_cell():
    [_, line] = csv_lines.lines([["broken; =1+1", "a\t=1", "a; b", 3]])

    assert line == '"broken; \'=1+1","a\t\'=1","a; b",3\r\n'


def test_one_report_shows_its_text_as_text(alice, acme):
    hostile = "<script>alert(1)</script> @alice"
    report = stored(
        acme,
        summary=hostile,
        details=f"details {hostile}",
        suggested_fix=f"fix {hostile}",
        evidence=[{"kind": "quote", "text": f"evidence {hostile}"}],
    )

    page = text_of(alice.get(f"{PAGE}{report.id}/"))

    assert "<script>alert" not in page
    for part in ("details", "fix", "evidence"):
        assert f"{part} &lt;script&gt;alert(1)&lt;/script&gt; @alice" in page


def test_a_page_that_is_a_path_is_no_link(alice, acme):
    report = stored(acme, doc_url="docs/javascript:x", canonical_url="docs/javascript:x")

    page = text_of(alice.get(f"{PAGE}{report.id}/"))

    assert "<dd>docs/javascript:x</dd>" in page


def test_one_report_shows_exactly_what_was_sent_and_every_attempt(alice, acme):
    report = stored(acme)
    delivery = delivered(
        report,
        status="failed",
        reason="Body is too long",
        tries=2,
        repository="acme/docs",
        repository_id=7,
        posted_at=NOON,
        title="[docs] Gone",
        body="It is gone\n\n<!-- hub:1 -->",
    )
    Attempt.objects.create(
        delivery=delivery, number=1, started_at=NOON, outcome="later", reason="GitHub was away"
    )
    Attempt.objects.create(delivery=delivery, number=2, started_at=NOON, outcome="refused")

    page = text_of(alice.get(f"{PAGE}{report.id}/"))

    assert "<h3>[docs] Gone</h3>" in page
    assert '<pre tabindex="0">It is gone\n\n&lt;!-- hub:1 --&gt;</pre>' in page
    assert "Body is too long" in page
    assert "GitHub was away" in page
    assert "Refused" in page


def test_a_report_without_a_delivery_says_why(alice, acme):
    page = text_of(alice.get(f"{PAGE}{stored(acme).id}/"))

    assert "before a repository was chosen" in page
    assert "Try again" not in page


def test_a_report_that_waits_says_for_what(alice, acme, settings):
    failed = delivered(stored(acme), status="failed")
    Delivery.objects.update(last_tried_at=timezone.now(), source="x")
    Integration.objects.update(repository_id=7, repo_owner="acme", repo_name="docs")
    settings.HUB_ISSUE_RATE = "1/minute;400/hour"
    due = timezone.now() - timedelta(minutes=5)
    Report.objects.bulk_create([waiting := received(acme)])  # without a delivery of its own
    delivery = delivered(waiting, status="pending", due_at=due)
    page = f"/settings/reports/{delivery.report_id}/"

    in_turn = text_of(alice.get(page))
    Delivery.objects.update(due_at=timezone.now() + timedelta(minutes=5))
    later = text_of(alice.get(page))

    account = delivery.integration.installation.account
    pace = "at most 1 issue a minute and 400 an hour"
    assert f"Waiting its turn: {pace} go to {account}." in in_turn
    assert "Try again</button>" not in in_turn
    assert "The Hub tries again at about" in later
    assert "Try again</button>" in later
    assert "Waiting its turn" not in text_of(alice.get(f"/settings/reports/{failed.report_id}/"))


def test_the_raw_text_is_plain_text(alice, acme):
    report = stored(
        acme,
        summary="Grüße <b>",
        details="One\n\n@alice",
        evidence=[{"kind": "quote", "text": "It says"}],
        suggested_fix="Mend it",
    )

    answer = alice.get(f"{PAGE}{report.id}/raw")

    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert text_of(answer) == "Grüße <b>\n\nOne\n\n@alice\n\nquote:\nIt says\n\nMend it\n"


POSTED = ["try-again/", "discard/", "restore/"]
PARTS = ["", "raw", *POSTED]


@pytest.mark.parametrize("part", PARTS)
def test_what_is_not_mine_is_not_there(alice, part):
    foreign = delivered(stored(build.organization("bobs"))).report
    nobodys = stored(None)

    for report_id in (foreign.id, nobodys.id, "unknown", "0" * 26):
        address = f"{PAGE}{report_id}/{part}"
        answer = alice.post(address) if part in POSTED else alice.get(address)
        assert answer.status_code == 404


@pytest.mark.parametrize("part", ["", "reports.csv", "01J/", "01J/raw"])
def test_visitors_sign_in_first(client, db, part):
    assert client.get(PAGE + part)["Location"] == f"/login/?next={PAGE}{part}"


def test_whoever_belongs_to_no_organization_has_no_reports(client, db):
    from orgs.models import User

    client.force_login(User.objects.create(username="operator"))

    assert client.get(PAGE).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_try_again_ends_in_the_issue(client, code_host):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    code_host.fail("422")
    build.send(client)
    page = f"{PAGE}{Report.objects.get().id}/"
    assert "Try again" in text_of(client.get(page))

    answer = client.post(f"{page}try-again/", follow=True)

    assert answer.redirect_chain == [(page, 302)]
    assert "Issue #1 opened in acme/docs." in text_of(answer)
    assert "Try again" not in text_of(answer)
    assert len(code_host.issues("acme/docs")) == 1


@pytest.mark.django_db(transaction=True)
def test_a_member_who_presses_try_again_without_end_is_told_to_wait(client, code_host, settings):
    settings.HUB_ASKING_RATE = "1/minute"
    client.force_login(build.member(build.acme(code_host)))
    code_host.set_issues("acme/docs", False)
    build.send(client)
    button = f"{PAGE}{Report.objects.get().id}/try-again/"
    client.post(button)

    answer = client.post(button, follow=True)

    assert "Too many attempts to try again." in text_of(answer)
    assert Delivery.objects.get().tries == 2


@pytest.mark.django_db(transaction=True)
def test_of_attempts_without_end_a_hundred_are_shown(client, code_host):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    code_host.set_issues("acme/docs", False)
    build.send(client)
    build.attempts(Delivery.objects.get(), 300)

    page = text_of(client.get(f"{PAGE}{Report.objects.get().id}/"))

    assert page.count("Held 20") == 0
    assert "300 attempts in all. The first and the latest are shown." in page


@pytest.mark.django_db(transaction=True)
def test_try_again_says_why_it_did_not_arrive(client, code_host):
    acme = build.acme(code_host)
    client.force_login(build.member(acme))
    code_host.set_issues("acme/docs", False)
    build.send(client)

    answer = client.post(f"{PAGE}{Report.objects.get().id}/try-again/", follow=True)

    assert "Not delivered. Issues are turned off in acme/docs." in text_of(answer)


def test_trying_again_is_a_form_with_its_token(alice, acme, client):
    report = delivered(stored(acme), status="failed").report
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = alice.cookies

    assert strict.post(f"{PAGE}{report.id}/try-again/").status_code == 403
    assert alice.get(f"{PAGE}{report.id}/try-again/")["Location"] == f"{PAGE}{report.id}/"


def test_a_discarded_report_is_kept_and_may_be_restored(alice, acme):
    build.domain(acme, "docs.acme.com")
    report = delivered(stored(acme), status="pending").report
    page = f"{PAGE}{report.id}/"
    assert "Restore</button>" not in text_of(alice.get(page))

    discarded = alice.post(f"{page}discard/", follow=True)
    restored = alice.post(f"{page}restore/", follow=True)

    assert discarded.redirect_chain == [(page, 302)]
    assert '<span class="pill off">Discarded</span>' in text_of(discarded)
    assert "Restore</button>" in text_of(discarded)
    assert "Try again</button>" not in text_of(discarded)
    assert "Discard</button>" in text_of(restored)
    assert Delivery.objects.get().status == "pending"


def test_what_has_arrived_is_not_discarded(alice, acme):
    report = delivered(stored(acme), status="sent", issue_number=4, repository_id=7).report
    page = f"{PAGE}{report.id}/"
    assert "Discard</button>" not in text_of(alice.get(page))

    answer = alice.post(f"{page}discard/", follow=True)

    assert "Already delivered." in text_of(answer)
    assert Delivery.objects.get().status == "sent"


def test_what_was_discarded_needs_no_attention(alice, acme):
    now = timezone.now()
    delivered(stored(acme, at=now), status="held", held_for="discarded")

    overview = text_of(alice.get("/settings/"))

    assert "report held" not in overview
    assert '<span class="state off">Discarded</span>' in overview


CHANGE = f"{PAGE}change/"


def states() -> list[str]:
    return [each.state for each in Delivery.objects.order_by("pk")]


def test_those_that_are_ticked_are_tried_again_in_their_turn(alice, acme):
    delivered(stored(acme), status="failed")
    delivered(stored(acme), status="held", held_for="ownership")
    why = "An operator of this Hub has put this delivery on hold."
    delivered(stored(acme), status="held", held_for="operator", reason=why)
    Integration.objects.update(repository_id=7, repo_owner="acme", repo_name="docs")
    ids = list(Report.objects.values_list("pk", flat=True))

    answer = alice.post(CHANGE, {"act": "retry", "id": ids}, follow=True)

    assert "2 reports to be tried again, each in its turn." in text_of(answer)
    assert "1 not changed. An operator of this Hub" in text_of(answer)
    assert states() == ["pending", "pending", "held"]


def test_all_that_match_are_tried_again_so_many_at_once(alice, acme, monkeypatch):
    monkeypatch.setattr(batches, "AT_ONCE", 2)
    for _ in range(3):
        delivered(stored(acme), status="failed")
    Integration.objects.update(repository_id=7, repo_owner="acme", repo_name="docs")
    assert "Try all again</button>" in text_of(alice.get(PAGE, {"status": "failed"}))

    answer = alice.post(f"{CHANGE}?status=failed", {"all": "retry"}, follow=True)

    assert "2 reports to be tried again" in text_of(answer)
    assert "There may be more: do it again." in text_of(answer)
    assert states() == ["pending", "pending", "failed"]


def test_few_look_at_many_reports_at_once(alice, acme):
    """An attack: eight owners in eleven networks kept all threads of the Hub waiting for the database."""
    me = acme.memberships.get(login="alice")
    with ExitStack() as under_way:
        for _ in range(2):
            under_way.enter_context(report_list.one_of_few(me, {"q": "x"}))
        searched = alice.get(PAGE, {"q": "x"})
        changed = alice.post(f"{CHANGE}?q=x", {"all": "retry"}, follow=True)
        called = build.api(build.token(me.user)).get("/v1/orgs/me/reports?kind=other")
        whole = alice.get(PAGE, {"since": "2026-01-01"})

    assert (searched.status_code, called.status_code, whole.status_code) == (429, 429, 200)
    assert "You are searching already." in text_of(searched)
    assert "You are searching already." in text_of(changed)
    assert alice.get(PAGE, {"q": "x"}).status_code == 200


@pytest.mark.parametrize("act", reports.CHANGE_ALL)
def test_few_change_all_that_match_at_once_whatever_they_ask_for(alice, acme, act):
    """An attack: with `since` alone, eight members changed 10,000 reports each, and kept all threads of the Hub."""
    for kept in ({"status": "failed"}, {"status": "held", "held_for": "discarded"}):
        delivered(stored(acme), **kept)
    Integration.objects.update(repository_id=7, repo_owner="acme", repo_name="docs")
    before = states()
    me = acme.memberships.get(login="alice")
    with ExitStack() as under_way:
        for _ in range(2):
            under_way.enter_context(report_list.one_of_few(me, {"q": "x"}))
        changed = alice.post(f"{CHANGE}?since=2020-01-01", {"all": act}, follow=True)

    assert "You are searching already." in text_of(changed)
    assert states() == before


def test_those_who_are_no_owners_leave_an_owner_room(alice, acme):
    bob = build.member(acme, "bob", role="member").membership
    with ExitStack() as under_way:
        for _ in range(2):
            under_way.enter_context(report_list.one_of_few(bob, {"q": "x"}))

        assert alice.get(PAGE, {"q": "x"}).status_code == 200


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", reports.CHANGE_ALL)
def test_too_many_to_look_through_at_once_are_asked_for_by_dates(alice, acme, monkeypatch, act):
    for kept in ({"status": "failed"}, {"status": "held", "held_for": "discarded"}):
        delivered(stored(acme), **kept)
    Integration.objects.update(repository_id=7, repo_owner="acme", repo_name="docs")
    slow = Delivery.objects.extra(where=["pg_sleep(60)::text IS NOT NULL"])
    monkeypatch.setattr(report_list, "deliveries", lambda *_: slow)
    monkeypatch.setattr(batches, "PATIENCE", 0.01)

    with CaptureQueriesContext(connection) as asked:
        answer = alice.post(f"{CHANGE}?q=x", {"all": act}, follow=True)

    assert "Choose dates, too" in text_of(answer)
    limits = [each["sql"] for each in asked if "statement_timeout" in each["sql"]]
    assert limits
    assert all(each.startswith("SET LOCAL ") for each in limits), "it stays behind PgBouncer"


def test_pressing_for_many_without_end_is_told_to_wait(alice, acme, settings):
    settings.HUB_ASKING_RATE = "1/minute"
    report = delivered(stored(acme), status="failed").report
    alice.post(CHANGE, {"act": "retry", "id": [report.id]})

    answer = alice.post(CHANGE, {"act": "retry", "id": [report.id]}, follow=True)

    assert "Too many attempts to try again." in text_of(answer)


def test_those_that_are_ticked_are_discarded_and_restored(alice, acme):
    build.domain(acme, "docs.acme.com")
    waiting = [delivered(stored(acme)).report.id for _ in range(3)]
    foreign = delivered(stored(build.organization("bobs"))).report.id

    address = f"{CHANGE}?kind=outdated"
    discarded = alice.post(address, {"act": "discard", "id": [*waiting[:2], foreign]}, follow=True)
    after = states()
    restored = alice.post(CHANGE, {"act": "restore", "id": waiting[:1]}, follow=True)

    assert discarded.redirect_chain == [(f"{PAGE}?kind=outdated", 302)]
    assert "2 reports discarded: kept, but not sent." in text_of(discarded)
    assert "1 not changed. There is no report with this id." in text_of(discarded)
    assert after == ["discarded", "discarded", "pending", "pending"]
    assert "1 report restored." in text_of(restored)
    assert states() == ["pending", "discarded", "pending", "pending"]


def test_what_is_restored_while_nothing_is_sent_says_so(alice, acme):
    build.domain(acme, "docs.acme.com")
    one, two, _ = (
        delivered(stored(acme), status="held", held_for="discarded").report.id for _ in range(3)
    )
    Integration.objects.update(repository_id=1, repo_owner="acme", repo_name="docs", paused_at=NOON)

    pages = [
        text_of(alice.post(f"{PAGE}{one}/restore/", follow=True)),
        text_of(alice.post(CHANGE, {"act": "restore", "id": [two]}, follow=True)),
        text_of(alice.post(f"{CHANGE}?status=discarded", {"all": "restore"}, follow=True)),
    ]

    assert f"Restored. It is not sent now. {PAUSED}" in pages[0]
    assert f"1 report restored. Nothing is sent now. {PAUSED}" in pages[1]
    assert f"1 report restored. Nothing is sent now. {PAUSED}" in pages[2]
    assert {each.held_for for each in Delivery.objects.all()} == {"pause"}


def test_what_is_being_sent_is_not_said_to_be_tried_again(alice, acme):
    lease = timezone.now() + timedelta(minutes=1)
    report = delivered(stored(acme), status="sending", lease_until=lease).report
    Integration.objects.update(repository_id=1, repo_owner="acme", repo_name="docs")

    page = text_of(alice.post(CHANGE, {"act": "retry", "id": [report.id]}, follow=True))

    assert "1 not changed. It is being sent right now." in page


@pytest.mark.parametrize(
    ("press", "why"),
    [("try-again", NEVER_SENT), ("same-as", NEVER_SENT), ("answer", NOBODY)],
)
def test_of_a_report_without_a_delivery_each_form_says_why_not(alice, acme, press, why):
    report = stored(acme)
    typed = {"issue_url": "https://github.com/acme/docs/issues/1", "text": "We know."}

    page = text_of(alice.post(f"{PAGE}{report.id}/{press}/", typed, follow=True))

    assert f'role="status">{why}</div>' in page


def test_what_could_not_be_discarded_is_counted_by_its_reason(alice, acme):
    arrived = [
        delivered(stored(acme), status="sent", issue_number=n, repository_id=7).report.id
        for n in range(2)
    ]

    answer = alice.post(CHANGE, {"act": "discard", "id": arrived}, follow=True)

    assert "2 not changed. Already delivered." in text_of(answer)


def test_all_that_the_filters_let_through_and_nothing_else_is_discarded(alice, acme):
    build.domain(acme, "docs.acme.com")
    for number in range(60):
        delivered(stored(acme, summary=f"Flood {number}", agent_name="bot"))
    delivered(stored(acme, summary="Flooded sink"), status="sent", issue_number=1, repository_id=7)
    delivered(stored(acme, summary="Honest"))
    delivered(stored(build.organization("bobs"), summary="Flood"))

    discarded = alice.post(f"{CHANGE}?q=flood", {"all": "discard"}, follow=True)
    after = states()
    restored = alice.post(f"{CHANGE}?q=BOT&status=discarded", {"all": "restore"}, follow=True)

    assert "60 reports discarded" in text_of(discarded)
    assert after == ["discarded"] * 60 + ["sent", "pending", "pending"]
    assert "60 reports restored" in text_of(restored)
    assert states() == ["pending"] * 60 + ["sent", "pending", "pending"]


def test_a_member_who_changes_all_that_match_without_end_is_told_to_wait(alice, acme):
    delivered(stored(acme))
    for _ in range(10):
        alice.post(f"{CHANGE}?status=sent", {"all": "discard"})

    answer = alice.post(f"{CHANGE}?status=pending", {"all": "discard"}, follow=True)

    assert "Too many changes of all that match." in text_of(answer)
    assert states() == ["pending"]


def test_a_list_without_filters_is_not_discarded_whole(alice, acme):
    delivered(stored(acme))

    assert "all that match</button>" not in text_of(alice.get(PAGE))
    assert alice.post(CHANGE, {"all": "discard"}).status_code == 404
    assert alice.post(f"{CHANGE}?status=lost", {"all": "discard"}).status_code == 404
    assert states() == ["pending"]


def test_nothing_ticked_and_nothing_known_change_nothing(alice, acme):
    delivered(stored(acme))

    nothing = alice.post(CHANGE, {"act": "discard"}, follow=True)
    alice.post(CHANGE, {"act": "erase", "all": "everything", "id": ["x"]})

    assert "Select the reports first." in text_of(nothing)
    assert states() == ["pending"]
    assert alice.get(CHANGE)["Location"] == PAGE


def test_only_what_can_change_can_be_ticked(alice, acme):
    delivered(stored(acme), status="sent", issue_number=1, repository_id=7)
    assert 'type="checkbox"' not in text_of(alice.get(PAGE))

    waiting = delivered(stored(acme)).report.id
    page = text_of(alice.get(PAGE))

    assert re.findall(r'type="checkbox" name="id" value="(\w+)"', page) == [waiting]
    assert "Restore</button>" not in page
