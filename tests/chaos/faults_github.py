"""GitHub fails in each way that a delivery has an answer to."""

from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

from sandbox import Repository
from tests.chaos.faults import OUTSIDE, Inject, Missed, fault
from tests.chaos.world import CLOCK, GITHUB, World

AT_ISSUES: dict[str, tuple[str, dict[str, Any]]] = {
    "500": ("500", {}),
    "502": ("502", {}),
    "502 after creating": ("502_after_creating", {}),
    "503": ("503", {}),
    "refused": ("refuse", {}),
    "refused after creating": ("refuse", {"created": True}),
    "reset in the middle of an answer": ("reset_mid_answer", {}),
    "slow drip": ("drip", {"milliseconds": 200}),
    "slow": ("slow", {"seconds": 3}),
    "hang": ("hang", {"seconds": 15}),
    "hang after creating": ("hang", {"created": True, "seconds": 15}),
    "truncated answer": ("truncated", {}),
    "201 without a number": ("no_number", {}),
    "301": ("301", {}),
    "307": ("307", {}),
    "308 after creating": ("308", {"created": True}),
    "403 with Retry-After": ("403_retry_after", {"value": 5}),
    "403 with Retry-After 1e9": ("403_retry_after", {"value": "1e9"}),
    "403 with Retry-After abc": ("403_retry_after", {"value": "abc"}),
    "429": ("429", {"value": 5}),
    "no request left": ("remaining_0", {"reset_in": 10}),
    "401": ("401", {}),
    "401 twice": ("401", {"times": 2}),
    "403 archived": ("403_archived", {}),
    "404": ("404", {}),
    "410": ("410", {}),
    "422": ("422", {}),
}
AT_TOKEN = {
    "refused": ("refuse", {}),
    "500": ("500", {}),
    "401": ("401", {}),
    "403": ("403_archived", {}),
    "404": ("404", {}),
    "429": ("429", {"value": 5}),
}
AT_COMMENTS = {
    "502 after creating": ("502_after_creating", {}),
    "refused": ("refuse", {}),
    "reset in the middle of an answer": ("reset_mid_answer", {}),
    "truncated answer": ("truncated", {}),
    "201 without an id": ("no_id", {}),
    "403 locked": ("403_locked", {}),
    "404": ("404", {}),
    "422": ("422", {}),
}
PATIENCE = (2, 12)  # seconds in which a request may come that is struck


def _spoiled(kind: str, details: dict[str, Any], path: str, method: str) -> Inject:
    def inject(world: World, random: Random) -> Iterator[None]:
        before = len(world.host.struck)
        armed = {"times": random.randint(1, 4)} | details
        world.host.fail(kind, path=path, method=method, **armed)
        with world.away(GITHUB):
            yield
        world.host.faults.clear(kind)
        if not any(each.kind == kind for each in world.host.struck[before:]):
            raise Missed("GitHub was not asked meanwhile.")

    return inject


for place, method, table in (
    ("issues", "POST", AT_ISSUES),
    ("token", "POST", AT_TOKEN),
    ("comments", "POST", AT_COMMENTS),
):
    for name, (kind, details) in table.items():
        fault(f"GitHub, {place}: {name}", track=OUTSIDE, seconds=PATIENCE)(
            _spoiled(kind, details, place, method)
        )
for name in ("500", "refuse", "hang"):
    fault(f"GitHub, reading: {name}", track=OUTSIDE, seconds=PATIENCE)(
        _spoiled(name, {"times": 3}, "/api/v3/*", "GET")
    )
for name in ("502", "truncated", "404"):
    fault(f"GitHub, editing a comment: {name}", track=OUTSIDE, seconds=PATIENCE)(
        _spoiled(name, {}, "comment", "PATCH")
    )


@fault("GitHub not reached", track=OUTSIDE, seconds=(2, 15))
def not_reached(world: World, random: Random) -> Iterator[None]:
    port = int(world.host.url.rpartition(":")[2])
    with world.away(GITHUB):
        world.host.stop()
        yield
        world.host.start(port=port)


@fault("GitHub's clock an hour off", track=OUTSIDE, seconds=(4, 15))
def clock_off(world: World, random: Random) -> Iterator[None]:
    with world.away(CLOCK):
        world.host.clock_offset = timedelta(hours=random.choice((-1, 1)))
        yield
        world.host.clock_offset = timedelta()


@fault("installation suspended", track=OUTSIDE, seconds=(3, 15), weight=2)
def suspended(world: World, random: Random) -> Iterator[None]:
    installation = random.choice(list(world.host.installations.values()))
    world.host.suspend(installation)
    yield
    world.host.unsuspend(installation)


@fault("repository renamed", track=OUTSIDE, seconds=(3, 15), weight=2)
def renamed(world: World, random: Random) -> Iterator[None]:
    repository = _one(world, random)
    name = repository.name
    world.host.rename(repository, f"{name}-{random.randrange(10**6)}")
    yield
    world.host.rename(repository, name)


@fault("repository transferred", track=OUTSIDE, seconds=(3, 15))
def transferred(world: World, random: Random) -> Iterator[None]:
    repository = _one(world, random)
    account = repository.owner
    world.host.transfer(repository, "elsewhere")
    yield
    world.host.transfer(repository, account.login)
    world.host.add_to_installation(world.host.installation_on(account), repository)


@fault("repository archived", track=OUTSIDE, seconds=(3, 15))
def archived(world: World, random: Random) -> Iterator[None]:
    repository = _one(world, random)
    world.host.archive(repository)
    yield
    world.host.unarchive(repository)


@fault("issues turned off", track=OUTSIDE, seconds=(3, 15))
def issues_off(world: World, random: Random) -> Iterator[None]:
    repository = _one(world, random)
    world.host.set_issues(repository, False)
    yield
    world.host.set_issues(repository, True)


def _one(world: World, random: Random) -> Repository:
    return random.choice(list(world.host.repositories.values()))
