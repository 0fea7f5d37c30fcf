"""An MCP server with one tool, `file_doc_feedback`: an agent writes a report, a person decides."""

from .version import __version__

__all__ = ["__version__"]
