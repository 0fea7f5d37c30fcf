"""Settings from the environment and the user's configuration file; read again at each call."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, Optional

from . import document, private_files
from .address import Page, Refused, is_loopback, parse
from .contract import message
from .errors import AuthError, DocFeedbackError, ValidationError
from .files import Unusable

REPORTS = "/v1/reports"
WITH_API = re.compile("/v1(/reports)?$")  # which people copy along with the address
HUB_URL = re.compile(
    r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(?:/[A-Za-z0-9._~%/-]*)?",
    re.ASCII | re.IGNORECASE,
)
ORIGIN = re.compile(
    r"(https?)://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(?![^/?#])",
    re.ASCII | re.IGNORECASE,
)
PORTS = {"http": 80, "https": 443}
TOKEN = VISIBLE = re.compile(r"[\x21-\x7e]+")
USER_INFO = re.compile(r"//[^/?#]*@")
DEFAULT_TIMEOUT = 10.0
MAX_TIMEOUT = 24 * 60 * 60  # more than any timer of ours can count is not far above
LONGEST_LINK = 2048
LONGEST_ENDPOINT = 200  # which a person can judge


def config_path() -> Path:
    """The path of the configuration file."""
    return _folder("XDG_CONFIG_HOME", ".config") / "config.json"


def sign_ins_folder() -> Path:
    """The folder for what `login` keeps, a file for each Hub."""
    return config_path().with_name("sign-ins")


def cache_folder() -> Path:
    """The folder for cached documents."""
    return _folder("XDG_CACHE_HOME", ".cache")


def home(instead: str) -> Path:
    """The home folder. Raises ValidationError if it is not known; `instead` is what else can be set.

    An empty HOME would be the root folder, and a relative one is below the current folder.
    """
    found = Path(os.path.expanduser("~"))  # noqa: PTH111 (the other raises)
    if os.environ.get("HOME") == "" or not found.is_absolute():
        raise ValidationError.of("no_home", variable=instead)
    return found


def hub_url(given: Optional[str] = None) -> Optional[str]:
    """The Hub's URL: as given, DOCFEEDBACK_HUB_URL, or from the file; without a slash at the end."""
    url = given or os.environ.get("DOCFEEDBACK_HUB_URL") or config().get("hub_url")
    return base(url) if url else None


def code_host() -> Optional[Page]:
    """The user's own code host: DOCFEEDBACK_CODE_HOST, or from the file. Raises ValidationError."""
    url = os.environ.get("DOCFEEDBACK_CODE_HOST") or config().get("code_host")
    return code_host_at(url) if url else None


def code_host_at(url: str) -> Page:
    """The parts of a code host's address. Raises ValidationError."""
    try:
        page = parse(url)
    except Refused:
        page = None
    if page is None or page.rest not in ("", "/"):
        raise ValidationError.of("invalid_code_host")  # without it: it may hold a password
    return page


def required_hub_url(given: Optional[str] = None) -> str:
    """The Hub's URL; raises ValidationError if none is set."""
    url = hub_url(given)
    if url is None:
        raise no_hub_url()
    return url


def no_hub_url() -> DocFeedbackError:
    """The error if no Hub is set."""
    return ValidationError.of("no_hub_url")


def is_hub_url(url: str) -> bool:
    """Whether this can be a Hub's URL."""
    match = HUB_URL.fullmatch(url)
    return match is not None and int(match[1] or 0) <= 65535


def check_endpoint(url: str) -> str:
    """The URL that a page's host names. Raises ValidationError if it could say anything but where it leads."""
    if len(url) > LONGEST_ENDPOINT or not is_hub_url(url):
        raise ValidationError.of("invalid_endpoint", most=LONGEST_ENDPOINT)
    return url


def origin(url: str) -> Optional[str]:
    """Scheme, host and port of a URL, in one spelling; None if they are not plain to see."""
    match = ORIGIN.match(url)
    if match is None or not VISIBLE.fullmatch(url):
        return None
    scheme, host, port = match[1].lower(), match[2].lower(), match[3]
    return f"{scheme}://{host}:{int(port or PORTS[scheme])}"


def link(value: Any) -> Optional[str]:
    """The value if it is an http or https URL that shows where it leads, else None."""
    is_one = isinstance(value, str) and len(value) <= LONGEST_LINK and origin(value) is not None
    return value if is_one else None


def one_spelling(url: str) -> str:
    """The Hub's URL, the same for all spellings of its scheme, host and port."""
    match = ORIGIN.match(url)
    return f"{origin(url)}{url[match.end() :]}" if match else url


def without_user_info(text: str) -> str:
    """The text with nothing of the user names and passwords in its URLs."""
    return USER_INFO.sub("//…@", text)


def base(url: str) -> str:
    """The URL to which `/v1/…` is appended. Raises ValidationError."""
    if not is_hub_url(url):
        raise ValidationError.of("invalid_hub_url", url=without_user_info(url))
    return WITH_API.sub("", url.rstrip("/"))


def token(given: Optional[str], hub: str) -> str:
    """The token for `hub`: as given, DOCFEEDBACK_TOKEN, or from the file. Raises AuthError without one.

    That of the environment belongs to the Hub that is set, if one is, and the file's to the Hub in the
    file. No token is sent unencrypted.
    """
    found = given or environment_token(hub) or config_token(hub)
    if not found:
        refuse_token_of_another(hub, "no_token")
        raise AuthError.of("no_token", path=config_path())
    if not TOKEN.fullmatch(found):
        raise AuthError.of("invalid_token")
    refuse_insecure(hub)
    return found


def environment_token(hub: str) -> Optional[str]:
    """The token in DOCFEEDBACK_TOKEN, which comes before all others; None without one for `hub`."""
    found = os.environ.get("DOCFEEDBACK_TOKEN")
    return found if found and _may_get_it(hub) else None


def has_token_for(hub: str) -> bool:
    """Whether the environment's token is known to be for `hub`: that is the Hub that is set."""
    return environment_token(hub) is not None and hub_url() is not None


def refuse_token_of_another(hub: str, code: str) -> None:
    """Raise AuthError, which says what to do, if the environment has a token, and it is not for `hub`."""
    if os.environ.get("DOCFEEDBACK_TOKEN") and not _may_get_it(hub):
        raise AuthError(code, message("token_for_another", url=hub, own=hub_url()))


def refuse_insecure(hub: str) -> None:
    """Raise AuthError if a token for `hub` would be sent unencrypted over a network."""
    if not hub.lower().startswith("https:") and not is_loopback(hub):
        raise AuthError.of("insecure_hub", url=hub)


def timeout() -> float:
    """Seconds: DOCFEEDBACK_TIMEOUT, or 10."""
    text = os.environ.get("DOCFEEDBACK_TIMEOUT")
    if not text:
        return DEFAULT_TIMEOUT
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text) or float(text) == 0:
        raise ValidationError.of("bad_timeout")
    return float(text)


def is_timeout(seconds: object) -> bool:
    """Whether a client can have this time-out."""
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return is_number and 0 < seconds <= MAX_TIMEOUT  # type: ignore[operator]


def config_token(hub: str) -> Optional[str]:
    """The token in the file, if the file's Hub is `hub`; else None."""
    found = config()
    owner = found.get("hub_url")
    return found.get("token") if owner and base(owner) == hub else None


def config() -> Dict[str, str]:
    """What is in the file; nothing without one. Raises ValidationError if it is broken or another user's."""
    try:
        path = config_path()
    except ValidationError:  # without a home folder there is no file
        return {}
    try:
        data = private_files.read_own(path, path.parent)
        found: Any = {} if data is None else document.parse(data)
    except Unusable as error:
        reason = message(error.reason)
        raise ValidationError.of("unreadable_file", path=path, reason=reason) from None
    except document.NoDocument:
        found = None
    if not isinstance(found, dict) or not all(
        isinstance(found.get(name, ""), str) for name in ("hub_url", "token", "code_host")
    ):
        raise ValidationError.of("invalid_config", path=path)
    return found


def _may_get_it(hub: str) -> bool:
    """Whether the environment's token is for `hub`: no other Hub is set, there or in the file."""
    own = hub_url()
    return own is None or one_spelling(own) == one_spelling(hub)


def _folder(variable: str, default: str) -> Path:
    """By the XDG Base Directory Specification: only absolute paths count. Raises ValidationError."""
    parent = Path(os.environ.get(variable, ""))
    return (parent if parent.is_absolute() else home(variable) / default) / "docfeedback"
