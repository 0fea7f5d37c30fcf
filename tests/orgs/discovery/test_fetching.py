"""What a claimed host may make the Hub do: nothing but read a short file from a public address."""

import socket
import ssl
from types import SimpleNamespace

import pytest

from orgs.discovery import fetching
from orgs.discovery.fetching import Answer, NotFetched, fetch
from orgs.domains import txt_records
from tests.web_server import HOST

URL = f"https://{HOST}/llms.txt"


def redirect(where: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nContent-Length: 0\r\n\r\n".encode()


def test_a_file_is_read(web):
    web.says("/llms.txt", "# Acmé")

    assert fetch(URL) == Answer(200, "# Acmé")
    [request] = web.requests
    assert b"Host: docs.acme.com\r\n" in request
    assert b"User-Agent: DocsFeedbackHub" in request
    assert b"Cookie" not in request


def test_chunks_are_joined(web):
    web.answers["/llms.txt"] = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )

    assert fetch(URL).text == "abcde"


def test_what_is_not_there_is_an_answer(web):
    assert fetch(URL).status == 404


@pytest.mark.parametrize("where", ["/there", f"https://{HOST}/there", f"https://{HOST}:443/there"])
def test_a_redirect_on_the_same_host_is_followed(web, where):
    web.answers["/llms.txt"] = redirect(where)
    web.says("/there", "here")

    assert fetch(URL).text == "here"


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("https://docs.acme.org/", "another host"),
        ("https://169.254.169.254/latest/", "another host"),
        ("//localhost/", "another host"),
        (f"http://{HOST}/", "not plain https"),
        (f"https://{HOST}:8443/", "not plain https"),
        (f"https://alice@{HOST}/", "not plain https"),
        ("file:///etc/passwd", "not plain https"),
        (f"https://{HOST}:99999/", "not valid"),
        (f"https://{HOST}/a b", "not valid"),
        (f"https://{HOST}/" + "a" * 2048, "not valid"),
    ],
)
def test_no_redirect_leads_elsewhere(web, where, reason):
    web.answers["/llms.txt"] = redirect(where)

    with pytest.raises(NotFetched, match=reason):
        fetch(URL)

    assert len(web.requests) == 1


def test_a_loop_ends(web):
    web.answers["/llms.txt"] = redirect("/llms.txt")

    with pytest.raises(NotFetched, match="more than 3 times"):
        fetch(URL)

    assert len(web.requests) == 4


def test_a_long_file_is_not_read_to_its_end(web):
    def endless(one: ssl.SSLSocket) -> None:
        one.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not web.released.is_set():
            one.send(b"x" * 16_384)

    web.answers["/llms.txt"] = endless

    with pytest.raises(NotFetched, match="longer than 65,536 bytes"):
        fetch(URL)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
def test_what_is_not_http_is_said(web, answer):
    web.answers["/llms.txt"] = answer

    with pytest.raises(NotFetched, match="not HTTP"):
        fetch(URL)


@pytest.mark.parametrize("size", [b"zz", b"-5", b"f" * 40])
def test_chunks_that_lie_are_said(web, size):
    web.answers["/llms.txt"] = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\nabc\r\n"
    )

    with pytest.raises(NotFetched, match="cut off"):
        fetch(URL)


def drip(web, first: bytes):
    def dripping(one: ssl.SSLSocket) -> None:
        one.sendall(first)
        while not web.released.wait(0.02):
            one.sendall(b"x")

    return dripping


@pytest.mark.parametrize(
    "first", [b"HTTP/1.1 200 ", b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\n\r\n"]
)
def test_a_host_that_drips_is_given_up(web, monkeypatch, first):
    monkeypatch.setattr(fetching, "MAX_SECONDS", 0.3)
    web.answers["/llms.txt"] = drip(web, first)

    with pytest.raises(NotFetched, match="no answer in time"):
        fetch(URL)


def test_what_tls_keeps_to_itself_takes_no_more_room_than_the_file(web):
    """The attack: session tickets without end, each of which OpenSSL reads before it says anything."""
    web.says("/llms.txt", "here")
    web.context.num_tickets = 10_000

    with pytest.raises(NotFetched, match="it sends more than 1,048,576 bytes"):
        fetch(URL)


def test_what_tls_keeps_to_itself_takes_no_more_time_than_the_file(web, monkeypatch):
    ticks, read = [0.0], fetching._TLSConnection._read

    def reads(connection: fetching._TLSConnection) -> None:
        ticks[0] += 1
        read(connection)

    monkeypatch.setattr(fetching, "time", SimpleNamespace(monotonic=lambda: ticks[0]))
    monkeypatch.setattr(fetching._TLSConnection, "_read", reads)
    web.says("/llms.txt", "here")
    web.context.num_tickets = 1000

    with pytest.raises(NotFetched, match="no answer in time"):
        fetch(URL)

    assert ticks == [fetching.MAX_SECONDS]


def test_no_host_chooses_how_long_its_keys_are_computed():
    """The attack: with TLS 1.2, a group of Diffie-Hellman of 10,000 bits, and a handshake after the handshake."""
    context = fetching.trust()

    assert {each["kea"] for each in context.get_ciphers()} == {"kx-any", "kx-ecdhe"}
    assert context.options & ssl.OP_NO_RENEGOTIATION


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_of_tls_are_spoken(web, version):
    web.context.minimum_version = web.context.maximum_version = version
    web.says("/llms.txt", "here")

    assert fetch(URL).text == "here"


def test_a_certificate_for_another_name_is_not_accepted(web):
    with pytest.raises(NotFetched, match="certificate is not valid"):
        fetch("https://docs.acme.org/")


def test_where_nobody_listens(web, monkeypatch):
    monkeypatch.setattr(fetching, "PORT", 1)

    with pytest.raises(NotFetched, match="cannot be reached"):
        fetch(URL)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1"])
def test_a_name_that_leads_inside_is_not_asked(dns, address):
    dns.name_server("acme.com", HOST, address)

    with pytest.raises(NotFetched, match="has no public address"):
        fetch(URL)


def test_only_the_public_addresses_of_a_host_are_asked(dns):
    for address in ("127.0.0.1", "192.168.1.1", "198.41.0.4"):
        dns.name_server("acme.com", HOST, address)

    assert fetching.public_addresses(HOST, 5) == ["198.41.0.4"]


def test_one_kind_of_address_is_enough(dns):
    dns.name_server("acme.com", HOST, "198.41.0.4")
    dns.fail(HOST, "SERVFAIL", kind="AAAA")

    assert fetching.public_addresses(HOST, 5) == ["198.41.0.4"]


def test_a_host_without_an_address(dns):
    with pytest.raises(NotFetched, match="has no public address"):
        fetch(URL)


@pytest.mark.slow
def test_a_dns_that_does_not_answer(dns, impatient):
    dns.fail(HOST, "silence")

    with pytest.raises(NotFetched, match="the DNS does not answer"):
        fetch(URL)


def test_the_time_counts_from_the_question_to_the_dns(web, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_SECONDS", -1)

    with pytest.raises(NotFetched, match="no answer in time"):
        fetch(URL)

    assert not web.requests


@pytest.mark.parametrize(
    "where", ["https://[", "https://[::1", "//a]b/", "https://\u2100.acme.com/"]
)
def test_a_redirect_that_no_parser_reads(web, where):
    web.answers["/llms.txt"] = redirect(where)

    with pytest.raises(NotFetched, match="not valid"):
        fetch(URL)


def test_a_handshake_has_only_the_time_that_is_left(web, monkeypatch):
    connect, ticks = socket.create_connection, [0.0]
    given: list[float] = []

    def late(*args, **options):
        ticks[0] += fetching.MAX_SECONDS - 1
        return connect(*args, **options)

    def shaking_hands(connection: fetching._TLSConnection) -> None:
        given.append(connection._plain.gettimeout())
        raise TimeoutError

    monkeypatch.setattr(fetching, "time", SimpleNamespace(monotonic=lambda: ticks[0]))
    monkeypatch.setattr(socket, "create_connection", late)
    monkeypatch.setattr(fetching._TLSConnection, "_read", shaking_hands)

    with pytest.raises(NotFetched, match="no answer in time"):
        fetch(URL)

    assert given == [1.0]


def test_the_dns_has_no_more_time_than_the_file(dns, monkeypatch):
    given: list[float] = []
    take = txt_records.Lookup._time_for_one

    def timed(lookup: txt_records.Lookup, patience: float) -> float:
        given.append(take(lookup, 60))
        return patience

    monkeypatch.setattr(txt_records.Lookup, "_time_for_one", timed)
    dns.name_server("acme.com", HOST, "127.0.0.1")

    with pytest.raises(NotFetched):
        fetch(URL)

    assert given
    assert max(given) <= fetching.MAX_SECONDS
