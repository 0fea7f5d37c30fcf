"""The landing page and the page about privacy: what they say is so."""

import html
import re
import subprocess

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test import Client

from hub import pruning
from hub.public import sample
from reports.models import Report
from tests import build
from tests.hub.public.test_report_page import text_of


def code_of(answer) -> list[str]:
    """What its blocks say, as a person copies it."""
    return code_in(answer.content.decode())


def code_in(page: str) -> list[str]:
    """The same, of HTML."""
    blocks = re.findall(r"<pre[^>]*><code[^>]*>(.*?)</code>", page, re.DOTALL)
    return [html.unescape(re.sub(r"</?span[^>]*>", "", block)) for block in blocks]


@pytest.mark.slow
def test_the_command_on_the_landing_page_works_as_it_is_printed(hub_process):
    import requests

    page = requests.get(f"{hub_process.url}/", headers={"Accept": "text/html"}, timeout=30)
    (command,) = (block for block in re.findall(r"<code>(curl.*?)</code>", page.text, re.DOTALL))

    ended = subprocess.run(
        ["bash", "-c", html.unescape(command)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    report = Report.objects.get()
    assert ended.stdout.startswith("HTTP/1.1 201")
    assert f"{hub_process.url}/r/{report.id}/" in ended.stdout
    assert {name: getattr(report, name) for name in sample.REPORT} == sample.REPORT


@pytest.mark.django_db(transaction=True)
def test_the_issue_on_the_landing_page_is_the_one_that_the_report_becomes(client, code_host):
    build.acme(code_host)
    Client().post(
        "/v1/reports",
        sample.report("https://docs.acme.com/install"),
        content_type="application/json",
    )

    (issue,) = code_host.issues("acme/docs")
    shown = text_of(client.get("/"))
    drawn = shown[shown.rindex("[docs]") : shown.index("Three ways to begin")]

    became = (
        issue.body.replace("\u200b", "").replace("`", "").replace("**", "").partition("\n---")[0]
    )
    lines = [line.removeprefix("- ") for line in became.splitlines() if line]
    assert issue.title.replace("\u200b", "") in drawn
    assert len(lines) == 7
    for line in lines:
        assert line.replace("docs.acme.com", "docs.example.com") in drawn.replace(" .", ".")


@pytest.mark.django_db
def test_the_landing_page_is_for_everybody(client):
    stranger = client.get("/")
    client.force_login(build.member(build.organization()))
    member = client.get("/")

    assert "Sign in" in text_of(stranger)
    assert "Your docs" in text_of(member)
    assert "Three ways to begin" in text_of(stranger)


def test_what_is_not_there_leads_to_the_landing_page(client):
    answer = client.get("/nothing/", headers={"Accept": "text/html"})

    assert answer.status_code == 404
    assert '<a class="button" href="/">Go to the start page</a>' in answer.content.decode()


@pytest.mark.django_db
def test_privacy_says_what_is_set(client, settings):
    settings.HUB_RETENTION_DAYS = 90

    said = text_of(client.get("/privacy/"))

    assert "is deleted 90 days after it was last sent" in said
    assert "The hash is deleted after 2 days." in said
    assert (
        f"A token is deleted {pruning.EXPIRED_TOKENS_KEPT.days} days after it has expired" in said
    )
    assert f"{settings.SESSION_COOKIE_AGE // 86_400} days after you signed in" in said
    assert "__Host-csrf" in said


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("docs@hub.example", "mailto:docs@hub.example"),
        ("https://hub.example/contact", "https://hub.example/contact"),
    ],
)
def test_whom_to_write_to_is_in_every_footer(client, settings, contact, link):
    settings.HUB_CONTACT = contact

    for path in ("/", "/privacy/", "/connect/", "/report/"):
        assert f'<a href="{link}">Contact</a></div></footer>' in client.get(path).content.decode()
    assert contact in text_of(client.get("/privacy/"))


def test_without_a_contact_the_footer_has_none(client):
    assert "Contact" not in text_of(client.get("/"))


@pytest.mark.parametrize("contact", ["", "docs@hub.example", "https://hub.example/a?b=c"])
def test_a_contact_is_an_address_for_mail_or_of_a_page(settings, contact):
    settings.HUB_CONTACT = contact

    call_command("check")


@pytest.mark.parametrize(
    "contact",
    [
        "alice",
        "http://hub.example/",
        "javascript:alert(1)",
        "https://",
        "a@b c",
        "mailto:a@hub.example",
    ],
)
def test_another_contact_is_refused_at_the_start(settings, contact):
    settings.HUB_CONTACT = contact

    with pytest.raises(SystemCheckError, match=r"hub\.E002"):
        call_command("check")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/v0/tutorials/first-issue/"])
def test_in_the_demo_a_problem_with_a_page_reaches_somebody(client, code_host, settings, path):
    settings.HUB_PAGES_HOST = "pages.example"
    acme = build.organization()
    build.integration(acme, code_host)
    build.site(acme, "acme.pages.example", "/docs/")

    page = client.get(path).content.decode()
    link = html.unescape(re.search(r'href="(/report/\?doc_url=[^"]+)"', page)[1])

    assert f"https%3A%2F%2Facme.pages.example%2Fdocs{path.replace('/', '%2F')}" in link
    assert "becomes a public issue in acme/docs" in text_of(client.get(link))


@pytest.mark.django_db
def test_elsewhere_it_is_reported_under_its_own_address(client):
    page = client.get("/v0/tutorials/first-issue/").content.decode()

    assert "doc_url=https%3A%2F%2Fhub.example%2Fv0%2Ftutorials%2Ffirst-issue%2F" in page
    assert '"doc_url": "https://hub.example/v0/tutorials/first-issue/"' in html.unescape(page)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/privacy/", "/r/x/", "/badge/x.svg"])
def test_pages_that_take_nothing_refuse_a_post(client, path):
    assert client.post(path, headers={"Accept": "text/html"}).status_code == 405
