"""What the tests of the clients share: the contract, a world to talk to, and two command lines."""

import hashlib
import json
import os
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients import certificates
from tests.clients.command_line import CommandLine
from tests.clients.forked import Forks, PythonCommandLine
from tests.clients.stand_ins import Stage, StandIn

HERE = Path(__file__).resolve().parent
CLIENTS = HERE.parents[1] / "clients"
CONTRACT = CLIENTS / "contract"
PATH = str(CLIENTS / "python" / "src")  # of Python's modules
HURRIED_PATH = f"{HERE}/hurry:{PATH}"
sys.path.insert(0, PATH)

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="NODE IS MISSING: the Node client is untested")


@dataclass
class World:
    """A person's home and folder, and the network that their clients see."""

    home: Path
    folder: Path
    server: StandIn
    pem: Path
    dead: str

    @property
    def hub(self) -> str:
        return self.server.url

    @property
    def loud_hub(self) -> str:
        """The same address in another spelling."""
        return self.hub.replace("http:", "HTTP:")

    def sign_in_at(self, hub: str) -> Path:
        """Where the sign-in at this Hub is kept."""
        name = hashlib.sha256(hub.encode()).hexdigest()[:32]
        return self.home / "config" / "docfeedback" / "sign-ins" / f"{name}.json"

    @property
    def proxy(self) -> str:
        """The way to the doc hosts, with a password."""
        return self.hub.replace("http://", "http://alice:k9@")

    @property
    def stage(self) -> Stage:
        return self.server.stage

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "DOCFEEDBACK_HUB_URL": self.hub,
            "https_proxy": self.hub,
            "no_proxy": "127.0.0.1",
            "SSL_CERT_FILE": str(self.pem),
            "NODE_EXTRA_CA_CERTS": str(self.pem),
            "PYTHONPATH": PATH,
            "NODE_CLIENT": str(CLIENTS / "node"),
        }

    @property
    def hurried(self) -> dict[str, str]:
        """The same for command lines that would wait for long: their pauses are shorter."""
        node = {"NODE_OPTIONS": f"--import={HERE}/hurry/hurry.mjs"}
        return self.environment | node | {"PYTHONPATH": HURRIED_PATH}

    def filled(self, value: Any) -> Any:
        """A value of the contract, with this world's addresses in its placeholders."""
        text = json.dumps(value, ensure_ascii=False)
        for name in ("hub", "loud_hub", "proxy", "dead", "home", "folder"):
            text = text.replace(f"{{{name}}}", str(getattr(self, name)))
        return json.loads(text)


@dataclass
class Sdk:
    """A library, driven by a list of calls: see drive.py."""

    driver: CommandLine
    environment: dict[str, str]

    def do(self, *calls: dict[str, Any]) -> list[Any]:
        """What each call gave or raised, in one process."""
        ended = self.driver.run([], cwd=HERE, env=self.environment, stdin=json.dumps(calls))
        assert (ended.exit, ended.stderr) == (0, "")
        return json.loads(ended.stdout)


@pytest.fixture(scope="session", autouse=True)
def _no_fork_left() -> Iterator[None]:
    yield
    forks.end()


@pytest.fixture(scope="session")
def _pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def _server(_pem: Path) -> Iterator[StandIn]:
    with StandIn(certificates.context(_pem)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.stage.over.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def world(_server: StandIn, _pem: Path, tmp_path: Path) -> Iterator[World]:
    """Nothing set up but the Hub's address; the Hub answers by `world.stage.answers`."""
    _server.stage = Stage()
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield World(home, folder, _server, _pem, f"http://127.0.0.1:{closed.getsockname()[1]}")
    _server.stage.over.set()


PYTHON = os.environ.get("DOCFEEDBACK_TEST_PYTHON", sys.executable)
either = pytest.fixture(params=["python", pytest.param("node", marks=needs_node)])


@either
def client(request: pytest.FixtureRequest) -> CommandLine:
    """Either command line."""
    return COMMAND_LINES[request.param]


@either
def sdk(request: pytest.FixtureRequest, world: World) -> Sdk:
    """Either library."""
    return Sdk(DRIVERS[request.param], world.environment)


@pytest.fixture
def sdk_for_which_loopback_is_public(sdk: Sdk, tmp_path: Path) -> Sdk:
    """The clients with an empty list of private networks."""
    shutil.copytree(CLIENTS / "python" / "src", tmp_path / "src")
    shutil.copytree(CLIENTS / "node", tmp_path / "node")
    for folder in (tmp_path / "src" / "docfeedback", tmp_path / "node"):
        path = folder / "contract" / "addresses.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"private_ipv4": []}))
    sdk.environment |= {"PYTHONPATH": str(tmp_path / "src"), "NODE_CLIENT": str(tmp_path / "node")}
    del sdk.environment["https_proxy"]
    return sdk


forks = Forks(PYTHON, PATH, HURRIED_PATH)
COMMAND_LINES: dict[str, CommandLine] = {
    "python": PythonCommandLine([PYTHON, "-m", "docfeedback"], forks),
    "node": CommandLine([NODE or "node", str(CLIENTS / "node" / "bin" / "docfeedback.js")]),
}
DRIVERS: dict[str, CommandLine] = {
    "python": PythonCommandLine([PYTHON, str(HERE / "drive.py")], forks),
    "node": CommandLine([NODE or "node", str(HERE / "drive.mjs")]),
}


@pytest.fixture(scope="session")
def examples() -> dict[str, Any]:
    """Requests and answers by name, as in the contract."""
    return json.loads((CONTRACT / "examples.json").read_text())
