import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from hub.server import listening

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """A client that takes little at once, and the connection of the server."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        listening.bound_what_is_not_taken()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(10)
        client.connect(server.getsockname())
        with server.accept()[0] as connection:
            connection.setblocking(False)
            yield client, connection


def test_a_client_that_never_takes_its_answer_does_not_keep_its_connection(ends: Ends):
    _, connection = ends

    bound = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    assert bound == listening.UNTAKEN_FOR


def test_little_of_an_answer_waits_for_a_client_that_does_not_take_it(ends: Ends):
    _, connection = ends

    waiting = _send_what_fits(connection)

    assert 0 < waiting <= 2 * listening.UNTAKEN_BYTES


def test_who_has_connected_before_is_bound_too(settings):
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.HUB_PORT = server.getsockname()[1]
        with socket.create_connection(server.getsockname()) as client, server.accept()[0] as early:
            listening.bound_what_is_not_taken()

            bound = [
                each.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                for each in (early, client)
            ]

    assert bound == [listening.UNTAKEN_FOR, 0]  # the other end is as if a database were there


def test_what_waited_arrives_whole(ends: Ends):
    client, connection = ends
    waiting = _send_what_fits(connection)

    connection.close()

    assert sum(map(len, iter(lambda: client.recv(65536), b""))) == waiting


def _send_what_fits(connection: socket.socket) -> int:
    sent = 0
    with suppress(BlockingIOError):
        while True:
            sent += connection.send(bytes(65536))
    return sent
