"""Where the pages for everybody lead to."""

import re
from urllib.parse import urldefrag, urljoin

import pytest
from django.test import Client

from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db

HTML = {"Accept": "text/html"}
PAGES = ["/", "/report/", "/connect/", "/connect/?client=codex", "/privacy/"]


def links_of(client: Client, page: str) -> set[str]:
    """The addresses on this Hub that a page leads to."""
    body = client.get(page, headers=HTML).content.decode()
    found = {
        urljoin(page, link.replace("&amp;", "&")) for link in re.findall(r'href="([^"]*)"', body)
    }
    return {link for link in found if link.startswith("/") and not link.startswith("/static/")}


def leads_somewhere(client: Client, link: str) -> bool:
    path, anchor = urldefrag(link)
    answer = client.get(path, headers=HTML)
    if answer.status_code == 302:
        return True
    return answer.status_code == 200 and (not anchor or f'id="{anchor}"' in answer.content.decode())


def test_every_link_of_a_public_page_leads_somewhere(client):
    """The documentation has a test of its own."""
    build.send(client)
    pages = [*PAGES, f"/r/{Report.objects.get().id}/"]
    links = {link for page in pages for link in links_of(client, page)}

    ours = {link for link in links if not link.startswith("/v0/")}

    assert len(ours) > 25
    assert not {link for link in ours if not leads_somewhere(client, link)}
