"""The docs as pages."""

import shutil

import pytest

from tests import build


def test_a_page_is_shown_in_its_frame(client, docs):
    page = client.get("/v0/how-to/prove-a-domain/").content.decode()

    assert "<title>Prove a domain · Docs Feedback Hub</title>" in page
    assert '<link rel="canonical" href="https://hub.example/v0/how-to/prove-a-domain/">' in page
    assert '<link rel="alternate" type="text/markdown" href="/v0/how-to/prove-a-domain.md"' in page
    assert '<meta name="description" content="A claim that is verified.">' in page
    assert 'href="/v0/reference/reports-api/#fields"' in page
    assert '<a href="/v0/how-to/prove-a-domain/" aria-current="page">Prove a domain</a>' in page
    assert '<a href="#check-it">Check it</a></nav>' in page
    assert 'rel="prev" href="/v0/"' in page
    assert 'rel="next" href="/v0/how-to/opt-out/"' in page
    assert "https://hub.example/</code>" in page
    address = "https%3A%2F%2Fhub.example%2Fv0%2Fhow-to%2Fprove-a-domain%2F"
    assert f'href="/report/?doc_url={address}">Something wrong on this page?' in page
    assert '<code>"doc_url": "https://hub.example/v0/how-to/prove-a-domain/"</code>' in page


def test_on_this_page_are_its_chapters_and_the_calls_in_them(client, docs):
    said = "# A\n\nAll.\n\n## B\n\n### `GET /v1/c/d`\n\n### E\n"
    (docs / "reference" / "reports-api.md").write_text(said)

    page = client.get("/v0/reference/reports-api/").content.decode()

    toc = page.partition("<b>On this page</b>")[2].partition("</nav>")[0]
    assert toc == (
        '<a href="#b">B</a><a href="#get-v1cd" class="sub">GET /<wbr>v1/<wbr>c/<wbr>d</a>'
    )


def test_the_first_page_lists_the_others(client, docs):
    page = client.get("/v0/").content.decode()

    assert '<li><a href="/v0/how-to/opt-out/">Stop reports</a>: refuse them</li>' in page


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/v0", "/v0/"),
        ("/docs", "/v0/"),
        ("/docs/", "/v0/"),
        ("/docs/how-to/opt-out/", "/v0/how-to/opt-out/"),
        ("/docs/how-to/opt-out", "/v0/how-to/opt-out/"),
        ("/v0/how-to/opt-out", "/v0/how-to/opt-out/"),
        ("/v0/how-to/index/", None),
        ("/v0/nothing/", None),
        ("/v0/nothing", None),
        ("/v0/nothing.md", None),
        ("/v0/nothing.svg", None),
        ("/v0/../settings.svg", None),
        ("/v0/%2e%2e/v0/how-to/switch.svg", None),
        ("/v0.1/", None),
        ("/v0.1/how-to/opt-out", None),
        ("/v00/", None),
        ("/docs/nothing/", None),
    ],
)
def test_other_addresses_lead_to_a_page_or_nowhere(client, docs, path, target):
    answer = client.get(path)

    assert (answer.status_code, answer.get("Location")) == (
        (302, target) if target else (404, None)
    )


def test_an_unknown_page_is_answered_with_a_page(client, docs):
    answer = client.get("/v0/nothing/", headers={"Accept": "text/html"})

    assert answer.status_code == 404
    assert "Page not found" in answer.content.decode()


def test_the_markdown_of_a_page_has_this_hubs_address(client, docs):
    answer = client.get("/v0/how-to/prove-a-domain.md")

    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content.decode() == (docs / "how-to/prove-a-domain.md").read_text().replace(
        "https://hub.example.com", "https://hub.example"
    )
    assert client.get("/v0/index.md").status_code == 200


def test_an_image_is_served_where_its_page_looks_for_it(client, docs):
    assert 'src="/v0/how-to/switch.svg"' in client.get("/v0/how-to/opt-out/").content.decode()

    answer = client.get("/v0/how-to/switch.svg")

    assert (answer["Content-Type"], answer.content[:4]) == ("image/svg+xml", b"<svg")


@pytest.mark.parametrize(
    "path", ["/v0/how-to/opt-out/", "/v0/how-to/opt-out.md", "/v0/search/?q=a"]
)
def test_what_has_not_changed_is_not_sent_again(client, docs, path):
    first = client.get(path)

    again = client.get(path, headers={"If-None-Match": first["ETag"]})

    assert "public" in first["Cache-Control"]
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/v0/", "/v0/how-to/opt-out.md", "/v0/search/", "/llms.txt"])
def test_head_is_answered_and_post_is_not(client, docs, path):
    assert client.head(path).status_code == 200
    assert client.post(path).status_code == 405


@pytest.mark.django_db
def test_who_has_signed_in_finds_the_way_to_their_docs(client, docs):
    before = client.get("/v0/")
    client.force_login(build.member(build.organization()))

    page = client.get("/v0/")

    assert "Sign in" in before.content.decode()
    assert "Your docs" in page.content.decode()
    assert "Cookie" in page["Vary"]
    assert before["ETag"] != page["ETag"]


def test_a_writer_sees_a_change_at_once(client, docs, settings):
    settings.HUB_DEBUG = True
    client.get("/v0/")
    (docs / "how-to/opt-out.md").write_text("# Changed\n\nNow.\n")

    assert "Changed" in client.get("/v0/how-to/opt-out/").content.decode()


def test_a_snapshot_says_that_it_is_one(client, docs):
    shutil.copytree(docs, docs.with_name("v0.1"))

    page = client.get("/v0.1/how-to/opt-out/").content.decode()

    assert "You are reading the docs of version 0.1." in page
    assert '<a href="/v0/how-to/opt-out/">The latest: Stop reports</a>' in page
    assert '<link rel="canonical" href="https://hub.example/v0/how-to/opt-out/">' in page
    assert 'href="/v0.1/how-to/prove-a-domain/"' in page
    assert "You are reading" not in client.get("/v0/").content.decode()


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/v0/search", "/v0/search/"),
        ("/docs/search", "/v0/search/"),
        ("/docs/index.md", "/v0/index.md"),
    ],
)
def test_an_address_that_is_nearly_right_leads_on(client, docs, path, where):
    answer = client.get(path)

    assert (answer.status_code, answer.get("Location")) == (302, where)


@pytest.mark.parametrize("name", ["how-to/opt-outindex", "how-to/opt-out//index", "/index"])
def test_a_page_has_one_address_as_markdown(client, docs, name):
    assert client.get(f"/v0/{name}.md").status_code == 404
