import socket

from hub.server import listening


def test_a_client_that_never_takes_its_answer_does_not_keep_its_connection():
    with socket.create_server(("127.0.0.1", 0)) as server:
        listening.bound_what_is_not_taken.__wrapped__()
        with socket.create_connection(server.getsockname()), server.accept()[0] as connection:
            bound = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    assert bound == listening.UNTAKEN_FOR
