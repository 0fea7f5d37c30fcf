"""The ASGI types that are used here (https://asgi.readthedocs.io/en/stable/specs/www.html)."""

from collections.abc import Awaitable, Callable
from typing import Any

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Any]  # of WSGI: (environ, start_response) -> pieces that can be closed
Headers = list[tuple[bytes, bytes]]
