"""Fills a database through the product, with a row in every table and every state that a row can have."""

from tests.conftest import Clock
from tests.dns_server import DNSServer
from tests.upgrades.filling import (
    alerts,
    claims,
    deliveries,
    notices,
    operators,
    people,
    problems,
    reports,
)
from tests.upgrades.filling.world import Hub


def fill(hub: Hub, dns: DNSServer, clock: Clock) -> None:
    """All of it; what ends soon comes last."""
    docs = people.sign_in(hub)
    claims.make(docs, dns, clock)
    reports.send(docs)
    problems.edit(hub.team("edited", likeness="fold"), clock)
    problems.join(docs)
    problems.come_back(hub)
    alerts.tell(hub, clock)
    notices.make(hub)
    operators.hold(hub)
    deliveries.stand_still(hub, clock)
    claims.rename(hub)
    people.leave(hub)
    people.begin_what_ends_soon(docs)
