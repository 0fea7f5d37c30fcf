"""Codes of terminals: each is used once, whoever asks at the same time, in memory and in Redis."""

import pickle
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from django.core.cache import cache, caches
from limits import parse_many
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError
from oauthlib.oauth2.rfc8628.errors import (
    AccessDenied,
    AuthorizationPendingError,
    ExpiredTokenError,
    SlowDownError,
)

from core import rates
from hub.settings import _most_entries
from orgs.terminals import codes, protocol
from tests import redis_server
from tests.hub_process import free_port

CLI = "docfeedback-cli"
LONGEST = codes.LIFETIME + codes.REMEMBERED
ALICE = codes.Approval(1, "acme")
BOB = codes.Approval(2, "initech")


@pytest.fixture(scope="module")
def redis_of_module():
    redis_server.needed()
    with redis_server.serving() as server:
        yield server.url


REDIS = pytest.param("redis", marks=pytest.mark.slow)  # it starts one


@pytest.fixture(params=["memory", REDIS])
def store(request, settings):
    """The cache as one process has it, and as several share it."""
    if request.param == "redis":
        url = request.getfixturevalue("redis_of_module")
        settings.CACHES = {"default": {"BACKEND": "core.shared_cache.Shared", "LOCATION": url}}
    cache.clear()


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(codes, "INTERVAL", 0)


def begun(device: str = "device", user: str = "BCDF-GHJK") -> codes.Waiting:
    assert codes.begin(device, user, client_id=CLI, scopes=["orgs:read"])
    return codes.waiting(user)


def exchange(device: str = "device"):
    return codes.exchange(device, client_id=CLI)


def test_an_approved_code_is_exchanged_once(store):
    sign_in = begun()
    with pytest.raises(AuthorizationPendingError):
        exchange()

    codes.approve(sign_in, ALICE)

    assert exchange()[:2] == (ALICE, ["orgs:read"])
    with pytest.raises(InvalidGrantError):
        exchange()


@pytest.mark.parametrize("typed", ["bcdf-ghjk", "BCDFGHJK", " b c d f g h j k ", "BCDF—GHJK"])
def test_how_a_code_is_typed_matters_little(store, typed):
    begun()

    if "—" in typed:
        with pytest.raises(codes.WrongCode):
            codes.waiting(typed)
    else:
        assert codes.waiting(typed).user_code == "BCDF-GHJK"


@pytest.mark.parametrize("typed", ["BCDF-GHJX", "", "\0", "é" * 40, "*", "BCDF-GHJKX"])
def test_another_code_is_none(store, typed):
    begun()

    with pytest.raises(codes.WrongCode):
        codes.waiting(typed)


def test_the_first_answer_counts(store):
    first, second = begun(), codes.waiting("BCDF-GHJK")
    codes.approve(first, ALICE)

    with pytest.raises(codes.UsedCode):
        codes.deny(second)
    with pytest.raises(codes.UsedCode):
        codes.approve(second, BOB)
    with pytest.raises(codes.UsedCode):
        codes.waiting("BCDF-GHJK")
    assert exchange()[0] == ALICE


def test_a_denied_code_stays_denied(store):
    codes.deny(begun())

    for _ in range(2):
        with pytest.raises(AccessDenied):
            exchange()


def test_two_sign_ins_never_have_the_same_code(store):
    begun("one")

    assert not codes.begin("two", "bcdf-ghjk", client_id=CLI, scopes=[])
    assert codes.waiting("BCDF-GHJK").scopes == ["orgs:read"]


def test_a_code_that_has_expired_says_so_and_cannot_be_approved(store, monkeypatch):
    monkeypatch.setattr(codes, "LIFETIME", 0)
    codes.begin("device", "BCDF-GHJK", client_id=CLI, scopes=[])

    with pytest.raises(ExpiredTokenError):
        exchange()
    with pytest.raises(codes.WrongCode):
        codes.waiting("BCDF-GHJK")


def test_who_asks_too_soon_is_told_to_slow_down(store, monkeypatch):
    monkeypatch.setattr(codes, "INTERVAL", 60)
    codes.approve(begun(), ALICE)
    assert exchange()

    begun("other", "CCCC-CCCC")
    with pytest.raises(AuthorizationPendingError):
        exchange("other")
    for _ in range(2):
        with pytest.raises(SlowDownError):
            exchange("other")


def test_of_many_at_once_one_exchanges_and_one_approves(store):
    sign_in, start = begun(), threading.Barrier(16)

    def approve(number: int) -> bool:
        start.wait()
        try:
            codes.approve(sign_in, codes.Approval(number, "acme"))
        except codes.UsedCode:
            return False
        return True

    def redeem(_: int) -> bool:
        start.wait()
        try:
            exchange()
        except (InvalidGrantError, SlowDownError):
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(approve, range(16))) == 1
        assert sum(pool.map(redeem, range(16))) == 1


def test_another_client_cannot_exchange_it(store):
    codes.approve(begun(), ALICE)

    with pytest.raises(InvalidGrantError):
        codes.exchange("device", client_id="another")


def test_no_code_is_stored(settings):
    cache.clear()
    codes.approve(begun("the-device-code", "BCDF-GHJK"), ALICE)

    stored = repr([*caches["default"]._cache.items()]).lower()

    assert "device/" in stored
    for code in ("the-device-code", "bcdf-ghjk", "bcdfghjk"):
        assert code not in stored


@pytest.mark.parametrize("rate", ["30/minute", "100/minute", "20/second;1000/hour", "1/day"])
def test_the_memory_of_one_process_has_room_for_all_that_limits_let_in(rate):
    let_in = min(
        each.amount * protocol.TOTAL * max(1, LONGEST / each.get_expiry())
        for each in parse_many(rate)
    )

    assert _most_entries(rate) > 4 * let_in


def test_the_memory_of_one_process_is_bounded(settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "OPTIONS": {"MAX_ENTRIES": 30}}}
    for number in range(200):
        codes.begin(f"device{number}", f"USER{number}", client_id=CLI, scopes=[])

    assert len(caches["default"]._cache) <= 30


def test_redis_away_is_said_in_a_sentence(settings, caplog):
    url = f"redis://127.0.0.1:{free_port()}/0"
    settings.CACHES = {"default": {"BACKEND": "core.shared_cache.Shared", "LOCATION": url}}

    with pytest.raises(codes.CodesAway):
        codes.begin("device", "BCDF-GHJK", client_id=CLI, scopes=[])
    with pytest.raises(codes.CodesAway):
        exchange()


class Planted:
    """Runs code when it is unpickled."""

    ran = False

    def __reduce__(self):
        return setattr, (Planted, "ran", True)


@pytest.mark.parametrize("store", [REDIS], indirect=True)
def test_who_writes_to_redis_runs_no_code_and_approves_nothing(store, redis_of_module):
    written = redis.from_url(redis_of_module)
    begun()
    [device] = written.scan_iter("*device/*")
    answer = device.replace(b"device/", b"answer/")
    for value in (pickle.dumps(Planted()), b'[1, "acme"]', b"\xff", written.get(device)):
        written.set(answer, value)
        with pytest.raises(AuthorizationPendingError):
            exchange()

    assert not Planted.ran


@pytest.mark.parametrize("store", [REDIS], indirect=True)
def test_what_redis_has_stays_valid_while_the_secret_key_is_replaced(store, settings):
    cache.set("x", {"until": 1.5})
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"

    assert cache.get("x") == {"until": 1.5}
    settings.SECRET_KEY_FALLBACKS = []
    assert cache.get("x") is None


@pytest.mark.parametrize("store", [REDIS], indirect=True)
def test_what_is_done_to_many_entries_is_signed_too(store):
    cache.set_many({"a": 1, "b": [2]})
    cache.incr("a")

    assert cache.get_many(["a", "b", "c"]) == {"a": 2, "b": [2]}


def test_a_redis_that_hangs_is_not_waited_for_again(settings, caplog):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        settings.CACHES = {
            "default": {"BACKEND": "core.shared_cache.Shared", "LOCATION": settings.REDIS_URL}
        }
        for _ in range(20):
            with pytest.raises(codes.CodesAway):
                exchange()
        rates.check("1/minute", "x")
        silent.setblocking(False)
        connections = 0
        while True:
            try:
                silent.accept()[0].close()
            except BlockingIOError:
                break
            connections += 1

    assert connections == 1
    assert len(caplog.records) == 1
