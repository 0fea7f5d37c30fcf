"""Search over the docs."""

import html
import re
from dataclasses import dataclass

import pytest

from hub.docs import library, search
from hub.docs.markdown import Section

FOUND = [  # a query, and where it leads to, the best first
    ("record", ["/v0/how-to/prove-a-domain/#publish-the-record", "/v0/how-to/opt-out/"]),
    ("RECORDS", ["/v0/how-to/prove-a-domain/#publish-the-record", "/v0/how-to/opt-out/"]),
    ("stop", ["/v0/how-to/opt-out/"]),
    ("press button", ["/v0/how-to/prove-a-domain/#check-it"]),
    ("delivery", ["/v0/how-to/prove-a-domain/#check-it"]),
    ("doc_url", ["/v0/reference/reports-api/#fields"]),
    ("verified button", ["/v0/how-to/prove-a-domain/"]),  # in two sections of one page
    ("dig TXT", ["/v0/how-to/prove-a-domain/#publish-the-record"]),
    ("button nothing", []),
    ("how to press the button", ["/v0/how-to/prove-a-domain/#check-it"]),
    ("utton", []),
    ("but", []),
    ("", []),
    ("?!", []),
]


@pytest.mark.parametrize(("query", "paths"), FOUND)
def test_sections_with_all_words_are_found_the_best_first(pages, query, paths):
    hits = search.search(pages, query)

    assert [hit.path for hit in hits] == paths


def test_a_title_counts_more_than_a_heading_and_a_heading_more_than_text(docs):
    (docs / "how-to/opt-out.md").write_text("# Stop\n\nZebra, zebra and zebra.\n")
    (docs / "how-to/prove-a-domain.md").write_text("# Prove\n\nX.\n\n## Zebra\n\nY.\n")
    (docs / "reference/reports-api.md").write_text("# Zebra\n\nZ.\n")

    hits = search.search(library.read(docs, base_url=""), "zebra")

    assert [hit.page.title for hit in hits] == ["Zebra", "Prove", "Stop"]


def test_the_place_is_marked(client, docs):
    page = client.get("/v0/search/?q=records").content.decode()

    assert '<a class="title" href="/v0/how-to/prove-a-domain/#publish-the-record">' in page
    assert "Publish the <mark>record</mark>" in page
    assert "into a TXT <mark>record</mark>." in page
    assert 'value="records"' in page
    assert '<meta name="robots" content="noindex">' in page


@pytest.mark.parametrize(
    "query", ["Hub is closed: publish a record", "Call +1 555 0100 to sign in"]
)
def test_the_title_that_a_preview_of_the_link_shows_is_the_hubs(client, docs, query):
    page = client.get("/v0/search/", {"q": query}).content.decode()

    assert "<title>Search the docs · Docs Feedback Hub</title>" in page


@pytest.mark.parametrize("last", ["record", "nowhere"])
def test_invisible_and_turning_characters_of_a_query_stay_in_its_field(client, docs, last):
    query = f"\u202epublish\u200b \u2066{last}\x1b"

    page = client.get("/v0/search/", {"q": query}).content.decode()

    field, rest = re.search("<input type=.search.[^>]*>", page)[0], re.sub("<input[^>]*>", "", page)
    assert "\u202epublish" in field
    assert f"publish, {last}" in rest
    assert not set("\u202e\u200b\u2066\x1b") & set(rest)


def test_nothing_of_a_query_or_a_page_is_markup(client, docs):
    page = client.get("/v0/search/", {"q": "<b>of 2</b>"}).content.decode()

    assert "<b>of" not in page
    assert "&lt;<mark>b</mark>&gt;of <mark>2</mark>" in page


def test_an_empty_result_says_what_to_try(client, docs):
    page = html.unescape(client.get("/v0/search/?q=button+nothing").content.decode())

    assert "Nothing has all of these words: button, nothing" in page
    assert "Try fewer words" in page
    assert "Type one word or more" in client.get("/v0/search/?q=").content.decode()


def test_a_long_query_is_cut(client, docs):
    page = client.get("/v0/search/", {"q": "ab " * 5000}).content.decode()

    assert re.search(r'value="([^"]*)"', page)[1] == ("ab " * 34)[:100].strip()
    assert len(search.words_of(" ".join(map(str, range(99))))) == search.MOST_WORDS


def test_an_excerpt_is_short_and_around_the_first_match(pages, docs):
    (docs / "how-to/opt-out.md").write_text(f"# Long\n\n{'word ' * 5000}needle {'word ' * 5000}\n")

    [hit] = search.search(library.read(docs, base_url=""), "needle")

    excerpt = "".join(text for text, _ in hit.excerpt)
    assert ("needle", True) in hit.excerpt
    assert excerpt.startswith("… word")
    assert excerpt.endswith("word …")
    assert len(excerpt) <= search.EXCERPT + 4


@dataclass
class Watched:
    """A section that notes when its text is read."""

    section: Section
    read: list[str]

    def __getattr__(self, name: str):
        return getattr(self.section, name)

    @property
    def text(self) -> str:
        self.read.append(self.section.title)
        return self.section.text


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("qa qb qc qd qe qf qg qh", 0),
        ("everywhere qb qc qd qe qf qg qh", 0),
        ("zero one two three four five six everywhere", search.MOST_HITS),
    ],
)
def test_a_flood_of_searches_reads_no_text_but_what_it_shows(docs, query, texts):
    words = "zero one two three four five six everywhere"
    for name in ("how-to/opt-out", "how-to/prove-a-domain", "reference/reports-api"):
        sections = "".join(f"\n## S{n}\n\n{words}\n" for n in range(100))
        (docs / f"{name}.md").write_text(f"# Title\n{sections}")
    pages = library.read(docs, base_url="")
    read: list[str] = []
    for page in pages.pages.values():
        vars(page)["sections"] = [Watched(each, read) for each in page.sections]
    search.search(pages, "title")
    read.clear()

    hits = search.search(pages, query)

    assert len(read) <= texts
    assert len(hits) == (3 * search.MOST_OF_A_PAGE if texts else 0)
    assert len(read) == len(hits)


def test_one_address_searches_so_often_and_reads_on(client, docs, monkeypatch):
    monkeypatch.setattr("core.page_rates.RATE", "2/minute")

    answers = [client.get("/v0/search/?q=record", REMOTE_ADDR="192.0.2.1") for _ in range(3)]
    page = client.get("/v0/how-to/opt-out/", REMOTE_ADDR="192.0.2.1")
    other = client.get("/v0/search/?q=record", REMOTE_ADDR="192.0.2.2")

    assert [each.status_code for each in answers] == [200, 200, 429]
    assert b"Too many searches from your address." in answers[2].content
    assert int(answers[2]["Retry-After"]) <= 60
    assert (page.status_code, other.status_code) == (200, 200)
