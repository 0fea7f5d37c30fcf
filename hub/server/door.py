"""What is refused before it costs anything: headers and forms that no honest client sends.

Django reads these in ways whose time or memory is not linear: cookies and the parameters of a
content type in quadratic time, a form in the character set that its sender names.
"""

from hub.server.asgi import Scope
from orgs.errors import ApiError

LONGEST = 8 * 1024  # bytes of one header
SHORTER = {b"cookie": 4 * 1024, b"content-type": 256}
FORM = b"application/x-www-form-urlencoded"
UTF_8 = (b"", b"charset=utf-8")


class HeadersTooLarge(ApiError):
    status_code = 431
    default_code = "headers_too_large"


class NotAForm(ApiError):
    status_code = 415
    default_code = "unsupported_media_type"
    default_detail = "Send a form as application/x-www-form-urlencoded in UTF-8."


def check(scope: Scope) -> None:
    """Raises `HeadersTooLarge` or `NotAForm`."""
    sizes: dict[bytes, int] = {}
    for name, value in scope["headers"]:
        sizes[name] = sizes.get(name, 0) + len(value)
        if sizes[name] > SHORTER.get(name, LONGEST):
            longest = SHORTER.get(name, LONGEST)
            raise HeadersTooLarge(f"The header {name.decode('latin-1')} is over {longest} bytes.")
        if name == b"content-type" and not _is_plain(value, scope):
            raise NotAForm


def _is_plain(content_type: bytes, scope: Scope) -> bool:
    """Pages take forms in one shape; what the API takes, each of its calls says."""
    kind, _, parameters = content_type.partition(b";")
    if scope["method"] in ("GET", "HEAD") or scope["path"].startswith("/v1/"):
        return b"*" not in parameters  # RFC 2231: in any character set
    return kind.strip().lower() == FORM and parameters.strip().lower().replace(b'"', b"") in UTF_8
