"""The pictures of docs/architecture.md, drawn from the code. Run by script/map."""

from tests.pictures import rooms, sequence, states
from tests.rooms import ROOT

FILES = {
    ROOT / "docs" / "rooms.svg": rooms.drawn,
    ROOT / "docs" / "report.svg": sequence.drawn,
    ROOT / "docs" / "states.svg": states.drawn,
}
