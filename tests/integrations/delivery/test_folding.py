"""Reports about one problem: one issue, and a hint where that is not sure."""

import pytest
from django.core.management import call_command

from integrations.models import Attempt, Delivery, Integration, Terms
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

PUSH = {
    "report__summary": "Step 3 runs `shipyard push --force`, but that flag was removed in 4.0",
    "report__details": "`shipyard push --help` lists only `--overwrite`.",
    "agent__name": "claude-code",
}
AGAIN = {
    "report__summary": "`shipyard push --force` fails: the flag is called `--overwrite` since 4.0",
    "report__details": "The command of step 3 exits with code 2.",
    "agent__name": "cursor",
}
OTHER = {
    "report__summary": "The page does not say which registry is the default",
    "agent__name": "aider",
}


def mode(name: str) -> None:
    Integration.objects.update(likeness=name)


def send(client, words: dict, **changes):
    return build.send(client, build.report(**words, **changes)).json()


def of(answer) -> Delivery:
    return Delivery.objects.get(report=answer["id"])


def test_what_is_alike_joins_the_issue_that_is_there(client, code_host):
    build.acme(code_host)
    mode("fold")

    first = of(send(client, PUSH))
    answer = send(client, AGAIN)

    joined = of(answer)
    assert len(code_host.issues("acme/docs")) == 1
    assert (first.status, joined.status, joined.lead) == ("sent", "folded", first)
    assert joined.likeness_words.startswith("same page; ")
    assert "--overwrite" in joined.likeness_words
    assert (joined.likeness_rule, joined.folded_by, joined.last_tried_at) == (1, "", None)
    assert joined.folded_at
    [attempt] = joined.attempts.all()
    assert attempt.outcome == Attempt.Outcome.FOLDED
    assert answer["status"] == "forwarded"
    assert [each.may_lead for each in Terms.objects.order_by("delivery")] == [True, False]


def test_what_is_not_alike_becomes_an_issue(client, code_host):
    build.acme(code_host)
    mode("fold")

    send(client, PUSH)
    other = of(send(client, OTHER))

    assert (other.status, other.lead) == ("sent", None)
    assert len(code_host.issues("acme/docs")) == 2


def test_a_hint_names_the_issue_that_is_maybe_the_same(client, code_host):
    build.acme(code_host)

    first = of(send(client, PUSH))
    second = of(send(client, AGAIN))

    [one, two] = sorted(code_host.issues("acme/docs"), key=lambda issue: issue.number)
    assert "Maybe the same as" not in one.body
    assert f"Maybe the same as #{one.number}: same page; " in two.body
    assert (second.status, second.maybe_lead, second.lead) == ("sent", first, None)
    assert second.likeness_rule == 1
    assert second.body == two.body


def test_nothing_is_compared_where_it_is_off(client, code_host):
    build.acme(code_host)
    mode("off")

    send(client, PUSH)
    second = of(send(client, AGAIN))

    assert (second.status, second.maybe_lead) == ("sent", None)
    assert not Terms.objects.exists()
    assert len(code_host.issues("acme/docs")) == 2
