"""Docs of a test: a few pages in a folder of its own."""

from pathlib import Path

import pytest

from hub.docs import library, shelf
from hub.docs.library import Library

PAGES = {
    "index.md": "# The docs\n\nAll you need.\n\n## How-to guides\n\n"
    "- [Prove a domain](how-to/prove-a-domain.md): show that it is yours\n"
    "- [Stop reports](how-to/opt-out.md): refuse them\n\n"
    "## Reference\n\n- [Reports API](reference/reports-api.md): its fields\n",
    "how-to/prove-a-domain.md": "# Prove a domain\n\nA claim that is verified.\n\n"
    "## Publish the record\n\nPut the **value** into a TXT record. "
    "See [the fields](../reference/reports-api.md#fields).\n\n"
    "```sh\ndig TXT https://hub.example.com/\n```\n\n## Check it\n\nPress the button. Deliveries begin.\n",
    "how-to/opt-out.md": "# Stop reports\n\nNo more of them.\n\n![A switch](switch.svg)\n\n"
    "The domain keeps its record.\n",
    "how-to/switch.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "reference/reports-api.md": "# Reports API\n\nEvery field.\n\n## Fields\n\nA `doc_url` <b>of 2</b>.\n",
}


@pytest.fixture
def docs(tmp_path: Path, monkeypatch) -> Path:
    """The folder `v0` of the only docs that this Hub has."""
    folder = tmp_path / "docs" / "v0"
    for name, text in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(shelf, "FOLDER", folder.parent)
    return folder


@pytest.fixture
def pages(docs: Path) -> Library:
    return library.read(docs, base_url="https://hub.example")
