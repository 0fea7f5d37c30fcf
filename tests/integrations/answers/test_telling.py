"""What reporters are told of a problem that is known."""

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from integrations.delivery import operator_holds
from integrations.models import Answer, Delivery, Hold, Integration
from integrations.ownership import site_claims
from orgs.models import Domain, User
from tests import build
from tests.integrations.answers.world import LINK, TEXT, answered, join, report_of, told
from tests.integrations.delivery.alike import AGAIN, OTHER, PUSH, mode, send, sent

pytestmark = pytest.mark.django_db(transaction=True)

SAID = {"text": TEXT, "link": None}


@pytest.fixture
def lead(client, code_host) -> Delivery:
    build.acme(code_host)
    return report_of(client, "The flag --yes is gone")


@pytest.fixture
def issue(lead) -> dict[str, str]:
    return {"url": lead.issue_url, "state": "open"}


def repeat(client, **changes) -> tuple:
    body = build.report(report__summary="The flag --yes is gone", **changes)
    answer = build.send(client, body).json()
    assert answer["is_duplicate"]
    return answer["known_issue"], answer["answer"]


def test_the_first_report_of_a_problem_learns_of_no_other(client, code_host):
    build.acme(code_host)

    sent = build.send(client).json()

    assert sent["issue_url"]
    assert (sent["known_issue"], sent["answer"]) == (None, None)
    assert told(client, sent["id"]) == (None, None)


def test_a_repeat_learns_of_the_issue_and_of_the_answer(client, lead, issue):
    assert repeat(client) == (issue, None)

    answered(lead)

    assert repeat(client) == (issue, SAID)


def test_a_report_that_has_joined_an_issue_learns_of_it(client, lead, issue):
    other = report_of(client, "There is no flag --yes")
    join(other, lead)
    answered(lead)

    assert told(client, other.report_id) == (issue, SAID)
    assert told(client, lead.report_id) == (None, SAID)


def test_the_answer_of_its_own_comes_back_when_it_joins_no_longer(client, lead):
    other = report_of(client, "There is no flag --yes")
    answered(other, "Mine")
    before = told(client, other.report_id)
    kept = Delivery.objects.filter(pk=other.pk).values("issue_number", "issue_url", "status").get()
    join(other, lead)

    assert told(client, other.report_id)[1] is None

    Delivery.objects.filter(pk=other.pk).update(lead=None, folded_at=None, **kept)
    assert told(client, other.report_id) == before == (None, {"text": "Mine", "link": None})


def test_no_answer_is_shown_while_an_operator_holds_all_of_its_organization(client, lead, issue):
    answered(lead)
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    held = Hold(kind="organization", value=lead.report.organization_id, reason="Spam.")

    operator_holds.make(held, by=root)
    during = repeat(client), told(client, lead.report_id)
    client.force_login(build.member(lead.integration.organization, "bob"))
    page = client.get(f"/settings/reports/{lead.report_id}/").content.decode()
    operator_holds.release(held)

    assert during == ((issue, None), (None, None))
    assert "Nobody is shown it now, since an operator of this Hub holds" in page
    assert told(client, lead.report_id) == (None, SAID)


@pytest.mark.parametrize(
    ("state", "shown"), [("", "open"), ("open", "open"), ("closed", "closed"), ("deleted", None)]
)
def test_the_state_is_that_of_the_issue(client, lead, issue, state, shown):
    Delivery.objects.update(issue_state=state)

    assert repeat(client)[0] == (issue | {"state": shown} if shown else None)


def test_of_a_private_repository_only_the_answer_is_shown(client, lead):
    Delivery.objects.update(repository_private=True)
    answered(lead)

    assert repeat(client) == (None, SAID)


def test_nothing_is_said_of_the_files_of_a_private_repository(client, code_host):
    file = f"{code_host.url}/acme/docs/blob/main/docs/install.md"
    site_claims.claim_site(build.acme(code_host), f"{code_host.url}/acme/docs/")
    Integration.objects.update(repository_private=True)
    first = build.send(client, build.report(file)).json()
    answered(Delivery.objects.get())

    again = build.send(client, build.report(file)).json()

    assert again == {**first, "is_duplicate": True}
    assert (again["claimed"], again["known_issue"], again["answer"]) == (False, None, None)
    assert told(client, first["id"]) == (None, None)


def test_an_answer_is_shown_while_the_page_is_its_owners(client, lead, issue):
    answered(lead)
    Domain.objects.all().delete()

    assert repeat(client) == (issue, None)

    build.domain(build.organization("zenith"), "docs.acme.com")

    assert told(client, lead.report_id) == (None, None)


def test_a_link_is_shown_while_its_host_is_the_owners(client, lead):
    build.domain(lead.integration.organization, "acme.com")
    answered(lead, link="https://blog.acme.com/2.4")

    assert repeat(client)[1] == {"text": TEXT, "link": "https://blog.acme.com/2.4"}

    Domain.objects.filter(name="acme.com").delete()

    assert repeat(client)[1] == SAID


def test_a_discarded_report_is_answered_without_an_issue(client, lead):
    Delivery.objects.update(status="held", held_for="discarded", issue_url="", issue_number=None)
    answered(lead)

    assert repeat(client) == (None, SAID)


def test_a_report_alike_is_told_at_once(client, code_host):
    build.acme(code_host)
    mode("fold")
    first = sent(PUSH)
    answered(first)

    joined, other = send(AGAIN), send(OTHER)

    known = {"url": first.issue_url, "state": "open"}
    assert (joined["is_duplicate"], joined["status"]) == (False, "forwarded")
    assert (joined["issue_url"], joined["known_issue"]) == (first.issue_url, known)
    assert joined["answer"] == SAID
    assert told(client, joined["id"]) == (known, SAID)
    assert (other["known_issue"], other["answer"]) == (None, None)


def test_what_is_maybe_the_same_is_not_known(client, code_host):
    build.acme(code_host)
    mode("hint")
    answered(sent(PUSH))

    hinted = send(AGAIN)

    assert Delivery.objects.get(report=hinted["id"]).maybe_lead
    assert (hinted["known_issue"], hinted["answer"]) == (None, None)


def test_neither_costs_a_report_a_statement(client, lead):
    other = report_of(client, "There is no flag --yes")
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            repeat(client)
        costs.append(len(queries))
    join(other, lead)
    with CaptureQueriesContext(connection) as queries:
        build.send(client, build.report(report__summary="There is no flag --yes"))

    assert {*costs, len(queries)} == {costs[0]}


def test_a_stored_report_is_accepted_though_its_answer_cannot_be_read(
    client, lead, monkeypatch, caplog
):
    def gone(*_, **__):
        raise OperationalError("gone")

    answered(lead, link=LINK)
    monkeypatch.setattr("integrations.answers.telling.renamed.address_now", gone)

    assert repeat(client) == (None, None)
    assert "Cannot say how far" in caplog.text


def test_an_answer_goes_with_its_delivery(client, lead):
    answered(lead)

    lead.integration.delete()

    assert not Answer.objects.exists()
