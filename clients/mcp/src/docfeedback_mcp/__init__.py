"""An MCP server: an agent writes a report, a person decides; and it may ask what is known of a page."""

from .version import __version__

__all__ = ["__version__"]
