"""What is refused before it costs anything: headers and forms that no honest client sends.

Django reads these in ways whose time or memory is not linear: cookies and the parameters of a
content type in quadratic time, a form in the character set that its sender names.
"""

from django.utils.http import parse_header_parameters

from core.errors import ApiError
from hub.server.asgi import Scope

LONGEST = 8 * 1024  # bytes of one header
SHORTER = {b"cookie": 4 * 1024, b"content-type": 256}
FORM = "application/x-www-form-urlencoded"


class HeadersTooLarge(ApiError):
    status_code = 431
    default_code = "headers_too_large"


class NotRead(ApiError):
    status_code = 415
    default_code = "unsupported_media_type"
    default_detail = "Only UTF-8 is read here, and no multipart. Send it so."


class NotAForm(NotRead):
    default_detail = f"Send a form as {FORM} in UTF-8."


def check(scope: Scope) -> None:
    """Raises `HeadersTooLarge`, `NotRead` or `NotAForm`."""
    sizes: dict[bytes, int] = {}
    for name, value in scope["headers"]:
        sizes[name] = sizes.get(name, 0) + len(value)
        if sizes[name] > SHORTER.get(name, LONGEST):
            longest = SHORTER.get(name, LONGEST)
            raise HeadersTooLarge(f"The header {name.decode('latin-1')} is over {longest} bytes.")
    if b"content-type" in sizes:
        _check_type(scope)


def _check_type(scope: Scope) -> None:
    """Pages take forms in one shape; what the API takes, each of its calls says."""
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
