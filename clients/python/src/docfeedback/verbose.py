"""`--verbose`: shows on standard error what is sent and answered, without secrets."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import sys
import time
from typing import Any, Callable, Iterable, List, Mapping, Optional, Tuple, TypeVar
from urllib.parse import parse_qsl

from . import document, settings, terminal
from .contract import message

SECRET_HEADER = re.compile(
    r"^(proxy-)?authorization$|cookie|token|secret|password|session|credential|signature|api-?key",
    re.ASCII | re.IGNORECASE,
)
SECRET_FIELD = re.compile(r"(^|_)(token|secret|password|code)$", re.ASCII | re.IGNORECASE)
SECRET_IN_TEXT = re.compile(
    r"((?:token|secret|password|code)[\"']?[ ]?[:=][ ]?[\"']?)[^\s\"'&,;<>]+", re.IGNORECASE
)
SHORTEST_SECRET = 8  # what is shorter may stand in any text
LONGEST_BODY = 65536  # characters that are shown

E = TypeVar("E", bound=Callable[..., Any])
_is_on = False


def turn_on() -> None:
    """Show all requests from now on."""
    global _is_on
    _is_on = True


def shown(exchange: E) -> E:
    """The same exchange of a request for an answer, which is shown while `turn_on` has been called.

    The request is the last argument but one, or named.
    """

    @functools.wraps(exchange)
    def shown_exchange(*arguments: Any) -> Any:
        if not _is_on:
            return exchange(*arguments)
        look = _Look(arguments[-2])
        try:
            answer = exchange(*arguments)
        except BaseException as error:
            look.failed(getattr(error, "reason", ""))
            raise
        look.answered(answer.status, answer.headers, answer.body)
        return answer

    return shown_exchange  # type: ignore[return-value]


class _Look:
    """One request, and what comes of it."""

    def __init__(self, request: Any) -> None:
        self._since = time.monotonic()
        self._secrets = _secrets_of(request.headers, request.body or b"")
        self._write(">", f"{request.method} {request.url}", request.headers, request.body or b"")

    def answered(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        first = message("verbose_answer", status=status, time=self._milliseconds())
        self._write("<", first, headers, body)

    def failed(self, reason: Any) -> None:
        known = message(reason) if isinstance(reason, str) and reason else message("broken")
        line = message("verbose_failure", reason=known, time=self._milliseconds())
        self._write("<", line, {}, b"")

    def _milliseconds(self) -> int:
        return round((time.monotonic() - self._since) * 1000)

    def _write(self, sign: str, first: str, headers: Mapping[str, str], body: bytes) -> None:
        texts = [first, *_headers(headers)]
        if body:
            texts += ["", *_body(body).split("\n")]
        lines = [f"{sign} {self._without_secrets(text)}".rstrip() for text in texts]
        with contextlib.suppress(OSError):  # nobody reads it, which changes nothing
            terminal.write(sys.stderr, lines)

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, message("verbose_hidden"))
        return text


def _secrets_of(headers: Mapping[str, str], body: bytes) -> List[str]:
    """What this request proves itself by; an answer may repeat it."""
    named = [value.rpartition(" ")[2] for name, value in headers.items() if _is_secret(name)]
    named += [value for name, value in _form(body) if SECRET_FIELD.search(name)]
    return [secret for secret in named if len(secret) >= SHORTEST_SECRET]


def _form(body: bytes) -> List[Tuple[str, str]]:
    """The fields of a form; none if it is JSON."""
    return [] if body[:1] == b"{" else parse_qsl(body.decode("utf-8", "replace"))


def _is_secret(header: str) -> bool:
    return SECRET_HEADER.search(header) is not None


def _headers(headers: Mapping[str, str]) -> Iterable[str]:
    """One line for each, in the order of their names."""
    for name, value in sorted((name.lower(), str(value)) for name, value in headers.items()):
        shown_value = settings.without_user_info(value)
        yield f"{name}: {message('verbose_hidden') if _is_secret(name) else shown_value}"


def _body(body: bytes) -> str:
    """The body as it is, but for secrets, and at most `LONGEST_BODY` of it."""
    text = body.decode("utf-8", "replace")
    found = _parsed(body)
    if found is None:
        text = SECRET_IN_TEXT.sub(lambda match: match[1] + message("verbose_hidden"), text)
    elif (hidden := _hidden(found)) != found:
        text = json.dumps(hidden, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= LONGEST_BODY else text[:LONGEST_BODY] + "…"


def _parsed(body: bytes) -> Optional[Any]:
    try:
        return document.parse(body)
    except document.NoDocument:
        return None


def _hidden(value: Any) -> Any:
    """The same JSON without the values of secret fields."""
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: message("verbose_hidden") if SECRET_FIELD.search(name) and item else _hidden(item)
        for name, item in value.items()
    }
