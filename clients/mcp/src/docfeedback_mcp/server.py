"""The server: two tools, over standard input and output, for one client."""

from functools import partial

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from . import __version__, asking, tool
from .consent import History

INSTRUCTIONS = (
    "Reports problems in documentation to those who maintain it. When a public page, or this "
    "repository's own documentation, misled you because it is broken, incorrect, outdated, missing "
    "or unclear, call file_doc_feedback, once for each problem. The person reads the report and "
    "decides whether it is sent, so you need not ask them first. Accept a no. To learn first what is "
    "known of a public page, call known_doc_problems."
)


async def serve() -> None:
    """Serve until the client closes standard input; only the protocol goes to standard output."""
    server = Server(
        "docfeedback",
        version=__version__,
        title="Docs Feedback",
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, history=History()),
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _list_tools(
    context: ServerRequestContext, params: PaginatedRequestParams | None
) -> ListToolsResult:
    return ListToolsResult(tools=[tool.TOOL, asking.TOOL])


async def _call_tool(
    context: ServerRequestContext, params: CallToolRequestParams, *, history: History
) -> CallToolResult | InputRequiredResult:
    if params.name == asking.TOOL.name:
        return await asking.call(params)
    if params.name != tool.TOOL.name:
        raise MCPError(code=INVALID_PARAMS, message=f"There is no tool {params.name[:80]!r}.")
    return await tool.call(context, params, history)
