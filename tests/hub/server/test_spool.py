"""Long responses that wait for their readers: who gives up theirs where there is no room."""

import pytest

from hub.server import spool
from hub.server.overload import Overloaded

LENGTH = 100_000


@pytest.fixture(autouse=True)
def room_for_two(monkeypatch):
    monkeypatch.setattr(spool, "ON_DISK", 2 * LENGTH)
    monkeypatch.setattr(spool, "A_WHILE", 0)
    yield
    assert spool.on_disk() == 0
    assert not spool._whole


def whole(whose: str):
    return spool.whole([b"x" * (LENGTH // 2)] * 2, whose=lambda: whose)


def test_who_reads_too_slowly_leaves_the_room_to_others():
    slow, slower = whole("acme"), whole("initech")
    slow.seek(0)
    read = slow.read(4096)

    mine = whole("others")

    assert len(read) == 4096
    assert spool.on_disk() == 2 * LENGTH
    given_up = [_is_given_up(each) for each in (slow, slower)]
    assert sorted(given_up) == [False, True]
    mine.seek(0)
    assert len(mine.read()) == LENGTH
    for each in (slow, slower, mine):
        each.close()


@pytest.mark.parametrize(
    ("bound", "value"), [("PACE", 0), ("A_WHILE", 60)], ids=["fast enough", "not for long yet"]
)
def test_nobody_who_reads_like_this_gives_theirs_up(monkeypatch, bound, value):
    monkeypatch.setattr(spool, bound, value)
    kept = [whole("acme"), whole("initech")]

    with pytest.raises(Overloaded):
        whole("others")

    assert not any(map(_is_given_up, kept))
    for each in kept:
        each.close()


def _is_given_up(response) -> bool:
    try:
        return not response.seek(0) and not response.read(1)
    except TimeoutError:
        return True
