"""The page of one report: what was written, what went to GitHub, and what became of it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from hub.screen import journey
from hub.screen.previews import HOSTILE
from hub.templatetags.hub_text import evidence_label, formatted
from integrations.delivery.forwarding import render
from integrations.models import Attempt, Comment, Delivery, Installation, Integration
from reports.models import Report
from tests import build
from tests.plans import plans_of

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PAGE = "/settings/reports/"


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, client):
    client.force_login(build.member(acme))
    return client


def stored(owner, **changes) -> Report:
    """A report without a delivery."""
    columns = {
        "received_at": NOON,
        "last_received_at": NOON,
        "doc_url": "https://docs.acme.com/install?v=2#step-3",
        "canonical_url": "https://docs.acme.com/install",
        "kind": "outdated",
        "summary": "The command is gone",
        "agent_name": "agent-x",
    }
    report = Report(organization=owner, **columns | changes)
    Report.objects.bulk_create([report])
    return report


def delivered(report: Report, **changes) -> Delivery:
    mine = Integration.objects.of(report.organization).get()
    return Delivery.objects.create(report=report, integration=mine, **changes)


def sent(report: Report, **changes) -> Delivery:
    """A delivery of what it would be sent as."""
    title, body = render(report, "")
    columns = {
        "status": "sent",
        "repository": "acme/docs",
        "repository_id": 7,
        "posted_at": NOON + timedelta(seconds=20),
        "issue_number": 418,
        "issue_url": "https://github.com/acme/docs/issues/418",
        "title": title,
        "body": body,
    }
    return delivered(report, **columns | changes)


def tried(delivery: Delivery, *outcomes: str, reason: str = "") -> None:
    """Its attempts, a minute apart."""
    for number, outcome in enumerate(outcomes, delivery.attempts.count() + 1):
        at = NOON + timedelta(minutes=number)
        times = {"started_at": at, "ended_at": at if outcome else None}
        Attempt.objects.create(
            delivery=delivery, number=number, outcome=outcome, reason=reason, **times
        )
    Delivery.objects.filter(pk=delivery.pk).update(tries=delivery.attempts.count())


def page_of(client, report: Report) -> str:
    return client.get(f"{PAGE}{report.id}/").content.decode()


def path_of(client, report: Report) -> list[str]:
    """What the steps of its path say, without their times."""
    steps = client.get(f"{PAGE}{report.id}/").context["steps"]
    return [f"{each.name}: {each.words}".removesuffix(": ") for each in steps]


def test_an_issue_is_shown_with_its_own_state(alice, acme):
    report = stored(acme, times_reported=3, last_received_at=NOON + timedelta(hours=1))
    tried(sent(report, issue_state="closed"), "later", "sent", reason="GitHub was away.")

    page = page_of(alice, report)

    assert '<span class="pill good">Sent</span>' in page
    assert "to acme/docs, 2 min after it came in; reported 3 times" in page
    assert '#418</a> <span class="state off">Closed</span>' in page
    assert path_of(alice, report) == [
        "Received",
        "Matched: docs.acme.com, your claim",
        "Postponed: GitHub was away.",
        "Issue #418 opened: In acme/docs, 2 min after it came in",
        "Reported 2 more times: The last time",
        "Issue closed: On GitHub",
    ]


@pytest.mark.parametrize(
    ("reason", "words", "tone"),
    [
        ("completed", "Issue closed as completed", "good"),
        ("not_planned", "Issue closed as not planned", "off"),
        ("duplicate", "Issue closed as duplicate", "off"),
        ("", "Issue closed", "good"),
    ],
)
def test_it_is_said_why_and_when_an_issue_was_closed(alice, acme, reason, words, tone):
    report = stored(acme, times_reported=2, last_received_at=NOON + timedelta(hours=2))
    closed_at = NOON + timedelta(hours=1)
    columns = {"issue_state": "closed", "issue_state_reason": reason}
    tried(sent(report, issue_closed_at=closed_at, **columns), "sent")

    *_, closed, again = alice.get(f"{PAGE}{report.id}/").context["steps"]

    assert (closed.name, closed.tone, closed.at) == (words, tone, closed_at)
    assert again.name == "Reported once more"


CLOSED_AT = NOON + timedelta(hours=1)
CLOSED = {"issue_state": "closed", "issue_closed_at": CLOSED_AT, "issue_state_reason": "completed"}


def said(lead: Delivery, purpose: str, **changes) -> Comment:
    return Comment.objects.create(
        integration=lead.integration, lead=lead, purpose=purpose, occasion=CLOSED_AT, **changes
    )


def test_it_is_said_that_it_was_reported_again_after_its_issue_was_closed(alice, acme):
    report = stored(acme, times_reported=2, last_received_at=NOON + timedelta(days=2))
    lead = sent(report, **CLOSED)
    at = NOON + timedelta(days=2)
    written = {"status": "written", "comment_id": 1, "created_at": at}
    said(lead, "again", **written)
    said(lead, "reopen", status="dropped", reason="It was reopened.", created_at=at)

    last = path_of(alice, report)[-4:]

    assert last[:2] == ["Issue closed as completed: On GitHub", "Reported once more"]
    assert sorted(last[2:]) == [
        "Issue reopened: It was reopened.",
        "Reported again after its issue was closed: A comment on the issue says so",
    ]


def test_it_is_said_that_it_was_reported_again_and_only_counted(alice, acme):
    report = stored(acme, times_reported=2, last_received_at=NOON + timedelta(days=2))
    sent(report, **CLOSED | {"issue_state_reason": "not_planned"})

    assert path_of(alice, report)[-1] == (
        "Reported again after its issue was closed: Counted, and nothing else"
    )


def test_what_joined_a_closed_issue_says_so_too(alice, acme):
    lead = sent(stored(acme, canonical_url="https://docs.acme.com/other"), **CLOSED)
    joined = stored(acme, received_at=NOON + timedelta(days=2))
    delivered(joined, status="folded", lead=lead, folded_at=NOON + timedelta(days=2))
    at = NOON + timedelta(days=2)
    said(lead, "again", status="written", comment_id=1, created_at=at)

    assert path_of(alice, joined)[-1].endswith(": A comment on the issue says so")


def test_what_follows_a_closed_issue_names_it(alice, acme):
    lead = sent(stored(acme), **CLOSED)
    again = stored(acme)
    tried(sent(again, issue_number=419, follows=lead), "sent")

    assert path_of(alice, again)[-1] == (
        "Reported again: After #418 was closed, so it has an issue of its own"
    )


def test_a_long_report_leads_to_what_went_to_github(alice, acme):
    report = stored(acme)
    kept = page_of(alice, report)
    sent(report)

    page = page_of(alice, report)

    assert '<h2 id="words">What was reported</h2>' in page
    assert 'href="#sent">What went to GitHub</a>' in page
    assert "#sent" not in kept


def test_no_time_is_made_up(alice, acme):
    report = stored(acme)
    sent(report, issue_state="deleted")  # its attempts are not kept any more

    steps = alice.get(f"{PAGE}{report.id}/").context["steps"]

    assert [each.name for each in steps[2:]] == ["Issue #418 opened", "Issue deleted"]
    assert [each.at for each in steps] == [NOON, None, NOON + timedelta(seconds=20), None]
    assert "Issue #418</a>" not in page_of(alice, report)


@pytest.mark.parametrize(
    ("columns", "outcomes", "last"),
    [
        (
            {"status": "failed", "reason": "GitHub said no."},
            ["refused"],
            "Refused: GitHub said no.",
        ),
        (
            {"status": "failed", "reason": "Its text was erased."},
            [],
            "Failed: Its text was erased.",
        ),
        ({"status": "held", "held_for": "integration"}, ["held"], "Held: GitHub said no."),
        (
            {"status": "held", "held_for": "integration"},
            [],
            "Held: Because GitHub accepts no issues in the repository",
        ),
        (
            {"status": "held", "held_for": "pause", "reason": "Paused."},
            [],
            "Held: Because a member has paused the integration",
        ),
        (
            {"status": "held", "held_for": "discarded"},
            ["held"],
            "Discarded: By a member: kept, but not sent until somebody restores it",
        ),
        ({"status": "pending"}, ["later"], "Waiting: It goes out within a minute."),
        ({"status": "sending"}, [""], "In progress: GitHub said no."),
    ],
)
def test_the_path_ends_where_the_report_is(alice, acme, columns, outcomes, last):
    report = stored(acme)
    now = timezone.now()
    lease = {"lease_until": now + timedelta(seconds=50)} if columns["status"] == "sending" else {}
    tried(delivered(report, **columns, **lease, due_at=now), *outcomes, reason="GitHub said no.")

    assert path_of(alice, report)[-1] == last


def test_a_suspended_app_is_no_fault_of_the_repository(alice, acme):
    report = stored(acme)
    delivered(report, status="held", held_for="integration", reason="The app was suspended.")
    Installation.objects.update(suspended_at=timezone.now())

    assert path_of(alice, report)[-1] == "Held: Because GitHub accepts nothing from the Hub"


def test_a_report_without_a_delivery_was_kept(alice, acme):
    report = stored(acme)

    assert path_of(alice, report)[-1].startswith("Kept: It arrived before a repository was chosen")
    assert "Try again" not in page_of(alice, report)


def test_the_claim_that_it_matched_may_be_gone(alice, acme):
    report = stored(acme, canonical_url="https://elsewhere.example/")

    assert path_of(alice, report)[1] == "Matched: With a claim that you had when it came in"


def test_many_attempts_are_folded(alice, acme):
    report = stored(acme)
    delivery = delivered(report, status="failed", reason="No.")
    tried(delivery, *["later"] * 30, "refused", reason="GitHub was away.")
    Delivery.objects.update(tries=300)

    steps = alice.get(f"{PAGE}{report.id}/").context["steps"]
    page = page_of(alice, report)

    assert [each.name for each in steps] == [
        "Received", "Matched", "Postponed", "27 steps between", "Postponed", "Postponed", "Refused",
    ]  # fmt: skip
    assert len(steps[3].folded) == 27
    assert "300 attempts in all. The first and the latest are shown." in page
    assert page.count("GitHub was away.") == 31


def test_what_went_to_github_is_shown_with_each_change_marked(alice, acme):
    report = stored(acme, **HOSTILE, agent_version="<b>1</b>")
    delivery = sent(report)

    page = page_of(alice, report)
    issue = page.partition('<article class="list issue p1">')[2].partition("</article>")[0]
    markdown = page.partition('<article class="list issue p2">')[2].partition("</article>")[0]

    changes = (delivery.title + delivery.body).count("\u200b")
    assert changes > 20
    assert issue.count("<mark>·</mark>") == markdown.count("<mark>·</mark>") == changes + 1
    assert f"Made harmless at {changes} places" in issue
    assert f"&lt;!-- hub:{report.id} --&gt;" in markdown  # exactly what was sent
    assert '<input type="radio" name="as" checked>' in page


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)> ![x](https://evil.example/p.png)",
        '[x](javascript:alert(1)) <a href="https://evil.example">y</a> <https://evil.example>',
        "</pre></div></section></article><h1>mine</h1><form action=//evil.example><input>",
        "<style>*{display:none}</style><iframe src=//evil.example></iframe>",
        "<details><summary>x</summary>hidden</details><!-- hidden --> &lt;b&gt;",
        "```\n</code></pre><b onclick=x>\n```\n| <td> |\n|---|\n| </table> |",
        "\u202ehidden\u2066 \x1b[31m \u200b",
    ],
)
def test_nothing_that_a_reporter_wrote_acts_on_the_page(alice, acme, attack):
    evidence = [{"kind": "quote", "text": attack}, {"kind": "error_message", "text": attack}]
    words = {"details": attack, "suggested_fix": attack, "evidence": evidence}
    names = {"agent_name": attack[:120], "agent_version": attack[:64], "agent_vendor": attack[:128]}
    plain, hostile = (
        stored(acme),
        stored(acme, summary=attack, doc_url=f"x{attack}", **words, **names),
    )
    sent(plain)
    sent(hostile, issue_number=419)

    page = page_of(alice, hostile).partition("<main")[2]

    known = _elements(page_of(alice, plain).partition("<main")[2])
    shown = {
        "b",
        "blockquote",
        "code",
        "pre",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
    }
    assert _elements(page) - known <= shown | {"em", "h3", "p", "u", "ol", "li", "br", "mark"}
    assert not re.search(r"<[^>]* (?:on\w+|style|src)=", page)
    assert "evil.example" not in "".join(re.findall(r'(?:href|action)="([^"]*)"', page))
    assert "hidden" not in attack or page.count("hidden") > 4  # and nothing is out of sight


def _elements(page: str) -> set[str]:
    return set(re.findall(r"<([a-z0-9]+)", page))


def test_a_long_summary_is_the_title_in_short(alice, acme):
    report = stored(acme, summary="long " * 100)

    page = page_of(alice, report)

    assert len(re.findall("<h1>(.*)</h1>", page)[0]) == 160
    assert f"<strong>{'long ' * 100}</strong>" in page


def test_a_report_of_one_line_says_so(alice, acme):
    assert "The reporter wrote only the line above." in page_of(alice, stored(acme))
    more = stored(acme, details="More")
    assert "only the line above" not in page_of(alice, more)


def test_the_page_is_named_by_its_path(alice, acme):
    page = page_of(alice, stored(acme))
    root = page_of(alice, stored(acme, doc_url="https://docs.acme.com/"))

    whole = "https://docs.acme.com/install?v=2#step-3"
    assert f'<a href="{whole}" title="{whole}" rel="noreferrer nofollow">/install?v=2</a>' in page
    assert ">/</a>" in root


def test_what_only_waits_for_its_turn_cannot_be_tried_again(alice, acme, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    delivered(stored(acme), status="failed", last_tried_at=timezone.now())
    report = stored(acme)
    delivered(report, status="pending", due_at=timezone.now())

    page = page_of(alice, report)
    answer = alice.post(f"{PAGE}{report.id}/try-again/", follow=True).content.decode()

    assert "Waiting its turn: at most 1 issue an hour go to acme." in page
    assert re.search(r'<time datetime="[^"]+">About [^<]+ UTC\.</time>', page)
    assert "Try again</button>" not in page
    assert "It is in line; trying again does not make it faster." in answer


def test_githubs_limit_is_told_apart(alice, acme):
    Installation.objects.get().leave_alone_for(timedelta(minutes=7))
    report = stored(acme)
    delivered(report, status="pending", due_at=timezone.now())

    assert "GitHub asked us to wait with acme until " in page_of(alice, report)


def test_a_paused_integration_leads_to_where_it_is_resumed(alice, acme):
    report = stored(acme)
    delivered(report, status="held", held_for="pause", reason="The integration is paused.")
    Integration.objects.update(paused_at=timezone.now())

    page = page_of(alice, report)

    assert "Go to the integration</a>" in page
    assert "Try again</button>" not in page


@pytest.mark.parametrize("number", [1, 90])
def test_the_page_costs_the_same_however_much_has_happened(
    alice, acme, django_assert_max_num_queries, number
):
    report = stored(acme)
    delivery = delivered(report, status="pending", due_at=timezone.now())
    tried(delivery, *["later"] * number)

    with django_assert_max_num_queries(17):
        page_of(alice, report)


def test_nothing_is_read_without_an_index(alice, acme):
    report = stored(acme)
    tried(delivered(report, status="pending", due_at=timezone.now()), "later")

    plans = plans_of(lambda: page_of(alice, report))

    whole = "SCAN (reports_|integrations_(del|att))|Seq Scan on (reports_|integrations_(del|att))"
    assert not [plan for plan in plans if re.search(whole, plan)]


def test_the_list_says_why_each_waits(alice, acme, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    delivered(stored(acme), status="failed", last_tried_at=timezone.now())
    delivered(stored(acme), status="pending", due_at=timezone.now())

    page = alice.get(PAGE).content.decode()

    assert re.search(r'title="Waiting its turn: [^"]+"><small>about [^<]+ UTC</small>', page)
    assert page.count("Waiting its turn: ") == 1


def test_the_overview_says_what_waits_and_until_when(alice, acme, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    delivered(stored(acme), status="failed", last_tried_at=timezone.now())
    nothing = alice.get("/settings/").content.decode()
    for _ in range(2):
        delivered(stored(acme), status="pending", due_at=timezone.now())

    page = alice.get("/settings/").content.decode()

    assert "turn:" not in nothing
    assert "2 reports wait their turn: at most 1 issue an hour go to acme. The last goes" in page
    assert "Show the 2" not in page  # it is no reason to act


def test_githubs_limit_needs_attention_on_the_overview(alice, acme):
    delivered(stored(acme), status="pending", due_at=timezone.now())
    Installation.objects.get().leave_alone_for(timedelta(minutes=7))

    alerts = alice.get("/settings/").context["attention"]

    [alert] = [each for each in alerts if "GitHub asked us to wait with acme" in each.title]
    assert (alert.tone, alert.button) == ("wait", "Show it")
    assert alert.url == f"{PAGE}?status=pending"


def test_a_test_report_says_why_it_waits(alice, acme, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    delivered(stored(acme), status="failed", last_tried_at=timezone.now())
    report = stored(acme, dedup_key="test:1")
    delivered(report, status="pending", due_at=timezone.now())

    page = alice.get(f"/settings/test/{report.id}/").content.decode()

    assert "Waiting its turn: at most 1 issue an hour go to acme. About " in page


def test_a_reporters_text_is_formatted_and_nothing_is_hidden():
    assert formatted("Run `npm ci`. <!-- @all -->") == (
        "<p>Run <code>npm ci</code>. &lt;!-- @all --&gt;</p>\n"
    )
    assert formatted("```sh\na\n  b\n```") == '<pre tabindex="0"><code>a\n  b\n</code></pre>\n'
    assert "<mark>[removed: AWS key]</mark>" in formatted("It is [removed: AWS key].")
    assert [evidence_label("quote"), evidence_label("other")] == ["Quote", "other"]


def test_every_cause_of_a_hold_is_said():
    assert set(journey.HELD) == set(Delivery.Cause)
