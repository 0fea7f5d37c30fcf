"""PostgreSQL: two members answer one problem at the same moment, each on the page of another report."""

import pytest

from integrations.answers import saying
from integrations.models import Answer, Delivery
from orgs.models import Membership
from tests import build
from tests.integrations.answers.world import join, report_of
from tests.waiting import while_waiting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


@pytest.fixture
def alice(code_host) -> Membership:
    return Membership.objects.get(user=build.member(build.acme(code_host)))


@pytest.fixture
def lead(client, alice) -> Delivery:
    return report_of(client, "The flag --yes is gone")


def shown(delivery: Delivery) -> Delivery:
    known = Delivery.objects.select_related("lead__report", "lead__integration", "report")
    return known.get(pk=delivery.pk)


@pytest.fixture
def joined(client, lead) -> list[Delivery]:
    """Two reports that have joined the lead, as two pages show them."""
    both = [report_of(client, each) for each in ("One", "Two")]
    for each in both:
        join(each, lead)
    return [shown(each) for each in both]


def test_who_comes_second_is_told_what_was_said(alice, joined):
    one, two = joined
    seen = saying.mark(one, None)

    with pytest.raises(saying.CannotAnswer, match="It is now “First”"):
        while_waiting(
            lambda: saying.say(alice, one, "First", seen=seen),
            lambda: saying.say(alice, two, "Second", seen=seen),
        )

    assert Answer.objects.get().text == "First"


def test_who_comes_second_on_the_page_of_the_lead_is_told_it_too(alice, lead, joined):
    seen = saying.mark(lead, None)

    with pytest.raises(saying.CannotAnswer, match="It is now “First”"):
        while_waiting(
            lambda: saying.say(alice, joined[0], "First", seen=seen),
            lambda: saying.say(alice, shown(lead), "Second", seen=seen),
        )

    assert Answer.objects.get().text == "First"


def test_what_was_said_since_is_not_removed(alice, joined):
    one, two = joined
    before = saying.say(alice, one, "Before")
    seen = saying.mark(one, before)

    with pytest.raises(saying.CannotAnswer, match="It is now “After”"):
        while_waiting(
            lambda: saying.say(alice, one, "After", seen=seen),
            lambda: saying.remove(two, seen=seen),
        )

    assert Answer.objects.get().text == "After"
