import pytest
import requests

HOSTILE = """# Look

<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1))

| a | b |
|---|---|
| 1 | 2 |

</pre></details><script>alert(2)</script>
"""


@pytest.fixture
def get(host):
    def page(path: str) -> requests.Response:
        return requests.get(host.url + path, timeout=5)

    return page


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/", "Repositories"),
        ("/acme/docs", "acme/docs"),
        ("/ACME/docs/issues", "Issues in acme/docs"),
        ("/acme/docs/issues/1", "Broken · #1 · acme/docs"),
        ("/acme/docs/blob/HEAD/README.md", "README.md · acme/docs"),
        ("/acme/docs/tree/main/docs", "docs · acme/docs"),
        ("/acme/docs/raw/main/a%3Cb%3E.md", "a&lt;b&gt;.md · acme/docs"),
        ("/acme/docs/wiki/Home", "Home · acme/docs"),
    ],
)
def test_every_page_has_a_title_and_loads_nothing_from_elsewhere(host, get, path, title):
    host.create_issue("acme/docs", title="Broken", body="Look", user="charlie")

    answer = get(path)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src")
    assert f"<title>{title}</title>" in answer.text
    assert "<script" not in answer.text


def test_the_page_of_an_issue_says_what_it_is(host, get):
    host.create_issue("acme/docs", title="Broken", body="The link is **broken**.", user="charlie")
    host.close_issue("acme/docs", 1, by="alice")

    text = get("/acme/docs/issues/1").text

    assert '<span class="state closed">closed</span>' in text
    assert "opened by charlie" in text
    assert "<p>The link is <strong>broken</strong>.</p>" in text
    assert "<pre>The link is **broken**.</pre>" in text


def test_nothing_in_an_issue_is_live(host, get):
    host.create_issue("acme/docs", title="<script>x</script>", body=HOSTILE, user="charlie")

    text = get("/acme/docs/issues/1").text
    listed = get("/acme/docs/issues").text

    assert "<script" not in text + listed
    assert "<img" not in text
    assert 'href="javascript' not in text
    assert "<h1>Look</h1>" in text
    assert "<table>" in text
    assert text.count("</details>") == 1
    assert "&lt;script&gt;alert(2)&lt;/script&gt;" in text


def test_half_a_character_breaks_no_page(host, call, token, get):
    call("POST", "/repos/acme/docs/issues", token, data=rb'{"title": "\ud800", "body": "\ud800"}')

    assert get("/acme/docs/issues/1").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/acme/secret",
        "/acme/secret/blob/HEAD/README.md",
        "/acme/secret/issues",
        "/acme/docs/blob/HEAD",
        "/acme/docs/issues/9",
        "/a/b/c/d",
        "/x/y",
    ],
)
def test_what_a_stranger_may_not_see_is_not_found(get, path):
    answer = get(path)

    assert answer.status_code == 404
    assert "<h1>404</h1>" in answer.text


def test_who_may_see_a_private_repository_sees_it(host):
    with requests.Session() as browser:
        signed_in = browser.post(
            f"{host.url}/login", data={"login": "bob", "return_to": "/acme/secret"}, timeout=5
        )

    assert signed_in.status_code == 200
    assert "<title>acme/secret</title>" in signed_in.text


def test_the_style_follows_the_system(get):
    answer = get("/_sandbox/style.css")

    assert answer.headers["Content-Type"].startswith("text/css")
    assert "color-scheme: light dark" in answer.text
