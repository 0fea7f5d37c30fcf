"""Deliveries that are not sent: held for every cause, failed, waiting, unknown, or in the middle."""

from datetime import timedelta

from integrations import github_api
from integrations.delivery import discarding, holds
from integrations.delivery.forwarding import forward
from integrations.models import Alert, Comment, Delivery, Integration
from tests import build
from tests.conftest import Clock
from tests.upgrades.filling.world import Hub, Team

WAITS = "It waits for its turn"
UNKNOWN = "GitHub has not answered"


def stand_still(hub: Hub, clock: Clock) -> None:
    """One organization for each reason; where time has to pass comes first."""
    _withheld(hub.team("rights"), clock)
    _adopted(hub.team("adopted"), clock)
    _held(hub)
    _limited(hub)
    sent = hub.team("sent")
    for number, change in enumerate(("close_issue", "delete_issue", "reopen_issue"), start=1):
        sent.send(f"Its issue will {change}")
        if change == "reopen_issue":
            hub.host.close_issue(sent.repository, number, by="alice", reason="not_planned")
        getattr(hub.host, change)(sent.repository, number, by="alice")
    failing = hub.team("failing")
    _fail(hub, "422", failing, "GitHub has refused it")
    _fail(hub, "refuse", failing, UNKNOWN)
    _wait(hub)


def lose_push_access(team: Team, clock: Clock) -> None:
    """Three checks over more than a day find no member with push access."""
    for _ in range(3):
        holds.record_push_access_missing(team.integration)
        clock.advance(hours=13)
    clock.advance(hours=-39)
    assert team.integration.rights_lost_at


def _withheld(team: Team, clock: Clock) -> None:
    """Nobody has push access any more; of the site that rests on it, nobody reads what comes in."""
    build.site(team.organization, "rights.github.io", repository=team.repository)
    lose_push_access(team, clock)
    team.send("Held for missing push access")
    for details in (None, "In other words"):
        page = "https://rights.github.io/walrus"
        team.send("Withheld", doc_url=page, report__details=details)


def _adopted(team: Team, clock: Clock) -> None:
    """GitHub's answer was lost, and the issue was found later."""
    team.hub.host.fail("502_after_creating", method="POST", path="issues")
    lost = team.send("Its answer was lost")
    clock.advance(minutes=10)
    forward(lost.report_id)
    clock.advance(minutes=-10)
    assert Delivery.objects.get(pk=lost.pk).status == "sent"


def _held(hub: Hub) -> None:
    """For each cause that is not held elsewhere."""
    paused = hub.team("paused")
    holds.pause(paused.integration)
    paused.send("Held for a pause")
    archived = hub.team("archived", likeness="off")
    hub.host.fail("403_archived", method="POST", path="issues")
    archived.send("Held for an archived repository")
    disowned = hub.team("disowned")
    _unreachable(hub)
    disowned.send("Held for a lost claim")
    disowned.claim.lapse("Its record was missing for too long.")
    discarded = hub.team("discarded")
    holds.pause(discarded.integration)
    discarding.discard(discarded.send("Held because a member has discarded it"))
    discarded.claim.note_refusal(True, discarded.claim.url)


def _limited(hub: Hub) -> None:
    """GitHub has enough of one account, and another one has suspended the app."""
    limited = hub.team("limited", account="alice")
    hub.host.fail("429", method="POST", path="issues")
    limited.send("Waits for GitHub's limit")
    suspended = hub.team("suspended", account="bob")
    hub.host.suspend(build.installed(hub.host, "bob"))
    suspended.send("Held for a suspended app")
    new = build.organization("installed")
    new.memberships.create(github_id=1, login="charlie", role="owner")  # has not signed in yet
    Integration.objects.create(organization=new, installation=suspended.integration.installation)


def _fail(hub: Hub, fault: str, team: Team, summary: str) -> None:
    hub.host.fail(fault, method="POST", path="issues")
    team.send(summary)


def _wait(hub: Hub) -> None:
    """What is to be sent once the database is loaded, and what a process was sending when it was killed."""
    waiting, killed = hub.team("waiting"), hub.team("killed")
    _unreachable(hub)
    waiting.send(WAITS)
    _unreachable(hub)
    delivery = killed.send("It was being sent")
    Delivery.objects.filter(pk=delivery.pk).update(due_at=delivery.created_at - timedelta(hours=1))
    assert Delivery.objects.take(delivery.report_id)
    assert Alert.objects.take(Alert.objects.filter(status="pending").latest("pk").pk)
    assert Comment.objects.take(Comment.objects.due()[0].pk)


def _unreachable(hub: Hub) -> None:
    """GitHub gives no token for the next attempt."""
    github_api.forget_tokens()
    hub.host.fail("500", method="POST", path="token")
