"""The files that agents, crawlers and scanners look for. No test here may use the database."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from django.utils import timezone

from hub.docs import for_agents, markdown

PROTOCOL = os.environ.get("HUB_PROTOCOL_DIR")
NAMES = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}


def test_llms_txt_leads_to_every_page_and_says_how_to_report(client, docs):
    text = client.get("/llms.txt").content.decode()

    assert text.startswith("# Docs Feedback Hub\n\n> ")
    assert "## How-to guides" in text
    assert (
        "- [Prove a domain](https://hub.example/v0/how-to/prove-a-domain.md): "
        "show that it is yours\n"
    ) in text
    assert "https://hub.example/v1/reports" in text
    assert "https://hub.example/v0/reference/reports-api.md" in text


def test_llms_full_txt_has_all_pages_in_order(client, docs):
    text = client.get("/llms-full.txt").content.decode()

    titles = ["# The docs", "# Prove a domain", "# Stop reports", "# Reports API"]
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    assert "[the fields](https://hub.example/v0/reference/reports-api.md#fields)" in text


def test_openapi_json_has_this_hubs_address_and_is_asked_for_once(client, docs):
    answer = client.get("/openapi.json")

    assert answer["Content-Type"] == "application/json"
    assert answer.json()["servers"][0]["url"] == "https://hub.example"
    assert "hub.example.com/v1" not in answer.content.decode()
    assert client.get("/openapi.json", headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert "(https://hub.example/openapi.json)" in client.get("/llms.txt").content.decode()


def test_crawlers_are_kept_from_what_is_not_for_them(client, docs):
    lines = client.get("/robots.txt").content.decode().splitlines()

    assert lines[0] == "User-agent: *"
    for path in ("/settings/", "/r/", "/admin/", "/login/", "/v1/", "/report/?"):
        assert f"Disallow: {path}" in lines
    assert "Sitemap: https://hub.example/sitemap.xml" in lines


def test_the_sitemap_has_the_public_pages_and_the_docs(client, docs):
    answer = client.get("/sitemap.xml")

    assert answer["Content-Type"] == "application/xml"
    urls = ElementTree.fromstring(answer.content).findall("s:url/s:loc", NAMES)
    paths = [url.text.removeprefix("https://hub.example") for url in urls]
    assert paths == [
        *("/", "/report/", "/connect/", "/privacy/", "/v0/"),
        *("/v0/how-to/prove-a-domain/", "/v0/how-to/opt-out/", "/v0/reference/reports-api/"),
    ]


@pytest.mark.skipif(not PROTOCOL, reason="HUB_PROTOCOL_DIR does not name the open protocol")
@pytest.mark.parametrize("contact", ["", "docs@hub.example", "https://hub.example/contact"])
def test_the_well_known_file_is_as_the_protocol_says(client, docs, settings, contact):
    settings.HUB_CONTACT = contact
    schema = json.loads(Path(PROTOCOL or "", "well-known.schema.json").read_text())

    document = client.get("/.well-known/docs-feedback.json").json()

    jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    ).validate(document)
    assert document["endpoint"] == "https://hub.example/v1/reports"
    assert document.get("contact", "") == for_agents.contact_uri(contact)


def test_without_https_there_is_no_well_known_file(client, docs, settings):
    settings.HTTPS, settings.HUB_BASE_URL = False, "http://localhost:8000"

    assert client.get("/.well-known/docs-feedback.json").status_code == 404


def test_security_txt_has_a_contact_and_an_end_within_a_year(client, docs, settings):
    settings.HUB_CONTACT = "security@hub.example"

    answer = client.get("/.well-known/security.txt")

    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in answer.content.decode().splitlines())
    assert fields["Contact"] == "mailto:security@hub.example"
    assert fields["Canonical"] == "https://hub.example/.well-known/security.txt"
    left = datetime.fromisoformat(fields["Expires"]) - timezone.now()
    assert timedelta(days=300) < left < timedelta(days=365)
    assert answer.content == client.get("/.well-known/security.txt").content


@pytest.mark.parametrize("contact", ["", "http://hub.example/contact", "call us"])
def test_without_a_contact_there_is_no_security_txt(client, docs, settings, contact):
    settings.HUB_CONTACT = contact

    assert client.get("/.well-known/security.txt").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/llms.txt",
        "/llms-full.txt",
        "/openapi.json",
        "/robots.txt",
        "/sitemap.xml",
        "/.well-known/docs-feedback.json",
    ],
)
def test_another_host_is_refused_as_for_every_page(client, docs, path):
    assert client.get(path).status_code == 200
    assert client.get(path, headers={"Host": "evil.example"}).status_code == 400


def test_all_pages_in_one_file_are_parsed_once(client, docs, monkeypatch):
    parsed: list[str] = []
    with_links = markdown.with_links

    def counted(text: str, **options) -> str:
        parsed.append(text)
        return with_links(text, **options)

    monkeypatch.setattr(markdown, "with_links", counted)
    for_agents._with_absolute_links.cache_clear()

    first, again = (client.get("/llms-full.txt").content for _ in range(2))

    assert first == again
    assert len(parsed) == 4
