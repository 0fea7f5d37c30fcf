"""Organizations that are told bad news by issues of their own, in every state of that."""

from integrations.alerts import causes, sending
from integrations.models import Alert
from tests.conftest import Clock
from tests.upgrades.filling.claims import lose
from tests.upgrades.filling.deliveries import lose_push_access
from tests.upgrades.filling.world import Hub


def tell(hub: Hub, clock: Clock) -> None:
    """One organization for each state; what is left to do comes last."""
    closed, dropped, lapsed, rights, closing, pending, taken = (
        hub.team(f"alert-{name}", alerts=True)
        for name in ("closed", "dropped", "lapsed", "rights", "closing", "pending", "taken")
    )
    for team in (closed, closing):
        lose(team.claim, clock)
    lapsed.claim.lapse("Its record was missing for too long.")
    lose_push_access(rights, clock)
    _maintain()
    closed.claim.record_found()
    lose(dropped.claim, clock)
    causes.compare()
    dropped.claim.record_found()
    _maintain()
    closing.claim.record_found()
    for team in (pending, taken):
        lose(team.claim, clock)
    causes.compare()
    found = {each.integration.organization_id: each.status for each in Alert.objects.all()}
    assert [found[team.organization.pk] for team in (closed, dropped, closing, pending)] == [
        Alert.Status.CLOSED,
        Alert.Status.DROPPED,
        Alert.Status.CLOSING,
        Alert.Status.PENDING,
    ]


def _maintain() -> None:
    causes.compare()
    sending.send_due()
