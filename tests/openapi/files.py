"""What is made from the code and the reference, and kept in the repository."""

from hub.docs import for_agents
from tests.openapi import describing, page
from tests.rooms import ROOT

FILES = {
    for_agents.OPENAPI: describing.text,
    ROOT / "docs" / "v0" / "reference" / "openapi.md": page.text,
}
