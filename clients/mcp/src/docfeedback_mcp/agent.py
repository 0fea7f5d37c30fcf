"""Who reports: the client by the name that it gives itself, unless the model gives another."""

from docfeedback.visible import is_blank
from mcp.server.session import ServerSession

from . import legible, schemas

NAMELESS = "docfeedback-mcp"  # what such a report says; a client need not give a name
_MOST = schemas.REPORT["properties"]["agent"]["properties"]["name"]["maxLength"]


def name(session: ServerSession) -> str:
    """The client's name as a short visible line."""
    client = session.client_params
    given = legible.line(client.client_info.name[: _MOST * 4], _MOST) if client else ""
    return NAMELESS if is_blank(given) else given
