"""What is stopped from outside has stopped: nothing is sent after it."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from typing import Any

import pytest

from tests.clients.command_line import SECONDS, CommandLine, Ended
from tests.clients.conftest import CLIENTS, World
from tests.clients.stand_ins import HUB
from tests.clients.test_cli import PLACEHOLDERS

TIMES = 10
ENDS = {"SIGINT": 130, "SIGTERM": -signal.SIGTERM, "SIGHUP": -signal.SIGHUP}


@dataclass
class Pipeline:
    """`cat | docfeedback …`, as a shell starts it: one process group, which Ctrl-C reaches."""

    client: CommandLine
    world: World

    def stopped(self, words: list[str], name: str) -> Ended:
        """How the client ends when the group gets a signal after half of the text."""
        given, taken = os.pipe()
        os.write(taken, b"half a")
        with (
            self._started([*self.client.command, *words], given) as reader,
            self._started(["cat"], subprocess.PIPE, stdout=taken, process_group=reader.pid),
        ):
            os.close(taken)
            _read_by(reader, given)
            os.killpg(reader.pid, signal.Signals[name])
            stdout, stderr = reader.communicate(timeout=SECONDS)
        os.close(given)
        return Ended(reader.returncode, stdout.decode(), stderr.decode())

    def _started(self, command: list[str], stdin: int, **more: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            stdin=stdin,
            stderr=subprocess.PIPE,
            cwd=self.world.folder,
            env=self.world.environment,
            **{"stdout": subprocess.PIPE, "process_group": 0, **more},
        )


@pytest.mark.parametrize("name", ENDS)
def test_half_a_text_is_not_sent(client: CommandLine, world: World, name: str):
    words = ["report", *PLACEHOLDERS["@report"], "--details", "-"]
    said = "Interrupted.\n" if name == "SIGINT" else ""

    for _ in range(TIMES):
        assert Pipeline(client, world).stopped(words, name) == Ended(ENDS[name], "", said)

    assert HUB not in world.stage.asked


def _read_by(reader: "subprocess.Popen[bytes]", pipe: int) -> None:
    """Return once nothing waits in the pipe any more."""
    waiting = 1
    while waiting and reader.poll() is None:
        (waiting,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
        os.sched_yield()


def test_the_mcp_server_says_on_a_terminal_what_it_is_and_ends_on_ctrl_c(world: World):
    controller, terminal = pty.openpty()
    paths = f"{CLIENTS / 'mcp' / 'src'}:{world.environment['PYTHONPATH']}"
    command = [sys.executable, "-m", "docfeedback_mcp"]

    with subprocess.Popen(
        command,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=world.environment | {"PYTHONPATH": paths},
    ) as server:
        os.close(terminal)
        with os.fdopen(controller, "rb", buffering=0) as screen:
            said = screen.readline()
            server.send_signal(signal.SIGINT)
            ended = server.wait(SECONDS)
            last = screen.readline()

    assert said.startswith(b"This is an MCP server")
    assert (ended, last) == (130, b"Interrupted.\r\n")
