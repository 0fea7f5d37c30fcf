"""The pictures of docs/architecture.md and of the threat model, drawn by code. Run by script/map."""

from tests.pictures import rooms, sequence, states, threats
from tests.rooms import ROOT

FILES = {
    ROOT / "docs" / "rooms.svg": rooms.drawn,
    ROOT / "docs" / "report.svg": sequence.drawn,
    ROOT / "docs" / "states.svg": states.drawn,
    ROOT / "docs" / "v0" / "security" / "threats.svg": threats.drawn,
}
