"""`docfeedback-mcp`, also `python -m docfeedback_mcp`: serves one MCP client over stdio."""

import argparse
import gc
import sys

from . import __version__


def main() -> None:
    """Serve until the client closes standard input."""
    parser = argparse.ArgumentParser(
        prog="docfeedback-mcp",
        description="An MCP server over stdio, to be started by an MCP client.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.parse_args()
    try:
        _serve()
    except KeyboardInterrupt:
        sys.exit(130)


def _serve() -> None:
    """Load the SDK, which takes most of the start, and serve."""
    gc.disable()  # what is loaded stays: to look for garbage in it is a quarter of the start
    import anyio

    from . import server

    gc.freeze()
    gc.enable()
    anyio.run(server.serve)


if __name__ == "__main__":
    main()
