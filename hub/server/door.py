"""Refuses what would be expensive: headers and forms that no normal client sends.

Django reads these in ways whose time or memory is not linear: cookies and the parameters of a
content type in quadratic time, a form in the encoding that its sender names.
"""

from django.utils.http import parse_header_parameters

from core.errors import ApiError
from hub.server.asgi import Scope

LONGEST = 8 * 1024  # bytes of one header
SHORTER = {b"cookie": 4 * 1024, b"content-type": 256}
FORM = "application/x-www-form-urlencoded"


class HeadersTooLarge(ApiError):
    """431: a header is too long."""

    status_code = 431
    default_code = "headers_too_large"


class NotRead(ApiError):
    """415: the encoding or content type is not accepted."""

    status_code = 415
    default_code = "unsupported_media_type"
    default_detail = "Only UTF-8 is accepted, and no multipart."


class NotAForm(NotRead):
    """415: pages accept one kind of form only."""

    default_detail = f"Send a form as {FORM} in UTF-8."


def check(scope: Scope) -> None:
    """Raise `HeadersTooLarge`, `NotRead` or `NotAForm` if the headers are not acceptable."""
    sizes: dict[bytes, int] = {}
    for name, value in scope["headers"]:
        sizes[name] = sizes.get(name, 0) + len(value)
        if sizes[name] > SHORTER.get(name, LONGEST):
            longest = SHORTER.get(name, LONGEST)
            raise HeadersTooLarge(f"The header {name.decode('latin-1')} is over {longest} bytes.")
    if b"content-type" in sizes:
        _check_type(scope)


def _check_type(scope: Scope) -> None:
    """Pages accept one kind of form; the API's calls check their own content type."""
    every = [value for name, value in scope["headers"] if name == b"content-type"]
    whole = b",".join(every).decode("latin-1")  # as Django has it
    if "*" in whole.partition(";")[2]:  # RFC 2231: in any character set
        raise NotRead
    kind, parameters = parse_header_parameters(whole)
    takes_a_form = scope["method"] not in ("GET", "HEAD") and not scope["path"].startswith("/v1/")
    if takes_a_form and (kind != FORM or parameters.keys() - {"charset"}):
        raise NotAForm
    if kind.startswith("multipart/") or parameters.get("charset", "utf-8").lower() != "utf-8":
        raise NotAForm if takes_a_form else NotRead
