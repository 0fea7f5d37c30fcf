"""PostgreSQL: nobody waits for long for a row that somebody else keeps locked."""

import threading
from collections.abc import Callable, Iterator

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from integrations.delivery import operator_holds, ownership_changes, trying_again
from integrations.folding import verdicts
from integrations.github_api import InstallationFacts
from integrations.github_sync import webhooks
from integrations.models import Delivery, Hold, Installation, Integration, OneTimeState, Verdict
from integrations.models.hold import digest
from integrations.ownership import site_claims
from integrations.setup import configuration, installing
from orgs.models import Domain, Organization
from reports.models import Report
from tests import build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


@pytest.fixture(autouse=True)
def little_patience(transactional_db) -> Iterator[None]:
    """The setting that ends the wait for a lock ends it a good deal sooner."""
    options = connection.settings_dict["OPTIONS"]
    sooner = options["options"].replace("lock_timeout=5s", "lock_timeout=100ms")
    assert sooner != options["options"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(options, "options", sooner)
        _connect_anew()
        yield
    _connect_anew()


def _connect_anew() -> None:
    connection.close()
    connection.close_pool()


@pytest.fixture
def lock() -> Iterator[Callable]:
    """Locks all rows of a model in another session, until the test ends."""
    locked, over = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def keep(model) -> None:
        with transaction.atomic():
            list(model.objects.select_for_update())
            locked.set()
            over.wait(600)
        connection.close()

    def start(model) -> None:
        threads.append(threading.Thread(target=keep, args=(model,)))
        threads[0].start()
        assert locked.wait(120)

    yield start
    over.set()
    for thread in threads:
        thread.join()


def in_another_session(work: Callable[[], object]) -> None:
    def run() -> None:
        done.append(work())
        connection.close()

    done: list[object] = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done


def test_forwarding_leaves_a_locked_installation_for_later(client, code_host, lock):
    build.acme(code_host)
    lock(Installation)

    answer = build.send(client)

    assert answer.status_code == 201
    assert (Delivery.objects.get().status, Delivery.objects.get().tries) == ("pending", 0)


def test_a_report_that_cannot_be_stored_is_answered_503(client, code_host, lock):
    build.acme(code_host)
    lock(Integration)

    answer = build.send(client)

    assert answer.status_code == 503
    assert not Report.objects.exists()


def held(cause: str, by: Hold | None = None) -> None:
    Delivery.objects.update(status="held", held_for=cause, operator_hold=by)


def hold() -> Hold:
    """An operator's, which nobody has followed yet."""
    page = ("page", "https://docs.acme.com/install")
    return Hold.objects.create(kind=page[0], value=page[1], digest=digest(*page))


MANY = {  # what is before, and what then changes many deliveries
    "a claim is lost": (
        lambda: Domain.objects.all().delete(),
        lambda: ownership_changes.hold_lost(Organization.objects.get()),
    ),
    "a claim is won back": (
        lambda: held("ownership"),
        lambda: ownership_changes.release_regained(Organization.objects.get()),
    ),
    "an operator holds a page": (hold, operator_holds.follow),
    "an operator lets it go": (
        lambda: held("operator", hold()),
        lambda: operator_holds.release(Hold.objects.get()),
    ),
    "an operator stops them": (
        lambda: None,
        lambda: trying_again.stop_all(Delivery.objects.all()),
    ),
    "a member restores them": (
        lambda: held("discarded"),
        lambda: Delivery.objects.all().restore(),
    ),
}


@pytest.mark.parametrize(("before", "change"), MANY.values(), ids=MANY)
def test_many_are_locked_in_one_order_before_they_are_changed(client, code_host, before, change):
    """Or two who change the same ones at once would wait for each other."""
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    before()

    with CaptureQueriesContext(connection) as queries:
        change()

    said = [each["sql"] for each in queries if '"integrations_delivery"' in each["sql"]]
    changed = next(n for n, sql in enumerate(said) if sql.startswith("UPDATE"))
    locked = [sql for sql in said[:changed] if sql.endswith("FOR NO KEY UPDATE")]
    assert locked
    assert "ORDER BY" in locked[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda mine: list(webhooks._integrations(mine.repository_id)),
        lambda mine: site_claims.configured(mine.organization),
        lambda mine: configuration.forget(mine.organization),
    ],
    ids=["webhook", "claiming", "disconnecting"],
)
def test_what_belongs_to_an_integration_is_saved_while_that_is_changed(client, code_host, change):
    """Or whoever has locked a delivery and saves a comment would wait for whoever changes that delivery."""
    mine = Integration.objects.get(organization=build.acme(code_host))
    build.send(client)
    report = Report.objects.get()
    verdict = Verdict(integration=mine, report=report, other=report, is_same=False)

    with transaction.atomic():
        change(mine)
        in_another_session(lambda: verdict.save() or True)

    assert Verdict.objects.exists()


def test_what_belongs_to_an_installation_is_saved_while_that_is_given_to_an_organization(code_host):
    """Or whoever has changed an integration and commits would wait for whoever is about to change it."""
    owner = build.organization()
    build.integration(owner, code_host)
    installation = Installation.objects.get()
    another = Integration(organization=build.organization("other"), installation=installation)
    state, _ = OneTimeState.objects.begin(build.member(owner).membership)
    facts = InstallationFacts(
        installation.github_id, "acme-corp", is_suspended=False, may_write_issues=True
    )

    with transaction.atomic():
        installing._save(state, facts)
        in_another_session(lambda: another.save() or True)

    assert Integration.objects.count() == 2


def test_words_of_an_erased_report_wait_for_whoever_replaces_them(client, code_host, lock):
    build.acme(code_host)
    build.send(client)
    first = Report.objects.get()
    build.send(client, build.report(report__summary="Another one"))
    other = Report.objects.exclude(pk=first.pk).get()
    integration = Integration.objects.get()
    Verdict.objects.create(
        integration=integration, report=other, other=first, is_same=False, words="npm"
    )
    Report.objects.filter(pk=first.pk).update(erased_at=first.received_at)

    with transaction.atomic():
        Verdict.objects.update(made_by="bob")
        in_another_session(verdicts.forget_rest)
    kept = Verdict.objects.get().words
    verdicts.forget_rest()

    assert (kept, Verdict.objects.get().words) == ("npm", "")


def test_a_claim_does_not_lock_the_installation(code_host, lock):
    owner = build.acme(code_host)
    lock(Installation)

    site, is_new = site_claims.claim_site(owner, f"{code_host.url}/acme/docs/")

    assert is_new
    assert site.repository == "acme/docs"
