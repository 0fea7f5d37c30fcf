"""Terms made anew: after an upgrade, or where the rule is older."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from integrations.folding import rebuilding
from integrations.models import Delivery, Integration, Terms
from integrations.setup import trial_report
from tests import build
from tests.integrations.delivery.alike import AGAIN, ONCE_MORE, OTHER, PUSH, mode, sent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    mode("fold")
    return owner


def rebuild(*options: str) -> str:
    said = StringIO()
    call_command("rebuild_terms", *options, stdout=said, stderr=StringIO())
    return said.getvalue().strip()


def stored() -> list[tuple]:
    return list(Terms.objects.order_by("delivery").values_list("delivery", "rule", "terms"))


def test_those_of_an_older_rule_are_made_anew(acme):
    sent(PUSH)
    sent(AGAIN)
    before = stored()
    Terms.objects.update(rule=0, terms={})

    assert rebuild("--dry-run") == "2 to be parsed again."
    assert rebuild() == "2 parsed again."

    assert stored() == before
    assert list(Terms.objects.order_by("delivery").values_list("may_lead", flat=True)) == [
        True, False
    ]  # fmt: skip
    assert rebuild() == "0 parsed again."


def test_after_an_upgrade_earlier_reports_lead(acme, code_host):
    lead, other = sent(PUSH), sent(OTHER)
    Terms.objects.all().delete()

    assert sent(ONCE_MORE).status == "sent"
    Terms.objects.all().delete()
    rebuild()

    assert Terms.objects.filter(delivery__in=[lead, other]).count() == 2
    assert sent(AGAIN).status == "folded"


def test_what_joined_an_issue_before_does_not_lead(acme):
    sent(PUSH)
    joined = sent(AGAIN)
    Terms.objects.all().delete()

    rebuild()

    assert not Terms.objects.get(delivery=joined).may_lead


def test_nothing_is_made_of_what_nothing_is_compared_with(acme, code_host):
    erased, waits = sent(PUSH), sent(OTHER)
    alice = build.api(build.token(build.member(acme)))
    alice.post(f"/v1/orgs/me/reports/{erased.report_id}/erase")
    Delivery.objects.filter(pk=waits.pk).update(repository_id=7)  # of the repository before
    Terms.objects.all().delete()

    assert rebuild() == "0 parsed again."


def test_nothing_is_made_of_a_test_report_but_of_what_has_its_name(acme):
    trial_report.send(build.member(acme).membership)
    named = sent(PUSH, agent__name=trial_report.AGENT)
    Terms.objects.all().delete()

    assert rebuild() == "1 parsed again."
    assert Terms.objects.get().delivery == named


def test_nothing_is_made_where_it_is_off(acme):
    mode("off")
    sent(PUSH)

    assert rebuild() == "0 parsed again."

    Integration.objects.update(likeness="hint")
    assert rebuild() == "1 parsed again."


def test_maintain_goes_on_where_it_stopped_and_rests_after_a_pass(acme, monkeypatch):
    monkeypatch.setattr(rebuilding, "BATCH", 1)
    for number in range(3):
        build.send(Client(), build.report(report__summary=f"`problem_{number}` is not explained"))
    Terms.objects.update(rule=0)
    bookmark, answers = rebuilding.Bookmark(), iter([True, True, False])

    some = rebuilding.rebuild(lambda: next(answers), bookmark=bookmark)
    rest = rebuilding.rebuild(bookmark=bookmark)
    Terms.objects.update(rule=0)

    assert (some, rest) == (2, 1)
    assert rebuilding.rebuild(bookmark=bookmark) == 0
    assert bookmark.rests()
