"""`docfeedback-mcp`, also `python -m docfeedback_mcp`: serves one MCP client over stdio."""

import argparse
import gc
import os
import signal
import sys
from typing import Any

from . import __version__

INTERRUPTED = 130
ON_A_TERMINAL = (
    "This is an MCP server, to be started by an MCP client, which talks to it over standard input. "
    "Press Ctrl-C to end it.\n"
)


def main() -> None:
    """Serve until the client closes standard input."""
    parser = argparse.ArgumentParser(
        prog="docfeedback-mcp",
        description="An MCP server over stdio, to be started by an MCP client.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.parse_args()
    signal.signal(signal.SIGINT, _end)
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(ON_A_TERMINAL)
    _serve()


def _serve() -> None:
    """Load the SDK, which takes most of the start, and serve."""
    gc.disable()  # what is loaded stays: to look for garbage in it is a quarter of the start
    import anyio

    from . import server

    gc.freeze()
    gc.enable()
    anyio.run(server.serve)


def _end(*_: Any) -> None:
    """End at once: a thread that waits for a line on standard input would hold up any other end."""
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
