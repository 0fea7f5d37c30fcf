"""SECURITY.md: whom to write to, or plainly that there is nobody yet."""

import re
import runpy

import pytest

from hub.docs.for_agents import contact_uri
from tests.rooms import ROOT

NOBODY = "none yet"
SAID = "Until then there is nobody to write to"
INVENTED = re.compile(r"example|acme|localhost|\.(test|invalid|local|internal)\b|your|todo", re.I)


def policy() -> str:
    return (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def faults(text: str) -> list[str]:
    """What is wrong with the address of a policy: it is one of somebody, or it is said that there is none."""
    lines = re.findall(r"^ *Address: *(.*?) *$", text, re.MULTILINE)
    if len(lines) != 1:
        return ["There has to be one line that begins with 'Address:'."]
    [address] = lines
    if address == NOBODY:
        return [] if SAID in text else [f"It has to say: {SAID}."]
    wrong = []
    if not contact_uri(address) or INVENTED.search(address):
        wrong.append(f"{address!r} is no address for mail or of an https page.")
    if SAID in text:
        wrong.append("Remove the sentences about there being nobody.")
    return wrong


def test_the_policy_names_somebody_or_says_that_there_is_nobody():
    assert not faults(policy())


@pytest.mark.parametrize(
    ("address", "right"),
    [
        ("security@docs-feedback.org", True),
        ("https://docs-feedback.org/security", True),
        ("", False),
        ("none", False),
        ("TODO", False),
        ("security@example.com", False),
        ("https://hub.example.com/", False),
        ("http://docs-feedback.org/", False),
        ("security@acme.com", False),
        ("your address", False),
    ],
)
def test_an_address_is_one_that_somebody_reads(address, right):
    named = re.sub(rf"Address: {NOBODY}", f"Address: {address}", policy())

    assert bool(faults(named.replace(SAID, ""))) is not right
    assert faults(named), "it still says that there is nobody"


def test_it_has_no_other_address():
    rest = re.sub(r"^ *Address:.*$", "", policy(), flags=re.MULTILINE)

    assert not re.search(r"\S@\S|https?://|mailto:", rest)


def test_its_links_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", policy())

    assert len(links) >= 4
    assert not [link for link in links if not (ROOT / link).is_file()]


@pytest.mark.parametrize(
    "page", ["README.md", "docs/v0/security/promises.md", "docs/v0/how-to/publish-the-clients.md"]
)
def test_a_reader_finds_it(page):
    assert "SECURITY.md" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md", "docs/v0/security/licenses.md"])
def test_while_there_is_no_license_that_is_said(page):
    has_one = any(ROOT.glob("LICENSE*"))
    text = (ROOT / page).read_text(encoding="utf-8")
    [section] = re.findall(r"^## .*[Ll]icense.*\n((?:(?!## ).*\n)+)", text, re.MULTILINE)

    assert ("none yet" in section.lower()) is not has_one
    assert has_one or "owner" in section


def test_who_builds_a_release_is_told_what_its_owner_has_not_decided(tmp_path):
    (tmp_path / "SECURITY.md").write_text(re.sub(r"Address:.*", f"Address: {NOBODY}", policy()))
    undecided = runpy.run_path(str(ROOT / "clients" / "pack.py"))["undecided"]

    assert [*undecided(tmp_path)] == [
        "SECURITY.md names nobody to write to.",
        "there is no LICENSE.",
    ]

    (tmp_path / "SECURITY.md").write_text("Address: security@docs-feedback.org\n")
    (tmp_path / "LICENSE").touch()

    assert not [*undecided(tmp_path)]
