"""A path in a repository becomes the address of its file, as the remote of the repository says.

The repository is that of the first folder that the client works in, if it can be asked for it (which
ends with protocol 2025-11-25), and else that of the current folder.
"""

from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from anyio import CapacityLimiter, from_thread, to_thread
from docfeedback import checkout, words
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult

from . import consent

SECONDS = 5  # in which a client names its folders
MOST = 20
LONGEST_URL = 4096
ITS_ADDRESS = "the address of its file"
ONE = CapacityLimiter(
    1
)  # thread that waits for its turn; those of calls that were cancelled end in theirs
TURN = Lock()  # a repository can make each git take its whole memory and time

Body = dict[str, Any]


async def addressed(body: Body, session: ServerSession) -> tuple[Body, str]:
    """The report with the address of its file, and what the person has to know about that."""
    path = body["doc_url"]
    if not checkout.is_path(path):
        return body, ""
    folder = await _folder(session)
    found = await to_thread.run_sync(_locate, path, folder, abandon_on_cancel=True, limiter=ONE)
    return {**body, "doc_url": found.url or found.path}, _note(found)


def _locate(path: str, folder: str | None) -> checkout.Located:
    """Where the file is, once no other git runs: that of a call that was cancelled runs to its end."""
    with TURN:
        from_thread.check_cancelled()
        return checkout.locate(path, folder)


def _note(found: checkout.Located) -> str:
    """Without the path and the address, which stand in the report: nobody else's words are in a sentence."""
    if found.note is None:
        return ""
    note = f"The page{found.note.removeprefix(words.quote(found.path))}"
    return note.replace(words.quote(found.url), ITS_ADDRESS) if found.url else note


async def _folder(session: ServerSession) -> str | None:
    """The first folder that the client names; None: the current one."""
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or consent.asks_by_answer(session):
        return None
    try:
        listed = await session.send_request(
            ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=SECONDS
        )
    except (MCPError, ValueError):  # it said that it can, and could not, or answered nonsense
        return None
    paths = (_path(str(root.uri)) for root in listed.roots[:MOST])
    return next(filter(None, paths), None)


def _path(url: str) -> str | None:
    """The folder that a file URL names, if it is there and can be looked at."""
    parts = urlsplit(url[:LONGEST_URL])
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = url2pathname(parts.path)
    with suppress(OSError):  # a name that is too long, a folder above it that is closed to us
        return path if Path(path).is_absolute() and Path(path).is_dir() else None
    return None
