"""`docfeedback-mcp`, also `python -m docfeedback_mcp`: serves one MCP client over stdio."""

import argparse
import sys

import anyio

from . import __version__, server


def main() -> None:
    """Serve until the client closes standard input."""
    parser = argparse.ArgumentParser(
        prog="docfeedback-mcp",
        description="An MCP server over stdio, to be started by an MCP client.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.parse_args()
    try:
        anyio.run(server.serve)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
