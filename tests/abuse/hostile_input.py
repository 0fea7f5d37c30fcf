"""Requests with something wrong about them, at every door of the Hub; `tests/hostile/` has the table."""

import tempfile
from itertools import chain, islice
from pathlib import Path

from django.test import override_settings

from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Shipped, World, stands_if
from tests.conftest import settings_for
from tests.dns_server import DNSServer
from tests.hostile import filling_in, two_hubs
from tests.hostile.doors import doors
from tests.hostile.sweep import Sweep, attempts

RATES = ("REPORT", "NETWORK", "HOST", "TOTAL", "SIGN_IN", "ASKING", "ISSUE")
UNLIMITED = {f"HUB_{name}_RATE": "1000000/minute" for name in RATES}
ORGANIZATIONS = 12
ONE_OF = 13  # requests of the table at the pages of operators, of which there are most
EXAMPLES = 40  # of each body, query and form
SHOWN = 20


@attack(STRANGER, "find a request that no answer fits")
def every_hostile_row_at_every_door(world: World) -> str:
    """All of the table at every endpoint and form, and what hypothesis writes into them."""
    given = settings_for(world.host)
    with (
        tempfile.TemporaryDirectory() as folder,
        DNSServer().serving() as dns,
        override_settings(**given, ALLOWED_HOSTS=["testserver"]),
    ):
        more = {**given, **UNLIMITED, "HUB_DNS_SERVERS": dns}
        with two_hubs.served(
            world.host, Path(folder), of=Shipped, number=ORGANIZATIONS, **more
        ) as sweep:
            return _swept(sweep)


def _swept(sweep: Sweep) -> str:
    operators = [each for each in doors() if each.is_operators]
    others = [each for each in doors() if not each.is_operators]
    for attempt in chain(attempts(others), islice(attempts(operators), 0, None, ONE_OF)):
        sweep.make(attempt)
    sweep.wait_at(each for each in others if each.takes_a_body)
    filling_in.fill_in(sweep, EXAMPLES)
    wrong = sweep.found()
    asked = ", ".join(f"{kind} {number}" for kind, number in sweep.asked.items())
    said = ", ".join(f"{verdict}: {number}" for verdict, number in sweep.answered.most_common())
    figures = (
        f"{sweep.asked.total()} requests to each of {len(sweep.hubs)} Hubs ({asked}); answers {said}; "
        f"{sweep.limited} not compared, for the limits; {len(wrong)} wrong"
    )
    return stands_if(not wrong, "\n".join([figures, *(each[:500] for each in wrong[:SHOWN])]))
