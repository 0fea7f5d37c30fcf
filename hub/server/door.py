"""Refuses what would be expensive, headers and forms that no normal client sends, and what comes from nowhere.

Django reads these in ways whose time or memory is not linear: escapes in cookies, and the parameters
of a content type or of what is accepted, in quadratic time; a form, and a parameter, in the encoding
that its sender names.

In HTTP/3 a request can be early data of TLS: in the first datagram, which can name any sender, as nothing has
been sent back yet. A proxy that passes it on all the same says so (RFC 8470).
"""

from django.utils.http import parse_header_parameters

from core.errors import ApiError
from hub.server.asgi import Scope

LONGEST = 8 * 1024  # bytes of one header
SHORTER = {b"cookie": 4 * 1024, b"content-type": 256, b"accept": 512}  # read in quadratic time
ESCAPES = 64  # backslashes in cookies, each of which costs as much as all that follows it
FORM = "application/x-www-form-urlencoded"


class HeadersTooLarge(ApiError):
    """431: a header is too long."""

    status_code = 431
    default_code = "headers_too_large"


class TooEarly(ApiError):
    """425: nobody has shown yet that the request comes from where it says."""

    status_code = 425
    default_code = "too_early"
    default_detail = "The request was early data of TLS (0-RTT), which can name any sender. Send it again without."


class NotRead(ApiError):
    """415: the encoding or content type is not accepted."""

    status_code = 415
    default_code = "unsupported_media_type"
    default_detail = "Only UTF-8 is accepted, and no multipart."


class NotAForm(NotRead):
    """415: pages accept one kind of form only."""

    default_detail = f"Send a form as {FORM} in UTF-8."


def check(scope: Scope) -> None:
    """Raise `HeadersTooLarge`, `TooEarly`, `NotRead` or `NotAForm` if the headers are not acceptable."""
    sizes: dict[bytes, int] = {}
    for name, value in scope["headers"]:
        sizes[name] = sizes.get(name, 0) + len(value)
        if sizes[name] > SHORTER.get(name, LONGEST):
            longest = SHORTER.get(name, LONGEST)
            raise HeadersTooLarge(f"The header {name.decode('latin-1')} is over {longest} bytes.")
    if b"early-data" in sizes:
        raise TooEarly
    if b"cookie" in sizes:
        _check_cookies(scope)
    if b"accept" in sizes:
        _check_accepted(scope)
    if b"content-type" in sizes:
        _check_type(scope)


def _values(scope: Scope, header: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == header]


def _check_cookies(scope: Scope) -> None:
    if sum(value.count(b"\\") for value in _values(scope, b"cookie")) > ESCAPES:
        raise HeadersTooLarge(f"The header cookie has over {ESCAPES} backslashes.")


def _check_accepted(scope: Scope) -> None:
    for kind in b",".join(_values(scope, b"accept")).split(b","):
        if b"*" in kind.partition(b";")[2]:  # RFC 2231: in any character set
            raise NotRead("No parameter of Accept may have a character set of its own.")


def _check_type(scope: Scope) -> None:
    """Pages accept one kind of form; the API's calls check their own content type."""
    whole = b",".join(_values(scope, b"content-type")).decode("latin-1")  # as Django has it
    if "*" in whole.partition(";")[2]:  # RFC 2231: in any character set
        raise NotRead
    kind, parameters = parse_header_parameters(whole)
    takes_a_form = scope["method"] not in ("GET", "HEAD") and not scope["path"].startswith("/v1/")
    if takes_a_form and (kind != FORM or parameters.keys() - {"charset"}):
        raise NotAForm
    if kind.startswith("multipart/") or parameters.get("charset", "utf-8").lower() != "utf-8":
        raise NotAForm if takes_a_form else NotRead
