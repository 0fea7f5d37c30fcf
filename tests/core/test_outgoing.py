"""What another host answers takes neither all memory nor a thread for good."""

import gzip
import tracemalloc
from collections.abc import Iterator

import pytest
import requests
import responses

from core import outgoing

URL = "https://github.example/list"


@pytest.fixture
def wire() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock() as mock:
        yield mock


def get(url: str = URL) -> requests.Response:
    with outgoing.session() as session:
        return session.get(url, timeout=5)


@pytest.mark.parametrize("size", [0, 1, outgoing.AT_ONCE, 3 * outgoing.AT_ONCE + 1])
@pytest.mark.parametrize("zipped", [False, True])
def test_an_answer_comes_whole(wire, size, zipped):
    body = b"x" * size
    headers = {"Content-Encoding": "gzip"} if zipped else {}
    wire.get(URL, body=gzip.compress(body) if zipped else body, headers=headers)

    assert get().content == body


def test_an_answer_without_an_end(wire, monkeypatch):
    monkeypatch.setattr(outgoing, "LONGEST", 0)
    wire.get(URL, body=b"x")

    with pytest.raises(outgoing.TooMuch):
        get()


def test_an_answer_that_grows_where_it_is_unpacked(wire, monkeypatch):
    monkeypatch.setattr(outgoing, "LARGEST", 2**20)
    bomb = gzip.compress(b"0" * 2**26)
    wire.get(URL, body=bomb, headers={"Content-Encoding": "gzip"})
    tracemalloc.start()

    with pytest.raises(outgoing.TooMuch):
        get()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 2**24


def test_what_cannot_be_unpacked(wire):
    wire.get(URL, body=b"no gzip", headers={"Content-Encoding": "gzip"})

    with pytest.raises(requests.ConnectionError):
        get()


def test_no_credentials_come_from_a_file(wire, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine github.example login alice password not-a-secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    wire.get(URL)

    assert "Authorization" not in get().request.headers
