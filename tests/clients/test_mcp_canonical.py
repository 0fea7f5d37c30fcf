"""A no holds for the page, however it is written the next time."""

import json

import pytest
from docfeedback import address

from reports import canonical as canonical_at_the_hub
from tests.clients.conftest import CONTRACT
from tests.clients.mcp_desk import NO, PROTOCOLS, REPORT, YES, Desk, Person, at_desk, canonical

desk = pytest.fixture(params=PROTOCOLS)(at_desk)

ONE_TO_THE_HUB = [
    "https://docs.acme.com",
    "https://docs.acme.com:443//",
    "https://docs.acme.com:8443/a/",
    "HTTPS://Docs.Acme.COM./a/./b/../c//#d",
    "https://docs.acme.com/%7ea/%c3%a9/é/%2F/%zz/100%",
    "https://docs.acme.com/../../a/..",
    "https://docs.acme.com/a?utm_source=x&b=1&ref=y&refs=z&gclid&mc_cid=1#c",
    "https://docs.acme.com/a?&&b=&",
    "https://müller.example/a",
    "https://xn--mller-kva.example/a",
    "docs/install.md#step-3",
    "docs/./install.md?x#y",
]
ONE_PAGE = [
    "https://docs.acme.com/a/install",
    "https://docs.acme.com/a/install/",
    "https://docs.acme.com//a///install#step-2",
    "https://docs.acme.com/a/install?version=2",
    "https://docs.acme.com/a/./x/../install",
    "https://docs.acme.com/a/%2e/x/%2E%2e/install",
    "https://docs.acme.com/%61/inst%2561ll",
    "https://docs.acme.com/a%2Finstall",
    "https://docs.acme.com/a/install%23step-2",
    "https://docs.acme.com/A/Install",
    "HTTPS://DOCS.ACME.COM.:8443/a/install",
    "https://docs。acme.com/a/install",
    "https://www.docs.acme.com/a/install",
    "https://docs.acme.com/a;x/install;y=1",
    "https://docs.acme.com/a/install/index.html",
]
ONE_FILE = [
    "https://github.com/o/r/blob/main/docs/a.md",
    "https://github.com/o/r/blame/main/docs/a.md",
    "https://github.com/o/r/edit/v1.2/docs/a.md",
    "https://github.com/o/r/raw/HEAD/docs/a.md?x",
    "https://github.com/o/r/commits/main/docs/a.md",
    "https://github.com/o/r/blob/refs/heads/main/docs/a.md",
    "https://github.com/O/R/blob/feature/x/docs/a.md#L3",
    "https://www.github.com/o/r/blob/main/docs/a.md",
    "https://raw.githubusercontent.com/o/r/main/docs/a.md",
    "https://raw.githubusercontent.com/o/r/refs/heads/main/docs/a.md",
]
ONE_AT_THE_ROOT = [
    "https://github.com/o/r/blob/main/README.md",
    "https://github.com/o/r/blob/feature/x/README.md",
]
ONE_PATH = [
    "docs/install.md",
    "./docs/install.md",
    "/docs/install.md",
    "docs//install.md",
    "docs/./x/../install.md",
    "../docs/install.md",
    "docs/%69nstall.md",
    "docs/%2569nstall.md",
    "docs%2finstall.md",
    "docs/install.md?plain=1",
    "docs/install.md#step-2",
    "Docs/INSTALL.md",
    "docs/install.md/",
]
DIFFERENT = [
    "https://docs.acme.com/install",
    "https://docs.acme.com/upgrade",
    "https://www.acme.com/install",
    "https://docs.acme.com/install/upgrade",
    "https://docs.acme.com/installation",
    "install",
    "./docs.acme.com/install",
    "https://github.com/o/r",
    "https://github.com/o/r/issues/1",
    "https://github.com/o/r/blob/main/docs/a.md",
    "https://github.com/o/r/blob/main/docs/b.md",
    "https://github.com/o/other/blob/main/docs/a.md",
    "https://raw.githubusercontent.com/other/r/main/docs/a.md",
]


def _key(doc_url: str) -> str:
    return canonical.page(doc_url, address.check(doc_url))


@pytest.mark.parametrize("spellings", [ONE_PAGE, ONE_PATH, ONE_FILE, ONE_AT_THE_ROOT])
def test_every_spelling_of_a_page_is_one(spellings: list[str]):
    assert len({_key(doc_url) for doc_url in spellings}) == 1


def test_other_pages_are_others():
    assert len({_key(doc_url) for doc_url in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize("doc_url", ONE_TO_THE_HUB)
def test_what_is_one_page_to_the_hub_is_one_here(doc_url: str):
    assert _key(doc_url) == _key(canonical_at_the_hub.url(doc_url))


def test_public_addresses_of_the_contract_have_a_spelling():
    cases = json.loads((CONTRACT / "address_cases.json").read_text())["public"]

    assert all(_key(doc_url).startswith("https://") for doc_url in cases)


@pytest.mark.parametrize("spellings", [ONE_PAGE, ONE_PATH, ONE_FILE])
def test_a_no_is_not_asked_about_again(desk: Desk, spellings: list[str]):
    person = Person([NO, YES])

    outcomes = desk.call(*({**REPORT, "doc_url": url} for url in spellings), person=person)

    assert {outcome["status"] for outcome in outcomes} == {"not_sent"}
    assert (len(person.saw), desk.sent) == (1, [])
