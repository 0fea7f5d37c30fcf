"""`/report/`: what a person without an account sends, and is told."""

import html
import re
from urllib.parse import urlencode

import pytest
from django.db import OperationalError
from django.test import Client

from core import rates
from hub.server import bodies
from integrations.delivery import operator_holds
from integrations.models import Delivery, Hold, Integration
from orgs.models import Domain, User
from reports import intake
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db

PAGE = "https://docs.acme.com/install"
TYPED = {"doc_url": PAGE, "kind": "outdated", "summary": "The install command is gone"}
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def text_of(answer) -> str:
    """What the page says, without tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.content.decode())).split())


def send(client: Client, **changes: str):
    return client.post("/report/", TYPED | changes)


def errors_of(answer) -> dict[str, list[str]]:
    return {name: list(each) for name, each in answer.context["form"].errors.items()}


@pytest.mark.django_db(transaction=True)
def test_a_report_of_a_person_becomes_an_issue_and_ends_at_the_receipt(client, code_host):
    build.acme(code_host)

    answer = send(client, details="It is\r\n`@acme/cli` now.", suggested_fix="Name it.", agent="")
    receipt = client.get(answer["Location"], headers={"Accept": "text/html"})

    report = Report.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/r/{report.id}/")
    assert (report.agent_name, report.details) == ("a reader", "It is\n`@acme/cli` now.")
    assert code_host.issues("acme/docs")[0].title == "[docs] The install command is gone"
    assert "Thank you. Your report was received." in text_of(receipt)
    assert "Issue #1 is open" in text_of(receipt)
    assert "Thank you." not in text_of(client.get(answer["Location"]))


def test_the_form_sends_what_the_api_takes(client):
    """So that a repeat is one, wherever the first came from."""
    first = build.send(client, build.report(agent__name="alice")).json()

    answer = send(client, agent="alice")
    receipt = client.get(answer["Location"], headers={"Accept": "text/html"})

    assert answer["Location"] == f"/r/{first['id']}/"
    assert Report.objects.get().times_reported == 2
    assert "This was reported before." in text_of(receipt)


def test_sending_twice_makes_one_report(client):
    locations = {send(client)["Location"] for _ in range(2)}

    assert len(locations) == 1
    assert Report.objects.count() == 1


def test_a_link_fills_in_the_form_and_nothing_is_stored(client):
    query = {"kind": "broken", "summary": "S", "details": "D\n2", "suggested_fix": "F"}

    answer = client.get("/report/", {"doc_url": PAGE, "agent": "claude-code", **query})

    form = answer.context["form"]
    assert {name: form[name].value() for name in query} == query
    assert (form["doc_url"].value(), form["agent"].value()) == (PAGE, "claude-code")
    assert 'value="broken" id="id_kind" checked' in answer.content.decode()
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    "query",
    [
        "doc_url=a&doc_url=b&kind=&kind=broken",
        "doc_url=" + "x" * 6000,
        "summary=%00%ff%ed%a0%80&details=%F0%9F%98%80",
        "kind=%3Cscript%3E&agent=%3Cscript%3Ealert(1)%3C/script%3E",
        "doc_url[]=1&=&&&",
        "doc_url=https://[::1",
        "preview=1&website=1",
    ],
)
def test_a_link_with_odd_values_is_harmless(client, query):
    answer = client.get(f"/report/?{query}")

    assert answer.status_code == 200
    assert "<script>alert" not in answer.content.decode()
    assert not answer.context["form"].errors


def buttons_of(answer) -> list[str]:
    return re.findall(r"<button[^>]*>(Send|Preview)<", answer.content.decode())


@pytest.mark.parametrize("name", ["summary", "details", "suggested_fix", "agent"])
def test_the_words_of_a_link_are_shown_whole_before_they_can_be_sent(client, name):
    """A field shows a part of them, and an agent may have written them."""
    hidden = "Seen by nobody"
    words = {name: f"S{' ' * 90}{hidden}"}

    led = client.get("/report/", {"doc_url": PAGE, **words})
    typed = {field: led.context["form"][field].value() or "x" for field in TYPED} | words
    preview = client.post("/report/", typed | {"kind": "broken", "preview": "1"})

    assert buttons_of(led) == ["Preview"]
    assert "The link that led here has filled in this form." in text_of(led)
    assert hidden in re.search(r"<article.*</article>", preview.content.decode(), re.DOTALL)[0]
    assert "Send" in buttons_of(preview)
    assert "The link that led here" not in text_of(preview)


@pytest.mark.parametrize("left", [{"kind": ""}, {"doc_url": "docs.acme.com/install"}])
@pytest.mark.parametrize("is_ours", [True, False])
def test_words_that_no_preview_could_show_yet_cannot_be_sent(left, is_ours):
    """Whoever made the link, or the other site that sent the form, has left something to correct."""
    browser = Client(enforce_csrf_checks=not is_ours)
    typed = TYPED | left | {"details": f"S{' ' * 90}Seen by nobody", "preview": "1"}

    answer = browser.post("/report/", typed, headers={"Origin": "https://evil.example"})

    assert answer.status_code == 400
    assert buttons_of(answer) == ["Preview"]
    assert ("Another site has filled in this form." in text_of(answer)) != is_ours


@pytest.mark.parametrize("query", [{}, {"doc_url": PAGE}, {"doc_url": PAGE, "kind": "broken"}])
def test_a_link_without_words_leads_to_a_form_that_can_be_sent(client, query):
    answer = client.get("/report/", query)

    assert buttons_of(answer) == ["Send", "Preview"]
    assert "The link that led here" not in text_of(answer)


def test_a_long_text_of_a_link_is_cut_and_the_page_says_so(client):
    answer = client.get("/report/", {"summary": "x" * 600, "details": "y" * 8000})

    form = answer.context["form"]
    assert form["summary"].value() == "x" * 500
    assert form["details"].value() == "y" * 8000
    assert "this is not all of it: the line that says what is wrong." in text_of(answer)


def test_a_link_that_fits_is_not_said_to_be_cut(client):
    lines = "y\r\n" * 4000  # a form counts a line end as one

    answer = client.get("/report/", {"summary": "x" * 500, "details": lines})

    assert "not all of it" not in text_of(answer)


def test_an_address_that_is_too_long_is_left_out_and_not_cut(client):
    answer = client.get("/report/", {"doc_url": PAGE + "x" * 2048, "summary": "S"})

    assert answer.context["form"]["doc_url"].value() == ""
    assert answer.context["form"]["summary"].value() == "S"
    assert "this is not all of it: the address of the page." in text_of(answer)


def test_the_longest_link_of_our_tools_is_taken(client):
    texts = {"details": "é" * 800, "suggested_fix": "x" * 400}
    query = urlencode({"doc_url": PAGE, "kind": "missing", "summary": "S", **texts})
    assert 5000 < len(query) < 6000

    form = client.get(f"/report/?{query}").context["form"]

    assert {name: form[name].value() for name in texts} == texts
    assert form["kind"].value() == "missing"


def test_hidden_characters_of_a_link_are_left_out(client):
    form = client.get("/report/", {"summary": "a\u202eb\u200bc"}).context["form"]

    assert form["summary"].value() == "abc"


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"doc_url": ""}, "doc_url", "Say which page it is about."),
        ({"doc_url": "ftp://x"}, "doc_url", "Must begin with https:// or http://, or be a path."),
        ({"doc_url": "https://a:b@acme.com"}, "doc_url", "Must not contain a user name"),
        ({"doc_url": "docs.acme.com/x"}, "doc_url", "Did you mean https://docs.acme.com/x?"),
        ({"doc_url": f"https://{SECRET}.com/"}, "doc_url", "Must not contain a secret."),
        ({"kind": ""}, "kind", "Choose what is wrong with it."),
        ({"kind": "nice"}, "kind", "Choose one of these."),
        ({"summary": " "}, "summary", "Say in one line what is wrong."),
        ({"summary": "x" * 501}, "summary", "Shorten this to 500 characters: it has 501."),
        ({"details": "x" * 8001}, "details", "Shorten this to 8000 characters: it has 8001."),
        ({"agent": "a\tb"}, "agent", "Must be a name in printable characters."),
        ({"details": "\0"}, "details", "Null characters are not allowed."),
    ],
)
def test_an_error_is_named_at_its_field_and_keeps_every_word(client, changes, field, message):
    typed = {"details": "Keep me", "suggested_fix": "And me", "agent": "alice"} | changes
    answer = send(client, **typed)

    page = answer.content.decode()
    assert answer.status_code == 400
    assert list(errors_of(answer)) == [field]
    assert message in errors_of(answer)[field][0]
    assert page.count("<title>Error: ") == 1
    assert f'href="#id_{field}"' in page
    assert {name: answer.context["form"][name].value() for name in typed} == typed
    assert not Report.objects.exists()


def test_all_errors_are_named_at_once(client):
    answer = client.post("/report/", {})

    assert list(errors_of(answer)) == ["doc_url", "kind", "summary"]


def test_a_preview_shows_what_is_sent_and_where_and_stores_nothing(client, code_host):
    build.acme(code_host)
    Integration.objects.update(repository_private=False)

    answer = send(client, preview="1", details=f"With {SECRET} it works")

    said = text_of(answer)
    assert "Preview: Report a problem" in said
    assert "Connected : it becomes a public issue in acme/docs." in said
    assert "Removed from the details, because it looks like a secret: GitHub token." in said
    assert "<mark>[removed: GitHub token]</mark>" in answer.content.decode()
    assert "From a reader" in said
    assert answer.context["form"]["details"].value() == f"With {SECRET} it works"
    assert not Report.objects.exists()


@pytest.mark.parametrize("name", ["doc_url", "summary", "details", "suggested_fix"])
def test_nothing_in_a_preview_turns_or_hides_what_is_sent(client, name):
    """Another site may have had the browser bring it; an issue has none of these characters."""
    odd = "\u202e\u2066\u200b\U000e0041"

    before = f"{PAGE}/" if name == "doc_url" else "a"

    answer = client.post("/report/", TYPED | {name: f"{before}{odd}secivda", "preview": "1"})

    shown = re.search(r"<article.*</article>", answer.content.decode(), re.DOTALL)[0]
    assert f"{before}secivda" in shown
    assert not set(odd) & set(shown)


def test_a_secret_that_was_removed_is_shown_as_removed_on_the_receipt(client):
    answer = send(client, details=f"With {SECRET} it works")
    receipt = client.get(answer["Location"], headers={"Accept": "text/html"})

    assert Report.objects.get().details == "With [removed: GitHub token] it works"
    assert "Removed from the details, because it looks like a secret: GitHub token." in text_of(
        receipt
    )
    assert SECRET not in str(client.cookies)


HIDDEN = [
    {"repository_private": True},
    {"paused_at": "2026-01-01T00:00Z"},
    {"rights_lost_at": "2026-01-01T00:00Z"},
    {"problem": "Issues are turned off in acme/docs."},
    {"repository_id": None, "repo_owner": "", "repo_name": ""},
]


@pytest.mark.parametrize("columns", HIDDEN, ids=lambda columns: next(iter(columns)))
def test_a_repository_that_is_not_known_to_be_public_is_not_named(client, code_host, columns):
    """What is private, paused, refused or not finished looks the same."""
    build.acme(code_host)
    Integration.objects.update(**{"repository_private": False} | columns)

    said = [text_of(client.get("/report/", {"doc_url": PAGE})), text_of(send(client, preview="1"))]

    for each in said:
        assert "Connected : it goes to the people who maintain this page" in each
        assert "acme/docs" not in each
        assert "private" not in each.replace("private code", "")


def test_who_owns_the_page_is_known_before_sending(client, code_host):
    build.acme(code_host)
    Integration.objects.update(repository_private=False)

    known = client.get("/report/", {"doc_url": PAGE})
    unclaimed = client.get("/report/", {"doc_url": "https://example.org/"})
    unknown = client.get("/report/")

    assert "it becomes a public issue in acme/docs." in text_of(known)
    assert "nobody has claimed this page on this Hub yet." in text_of(unclaimed)
    assert "Preview says whether its maintainers use this Hub" in text_of(unknown)


def test_where_it_goes_costs_two_queries(client, code_host, django_assert_num_queries):
    build.acme(code_host)

    with django_assert_num_queries(2):
        client.get("/report/", {"doc_url": PAGE})


def test_a_repository_is_not_named_while_an_operator_holds_all_that_goes_there(client, code_host):
    acme = build.acme(code_host)
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    hold = Hold(kind="organization", value=acme.pk, reason="Spam.")

    before = client.get("/report/", {"doc_url": PAGE}).content.decode()
    operator_holds.make(hold, by=root)
    during = client.get("/report/", {"doc_url": PAGE}).content.decode()

    assert "acme/docs" in before
    assert "acme/docs" not in during


def test_an_owner_who_wants_no_reports_is_respected_in_words(client, code_host):
    build.acme(code_host)
    Domain.objects.update(opted_out_at="2026-01-01T00:00Z")

    before = client.get("/report/", {"doc_url": PAGE})
    answer = send(client)

    refusal = "The owner of this page does not accept reports about it."
    assert refusal.replace("The", "the") in text_of(before)
    assert answer.status_code == 410
    assert errors_of(answer) == {"doc_url": [f"{refusal} Nothing was saved."]}
    assert answer.context["form"]["summary"].value() == TYPED["summary"]
    assert not Report.objects.exists()


def test_a_look_counts_as_a_report_of_its_sender(client, settings):
    settings.HUB_REPORT_RATE = "3/minute"

    looks = [client.get("/report/", {"doc_url": PAGE}), send(client, preview="1")]
    accepted = build.send(client)
    refused = [send(client), send(client, preview="1"), build.send(client)]
    still = client.get("/report/", {"doc_url": PAGE})

    assert [each.status_code for each in looks] == [200, 200]
    assert accepted.status_code == 201
    assert [each.status_code for each in refused] == [429, 429, 429]
    assert int(refused[0]["Retry-After"]) <= 60
    assert re.search(r"Too many reports\. Try again in \d+ second", text_of(refused[0]))
    assert "Reload this page then: your browser still has what you wrote" in text_of(refused[0])
    assert "Preview says whether its maintainers use this Hub" in text_of(still)


@pytest.mark.parametrize(
    "rate", ["HUB_REPORT_RATE", "HUB_NETWORK_RATE", "HUB_HOST_RATE", "HUB_TOTAL_RATE"]
)
def test_the_form_has_the_limits_of_the_api(client, settings, rate):
    setattr(settings, rate, "1/hour")

    answers = [send(client), send(client, summary="Another")]

    assert [each.status_code for each in answers] == [303, 429]
    rates.forget()
    assert build.send(client).status_code == 201


def test_what_is_no_report_counts_for_its_sender(client, settings):
    settings.HUB_REPORT_RATE = "1/hour"

    assert [client.post("/report/", {}).status_code for _ in range(2)] == [400, 429]


def test_what_the_rate_refuses_is_not_read_and_sent_again_by_a_reload(client, settings):
    """To decode 20,000 letters that are escaped as six costs more than all the rest."""
    settings.HUB_REPORT_RATE = "1/hour"
    send(client, summary="Another")

    refused = send(client, details="é" * 8000)
    rates.forget()
    reloaded = send(client, details="é" * 8000)

    assert (refused.status_code, reloaded.status_code) == (429, 303)
    assert "_post" not in vars(refused.wsgi_request)
    assert "_post" in vars(reloaded.wsgi_request)


def test_a_large_report_counts_as_one(client, settings):
    settings.HUB_NETWORK_RATE = "20/hour"

    answers = [send(client, summary=f"{n}", details="€" * 4000) for n in range(2)]

    assert [each.status_code for each in answers] == [303, 429]


@pytest.mark.parametrize("press", ["preview", "expired"])
def test_a_large_preview_counts_as_a_large_report(settings, press):
    """An attack: two networks' previews of what looks like passwords made others' reports wait for 0.8 s."""
    settings.HUB_NETWORK_RATE = "20/hour"
    client = Client(enforce_csrf_checks=press == "expired")

    answers = [
        client.post("/report/", TYPED | {"preview": "1", "summary": f"{n}", "details": details})
        for n, details in enumerate(["€" * 4000, "€" * 4000, "short"])
    ]

    taken = 403 if press == "expired" else 200
    assert [each.status_code for each in answers] == [taken, 429, taken]


@pytest.mark.parametrize("character", ["a", "é", "語"])
def test_the_longest_report_is_taken_in_every_language(client, character):
    longest = {"summary": 500, "details": 8000, "suggested_fix": 4000, "agent": 120}
    texts = {name: character * length for name, length in longest.items()}
    body = urlencode(TYPED | texts | {"csrfmiddlewaretoken": "a" * 64})

    assert send(client, **texts).status_code == 303
    assert len(body) <= bodies._most({"path": "/report/"})


def test_a_program_that_fills_in_everything_gets_its_report_back(client):
    answer = send(client, website="https://spam.example")

    assert answer.status_code == 200
    assert "Please look at your report once more, then press Send." in text_of(answer)
    assert 'name="website" autocomplete="off" tabindex="-1">' in answer.content.decode()
    assert not Report.objects.exists()


def test_a_database_that_is_away_costs_no_word(client, monkeypatch):
    def away(*args, **options):
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(intake, "accept", away)

    answer = send(client, details="Keep me")

    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert "Temporarily unavailable. Nothing was saved; please try again." in text_of(answer)
    assert answer.context["form"]["details"].value() == "Keep me"


@pytest.mark.parametrize("fields", [TYPED, TYPED | {"preview": "1"}, TYPED | {"website": "x"}])
def test_a_form_of_another_site_is_refused(fields):
    client = Client(enforce_csrf_checks=True)

    assert client.post("/report/", fields).status_code == 403
    assert not Report.objects.exists()


@pytest.mark.parametrize("origin", ["https://evil.example", "https://evil.hub.example", "null"])
def test_the_words_of_another_site_are_not_called_the_persons_own(origin):
    client = Client(enforce_csrf_checks=True, headers={"Origin": origin})

    answer = client.post("/report/", TYPED)

    assert answer.status_code == 403
    assert "Another site has filled in this form." in text_of(answer)
    assert "your report once more" not in text_of(answer)


def test_a_form_that_has_expired_keeps_every_word_and_can_be_sent():
    client = Client(enforce_csrf_checks=True, headers={"Origin": "https://hub.example"})
    client.get("/report/")
    typed = TYPED | {"details": "Keep me", "csrfmiddlewaretoken": "a" * 64}

    refused = client.post("/report/", typed)
    token = {"csrfmiddlewaretoken": str(refused.context["csrf_token"])}
    answer = client.post("/report/", typed | token)

    assert refused.status_code == 403
    assert "This form has expired" in text_of(refused)
    assert refused.context["form"]["details"].value() == "Keep me"
    assert answer.status_code == 303
    assert Report.objects.get().details == "Keep me"


def test_a_form_that_has_expired_counts_for_its_sender_and_is_logged(settings, caplog):
    settings.HUB_REPORT_RATE = "1/hour"
    client = Client(enforce_csrf_checks=True)

    assert [client.post("/report/", TYPED).status_code for _ in range(2)] == [403, 429]
    assert "Forbidden (Referer checking failed - no Referer.): /report/" in caplog.text


def test_a_report_about_a_path_is_taken(client):
    """Agents report pages of the repository that they work in."""
    assert send(client, doc_url="docs/install.md").status_code == 303


@pytest.mark.django_db(transaction=True)
def test_a_report_that_github_refuses_is_stored_all_the_same(client, code_host):
    build.acme(code_host)
    code_host.fail("422")

    answer = send(client)

    assert answer.status_code == 303
    assert Delivery.objects.get().status == "failed"


@pytest.mark.parametrize("host", ["docs.ex\u0430mple.com", "docs.ex%D0%B0mple.com"])
@pytest.mark.parametrize(
    "behind_it", ["install", "docs.xn--exmple-4nf.com", "#//docs.xn--exmple-4nf.com"]
)
def test_a_host_that_looks_like_another_is_told_apart(client, host, behind_it):
    link = client.get("/report/", {"doc_url": f"https://{host}/{behind_it}"})
    preview = send(client, doc_url=f"https://{host}/{behind_it}", preview="1")

    for page in (link, preview):
        assert "The host of the page is docs.xn--exmple-4nf.com :" in text_of(page)


@pytest.mark.parametrize(
    "page", [PAGE, "https://DOCS.acme.com/install", "docs/install.md", "", "x y"]
)
def test_a_host_in_ascii_is_not_explained(client, page):
    assert "The host of the page" not in text_of(client.get("/report/", {"doc_url": page}))


def test_a_port_of_thousands_of_digits_is_no_internal_error(client):
    typed = {"doc_url": f"https://docs.acme.com:{'1' * 5000}/", "kind": "broken", "summary": "x"}

    assert client.post("/report/", typed).status_code == 400
