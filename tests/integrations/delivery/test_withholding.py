"""Who has lost their push right reads nothing new about the site that rested on it."""

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from integrations.delivery import catching_up, ownership_changes
from integrations.github_sync import applying
from integrations.models import Delivery, Integration
from integrations.ownership import site_claims
from integrations.setup import configuration
from reports import repeats
from reports.models import TEST, Account, Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

SITE = "https://acme.github.io/docs/"
BEFORE = build.report(f"{SITE}walrus", report__summary="The walrus page is gone")
AFTER = build.report(
    f"{SITE}quagga?zebra=1",
    report__summary="The zebra and quagga page is gone",
    report__details="Quagga details",
    report__suggested_fix="Quagga fix",
    report__evidence=[{"kind": "error_message", "text": "quagga"}],
    agent__vendor="quagga",
)
LISTS = [
    "/settings/",
    "/settings/reports/",
    "/settings/reports/?q=zebra",
    "/settings/reports/?status=held",
    "/settings/reports/reports.csv",
    "/settings/reports/reports.csv?q=zebra",
    "/settings/account/export.json",
    "/settings/integration/",
    "/v1/orgs/me/reports",
    "/v1/orgs/me/reports?q=zebra",
    "/v1/orgs/me/reports?status=held",
]
OF_ONE = [
    "/settings/reports/{id}/",
    "/settings/reports/{id}/raw",
    "/settings/reports/{id}/erase/",
    "/settings/test/{id}/",
    "/v1/orgs/me/reports/{id}",
]


NOT_FOUND = ["there is nothing at this url", "not_found"]


@pytest.fixture
def alice(code_host, client):
    """acme is set up with a site and a domain; alice has signed in, and owns acme at GitHub."""
    owner = build.acme(code_host)
    alice = build.member(owner, github_id=code_host.account("alice").id)
    client.force_login(alice)
    site_claims.claim_site(owner, SITE)
    return alice.membership


@pytest.fixture
def api(alice):
    return build.api(build.token(alice.user))


def loses_the_right(code_host) -> None:
    code_host.remove_member("acme", "alice")
    now = timezone.now()
    Integration.objects.update(rights_absences=3, rights_absent_since=now, rights_lost_at=now)


def has_it_again(code_host) -> None:
    code_host.add_member("acme", "alice", role="admin")
    call_command("reconcile_installations")


def send(body) -> str:
    """The id that the report has."""
    return build.send(Client(), body).json()["id"]


def text_at(address: str, client: Client, api: Client) -> str:
    """All that is read at the address; there the template is previewed, where that can be."""
    if address == "/settings/integration/":
        form = {"repository": "acme/docs", "issue_template": "", "preview": "1"}
        answer = client.post(address, form)
    else:
        answer = (api if address.startswith("/v1/") else client).get(address)
    return answer.getvalue().decode().lower()


def is_narrowed(address: str) -> bool:
    return "=" in address


@pytest.mark.parametrize("address", LISTS)
def test_no_list_has_a_word_of_what_came_in_after_the_loss(address, alice, api, client, code_host):
    send(BEFORE)
    loses_the_right(code_host)
    send(AFTER)

    lost = text_at(address, client, api)
    has_it_again(code_host)
    back = text_at(address, client, api)

    assert "quagga" not in lost
    assert "walrus" in lost or is_narrowed(address)
    assert "quagga" in back or address.endswith("status=held")


@pytest.mark.parametrize("address", OF_ONE)
def test_what_came_in_after_the_loss_is_not_found(address, alice, api, client, code_host):
    loses_the_right(code_host)
    report = send(AFTER)
    if "/test/" in address:
        Report.objects.update(dedup_key=f"{TEST}1")
    address = address.format(id=report)

    lost = text_at(address, client, api)
    has_it_again(code_host)
    back = text_at(address, client, api)

    assert "quagga" not in lost
    assert any(said in lost for said in NOT_FOUND)
    assert "quagga" in back


ACTS = ["retry", "discard", "restore", "erase"]


def test_nothing_is_decided_about_it_either(alice, api, client, code_host):
    loses_the_right(code_host)
    report_id = send(AFTER)
    one = f"/settings/reports/{report_id}/"

    answers = [api.post(f"/v1/orgs/me/reports/{report_id}/{act}") for act in ACTS]
    answers += [client.post(f"{one}{act}/") for act in ["try-again", "discard", "restore", "erase"]]
    many = api.post(
        "/v1/orgs/me/reports/discard", {"ids": [report_id]}, content_type="application/json"
    )
    client.post("/settings/reports/change/", {"act": "discard", "id": [report_id]})
    client.post("/settings/reports/change/?status=held", {"all": "discard"})

    assert {each.status_code for each in answers} == {404}
    assert many.json()["refused"][0]["error"] == "not_found"
    assert Delivery.objects.get().held_for == "rights"
    assert Report.objects.get().erased_at is None


def test_what_a_repeat_adds_after_the_loss_is_read_by_nobody(alice, api, client, code_host):
    report_id = send(BEFORE)
    loses_the_right(code_host)
    send({**BEFORE, "report": {**BEFORE["report"], "details": "A quagga on it"}})
    addresses = [
        f"/settings/reports/{report_id}/",
        f"/v1/orgs/me/reports/{report_id}",
        "/settings/account/export.json",
    ]

    lost = [text_at(each, client, api) for each in addresses]
    has_it_again(code_host)
    back = [text_at(each, client, api) for each in addresses]

    assert all("walrus" in each and "quagga" not in each for each in lost)
    assert "1 further account is not shown" in lost[0]
    assert all("quagga" in each for each in back)


def gives_the_claim_up(alice) -> None:
    site_claims.remove_claim(alice.organization.sites.get(), by=alice)


def disconnects(alice) -> None:
    configuration.disconnect(alice)


def moves_to_her_own(alice) -> None:
    configuration.disconnect(alice)
    configuration.configure(alice, repo_owner="acme", repo_name="manual")


@pytest.mark.parametrize("way", [gives_the_claim_up, disconnects, moves_to_her_own])
def test_no_way_around_leads_to_what_came_in_after_the_loss(way, alice, api, client, code_host):
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    loses_the_right(code_host)
    code_host.grant("alice", "acme/manual", "push")
    report_id = send(AFTER)

    way(alice)
    call_command("reconcile_installations")
    call_command("retry_deliveries")

    assert "quagga" not in text_at("/settings/reports/", client, api)
    assert "not_found" in text_at(f"/v1/orgs/me/reports/{report_id}", client, api)
    assert "1 report" in text_at("/settings/", client, api)
    assert not code_host.issues("acme/manual")


@pytest.mark.parametrize("disconnected_first", [True, False])
def test_what_was_withheld_does_not_go_to_a_repository_whose_site_covers_its_page(
    disconnected_first, alice, code_host
):
    """Until one of them has push access to the repository that published the page."""
    root = code_host.add_repository("acme", "acme.github.io")
    code_host.add_to_installation(build.installed(code_host), root)
    loses_the_right(code_host)
    code_host.grant("alice", "acme/acme.github.io", "push")
    withheld = Delivery.objects.get(report=send(AFTER))

    if disconnected_first:
        configuration.disconnect(alice)
    configuration.configure(alice, repo_owner="acme", repo_name="acme.github.io")
    site_claims.claim_site(alice.organization, "https://acme.github.io/")
    readable = Delivery.objects.get(report=send(build.report(f"{SITE}lynx")))
    tried = []
    for _ in range(3):
        call_command("reconcile_installations")
        catching_up.catch_up()
        ownership_changes.release_all_regained()
        call_command("retry_deliveries")
        withheld.refresh_from_db()
        tried.append(withheld.tries)

    assert (withheld.status, withheld.held_for, withheld.title) == ("held", "ownership", "")
    assert len(code_host.issues("acme/acme.github.io")) == 1
    assert readable.issue_number == 1
    assert max(tried) <= 1

    code_host.add_member("acme", "alice", role="admin")
    configuration.configure(alice, repo_owner="acme", repo_name="docs")
    site_claims.claim_site(alice.organization, SITE)
    call_command("retry_deliveries")

    withheld.refresh_from_db()
    assert (withheld.status, withheld.repository) == ("sent", "acme/docs")


def test_words_of_a_withheld_lead_are_not_told(alice, api):
    lead, joined = send(BEFORE), send(build.report(f"{SITE}okapi"))
    sent = Delivery.objects.get(report=lead)
    columns = Delivery.joining(sent, None, "", by="alice")
    Delivery.objects.filter(report=joined).update(**columns, issue_number=None, issue_url="")
    Report.objects.filter(pk=lead).update(withheld_for=7)

    issue = api.get(f"/v1/orgs/me/reports/{joined}").json()["issue"]

    assert (issue["title"], issue["body"]) == ("", "")
    assert issue["number"] == sent.issue_number


def lapses_for_want_of_a_right(alice) -> None:
    site_claims.lapse_unpublished(alice.organization)


def mark_uninstalled(alice) -> None:
    applying.mark_uninstalled(Integration.objects.get().installation)


@pytest.mark.parametrize(
    "way",
    [
        gives_the_claim_up,
        disconnects,
        moves_to_her_own,
        lapses_for_want_of_a_right,
        mark_uninstalled,
    ],
)
def test_what_a_repeat_adds_when_the_site_is_hers_no_more_is_not_hers_to_read(
    way, alice, api, client, code_host
):
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    report_id = send(BEFORE)

    way(alice)
    in_other_words = send({**BEFORE, "report": {**BEFORE["report"], "details": "A quagga on it"}})

    addresses = [*LISTS, *(each.format(id=report_id) for each in OF_ONE)]
    assert in_other_words != report_id
    assert not any("quagga" in text_at(each, client, api) for each in addresses)
    assert "not_found" in text_at(f"/v1/orgs/me/reports/{in_other_words}", client, api)


def test_a_domain_is_proved_by_its_record_and_stays_readable(alice, api, client, code_host):
    loses_the_right(code_host)
    report_id = send(build.report("https://docs.acme.com/quagga"))

    addresses = ["/settings/", "/settings/reports/", "/v1/orgs/me/reports?status=held"]
    read = [text_at(each, client, api) for each in [*addresses, f"/settings/reports/{report_id}/"]]

    assert all("quagga" in each for each in read)
    assert not any("not shown" in each for each in read)


@pytest.mark.parametrize("address", ["/settings/", "/settings/reports/"])
def test_it_is_said_how_many_are_not_shown_why_and_what_to_do(
    address, alice, api, client, code_host
):
    loses_the_right(code_host)
    for number in range(2):
        send(build.report(f"http://acme.github.io:8080//docs/{number}"))

    lost = text_at(address, client, api)
    has_it_again(code_host)

    assert f"2 reports about {SITE} are not shown" in lost
    assert "nobody in your organization has push access to acme/docs" in lost
    assert "can press try again" in lost
    assert "not shown" not in text_at(address, client, api)


def test_what_came_in_just_when_the_right_was_found_is_shown_with_the_next_look(
    alice, api, client, code_host
):
    repository_id = Integration.objects.get().repository_id
    report_id = send(AFTER)
    Report.objects.update(withheld_for=repository_id)
    Account.objects.update(withheld_for=repository_id)

    call_command("reconcile_installations")

    assert "quagga" in text_at(f"/settings/reports/{report_id}/", client, api)


def test_a_test_report_that_nobody_would_receive_is_refused(alice, api, code_host):
    loses_the_right(code_host)

    answer = api.post("/v1/orgs/me/test-report")

    assert (answer.status_code, answer.json()["error"]) == (409, "not_configured")
    assert not Report.objects.exists()


def test_operators_see_it(alice, client, code_host):
    loses_the_right(code_host)
    report_id = send(AFTER)
    operator = build.member(build.organization("hub"), "bob")
    operator.is_staff = operator.is_superuser = True
    operator.save()
    client.force_login(operator)

    answer = client.get(f"/admin/reports/report/{report_id}/change/")

    assert "Quagga details" in answer.content.decode()


@pytest.mark.parametrize("details", ["Quagga details", "Other words"])
def test_what_repeats_a_withheld_report_that_is_pruned_meanwhile_is_a_report_of_its_own(
    alice, code_host, monkeypatch, details
):
    loses_the_right(code_host)
    withheld, count = send(AFTER), repeats.count

    def once_pruned(original: Report, new: Report) -> Report | None:
        Report.objects.filter(pk=original.pk).delete()
        return count(original, new)

    monkeypatch.setattr(repeats, "count", once_pruned)
    own = send({**AFTER, "report": {**AFTER["report"], "details": details}})

    assert own != withheld
    assert Report.objects.get().pk == own


@pytest.mark.parametrize("details", ["Quagga details", "Other words"])
def test_what_repeats_a_report_that_is_withheld_for_good_is_a_report_of_its_own(
    alice, code_host, details
):
    """The repository was deleted, and made anew by somebody who may push there: it publishes the same site."""
    loses_the_right(code_host)
    withheld = send(AFTER)
    counted = send(AFTER)
    code_host.delete_repository("acme/docs")
    docs = code_host.add_repository("acme", "docs")
    code_host.add_to_installation(build.installed(code_host), docs)
    code_host.add_member("acme", "alice", role="admin")
    configuration.configure(alice, repo_owner="acme", repo_name="docs")

    own = send({**AFTER, "report": {**AFTER["report"], "details": details}})
    call_command("retry_deliveries", "--now")

    assert counted == withheld != own
    assert Report.objects.get(pk=withheld).withheld_for
    assert Report.objects.readable_by(alice.organization).filter(pk=own).exists()
    assert len(code_host.issues("acme/docs")) == 1
