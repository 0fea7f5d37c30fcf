"""Snapshots of the docs."""

import io
import re
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from hub.docs import library, shelf, snapshots
from tests.hub_process import ROOT

SNAPSHOTS = sorted((ROOT / "docs").glob("v0.[0-9]*"))


def _freeze(version: str) -> str:
    out = io.StringIO()
    call_command("freeze_docs", version, stdout=out)
    return out.getvalue()


def test_a_snapshot_has_all_pages_and_images(client, docs: Path):
    said = _freeze("0.1")

    snapshot = docs.with_name("v0.1")
    assert said == f"Froze 5 files in {snapshot}. They are served at /v0.1/. Commit them.\n"
    for path in docs.rglob("*.*"):
        assert (snapshot / path.relative_to(docs)).read_bytes() == path.read_bytes()
    assert snapshots.changes(snapshot) == []
    assert "version 0.1" in client.get("/v0.1/how-to/opt-out/").content.decode()


def test_a_snapshot_is_never_written_again(docs: Path):
    _freeze("0.1")
    (docs / "how-to/opt-out.md").write_text("# Newer\n\nText.\n")

    with pytest.raises(CommandError, match="exists already, and a snapshot never changes"):
        _freeze("0.1")

    assert "Newer" not in (docs.with_name("v0.1") / "how-to/opt-out.md").read_text()


@pytest.mark.parametrize("version", ["1", "v0.1", "0", "0.1.2", "../0.1", ""])
def test_a_version_that_cannot_be_served_is_refused(docs: Path, version: str):
    with pytest.raises(CommandError, match="write it as"):
        _freeze(version)

    assert [path.name for path in docs.parent.iterdir()] == ["v0"]


@pytest.mark.parametrize("change", ["another byte", "a file less", "a file more"])
def test_a_change_of_a_snapshot_is_seen(docs: Path, change: str):
    _freeze("0.1")
    page = docs.with_name("v0.1") / "how-to/opt-out.md"

    if change == "another byte":
        page.write_text(page.read_text() + " ")
    elif change == "a file less":
        page.unlink()
    else:
        page.with_name("new.md").write_text("# New\n")

    assert snapshots.changes(docs.with_name("v0.1"))


def test_every_snapshot_is_as_it_was_frozen():
    changed = {path.name: snapshots.changes(path) for path in SNAPSHOTS}

    assert not any(changed.values()), changed


def test_links_to_the_docs_of_this_hub_stay_in_their_version(client, docs: Path):
    page = docs / "how-to/opt-out.md"
    page.write_text(f"{page.read_text()}\n[Fields]({library.HUB}/v0/reference/reports-api/)\n")

    _freeze("0.1")

    link = 'href="https://hub.example/{}/reference/reports-api/"'
    assert link.format("v0.1") in client.get("/v0.1/how-to/opt-out/").content.decode()
    assert link.format("v0") in client.get("/v0/how-to/opt-out/").content.decode()
    assert "/v0.1/reference/" in client.get("/v0.1/how-to/opt-out.md").content.decode()


def test_a_page_leads_to_itself_in_the_other_versions(client, docs: Path):
    alone = client.get("/v0/how-to/opt-out/").content.decode()
    for version in ("0.2", "0.10"):
        _freeze(version)
    (docs / "how-to/new.md").write_text("# New\n\nText.\n")
    shelf._read.cache_clear()

    page = client.get("/v0/how-to/opt-out/").content.decode()
    new = client.get("/v0/how-to/new/").content.decode()

    assert "<b>Versions</b>" not in alone
    assert _versions(page) == [f"/{each}/how-to/opt-out/" for each in ("v0", "v0.10", "v0.2")]
    assert _versions(new) == ["/v0/how-to/new/", "/v0.10/", "/v0.2/"]
    assert _versions(client.get("/v0.2/search/?q=x").content.decode()) == [
        "/v0/",
        "/v0.10/",
        "/v0.2/",
    ]


def test_what_is_no_more_is_its_own_canonical_page(client, docs: Path):
    _freeze("0.1")
    (docs / "how-to/opt-out.md").unlink()
    shelf._read.cache_clear()

    canonical = '<link rel="canonical" href="https://hub.example{}">'.format
    gone = client.get("/v0.1/how-to/opt-out/").content.decode()
    there = client.get("/v0.1/how-to/prove-a-domain/").content.decode()

    assert canonical("/v0.1/how-to/opt-out/") in gone
    assert '<a href="/v0/">The latest: The docs</a>' in gone
    assert canonical("/v0/how-to/prove-a-domain/") in there


def _versions(page: str) -> list[str]:
    """Where the links below *Versions* lead."""
    return re.findall(
        r'href="([^"]+)"', page.partition("<b>Versions</b>")[2].partition("</nav>")[0]
    )


def test_the_docs_of_this_hub_can_be_frozen(client, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(shelf, "FOLDER", tmp_path)
    shutil.copytree(ROOT / "docs" / "v0", tmp_path / "v0")

    _freeze("0.1")

    pages = library.read(tmp_path / "v0.1", base_url="https://hub.example").pages.values()
    assert {page.name for page in pages} == shelf.latest().pages.keys()
    for page in pages:
        answer = client.get(page.path).content.decode()
        assert "You are reading the docs of version 0.1." in answer
        assert "/v0/" not in re.sub(r"<code>.*?</code>", "", page.html, flags=re.DOTALL)
