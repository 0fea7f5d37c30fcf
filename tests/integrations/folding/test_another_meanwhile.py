"""PostgreSQL: a row is waited for, and refers to something else once it is free."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from core import clock
from integrations.comments import sending
from integrations.delivery import telling_apart
from integrations.folding import joining, verdicts
from integrations.github_sync import webhooks
from integrations.models import Comment, Delivery, Installation, Integration
from integrations.ownership import site_claims
from orgs.models import Membership, Organization
from reports import erasing
from reports.models import Report
from tests import build
from tests.hub.screen.controls import browser_of
from tests.integrations.comments.world import WORDS, fold, lead, maintain, report, shown
from tests.waiting import in_a_session, while_waiting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


@pytest.fixture
def acme(code_host) -> Organization:
    return build.acme(code_host)


def test_what_a_colleague_names_another_issue_for_is_discarded(acme, code_host):
    first, second = report("First"), report("Second", doc_url="https://docs.acme.com/other")
    joined = fold("Joined", under=first)
    alice, bob = browser_of(acme, "alice"), build.member(acme, "bob")
    known = Delivery.objects.select_related("integration__installation", "report", "lead")
    by = Membership.objects.get(user=bob)

    answer = while_waiting(
        lambda: telling_apart.name(known.get(pk=joined.pk), second.issue_url, by=by),
        lambda: alice.post(f"/settings/reports/{joined.report_id}/discard/"),
    )

    assert answer.status_code == 302
    assert Delivery.objects.get(pk=joined.pk).state == "discarded"
    maintain()
    assert not joining.joined(second).exists()


def test_what_joins_an_issue_while_it_is_erased_is_listed_there_no_longer(
    acme, code_host, monkeypatch
):
    """An attack: the words of a report stayed on GitHub for good, though its page says that they are erased."""
    first = lead()
    Integration.objects.update(paused_at=clock.now())
    joined = report("Words of alice")
    Integration.objects.update(paused_at=None)
    forget = verdicts.forget_words

    def forget_late(mine: Report) -> None:
        with ThreadPoolExecutor(1) as pool:  # the list is written before the erasing is committed
            pool.submit(in_a_session, sending.send_due).result()
        forget(mine)

    monkeypatch.setattr(verdicts, "forget_words", forget_late)

    def join() -> None:
        mine = Delivery.objects.filter(pk=joined.pk)
        assert joining.fold_under(mine, first, by="", words=WORDS)

    while_waiting(join, lambda: erasing.erase(Report.objects.get(pk=joined.report_id)))

    assert "Words of alice" in shown(code_host)
    Comment.objects.update(due_at=clock.now())
    maintain()
    assert "Words of alice" not in shown(code_host)


@pytest.mark.parametrize(
    "read",
    [
        lambda mine: [*webhooks._integrations(mine.repository_id)],
        lambda mine: [site_claims.configured(mine.organization)],
    ],
    ids=["told of by GitHub", "to claim a site"],
)
def test_an_integration_that_gets_another_installation_is_found(acme, read):
    other = Installation.objects.create(github_id=4711, account="acme")
    mine = Integration.objects.get()

    def locked() -> list[Installation]:
        with transaction.atomic():
            return [each.installation for each in read(mine)]

    found = while_waiting(
        lambda: Integration.objects.update(installation=other),
        locked,
    )

    assert found == [other]
