"""What looking for bad news costs, however much there is."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from integrations.alerts import causes, sending
from integrations.delivery import leased
from integrations.models import Alert, Integration
from orgs.models import Domain
from tests import build
from tests.integrations.alerts import world
from tests.plans import plans_of, whole_tables_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    Integration.objects.update(alerts=True)
    return owner


def test_neither_all_claims_nor_all_alerts_are_read(acme):
    world.lose_record()
    plans = plans_of(causes.compare) + plans_of(lambda: causes.untold(acme))

    assert not whole_tables_in(plans, "orgs_domain", "integrations_alert")


def test_what_is_due_is_found_by_an_index(acme):
    for work in (sending.is_anything_due, sending.send_due):
        assert not whole_tables_in(plans_of(work), "integrations_alert")


def test_many_claims_take_as_many_statements_as_one(acme, monkeypatch):
    def statements() -> int:
        Alert.objects.all().delete()
        with CaptureQueriesContext(connection) as asked:
            causes.compare()
        return len(asked)

    world.lose_record()
    one = statements()
    for number in range(50):
        build.domain(acme, f"d{number}.acme.com")
        world.lose_record(f"d{number}.acme.com")

    assert statements() == one
    assert Alert.objects.count() == causes.UNFINISHED
    assert Domain.objects.count() == 51


def test_an_organization_that_is_deleted_meanwhile_keeps_no_news_of_others_untold(
    acme, code_host, monkeypatch
):
    other = build.integration(build.organization("other"), code_host)
    Integration.objects.update(alerts=True)
    world.lose_rights()
    to_be_told = causes._to_be_told

    def once_deleted(*told):
        found = to_be_told(*told)
        Integration.objects.of(acme).delete()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(causes, "_to_be_told", once_deleted)
        patch.setattr(causes, "INTEGRATIONS", 1)
        causes.compare()

    assert Alert.objects.get().integration == other


def test_many_later_claims_that_lapse_keep_no_earlier_one_untold(acme):
    """An attack: a member who has left lets many names of their own lapse, claimed for the organization before."""
    for number in range(2 * causes.UNFINISHED):
        build.domain(acme, f"d{number:02}.bob.dev")
        world.lose_record(f"d{number:02}.bob.dev")
    world.lose_record()

    causes.compare()

    told = [*Alert.objects.order_by("subject").values_list("subject", flat=True)]
    assert told == [*(f"d{number:02}.bob.dev" for number in range(9)), "docs.acme.com"]
    assert causes.untold(acme)[1][0].name == "docs.acme.com"


def test_only_some_are_tried_in_a_round(acme, code_host, monkeypatch):
    monkeypatch.setattr(leased, "AT_ONCE", 2)
    for number in range(3):
        build.domain(acme, f"d{number}.acme.com")
        world.lose_record(f"d{number}.acme.com")
    causes.compare()

    assert sending.send_due() == 2
    assert sending.send_due() == 1


def test_of_one_that_github_gives_no_answer_about_one_is_tried_in_a_round(acme, code_host):
    code_host.fail("500", path="token", times=100)
    for number in range(5):
        build.domain(acme, f"d{number}.acme.com")
        world.lose_record(f"d{number}.acme.com")
    causes.compare()

    assert sending.send_due() == 1


def test_a_round_ends_when_the_process_does(acme, code_host):
    world.lose_record()
    causes.compare(lambda: False)
    assert not Alert.objects.exists()

    causes.compare()
    assert sending.send_due(lambda: False) == 0
