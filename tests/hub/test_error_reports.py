"""Errors arrive at a service that speaks Sentry's protocol, once, and without secrets."""

import gzip
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

import pytest
import sentry_sdk
from sentry_sdk.integrations.logging import EventHandler

from hub import error_reports
from hub.maintenance import Runner
from tests.hub.server.test_noted import ID, ask, crashing, log, send  # noqa: F401  (fixtures)
from tests.hub_process import ROOT

# Far from `fail`: the lines around it are sent.
SECRET = "ghp_" + "a1B2" * 9
QUOTED = (
    f"what {SECRET} at https://a.example/?q=hunter2 by 203.0.113.9, 2001:db8::7 and me@example.com\n"
    "DETAIL: Key (summary)=(hunter2)"
)


pytestmark = pytest.mark.slow  # the library of the service starts a process


class Service:
    """Takes events over HTTP, as they were sent."""

    def __init__(self) -> None:
        self.received: Queue[bytes] = Queue()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_packed = self.headers["Content-Encoding"] == "gzip"
                service.received.put(gzip.decompress(body) if is_packed else body)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.dsn = f"http://key@127.0.0.1:{self._server.server_port}/1"

    def __enter__(self) -> "Service":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def event(self) -> tuple[dict[str, Any], str]:
        """The next event, and all that was sent with it."""
        sent = self.received.get(timeout=30)
        _, item, payload, *_ = sent.decode().split("\n")
        assert json.loads(item)["type"] == "event"
        return json.loads(payload), sent.decode()


def fail(*args: Any) -> None:
    words = QUOTED  # a local variable
    raise ValueError(words)


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as found:
        yield found


@pytest.fixture
def reported(service, settings) -> Iterator[Service]:
    """The service, to which this process sends its errors."""
    settings.HUB_SENTRY_DSN = service.dsn
    error_reports.begin()
    yield service
    sentry_sdk.get_client().close(timeout=5)
    sentry_sdk.init(default_integrations=False, auto_enabling_integrations=False)
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, EventHandler)]:
        root.removeHandler(handler)


def nothing_more(service: Service) -> bool:
    sentry_sdk.flush(10)
    return service.received.empty()


@pytest.mark.django_db(transaction=True)
def test_a_page_that_fails_is_one_event_with_the_id_of_its_request(reported, crashing):  # noqa: F811
    answer = ask(
        "/crash/",
        cookie=f"session={SECRET}",
        authorization=f"Bearer {SECRET}",
        x_real_ip="198.51.100.7",
    )

    event, sent = reported.event()
    assert answer.status == 500
    assert event["exception"]["values"][0]["type"] == "ZeroDivisionError"
    assert event["tags"] == {"request_id": answer.headers[ID].decode(), "route": "crash"}
    assert "tests/hub/server/test_noted.py" in sent
    assert SECRET not in sent
    assert not [each for each in ("198.51.100.7", "192.0.2.1", "hub.example") if each in sent]
    assert nothing_more(reported)


@pytest.mark.django_db(transaction=True)
def test_a_call_that_fails_is_one_event_without_what_was_sent(reported, monkeypatch):
    monkeypatch.setattr("reports.intake.page", fail)

    answer = send(report__summary="my words", report__details="hunter2 " * 9)

    event, sent = reported.event()
    assert answer.status == 500
    [error] = event["exception"]["values"]
    assert error["value"] == (
        "what [removed: GitHub token] at https://a.example/?… by [address], [address] and [address]"
    )
    assert event["tags"]["request_id"] == answer.headers[ID].decode()
    assert not [each for each in ("hunter2", "my words", SECRET, '"vars"') if each in sent]
    assert nothing_more(reported)


def test_strangers_mistakes_are_no_events(reported):
    ask("/login/", host="evil.example")
    ask("/nowhere")
    ask("/v1/reports", b"{", "POST")

    assert nothing_more(reported)


@pytest.mark.django_db
def test_what_maintain_fails_at_is_an_event(reported):
    Runner()._do("probe", lambda: 1 / 0)

    event, _ = reported.event()
    assert event["logentry"]["formatted"] == "Maintenance failed: probe"
    assert event["exception"]["values"][0]["type"] == "ZeroDivisionError"


def test_every_command_sends_its_errors(service):
    """`maintain` and the workers are such, too."""
    code = "import logging; logging.getLogger('integrations').error('It broke')"
    environment = {
        **os.environ,
        "HUB_SENTRY_DSN": service.dsn,
        "DJANGO_SETTINGS_MODULE": "hub.settings",
    }
    command = [sys.executable, "manage.py", "shell", "--no-imports", "--command", code]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, check=False, timeout=60, stderr=subprocess.DEVNULL
    )

    event, _ = service.event()
    assert ended.returncode == 0
    assert event["logentry"]["formatted"] == "It broke"


def test_without_the_setting_nothing_is_loaded(settings, monkeypatch):
    settings.HUB_SENTRY_DSN = ""
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)

    error_reports.begin()


def test_the_lock_with_the_package_has_all_that_the_hub_needs():
    """Run script/lock where this fails."""
    with_it, without_it = (
        set((ROOT / f"requirements/{name}.lock").read_text().splitlines())
        for name in ("sentry", "runtime")
    )

    assert without_it < with_it
    assert [each for each in with_it - without_it if each.startswith("sentry-sdk==")]
