"""The production server, as a process of its own."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psutil
import pytest
import requests
from django.conf import settings

from hub.management.commands import serve
from hub.server import listening
from reports.models import Report
from tests import build
from tests.hub_process import ROOT, HubProcess, free_port
from tests.waiting import wait_until


def raw(port: int, request: bytes) -> bytes:
    """What the server answers to these very bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        return connection.recv(65536)


def test_a_report_over_a_real_socket(hub_process):
    answer = requests.post(f"{hub_process.url}/v1/reports", json=build.report(), timeout=10)

    assert answer.status_code == 201
    assert requests.get(f"{hub_process.url}/v1/reports/{answer.json()['id']}", timeout=10).ok


def test_a_long_answer_comes_whole_to_a_client_that_takes_little_at_once(hub_process):
    requests.get(f"{hub_process.url}/healthz", timeout=10)  # the first one bounds the others
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(10)
        client.connect(("127.0.0.1", int(hub_process.url.rpartition(":")[2])))

        client.sendall(
            b"GET /llms-full.txt HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        )
        answer = b"".join(iter(lambda: client.recv(65536), b""))

    head, _, body = answer.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head.lower().split(b"\r\n")
    assert len(body) > 2 * listening.UNTAKEN_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="its scheduler")
def test_no_thread_of_the_server_interrupts_another_one(hub_process):
    requests.post(f"{hub_process.url}/v1/reports", json=build.report(), timeout=10)
    [worker] = psutil.Process(hub_process.process.pid).children()

    policies = {os.sched_getscheduler(each.id) for each in worker.threads()}

    assert policies == {os.SCHED_BATCH}


@pytest.mark.slow
def test_two_processes_accept_what_a_limit_allows_and_then_both_know(
    transactional_db, code_host, redis
):
    shared = {"REDIS_URL": redis.url, "HUB_PROCESSES": "2", "HUB_REPORT_RATE": "5/minute"}
    with HubProcess(**shared) as hub:
        answers = []
        for number in range(60):
            report = build.report(report__summary=f"Step {number} is wrong")
            answers.append(
                requests.post(f"{hub.url}/v1/reports", json=report, timeout=10).status_code
            )

    assert 5 <= answers.count(201) <= 5 + 2
    assert answers.count(201) + answers.count(429) == 60


@pytest.mark.slow
def test_a_burst_to_two_processes_is_over_a_limit_by_an_eighth(transactional_db, code_host, redis):
    shared = {"REDIS_URL": redis.url, "HUB_PROCESSES": "2", "HUB_REPORT_RATE": "48/minute"}
    together = Barrier(32, timeout=60)

    def send(number: int) -> list[int]:
        with requests.Session() as session:
            session.get(f"{hub.url}/healthz", timeout=60)  # is connected
            together.wait()
            return [
                session.post(f"{hub.url}/v1/reports", json=report, timeout=60).status_code
                for report in (
                    build.report(report__summary=f"Step {number}.{n} is wrong") for n in range(5)
                )
            ]

    with HubProcess(**shared) as hub, ThreadPoolExecutor(32) as threads:
        answers = [status for each in threads.map(send, range(32)) for status in each]

    assert 48 <= answers.count(201) <= 48 + 6
    assert answers.count(201) + answers.count(429) == 160


def test_a_server_begins_where_it_may_not_choose_how_it_is_scheduled(monkeypatch):
    def refused(*args):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refused)

    serve._schedule_as_batch()


def test_a_chunked_body_is_refused_in_words(hub_process):
    answer = requests.post(
        f"{hub_process.url}/v1/reports",
        data=iter([json.dumps(build.report()).encode()]),
        headers={"Content-Type": "application/json"},
        timeout=10,
    )

    assert answer.status_code == 411
    assert answer.json()["error"] == "length_required"


def test_odd_requests_get_a_json_answer(hub_process):
    rest = b"Host: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    cases = {
        b"POST /v1/reports HTTP/1.1\r\nContent-Length: 99999999\r\n": b"413",
        b"POST /v1/reports HTTP/1.1\r\n": b"411",
        b"GET /v1/reports/%00%ff HTTP/1.1\r\n": b"404",
        b"BREW /v1/reports HTTP/1.1\r\nContent-Length: 0\r\n": b"405",
    }

    answers = {head: raw(hub_process.port, head + rest) for head in cases}

    assert {head: answer.split(b" ")[1] for head, answer in answers.items()} == cases
    assert all(b"application/json" in answer for answer in answers.values())


def test_headers_that_no_honest_request_has_are_not_kept(hub_process):
    line = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: "

    honest = raw(hub_process.port, line + b"x" * 12 * 1024 + b"\r\n\r\n")
    refused = raw(hub_process.port, line + b"x" * 17 * 1024)

    assert honest.split(b" ")[1] == b"200"
    assert refused.split(b" ")[1] == b"431"


def silent(port: int, body: bytes = b"{") -> socket.socket:
    """A connection with a request that promises more of a body than it sends."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(
        b"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + body
    )
    return connection


def test_a_body_that_ends_early_is_refused_though_the_part_is_whole_json(hub_process):
    body = json.dumps(build.report()).encode()

    with silent(hub_process.port, body) as connection:
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)

    assert answer.split(b" ")[1] == b"400"
    assert b'"validation_error"' in answer
    assert not Report.objects.exists()


def test_connections_that_send_nothing_more_hold_no_thread(hub_process):
    connections = [silent(hub_process.port) for _ in range(2 * settings.HUB_THREADS)]

    ready = requests.get(f"{hub_process.url}/readyz", timeout=60)
    report = requests.post(f"{hub_process.url}/v1/reports", json=build.report(), timeout=60)
    answered, _, _ = select.select(connections, [], [], 0)

    assert (ready.status_code, report.status_code) == (200, 201)
    assert not answered  # the others did not have to wait until these were given up
    for connection in connections:
        connection.close()


@pytest.mark.slow
def test_in_debug_mode_errors_have_the_hubs_own_pages(transactional_db, code_host):
    with HubProcess(HUB_DEBUG="true") as hub:
        for_people = {"Accept": "text/html"}
        unknown = requests.get(f"{hub.url}/nowhere/", headers=for_people, timeout=10)
        refused = requests.get(
            f"{hub.url}/", headers=for_people | {"Host": "evil.example"}, timeout=10
        )
        style = requests.get(f"{hub.url}/static/look.css", timeout=10)

    assert (unknown.status_code, refused.status_code, style.status_code) == (404, 400, 200)
    assert "Page not found" in unknown.text
    for page in (unknown.text, refused.text):
        assert "Docs Feedback Hub" in page
        assert "DEBUG = True" not in page


def test_sigterm_ends_it(hub_process):
    assert hub_process.stop() in (0, -15)


def test_sigterm_lets_a_request_that_is_under_way_end(hub_process, code_host):
    build.acme(code_host)
    code_host.fail("hang", seconds=2, created=True)

    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(
            requests.post, f"{hub_process.url}/v1/reports", json=build.report(), timeout=20
        )
        sent = wait_until(lambda: not code_host.faults.waiting())
        ended = hub_process.stop()

    assert sent
    assert under_way.result().status_code == 201
    assert ended in (0, -15)


class Unasked(HubProcess):
    """Begun once it listens, and has for a moment: nobody has asked it anything."""

    listens = False

    def _ready(self) -> bool:
        try:
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        except ConnectionRefusedError:
            return False
        if not self.listens:
            self.listens = True
            connection.close()
            return False
        self.first = connection
        return True


def untaken(connection: socket.socket) -> int:
    """Bytes that the system keeps of what the server has sent (proc(5), /proc/net/tcp)."""
    ends = [
        f"0100007F:{end[1]:04X}" for end in (connection.getpeername(), connection.getsockname())
    ]
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()
    [line] = [each.split() for each in lines if each.split()[1:3] == ends]
    return int(line[4].partition(":")[0], 16)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is of Linux")
def test_little_waits_for_who_has_connected_before_the_first_request(transactional_db, code_host):
    """After a restart, everybody who is there has."""
    with Unasked() as hub, hub.first:
        hub.first.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        hub.first.sendall(b"GET /llms-full.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert wait_until(lambda: untaken(hub.first) > 32 * 1024)
        for _ in range(500):  # each after another piece of the answer
            requests.get(f"{hub.url}/healthz", timeout=10)

        waiting = untaken(hub.first)

    assert waiting < 3 * listening.UNTAKEN_BYTES  # twice as much, and what was sent last


@pytest.mark.slow
def test_a_server_that_never_gets_ready_is_not_left_running():
    class Silent(HubProcess):
        command = [sys.executable, "-c", "import time; time.sleep(60)"]
        patience = 0.1

    silent = Silent()

    with pytest.raises(RuntimeError), silent:
        pass

    assert silent.process.poll() is not None


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_no_worker_on_the_port(transactional_db, code_host):
    """Nobody can end its workers then, as the system does where memory is short."""
    away = f"redis://127.0.0.1:{free_port()}/0"
    with HubProcess(maintain=True, HUB_PROCESSES="2", REDIS_URL=away) as hub:
        left = psutil.Process(hub.process.pid).children(recursive=True)

        hub.process.kill()

        _, alive = psutil.wait_procs(left, timeout=30)
    for each in alive:
        each.kill()
    assert len(left) == 3
    assert not alive
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{hub.url}/healthz", timeout=5)


KILLED = """
import asyncio, multiprocessing, os, signal, time
import django

django.setup()
from hub.management.commands import serve

def work():
    asyncio.set_event_loop(asyncio.new_event_loop())
    serve._application_of_a_worker("os:getpid")
    time.sleep(15)
    print("It is still there.", flush=True)

signal.signal(signal.SIGTERM, lambda *_: None)  # as Granian does, and a worker has that until it serves
multiprocessing.get_context("fork").Process(target=work).start()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_no_worker_that_has_just_begun():
    environment = HubProcess().environment() | {"DJANGO_SETTINGS_MODULE": "hub.settings"}

    ended = subprocess.run(
        [sys.executable, "-c", KILLED],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ended.returncode == -signal.SIGKILL
    assert not ended.stdout


@pytest.mark.slow
def test_several_processes_need_redis(transactional_db, code_host):
    hub = HubProcess(HUB_PROCESSES="2")

    ended = subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=hub.environment(),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert ended.returncode == 1
    assert "set REDIS_URL" in ended.stderr


def test_a_redis_that_is_away_is_said_at_the_start(settings, caplog):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"

    serve._warn_without_redis()

    [said] = caplog.messages
    assert said.startswith("Redis does not answer: ")
    assert said.endswith("Check REDIS_URL, and that it is running.")


class Exits:
    """A process that has exited, or runs until `ends` is set."""

    def __init__(self, ends: threading.Event) -> None:
        self._ends = ends

    def wait(self) -> int:
        self._ends.wait()
        return 1


def test_a_log_that_nobody_reads_keeps_maintain_from_nothing(monkeypatch):
    """A line blocks for as long as the reader of stderr hangs."""
    hangs, runs_on = threading.Event(), threading.Event()
    at_once = threading.Event()
    at_once.set()
    begun, third = [], threading.Event()

    def begin() -> Exits:
        begun.append(None)
        if len(begun) < 3:
            return Exits(at_once)
        third.set()
        return Exits(runs_on)

    monkeypatch.setattr(serve, "_maintain", begin)
    monkeypatch.setattr(serve, "RESTART_AFTER", 0)
    monkeypatch.setattr(serve.log, "error", lambda *args: hangs.wait())
    keeper = serve.MaintenanceKeeper()

    keeper.start()

    assert third.wait(10)
    keeper._stopping.set()
    runs_on.set()
    hangs.set()


@pytest.mark.parametrize("lacking", ["a process", "a thread"])
def test_maintain_is_started_once_the_system_has_room_for_it_again(lacking, monkeypatch):
    ended, runs_on, again = threading.Event(), threading.Event(), threading.Event()
    ended.set()
    begun, start = [], threading.Thread.start

    def begin() -> Exits:
        begun.append(None)
        if len(begun) == 2 and lacking == "a process":
            raise BlockingIOError("Resource temporarily unavailable")
        if len(begun) == 3:
            again.set()
        return Exits(runs_on if len(begun) == 3 else ended)

    def start_keepers_only(self: threading.Thread) -> None:
        if lacking == "a thread" and begun and "_keep" not in repr(self._target):
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(serve, "_maintain", begin)
    monkeypatch.setattr(serve, "RESTART_AFTER", 0)
    monkeypatch.setattr(threading.Thread, "start", start_keepers_only)
    keeper = serve.MaintenanceKeeper()

    keeper.start()

    assert again.wait(10)
    keeper._stopping.set()
    runs_on.set()
