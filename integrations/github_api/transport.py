"""One request to GitHub: the only module that uses PyGithub, to sign it."""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import github
import jwt
import requests
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings
from urllib3.exceptions import NewConnectionError

from core import deadlines, outgoing
from core.watching import metrics
from integrations.github_api.answers import GitHubAnswer, raise_for_limit
from integrations.github_api.errors import (
    FOR_OPERATORS,
    Busy,
    GitHubError,
    Limited,
    TimedOut,
    Unreachable,
)

TIMEOUT = 5  # seconds for a connection, and for each read
USER_AGENT = "docs-feedback-hub"
MEDIA_TYPE = "application/vnd.github+json"
ENTERPRISE = "/api/v3"  # where the API is on a host of one's own
LONGEST_REASON = 200  # characters
NOT_GITHUB = "Something between this Hub and GitHub answered {}, not GitHub itself."
API_VERSION = "2022-11-28"
TOKEN = re.compile(r"[!-~]+")

T = TypeVar("T")


def as_app() -> github.Auth.Auth:
    """Authenticate with the app's own key. Raises `Unreachable` if no valid key is set."""
    try:
        sign = partial(jwt.encode, key=_parsed(private_key()), algorithm="RS256")
        auth = github.Auth.AppAuth(settings.HUB_GITHUB_APP_ID, sign_func=sign)
        auth.create_jwt()
    except Exception as error:  # a missing file, not a number, not PEM: `check_setup` says which
        raise Unreachable(f"The Hub has no key for GitHub.{FOR_OPERATORS}") from error
    return auth


def with_token(token: str) -> github.Auth.Auth:
    """Authenticate with the token of an installation or a person. Raises `Unreachable` if it is none."""
    if not isinstance(token, str) or not TOKEN.fullmatch(token):
        raise Unreachable("GitHub answered without a token when asked for one.")
    return github.Auth.Token(token)


def private_key() -> str:
    r"""The app's key: PEM in the setting itself (line ends may be written as \n), or in a file."""
    key = settings.HUB_GITHUB_PRIVATE_KEY
    if "BEGIN" not in key:
        key = _read(key)
    return key.replace("\\n", "\n")


def _read(path: str) -> str:
    """The file's text. Raises OSError without the path, which can be the key itself: one without its first line."""
    try:
        return Path(path).read_text()
    except OSError as error:
        raise OSError(error.errno, error.strerror) from None


@lru_cache(maxsize=1)
def _parsed(pem: str) -> Any:
    """The key, read once: checking its primes takes a hundred times as long as signing with it."""
    return load_pem_private_key(pem.encode(), password=None)


def bounded_by(call: Callable[[], T], *, deadline: float) -> T:
    """Return or raise what `call` does; `Busy` or `TimedOut` if it cannot run in time."""
    with _our_errors():
        return deadlines.run(call, deadline=deadline)


def all_bounded_by(calls: Sequence[Callable[[], T]], *, deadline: float) -> list[T]:
    """The results of all calls, a few at a time; raises as `bounded_by` does."""
    with _our_errors():
        return deadlines.run_all(calls, deadline=deadline)


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except deadlines.NoFreeSlot:
        raise Busy("Too many calls to GitHub are in progress.") from None
    except deadlines.TooLate:
        raise TimedOut("GitHub took too long to answer.") from None


def ask(auth: github.Auth.Auth | None, verb: str, path: str, **arguments: Any) -> GitHubAnswer:
    """A request that creates nothing in a repository: after any error it is safe to try again."""
    try:
        answer = request(auth, verb, path, **arguments)
    except requests.RequestException as error:
        raise Unreachable("GitHub could not be reached.") from error
    except Exception as error:  # such as for a redirect to another host
        raise Unreachable("GitHub's response could not be understood.") from error
    if not answer.is_githubs:
        raise_for_limit(answer)
        raise Unreachable(NOT_GITHUB.format(answer.status))
    return answer


def look_up(auth: github.Auth.Auth | None, path: str, **parameters: Any) -> Any:
    """The JSON at a path; None if GitHub has nothing there."""
    answer = ask(auth, "GET", path, parameters=parameters)
    if answer.status == 200 and answer.body is not None:
        return answer.body
    if answer.status == 404:
        return None
    raise_for_limit(answer)
    raise Unreachable(f"GitHub answered {answer.status} without the requested data.")


def post_form(path: str, fields: dict[str, str]) -> GitHubAnswer:
    """Send a form to a GitHub page outside the API; the response is JSON."""
    try:
        return _noted(partial(_form_posted, path, fields))
    except requests.RequestException as error:
        raise Unreachable("GitHub could not be reached.") from error


def _form_posted(path: str, fields: dict[str, str]) -> GitHubAnswer:
    with outgoing.session() as session:
        return _answer(
            session.post(
                settings.HUB_GITHUB_URL + path,
                data=fields,
                headers={"Accept": "application/json", "User-Agent": USER_AGENT},
                timeout=TIMEOUT,
                allow_redirects=False,
            )
        )


def request(auth: github.Auth.Auth | None, verb: str, path: str, **arguments: Any) -> GitHubAnswer:
    """One request on a new connection: no retries, no waiting between requests."""
    return _noted(partial(_asked, auth, verb, path, **arguments))


def _noted(call: Callable[[], GitHubAnswer]) -> GitHubAnswer:
    """Call, and count what came of it and how long that took."""
    since, what = time.perf_counter(), metrics.OTHER
    try:
        answer = call()
        what = _kind_of(answer)
    except requests.RequestException as error:
        what = "timeout" if isinstance(error, requests.Timeout) else "unreachable"
        raise
    finally:
        metrics.github_seconds.took(time.perf_counter() - since)
        metrics.github.up(what)
    return answer


def _kind_of(answer: GitHubAnswer) -> str:
    """Such as `2xx`, or `limited`."""
    try:
        raise_for_limit(answer)
    except Limited:
        return "limited"
    return f"{answer.status // 100}xx"


def _asked(
    auth: github.Auth.Auth | None,
    verb: str,
    path: str,
    *,
    parameters: dict[str, Any] | None = None,
    fields: dict[str, Any] | None = None,
    once_connected: Callable[[], None] | None = None,
) -> GitHubAnswer:
    headers = {
        "Accept": MEDIA_TYPE,
        "User-Agent": USER_AGENT,
        "X-GitHub-Api-Version": API_VERSION,
    }
    if auth:
        auth.authentication(headers)
    with outgoing.session(once_connected=once_connected) as session:
        send = partial(
            session.request,
            verb,
            json=fields,
            headers=headers,
            timeout=TIMEOUT,
            allow_redirects=False,
        )
        answer = send(_api_url() + path, params=parameters)
        if answer.status_code == 301 and "location" in answer.headers:
            there = _moved(answer.url, answer.headers["location"])
            answer = send(there, params=None if urlsplit(there).query else parameters)
    return _answer(answer)


def _moved(url: str, location: str) -> str:
    """Where a 301 points, if it is another place of the same host. That is asked once: there may be a loop."""
    there = urljoin(url, location)
    if there == url or _origin(there) != _origin(url):
        raise ValueError("The redirect leads nowhere.")
    return there


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or outgoing.PORTS.get(parts.scheme)


def _answer(answer: requests.Response) -> GitHubAnswer:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return GitHubAnswer(answer.status_code, headers, _json(answer.text))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def why_unreached(error: GitHubError) -> str:
    """Why there was no connection with GitHub, such as `connection refused`; empty if there was one."""
    if isinstance(error, TimedOut) or isinstance(error.__cause__, requests.Timeout):
        return "it took too long to answer"
    if not isinstance(error.__cause__, requests.RequestException):
        return ""
    reason: Any = error.__cause__
    below = getattr(reason.args[0] if reason.args else None, "reason", None)  # of urllib3
    for each in (below, getattr(below, "__cause__", None), getattr(below, "__context__", None)):
        reason = each or reason
    said = getattr(reason, "verify_message", "") or getattr(reason, "strerror", "") or str(reason)
    said = said or "no connection"
    return said[:1].lower() + said[1:LONGEST_REASON].rstrip(".")


def api_address() -> str:
    """The site that has the API of the code host."""
    return _api_url().removesuffix(ENTERPRISE)


def never_connected(error: Exception) -> bool:
    """Whether it failed before a byte of the request was sent."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    cause = error.args[0] if isinstance(error, requests.ConnectionError) and error.args else None
    return isinstance(getattr(cause, "reason", None), NewConnectionError)


def _api_url() -> str:
    if settings.HUB_GITHUB_URL == "https://github.com":
        return "https://api.github.com"
    return settings.HUB_GITHUB_URL + ENTERPRISE
