"""One problem, one issue: reports that join, comments, answers, and what comes back."""

from datetime import timedelta

from django.test import Client

from integrations.comments import sending
from integrations.models import Comment, Delivery
from orgs.models import Membership
from reports.models import Report
from tests import build
from tests.conftest import Clock
from tests.integrations.delivery import alike
from tests.upgrades.filling.world import Hub, Team

DAYS = timedelta(days=3)


def join(docs: Team) -> None:
    """Reports alike join one issue of alice's, who says of some what she thinks."""
    docs.choose(likeness="fold")
    lead, second, third = (
        _say(docs, words) for words in (alike.PUSH, alike.AGAIN, alike.ONCE_MORE)
    )
    assert (second.status, third.status) == ("folded", "folded")
    sending.send_due()
    other = _say(docs, alike.OTHER)
    api = build.api(build.token(Membership.objects.get(login="alice").user))
    _act(api, third, "not-the-same")
    _act(api, other, "same-as", issue_url=Delivery.objects.get(pk=lead.pk).issue_url)
    answer = {"text": "Fixed in 4.1. 修正済み", "link": f"https://{docs.domain}/changes"}
    path = f"/v1/orgs/me/reports/{lead.report_id}/answer"
    assert api.put(path, answer, content_type="application/json").status_code == 200
    docs.choose(likeness="hint")
    assert _say(docs, alike.AGAIN | {"agent__name": "gemini"}).maybe_lead_id
    docs.choose(likeness="fold")


def come_back(hub: Hub) -> None:
    """Problems that are reported again after their issues were closed, of organizations that want different things."""
    host = hub.host
    teams = {
        name: hub.team(f"again-{name}", when_reported_again=name, likeness="fold")
        for name in ("nothing", "comment", "reopen", "issue")
    }
    teams["refused"] = hub.team("refused", likeness="off")
    teams["taken"], teams["late"] = hub.team("taken"), hub.team("late")
    for name, team in teams.items():
        _close(team)
        if name == "issue":
            _say(team, alike.AGAIN)
        _say(team, alike.PUSH)
        if name == "refused":
            host.fail("422", method="POST", path="comments")
        if name not in ("taken", "late"):
            sending.send_due()
    assert Comment.objects.filter(purpose="reopen", status="written").exists()
    assert Comment.objects.filter(status="pending").count() >= 2


def edit(team: Team, clock: Clock) -> None:
    """A member edits the Hub's comment, which has something new to say then, and stays as it is."""
    host = team.hub.host
    for words in (alike.PUSH, alike.AGAIN):
        _say(team, words)
    sending.send_due()
    [comment] = host.comments(team.repository, 1)
    host.edit_comment(comment, "I have edited this.")
    _say(team, alike.ONCE_MORE)
    clock.advance(minutes=11)
    sending.send_due()
    clock.advance(minutes=-11)
    assert Comment.objects.get(integration=team.integration).status == "left"


def _close(team: Team) -> None:
    """Its first issue was opened six days ago, and closed three days ago; GitHub tells the Hub so."""
    host = team.hub.host
    mine = Delivery.objects.filter(pk=_say(team, alike.PUSH).pk)
    before = mine.get().report.received_at - 2 * DAYS
    Report.objects.filter(pk=mine.get().report_id).update(
        received_at=before, last_received_at=before
    )
    host.clock_offset = -DAYS
    host.close_issue(team.repository, mine.get().issue_number or 0, by="alice")
    host.clock_offset = timedelta()
    assert mine.get().issue_state == "closed"


def _say(team: Team, words: dict[str, object]) -> Delivery:
    others = {name: value for name, value in words.items() if name != "report__summary"}
    return team.send(str(words["report__summary"]), **others)


def _act(api: Client, delivery: Delivery, act: str, **body: str) -> None:
    path = f"/v1/orgs/me/reports/{delivery.report_id}/{act}"
    answer = api.post(path, body, content_type="application/json")
    assert answer.status_code == 200, answer.content
