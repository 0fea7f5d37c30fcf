"""A repository that GitHub cannot be asked about: it may be private by now, and nobody tells the Hub."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from core import batches
from hub.maintenance import JOBS
from integrations.github_api import RepositoryFacts
from integrations.github_sync import reconciling, visibility
from integrations.models import Delivery, Installation, Integration, Visibility
from integrations.setup import configuration, leaving
from orgs import repository_pages
from orgs.models import Site
from reports.models import Report
from tests import build
from tests.integrations.github_sync.losing import come_back, delete, suspend, take_out, uninstall
from tests.integrations.world import delivery, integration
from tests.plans import plans_of
from tests.waiting import free_while_it_waits, is_somebody_waiting_for_a_lock, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "https://docs.acme.com/install"


@pytest.fixture(autouse=True)
def issue(code_host, live_server) -> None:
    """An issue in acme/docs, which is public; GitHub's webhooks arrive."""
    acme = build.acme(code_host)
    build.member(acme, github_id=code_host.account("alice").id)
    code_host.grant("alice", "acme/docs", "admin")
    Integration.objects.update(shows_known=True)
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
    build.send(Client(), build.report(PAGE))


def shown(page: str = PAGE) -> tuple:
    """What strangers are told of the issue: its address, its state, its title."""
    receipt = Client().get(f"/v1/reports/{delivery().report_id}").json()
    known = Client().get("/v1/pages", {"url": page}).json()
    titles = [each["title"] for each in known.get("problems", [])]
    return receipt["issue_url"], receipt["issue_state"], titles


NOTHING = (None, None, [])


def move_on(code_host):
    """To another repository of the account; the app sees the one before still."""
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    alice = integration().organization.memberships.get()
    code_host.grant("alice", "acme/manual", "admin")
    configuration.configure(alice, repo_owner="acme", repo_name="manual")


def disconnect(code_host):
    configuration.forget(integration().organization)


def delete_another_organization(code_host):
    """It had the repository still, and had it asked about, when this one moved on."""
    mine, other = integration().organization, another_installation(private=False).organization
    configuration.forget(mine)
    visibility.apply(docs(code_host), installation_id=4711)
    list(leaving.deleted(other))


def docs(code_host) -> RepositoryFacts:
    number = code_host.repository("acme/docs").id
    return RepositoryFacts(number, "acme", "docs", False, has_issues=True, is_archived=False)


WAYS = [suspend, uninstall, take_out, delete, move_on, disconnect, delete_another_organization]


@pytest.mark.parametrize("away", WAYS)
def test_what_the_app_cannot_see_is_not_shown(code_host, away):
    before = shown()

    away(code_host)

    assert before[:2] == (delivery().issue_url, "open")
    assert len(before[2]) == 1
    assert shown() == NOTHING


@pytest.mark.parametrize("away", WAYS)
def test_a_repeat_about_a_file_is_told_nothing_either(code_host, away):
    host = repository_pages.code_host_at(code_host.url).host
    build.site(integration().organization, host, "/acme/docs/")
    Site.objects.update(repository_id=integration().repository_id)
    page = f"{code_host.url}/acme/docs/blob/HEAD/a.md"
    Delivery.objects.all().delete()
    Report.objects.all().delete()
    build.send(Client(), build.report(page))
    before = build.send(Client(), build.report(page)).json()

    away(code_host)
    now = build.send(Client(), build.report(page)).json()

    assert (before["claimed"], before["issue_url"]) == (True, delivery().issue_url)
    assert (now["claimed"], now["issue_url"], now["known_issue"]) == (False, None, None)
    assert shown(page) == NOTHING


def test_news_of_before_that_comes_late_does_not_show_it_again(code_host):
    move_on(code_host)
    hidden = shown()
    known = {"id": docs(code_host).id, "name": "docs", "owner": {"login": "acme"}, "private": False}
    facts = known | {"has_issues": True, "has_pages": False, "archived": False}
    news = {"installation": {"id": build.installed(code_host).id}, "repository": facts}

    answer = code_host.deliver_webhook("repository", {"action": "renamed"} | news)

    assert answer.status == 202
    assert hidden == shown() == NOTHING


@pytest.mark.parametrize("away", [suspend, take_out])
@pytest.mark.parametrize("private", [True, False])
def test_the_first_answer_shows_it_if_it_is_public(code_host, away, private):
    reconciling.reconcile_due()
    before = shown()
    away(code_host)
    code_host.set_private("acme/docs", private)

    come_back(code_host, away)
    unasked = shown()
    reconciling.reconcile_due()

    assert unasked == NOTHING != before
    assert shown() == (NOTHING if private else before)
    assert (integration().repository_private, integration().was_public) == (private, False)


@pytest.mark.parametrize("private", [True, False])
def test_whether_bad_news_is_told_stays_as_it_was_chosen(code_host, private):
    """Where the repository was private, and is public now, that was chosen for fewer readers."""
    code_host.set_private("acme/docs", private)
    reconciling.reconcile_due()
    Integration.objects.update(alerts=True)
    suspend(code_host)
    code_host.set_private("acme/docs", False)

    come_back(code_host, suspend)
    reconciling.reconcile_due()

    assert integration().alerts is (None if private else True)


def test_where_nobody_chose_it_bad_news_is_told_as_little_as_in_a_public_one(code_host):
    take_out(code_host)

    assert (integration().repository_private, integration().wants_alerts) == (True, False)


@pytest.mark.parametrize("away", [suspend, uninstall, take_out])
def test_what_no_webhook_has_told_is_hidden_by_the_next_round(code_host, away):
    code_host.app.webhook_url = ""
    away(code_host)

    reconciling.reconcile_due()

    assert shown() == NOTHING


@pytest.mark.parametrize("away", [suspend, uninstall, take_out])
def test_what_was_out_of_sight_before_the_upgrade_is_hidden_by_the_next_round(code_host, away):
    away(code_host)
    Integration.objects.update(repository_private=False, was_public=False)
    Delivery.objects.update(repository_private=False)
    Installation.objects.update(asked_about_at=None)
    before = shown()

    reconciling.reconcile_due()

    assert before != NOTHING
    assert shown() == NOTHING


CHOSEN = {"repository_id": 4711, "repo_name": "manual"}
NONE = {"repository_id": None, "repo_owner": "", "repo_name": ""}


@pytest.mark.parametrize("now", [CHOSEN, NONE, {}], ids=["another", "none", "the same"])
def test_what_the_version_before_has_left_is_hidden(code_host, now):
    """Before the upgrade, beside the new version, or after going back to it."""
    before = shown()
    if now:
        Integration.objects.update(**now)

    maintain("left repositories", "visibility")

    assert shown() == (NOTHING if now else before)
    assert not Visibility.objects.exists()


def maintain(*names: str) -> None:
    """Do the jobs of these names, in the order of `maintain`."""
    for job in JOBS:
        if job.name in names:
            job.run(lambda: True)


def test_one_that_is_chosen_again_at_that_moment_is_asked_about(code_host, monkeypatch):
    before, mine, save = shown(), integration(), visibility._save
    Installation.objects.update(asked_about_at=timezone.now())
    Integration.objects.update(**NONE)
    monkeypatch.setattr(visibility, "_save", lambda now: (mine.save(), save(now)))

    maintain("left repositories", "visibility")
    hidden = shown()
    reconciling.reconcile_due()

    assert hidden == NOTHING
    assert shown() == before


def test_what_is_chosen_again_is_shown_again(code_host):
    before = shown()
    alice = integration().organization.memberships.get()
    move_on(code_host)
    hidden = shown()

    configuration.configure(alice, repo_owner="acme", repo_name="docs")

    assert hidden == NOTHING
    assert shown() == before


def test_what_is_left_while_another_organization_has_it_is_shown_without_asking(code_host):
    """Or whoever may push there would keep it hidden, by choosing it and leaving it again and again."""
    before = shown()
    mine, theirs = integration(), another_installation(private=False)
    Integration.objects.filter(pk=theirs.pk).update(installation=mine.installation)

    configuration.forget(mine.organization)

    assert shown()[:2] == before[:2]


@pytest.mark.postgresql
def test_what_both_leave_at_the_same_moment_is_not_shown(code_host):
    """The other one still has it, as far as the first can see, and has hidden all."""
    mine, theirs = integration(), another_installation(private=False)
    Delivery.objects.update(repository_private=True)

    def leave_first() -> None:
        configuration.forget(mine.organization)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            configuration.leave_repository(theirs, "It is left.")
            leaving_first = pool.submit(leave_first)
            waits = wait_until(is_somebody_waiting_for_a_lock, 10)
        leaving_first.result()

    assert waits
    assert shown() == NOTHING


def test_a_round_without_news_shows_and_hides_nothing(code_host):
    reconciling.reconcile_due()
    before = shown()

    for _ in range(2):
        Installation.objects.update(asked_about_at=None)
        reconciling.reconcile_due()

    assert shown() == before != NOTHING


def another_installation(*, private: bool) -> Integration:
    """That of another organization, which has the same repository."""
    there = Installation.objects.create(github_id=4711, account="acme")
    mine = integration()
    mine.pk, mine.organization, mine.installation = None, build.organization("initech"), there
    mine.repository_private = private
    mine.save(force_insert=True)
    return mine


def test_what_another_installation_sees_to_be_public_is_shown(code_host):
    before = shown()
    another_installation(private=False)

    take_out(code_host)

    assert shown() == before != NOTHING


def test_who_is_cut_off_does_not_keep_it_hidden(code_host):
    before = shown()
    take_out(code_host)
    another_installation(private=False)

    visibility.apply(docs(code_host), installation_id=4711)

    assert shown() == before


def test_what_one_organization_is_told_to_be_private_is_private_for_all(code_host):
    """No webhook has come, and for the other one GitHub is asked within the hour only."""
    mine, theirs = integration(), another_installation(private=False)
    Integration.objects.filter(pk=theirs.pk).update(installation=mine.installation)
    build.member(theirs.organization, "bob", github_id=code_host.account("bob").id)
    code_host.grant("bob", "acme/docs", "push")
    code_host.app.webhook_url = ""
    code_host.repository("acme/docs").private = True

    configuration.try_again(theirs.organization.memberships.get())

    assert shown() == NOTHING
    told = build.send(Client(), build.report(PAGE, report__summary="Another")).json()
    assert (told["status"], told["issue_url"]) == ("forwarded", None)
    assert Client().get("/v1/pages", {"url": PAGE}).json()["problems"] == []


def test_who_cannot_be_asked_about_does_not_keep_it_hidden_once_it_is_public_again(code_host):
    before = shown()
    cut_off = another_installation(private=False)

    for facts in (docs(code_host)._replace(is_private=True), docs(code_host)):
        asked = Integration.objects.exclude(pk=cut_off.pk)
        asked.update(repository_private=facts.is_private)
        visibility.apply(facts, installation_id=build.installed(code_host).id)

    assert shown() == before


@pytest.mark.parametrize("away", [uninstall, take_out])
def test_who_saw_it_private_last_and_is_cut_off_does_not_keep_it_hidden(code_host, away):
    """acme has it by another installation since then, as after a transfer, and has published it."""
    before, mine, theirs = shown(), integration(), another_installation(private=True)
    Integration.objects.filter(pk=mine.pk).update(installation=theirs.installation)
    Integration.objects.filter(pk=theirs.pk).update(installation=mine.installation)
    away(code_host)

    visibility.apply(docs(code_host), installation_id=4711)

    assert shown() == before


MANY = 9  # issues


@pytest.fixture
def many(code_host, monkeypatch) -> Installation:
    """More issues there; four are changed at once."""
    monkeypatch.setattr(batches, "AT_ONCE", 4)
    monkeypatch.setattr(batches, "BATCH", 2)
    now, mine = timezone.now(), integration()
    for number in range(1, MANY + 1):
        report = Report.objects.create(
            doc_url=PAGE, canonical_url=PAGE, received_at=now, last_received_at=now
        )
        Delivery.objects.create(
            report=report,
            integration=mine,
            status="sent",
            issue_number=1000 + number,
            repository_id=mine.repository_id,
            repository="acme/docs",
            repository_private=False,
        )
    return mine.installation


def public() -> int:
    return Delivery.objects.filter(repository_private=False).count()


def test_of_many_the_first_are_hidden_at_once_and_the_others_by_and_by(code_host, many):
    before = public()

    suspend(code_host)
    at_once = public()
    visibility.finish()

    assert (before, at_once) == (MANY + 1, MANY + 1 - 4)
    assert (public(), Visibility.objects.count()) == (0, 0)


def test_of_many_that_are_taken_out_none_is_forgotten(many):
    left = {*Delivery.objects.values_list("repository_id", flat=True)}

    visibility.hide(left, installation_id=many.github_id)
    at_once = public()
    visibility.finish()

    assert (at_once, public(), Visibility.objects.count()) == (MANY + 1 - 4, 0, 0)


def test_no_look_at_all_deliveries_is_needed_for_it(many):
    plans = plans_of(lambda: visibility.hide_all(many))

    assert plans
    assert not [
        each for each in plans if "SCAN integrations_delivery" in each or "Seq Scan" in each
    ]


@pytest.mark.postgresql
def test_deliveries_to_several_repositories_are_locked_in_the_order_of_their_ids(many, monkeypatch):
    monkeypatch.setattr(batches, "AT_ONCE", 100)
    monkeypatch.setattr(batches, "BATCH", 100)
    first, *others = Delivery.objects.order_by("pk").values_list("pk", flat=True)
    for number, pk in enumerate(others):
        Delivery.objects.filter(pk=pk).update(repository_id=9000 - number)  # the index is of these
    known = {*Delivery.objects.values_list("repository_id", flat=True)}

    free = free_while_it_waits(
        lambda: visibility.hide(known, installation_id=many.github_id),
        Delivery.objects.filter(pk=first),
        Delivery.objects.filter(pk__in=others),
    )

    assert free == {*others}
    assert public() == 0
