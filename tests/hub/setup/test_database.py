"""The database, and Redis."""

import pytest
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from redis import Redis

from hub.setup import database, database_state, redis_server
from hub.setup.findings import Level
from tests.hub.setup.conftest import levels, said
from tests.hub_process import free_port

OK, NOTE, WARNING, PROBLEM = Level
FIT = {
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "fsync": "on",
    "full_page_writes": "on",
    "max_connections": "100",
    "server_encoding": "UTF8",
    "statement_timeout": "0",
    "superuser_reserved_connections": "3",
    "synchronous_commit": "on",
}


@pytest.mark.django_db(transaction=True)
def test_a_database_that_can_be_used(settings):
    settings.HUB_DEBUG = True

    found = list(database.database())

    assert found[0].level == OK
    assert "All migrations are applied." in said(found, OK)
    for line in said(found, PROBLEM).splitlines():  # the tests' server does not wait for its disk
        assert line.startswith(("fsync is off", "full_page_writes is off"))


@pytest.mark.django_db(transaction=True)
def test_the_look_before_a_command_uses_no_connection_that_workers_would_inherit(monkeypatch):
    shared = connections["default"]
    shared.close()
    monkeypatch.setattr(shared, "connect", None)

    assert database_state.why_unusable() == ""
    assert connections["default"] is shared


@pytest.mark.django_db
def test_a_database_that_does_not_answer(monkeypatch):
    for name in ("NAME", "HOST"):
        monkeypatch.setitem(connections["default"].settings_dict, name, "/nowhere/hub.sqlite3")

    assert "The database does not answer: " in said(database.database(), PROBLEM)


def test_a_database_that_is_not_there_is_said(settings, tmp_path):
    settings.MISSING = [tmp_path / "hub.sqlite3"]

    [only] = database.database()

    assert only.level == PROBLEM
    assert f"{tmp_path}/hub.sqlite3 does not exist yet: run `manage.py migrate`" in only.text


@pytest.mark.django_db(transaction=True)
def test_migrations_that_are_missing_and_unknown():
    recorder = MigrationRecorder(connection)
    [(app, latest)] = MigrationLoader(connection).graph.leaf_nodes("hub")
    recorder.record_applied("hub", "0999_of_the_future")
    recorder.record_unapplied(app, latest)
    try:
        found = list(database.database())
    finally:
        recorder.record_applied(app, latest)
        recorder.record_unapplied("hub", "0999_of_the_future")

    assert "run `manage.py migrate`. Missing: " in said(found, PROBLEM)
    assert f"{app}.{latest}" in said(found, PROBLEM)
    assert "such as hub.0999_of_the_future" in said(found, WARNING)


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_sqlite_in_production(settings):
    settings.HUB_FORWARDING = "queue"

    assert "one machine, one writer at a time" in said(database.database(), WARNING)
    assert "HUB_FORWARDING is queue, which needs PostgreSQL" in said(database.database(), PROBLEM)


def test_without_a_url_there_is_nothing_to_ask(settings):
    settings.MISCONFIGURED = ["DATABASE_URL must be a URL"]

    assert levels(database.database()) == {NOTE}


@pytest.mark.parametrize(
    ("changed", "level", "sentence"),
    [
        ({"default_transaction_read_only": "on"}, PROBLEM, "The database takes no changes"),
        ({"server_encoding": "SQL_ASCII"}, PROBLEM, "encoded as SQL_ASCII"),
        (
            {"default_transaction_isolation": "serializable"},
            PROBLEM,
            "the Hub needs read committed",
        ),
        ({"fsync": "off"}, PROBLEM, "fsync is off: a power cut can destroy"),
        ({"synchronous_commit": "off"}, WARNING, "synchronous_commit is off: reports"),
        ({"statement_timeout": "5000"}, WARNING, "statement_timeout is 5000 ms"),
        ({"max_connections": "40"}, WARNING, "allows 37 connections, and the Hub may open 46"),
    ],
)
def test_settings_of_postgresql(settings, changed, level, sentence):
    settings.HUB_PROCESSES, settings.HUB_THREADS = 1, 32

    found = list(database._unfit(FIT | changed, is_copy=False))

    assert [each.level for each in found] == [level]
    assert sentence in said(found)


def test_a_copy_takes_no_changes():
    assert not list(database._unfit(FIT, is_copy=False))
    assert "primary server" in said(database._unfit(FIT, is_copy=True), PROBLEM)


def test_a_pooler_has_connections_of_its_own(settings):
    settings.HUB_PREPARED_STATEMENTS = False

    assert not list(database._unfit(FIT | {"max_connections": "10"}, is_copy=False))


@pytest.mark.slow
def test_redis_that_answers(redis, settings):
    assert levels(redis_server.redis()) == {OK}
    assert "(maxmemory-policy noeviction)" in said(redis_server.redis())

    with Redis.from_url(redis.url) as client:
        client.acl_setuser(
            "hub", enabled=True, passwords=["+x"], commands=["+@all", "-info"], keys=["*"]
        )
    settings.REDIS_URL = redis.url.replace("://", "://hub:x@")
    assert levels(redis_server.redis()) == {OK, NOTE}
    settings.REDIS_URL = redis.url.replace("://", "://hub:wrong@")
    assert "Redis does not answer: invalid username" in said(redis_server.redis(), PROBLEM)


@pytest.mark.slow
@pytest.mark.parametrize("denied", ["-evalsha", "-set", "-del"])
def test_redis_that_refuses_what_the_hub_asks_of_it(redis, settings, denied):
    with Redis.from_url(redis.url) as client:
        rights = {"commands": ["+@all", denied], "keys": ["*"]}
        client.acl_setuser("hub", enabled=True, passwords=["+x"], **rights)
    settings.REDIS_URL = redis.url.replace("://", "://hub:x@")

    [found] = redis_server.redis()

    assert found.level == PROBLEM
    assert f"no permissions to run the '{denied[1:]}' command" in found.text


@pytest.mark.slow
def test_redis_that_may_only_be_read(redis, settings):
    with Redis.from_url(redis.url) as client:
        client.replicaof("127.0.0.1", free_port())

        [found] = redis_server.redis()

    assert found.level == PROBLEM
    assert "read only replica" in found.text


def test_a_url_with_an_option_that_redis_does_not_have_is_said(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0?no_such_option=1"

    [found] = redis_server.redis()

    assert found.level == PROBLEM
    assert "no_such_option" in found.text


def test_redis_that_does_not_answer(settings):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"

    [found] = redis_server.redis()

    assert found.level == PROBLEM
    assert found.text.startswith("Redis does not answer: ")
    assert ".." not in found.text


@pytest.mark.parametrize(
    ("facts", "level", "sentence"),
    [
        ({"maxmemory_policy": "allkeys-lru"}, WARNING, "maxmemory-policy allkeys-lru"),
        ({"maxmemory": 2**20, "used_memory": 10**6}, WARNING, "uses 0 of 1 MiB"),
        ({"maxmemory_policy": "volatile-ttl"}, OK, "keeps what it is given"),
    ],
)
def test_the_memory_of_redis(facts, level, sentence):
    [found] = redis_server._memory(facts)

    assert (found.level, sentence in found.text) == (level, True)


@pytest.mark.parametrize(("processes", "level"), [(1, OK), (2, PROBLEM)])
def test_only_several_processes_need_redis(settings, processes, level):
    settings.HUB_PROCESSES = processes

    assert levels(redis_server.redis()) == {level}
