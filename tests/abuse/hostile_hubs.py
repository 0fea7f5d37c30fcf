"""Hubs that are hostile to whoever reports or reads there, by either command line."""

import json
import resource
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from tests.abuse.table import HUB, attack
from tests.abuse.world import World, stands_if
from tests.clients import certificates
from tests.clients.conftest import COMMAND_LINES, CONTRACT
from tests.clients.conftest import World as ClientsWorld
from tests.clients.stand_ins import HUB as ASKED_DIRECTLY
from tests.clients.stand_ins import Asked, Stage, StandIn

REPORT = [
    "report",
    "--doc-url",
    "docs/install.md",
    "--agent",
    "x",
    "--kind",
    "other",
    "--summary",
    "Gone",
]
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b2J\u202eback\u200b\r\x08\x00"
BAD = ("\x1b", "\x9b", "\x07", "\x08", "\u202e", "\x00")
TOKEN = "hub_" + "a" * 43
PATIENCE = 110  # seconds until a client has to end by itself


class Said(NamedTuple):
    """How a command line ended: its status, None if it went on for ever, and all that it wrote."""

    status: int | None
    text: str
    megabytes: float


@attack(HUB, "write to the terminal of whoever reports")
def answers_with_color_codes(world: World) -> str:
    """Each text of the answers to a report and to a question has codes for terminals in it."""
    answers = [_escaped(each) for each in _examples()]
    with _hostile(world) as clients:
        said = [
            _run(clients, name, REPORT, [{"status": status, "body": body}])
            for name in COMMAND_LINES
            for body in answers
            for status in (201, 400, 500)
        ]
    shown = sum(any(each in one.text for each in BAD) for one in said)
    stuck = sum(one.status is None for one in said)
    heard = sum("Sent" in one.text or "Say so" in one.text for one in said)
    figures = f"{shown} of {len(said)} runs write one; {stuck} do not end; {heard} say what they were told"
    return stands_if(not shown and not stuck and heard > len(COMMAND_LINES), figures)


@attack(HUB, "fill the memory of whoever reports")
def answers_without_end(world: World) -> str:
    """An answer that never ends, at the speed of the machine, to both command lines."""
    with _hostile(world) as clients:
        said = {name: _run(clients, name, REPORT, [{"do": "flood"}]) for name in COMMAND_LINES}
        asked = len(clients.stage.asked[ASKED_DIRECTLY])
    ended = all(each.status not in (None, 0) for each in said.values())
    used = {name: f"{each.megabytes:.0f} MB" for name, each in said.items()}
    figures = f"{asked} answers; ended with {[each.status for each in said.values()]}, used {used}"
    return stands_if(
        asked >= len(said) and ended and max(each.megabytes for each in said.values()) < 400,
        figures,
    )


@attack(HUB, "keep whoever reports waiting")
def answers_that_never_come(world: World) -> str:
    """Nothing is answered, or headers or a body that come byte by byte, to both command lines."""
    with _hostile(world) as clients:
        said = {
            f"{name} {act}": _run(clients, name, REPORT, [{"do": act}])
            for name in COMMAND_LINES
            for act in ("hang", "drip headers", "drip body")
        }
    ended = [each.status for each in said.values()]
    return stands_if(None not in ended and 0 not in ended, f"each ended by itself, with {ended}")


@attack(HUB, "be given a token that is for another")
def redirects_with_a_token(world: World) -> str:
    """A Hub answers a call with a token by a redirect to another host, of five kinds."""
    with _hostile(world) as clients, _thief() as (thief, stolen):
        said = [
            _run(clients, name, ["reports"], [_redirect(status, thief)], DOCFEEDBACK_TOKEN=TOKEN)
            for name in COMMAND_LINES
            for status in (301, 302, 303, 307, 308)
        ]
        asked = clients.stage.asked.get(ASKED_DIRECTLY, [])
        carried = sum(TOKEN in str(each.headers) for each in asked)
        given = sum(TOKEN in str(each) for each in stolen)
    figures = (
        f"{len(said)} calls; the other host was asked {len(stolen)} times, with a token {given}"
    )
    return stands_if(carried > 0 and not given, figures)


@contextmanager
def _hostile(world: World) -> Iterator[ClientsWorld]:
    """Somebody's home and folder, and a Hub that answers as it is told."""
    place = Path(mkdtemp(dir=world.folder))
    pem = certificates.make(place)
    for name in ("home", "folder"):
        (place / name).mkdir()
    with _serving(StandIn(certificates.context(pem))) as server:
        yield ClientsWorld(place / "home", place / "folder", server, pem, "")


@contextmanager
def _thief() -> Iterator[tuple[str, list[Asked]]]:
    """Another host, and what it is asked."""
    place = Path(mkdtemp())
    with _serving(StandIn(certificates.context(certificates.make(place)))) as server:
        server.stage = Stage({ASKED_DIRECTLY: [{"status": 200, "body": {}}]})
        seen: list[Asked] = server.stage.asked.setdefault(ASKED_DIRECTLY, [])
        yield server.url.replace("127.0.0.1", "localhost"), seen


@contextmanager
def _serving(server: StandIn) -> Iterator[StandIn]:
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.stage.over.set()
            server.shutdown()
            thread.join()


def _run(
    clients: ClientsWorld, name: str, arguments: list[str], answers: list[Any], **environment: str
) -> Said:
    """Run a command line against a Hub that answers so, again and again."""
    asked = clients.stage.asked
    clients.server.stage = Stage({ASKED_DIRECTLY: answers}, asked)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    command = [*COMMAND_LINES[name].command, *arguments]
    given = {**clients.environment, "DOCFEEDBACK_HUB_URL": clients.hub, **environment}
    try:
        ended = subprocess.run(
            command, cwd=clients.folder, env=given, capture_output=True, timeout=PATIENCE, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Said(None, "", 0)
    finally:
        clients.stage.over.set()
    most = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
    return Said(ended.returncode, (ended.stdout + ended.stderr).decode("utf-8", "replace"), most)


def _redirect(status: int, place: str) -> dict[str, Any]:
    return {"status": status, "text": "", "headers": {"Location": f"{place}/v1/orgs/me/reports"}}


def _examples() -> list[Any]:
    """Answers of a Hub to reports, as in the contract of the clients."""
    examples = json.loads((CONTRACT / "examples.json").read_text())
    found = [each["answer"]["body"] for each in examples.values()]
    error = {"error": "x", "message": "Say so", "details": [{"path": "/report", "message": "No"}]}
    return [*[each for each in found if isinstance(each, dict) and "id" in each][:6], error]


def _escaped(value: Any) -> Any:
    """The same with codes for terminals in each text."""
    if isinstance(value, dict):
        return {name: _escaped(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_escaped(each) for each in value]
    return value + ESCAPES if isinstance(value, str) else value
