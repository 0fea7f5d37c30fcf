import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
import requests

from sandbox import CodeHost
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "192.168.0.10", "::", "::1", "example.com", "", "127.1", "999.1.1.1"]
)
def test_it_serves_nobody_but_this_machine(app, address):
    host = CodeHost(app=app)

    with pytest.raises(ValueError, match="serves this machine alone"):
        host.start(address=address)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_it_serves_on_loopback(app, address):
    host = CodeHost(app=app)

    with host.serving(address=address) as url:
        status = requests.get(url, timeout=5).status_code

    assert status == 200


@pytest.mark.parametrize("path", ["/", "/_sandbox/state", "/api/v3/repos/acme/docs/issues"])
@pytest.mark.parametrize(
    "name", ["rebound.example", "127.0.0.1.rebound.example", "", "localhost@x"]
)
def test_it_answers_by_no_name_of_another_site(host, path, name):
    host.create_issue("acme/docs", title="Before", user="charlie")

    answer = requests.get(f"{host.url}{path}", headers={"Host": name}, timeout=5)

    assert answer.status_code == 400
    assert answer.json()["message"].endswith(f"Open it at {host.url}.")
    assert "Before" not in answer.text


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST:9000", "127.0.0.1", "[::1]:9000"])
def test_it_answers_by_the_names_of_this_machine(host, name):
    assert requests.get(host.url, headers={"Host": name}, timeout=5).status_code == 200


def test_it_answers_by_the_name_that_it_gives(host):
    url, host.url = host.url, "https://code.acme.example"

    answer = requests.get(url, headers={"Host": "code.acme.example"}, timeout=5)

    assert answer.status_code == 200


def test_it_remembers_over_a_stop_and_comes_back_on_the_same_port(host):
    host.create_issue("acme/docs", title="Before", user="charlie")
    port = int(host.url.rpartition(":")[2])

    host.stop()
    with pytest.raises(requests.ConnectionError):
        requests.get(host.url, timeout=5)
    host.start(port=port)
    answer = requests.get(f"{host.url}/api/v3/repos/acme/docs/issues", timeout=5)

    assert [issue["title"] for issue in answer.json()] == ["Before"]


def test_it_does_not_serve_twice(host):
    with pytest.raises(RuntimeError, match="already serves"):
        host.start()


def test_stopping_does_not_wait_for_a_stuck_request(host):
    host.fail("hang", method="GET", path="/api/*", seconds=600)
    stuck = threading.Thread(daemon=True, target=_outcome, args=(f"{host.url}/api/v3/rate_limit",))
    stuck.start()
    assert wait_until(lambda: len(host.requests) == 1)

    stopping = threading.Thread(target=host.stop, daemon=True)
    stopping.start()
    stopping.join(120)
    stuck.join(120)

    assert not stopping.is_alive()
    assert not stuck.is_alive()


def test_a_connection_that_is_kept_open_ends_with_the_host(host):
    with requests.Session() as session:
        session.get(host.url, timeout=5)

        host.stop()

        with pytest.raises(requests.ConnectionError):
            session.get(host.url, timeout=5)


def test_fifty_at_once_get_fifty_numbers(host, call, token):
    def open_issue(number: int) -> int:
        sent = {"title": f"Issue {number}"}
        return call("POST", "/repos/acme/docs/issues", token, json=sent).json()["number"]

    with ThreadPoolExecutor(50) as pool:
        numbers = list(pool.map(open_issue, range(50)))

    assert sorted(numbers) == list(range(1, 51))
    assert len(host.issues("acme/docs")) == 50


def test_one_connection_carries_many_requests(host):
    with socket.create_connection(("127.0.0.1", int(host.url.rpartition(":")[2])), 5) as client:
        answers = []
        for _ in range(2):
            client.sendall(b"GET /_sandbox/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answers.append(client.recv(65536))

    assert all(answer.startswith(b"HTTP/1.1 200 OK\r\n") for answer in answers)


def test_a_body_of_unknown_length_is_refused(call):
    assert call("POST", "/repos/acme/docs/issues", data=iter([b"{}"])).status_code == 411


def test_a_body_of_more_than_a_mebibyte_is_refused(host):
    address = ("127.0.0.1", int(host.url.rpartition(":")[2]))
    with socket.create_connection(address, 5) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: sandbox\r\nContent-Length: 1048577\r\n\r\n")
        answer = client.recv(65536)

    assert answer.startswith(b"HTTP/1.1 413 ")


def test_its_clock_can_be_an_hour_off(host, call):
    host.clock_offset = timedelta(hours=1)

    date = parsedate_to_datetime(call("GET", "/rate_limit").headers["Date"])

    assert timedelta(minutes=-1) < date - host.now() < timedelta(minutes=1)
    assert date.timestamp() - time.time() == pytest.approx(3600, abs=60)


def test_it_logs_who_asked_for_what_and_never_a_token(host, call, as_app, installation, sign_in):
    token = as_app.get_access_token(installation.id, {"issues": "write"}).token
    person = sign_in("alice")
    for credentials in (token, person, "", "nonsense"):
        call("GET", "/repos/acme/docs?page=1", credentials)

    log = [each for each in host.requests if each.path.startswith("/api/")]

    assert log[0].asked == {"permissions": {"issues": "write"}}
    assert [(each.method, each.path, each.status, each.authorization) for each in log] == [
        ("POST", f"/api/v3/app/installations/{installation.id}/access_tokens", 201, "app"),
        ("GET", "/api/v3/repos/acme/docs", 200, "installation"),
        ("GET", "/api/v3/repos/acme/docs", 200, "user"),
        ("GET", "/api/v3/repos/acme/docs", 200, "none"),
        ("GET", "/api/v3/repos/acme/docs", 401, "invalid"),
    ]
    assert log[1].query == "page=1"
    assert not any(secret in repr(host.requests) for secret in (token, person, "code="))


def test_tokens_are_kept_as_hashes_alone(host, token):
    assert token not in repr(vars(host.tokens))


def test_the_state_is_there_as_json(host, call, token):
    call("POST", "/repos/acme/docs/issues", token, json={"title": "Broken", "body": "Look"})
    host.fail("500", times=3)

    state = requests.get(f"{host.url}/_sandbox/state", timeout=5).json()

    docs, _ = state["repositories"]
    assert [(issue["number"], issue["title"]) for issue in docs["issues"]] == [(1, "Broken")]
    assert state["requests"][-1]["path"] == "/api/v3/repos/acme/docs/issues"
    assert state["faults"] == [{"kind": "500", "method": "POST", "path": "issues", "times": 3}]
    assert token not in str(state)


@pytest.mark.slow
def test_it_needs_no_django():
    check = "import sandbox, sys; sys.exit('django' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, timeout=60, check=False)

    assert done.returncode == 0


def test_whoever_names_no_user_agent_is_refused(host):
    answer = requests.get(f"{host.url}/api/v3/rate_limit", headers={"User-Agent": ""}, timeout=5)

    assert answer.status_code == 403
    assert answer.json()["message"] == "Missing or invalid User Agent string."


def _outcome(url: str) -> None:
    with suppress(requests.ConnectionError):
        requests.get(url, timeout=600)
