"""GitHub's end of the wire: each answer is given here, and nothing leaves the machine."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest
import responses

from core import deadlines
from integrations import github_api
from tests.conftest import key_pair

API = "https://api.github.com"
TOKEN = "POST /app/installations/1/access_tokens"


class Sent(NamedTuple):
    """One request as GitHub gets it; `form` is the body where it is no JSON.

    `timeout`, in seconds, is how long the Hub waits for a connection, and for each read.
    """

    line: str
    query: dict[str, str]
    headers: dict[str, str]
    json: Any
    form: dict[str, str]
    timeout: float | None


class Late:
    """An answer that waits until it is let go; whoever asks a second time gets a 500."""

    def __init__(self, *answer: Any):
        self._answers = iter([answer])
        self.is_asked_for, self._may_go = threading.Event(), threading.Event()

    def __call__(self, _: object) -> Any:
        self.is_asked_for.set()
        self._may_go.wait(60)
        return next(self._answers, (500, {}, ""))

    def let_go(self) -> None:
        self._may_go.set()


class Connected(responses.RequestsMock):
    """Answers in the place of an adapter, which is connected at once."""

    def _on_request(self, adapter: Any, *request: Any, **options: Any) -> Any:
        if adapter._once_connected:
            adapter._once_connected()
        return super()._on_request(adapter, *request, **options)


class Wire:
    """Keeps what was sent, and answers it: of the answers that fit the first, and the last for good."""

    def __init__(self, mock: responses.RequestsMock):
        self._mock = mock

    def answer(self, line: str, status: int = 200, body: Any = None, **headers: str) -> None:
        """Answer `line`, such as `GET /app`, with JSON, with text as it is, or with an exception.

        Without a `body` a refusal is one of GitHub's.
        A header's name is written with `_` for `-`.
        """
        method, url = _method_and_url(line)
        if body is None and 400 <= status < 500:
            body = {"message": "No"}
        self._mock.add(
            method,
            url,
            status=status,
            body=body if isinstance(body, str | Exception) else json.dumps(body),
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    def answer_token(self, number: int = 1, **fields: Any) -> None:
        """Give the installation 1 a token of the name `token-<number>`."""
        made = {"token": f"token-{number}", "expires_at": "2099-01-01T00:00:00Z"}
        self.answer(TOKEN, 201, made | fields)

    def answer_late(self, line: str, status: int = 200, body: Any = None, **headers: str) -> "Late":
        """Answer `line` once, as late as the test says."""
        late = Late(status, headers, json.dumps(body))
        self._mock.add_callback(*_method_and_url(line), callback=late)
        return late

    @property
    def sent(self) -> list[Sent]:
        return [_sent(call.request) for call in self._mock.calls]

    @property
    def lines(self) -> list[str]:
        return [each.line for each in self.sent]


def _method_and_url(line: str) -> tuple[str, str]:
    method, path = line.split(" ", 1)
    return method, path if path.startswith("http") else API + path


def _sent(request: Any) -> Sent:
    address = urlsplit(request.url)
    url = address._replace(query="").geturl()
    body = request.body or ""
    is_json = request.headers.get("Content-Type") == "application/json"
    return Sent(
        f"{request.method} {url.removeprefix(API)}",
        dict(parse_qsl(address.query)),
        {name.lower(): value for name, value in request.headers.items()},
        json.loads(body) if is_json else None,
        {} if is_json else dict(parse_qsl(body)),
        request.req_kwargs["timeout"],
    )


@pytest.fixture
def app(settings) -> None:
    """An app with a key of its own."""
    settings.HUB_GITHUB_URL = "https://github.com"
    settings.HUB_GITHUB_APP_ID = "1"
    settings.HUB_GITHUB_APP_SLUG = "docs-feedback-hub"
    settings.HUB_GITHUB_CLIENT_ID = "client"
    settings.HUB_GITHUB_CLIENT_SECRET = "not-a-secret"
    settings.HUB_GITHUB_PRIVATE_KEY = key_pair()[0]


@pytest.fixture
def wire(app) -> Iterator[Wire]:
    """No tokens yet. Every answer that is given has to be used."""
    github_api.forget_tokens()
    github_api.forget_places()
    with Connected() as mock:
        yield Wire(mock)
        assert settled()  # or a thread that is late would find the real network
    github_api.forget_tokens()
    github_api.forget_places()


def settled() -> bool:
    """Whether all calls have ended, those too that nobody waits for any more."""
    slots = deadlines._slots()
    free = [slots.acquire(timeout=60) for _ in range(deadlines.slots())]
    for _ in filter(None, free):
        slots.release()
    return all(free)


def soon() -> float:
    """A deadline that no call here reaches."""
    return time.monotonic() + 60


def at_once() -> float:
    """A deadline that is over before a late answer is let go."""
    return time.monotonic() + 0.1


def said(call: Any) -> tuple[type, str]:
    """The error of a call, and its sentence."""
    with pytest.raises(github_api.GitHubError) as error:
        call()
    return error.type, str(error.value)
