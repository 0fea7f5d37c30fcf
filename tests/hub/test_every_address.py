"""What a link to any address of the Hub can do: whatever it brings, the page says nothing in the Hub's name."""

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from hub.for_pages import PUBLIC
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db

WORDS = "Zebra <b>calls</b>"
HUB = "https://hub.example"
FOLDER = "/zebra"
ELSEWHERE = ["https://evil.example/", "//evil.example/", "/\\evil.example"]
FILTERS = ("q", "status", "page", "agent", "claim", "since", "until", "cursor", "other")
SEARCHES = {"/v0/search/", "/settings/reports/"}  # which say what was looked for
OF_FORMS = re.compile(r"<input[^>]*>|<textarea[^>]*>[^<]*</textarea>| href=\"[^\"]*\"")
GAP = re.compile(r"<(?:\w+:)?(\w+)>")


class Everything(QueryDict):
    """The query of a link that has whatever parameter it is asked for."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> str:
        return self.words

    def get(self, name: str, default: object = None) -> str:
        return self.words

    def getlist(self, name: str, default: object = None) -> list[str]:
        return [self.words]

    def dict(self) -> dict[str, str]:
        return dict.fromkeys(FILTERS, self.words)


def routes(patterns: list[URLPattern | URLResolver], start: str = "") -> Iterator[str]:
    """The pattern of each address, but for the operators' tables, which are Django's."""
    for each in patterns:
        here = start + str(each.pattern)
        if isinstance(each, URLResolver) and here != "admin/":
            yield from routes(each.url_patterns, here)
        elif isinstance(each, URLPattern) and not here.startswith("^"):
            yield here


ROUTES = sorted(set(routes(get_resolver().url_patterns)))


@pytest.fixture
def ids() -> dict[str, str]:
    """What stands in the gaps of the addresses; a member may see it."""
    owner = build.organization()
    claim = build.domain(owner, "docs.acme.com")
    build.send(Client())
    there = {"report_id": Report.objects.get().id, "claim_id": claim.id}
    return there | {"version": "v0", "name": "reference/mcp"}


@pytest.fixture(params=["nobody", "alice"])
def visitor(request, ids, settings) -> Client:
    settings.HUB_GITHUB_CLIENT_ID = "client"
    client = Client(raise_request_exception=False)
    if request.param != "nobody":
        client.force_login(
            build.member(
                Report.objects.get().organization,
            )
        )
    return client


def answers(visitor: Client, ids: dict[str, str]) -> Iterator[tuple[str, HttpResponseBase, str]]:
    """Of each address: its path, what is answered, and the body."""
    for route in ROUTES:
        path = "/" + GAP.sub(lambda gap: ids.get(gap[1], "1"), route)
        answer = visitor.get(path, headers={"Accept": "text/html"})
        yield path, answer, answer.getvalue().decode()


@pytest.fixture
def led(request, monkeypatch) -> None:
    """Every address was opened by a link with all parameters that the Hub reads."""
    words = getattr(request, "param", WORDS)
    monkeypatch.setattr(WSGIRequest, "GET", property(lambda _: Everything(words)))


@pytest.mark.parametrize("led", [WORDS, FOLDER], indirect=True)
def test_the_words_of_a_link_are_in_no_title_and_only_in_fields(visitor, ids, led):
    """A preview shows the title, and a person or an agent takes what a page says for the Hub's words."""
    titled, said = set(), set()
    for path, answer, body in answers(visitor, ids):
        assert answer.status_code < 500, path
        assert "<b>calls" not in body, path
        if re.search("<title>[^<]*zebra", body, re.IGNORECASE):
            titled.add(path)
        if "zebra" in OF_FORMS.sub("", body).lower():
            said.add(path)

    assert not titled
    assert said <= SEARCHES


@pytest.mark.parametrize("led", ELSEWHERE, indirect=True)
def test_no_link_leads_to_another_host(visitor, ids, led):
    led_to = [
        urlsplit(urljoin(f"{HUB}{path}", answer["Location"])).netloc
        for path, answer, _ in answers(visitor, ids)
        if "Location" in answer
    ]

    assert len(led_to) > 20
    assert set(led_to) == {"hub.example"}


def test_every_answer_is_locked_down(visitor, ids):
    for path, answer, _ in answers(visitor, ids):
        assert answer["X-Content-Type-Options"] == "nosniff", path
        assert answer["X-Frame-Options"] == "DENY", path
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin", path
        assert answer["Referrer-Policy"] == "same-origin", path
        if not path.startswith(PUBLIC):  # JSON alone
            assert "frame-ancestors 'none'" in answer["Content-Security-Policy"], path


def test_every_answer_says_who_may_keep_it(visitor, ids):
    """Also to a cache that does not tell visitors apart: what it may keep without asking is the same for all."""
    unsaid, kept_of_somebody = [], []
    for path, answer, _ in answers(visitor, ids):
        rules = answer.get("Cache-Control", "")
        if answer.status_code == 200 and not rules:
            unsaid.append(path)
        if (
            "max-age" in rules
            and "no-store" not in rules
            and (answer.cookies or "Cookie" in answer.get("Vary", ""))
        ):
            kept_of_somebody.append(path)

    assert not unsaid
    assert not kept_of_somebody
