"""Whatever is sent, and wherever: no 5xx, no hang, and the same verdict on SQLite and PostgreSQL.

A part of what the attack `hostile_input` of `script/abuse` sends, which is all of it.
"""

import socket
from collections.abc import Iterator

import pytest
from django.test import override_settings

from tests.conftest import new_code_host, settings_for
from tests.dns_server import DNSServer
from tests.hostile import filling_in, two_hubs, wire
from tests.hostile.doors import doors
from tests.hostile.rows import rows
from tests.hostile.sweep import Attempt, Sweep, errors_in, problem_with, some_attempts
from tests.hostile.wire import CLOSED, Verdict, verdict_of

DOORS_OF_A_ROW = 1
EXAMPLES = 2  # of each body, query and form


@pytest.fixture(scope="module")
def shared(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Sweep]:
    host, dns = new_code_host(), DNSServer()
    folder = tmp_path_factory.mktemp("hostile")
    with (
        django_db_blocker.unblock(),
        dns.serving() as address,
        host.serving(),
        override_settings(**settings_for(host), HUB_DNS_SERVERS=address),
        two_hubs.served(host, folder, number=3) as sweep,
    ):
        yield sweep


@pytest.fixture
def sweep(transactional_db, shared) -> Sweep:
    """Its organizations again; earlier tests have emptied the tables."""
    return shared.begin()


def some() -> Iterator[Attempt]:
    return some_attempts([each for each in doors() if not each.is_operators], DOORS_OF_A_ROW)


def test_every_row_and_every_door_is_in_the_part_that_is_sent():
    sent = list(some())

    assert {each.row for each in sent} == set(rows())
    assert {each.door for each in sent} == {each for each in doors() if not each.is_operators}


def test_a_verdict_is_the_status_and_the_error_code():
    answer = b'HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\r\n{"error":"no"}'

    assert verdict_of(answer) == Verdict(400, "no")
    assert verdict_of(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n") == Verdict(200)
    assert verdict_of(b"") == verdict_of(b"\x15\x03") == CLOSED


@pytest.mark.parametrize(
    ("verdicts", "problem"),
    [
        ([Verdict(400, "a"), Verdict(400, "a")], ""),
        ([Verdict(400, "a"), CLOSED], ""),
        ([Verdict(429), Verdict(200)], ""),
        ([Verdict(400, "a"), Verdict(400, "b")], "the databases differ: 400 a / 400 b"),
        ([Verdict(200), Verdict(302)], "the databases differ: 200 / 302"),
        ([Verdict(500), Verdict(500)], "500 / 500"),
        ([Verdict(503, "unavailable")], "503 unavailable"),
    ],
)
def test_a_5xx_or_a_difference_is_a_problem(verdicts, problem):
    assert problem_with(verdicts) == problem


def test_a_connection_without_an_answer_and_without_an_end_hangs(monkeypatch):
    monkeypatch.setattr(wire, "PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(wire.Hangs):
        wire.ask([silent.getsockname()[1]], b"GET / HTTP/1.1\r\n\r\n")


def test_a_line_of_the_log_that_is_an_error_is_found(tmp_path):
    log = tmp_path / "log"
    log.write_text('{"level": "info"}\n{"level": "error"}\nTraceback\n')

    assert errors_in(log) == ['{"level": "error"}', "Traceback"]


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_the_hostile_table_has_the_same_verdicts_on_both_databases(sweep):
    for each in some():
        sweep.make(each)

    assert sweep.found() == []


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_what_hypothesis_writes_has_the_same_verdicts_on_both_databases(sweep):
    filling_in.fill_in(sweep, EXAMPLES, operators=False)

    assert sweep.found() == []
