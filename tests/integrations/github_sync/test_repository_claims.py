"""A claim of a repository follows GitHub's number of it, not its name."""

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from integrations.alerts import causes, sending
from integrations.delivery import forwarding, operator_holds, ownership_changes
from integrations.github_sync import reconciling
from integrations.models import Answer, Delivery, Hold, Installation, Integration
from integrations.ownership import site_claims, taking_over
from integrations.setup import configuration
from orgs import renamed
from orgs.models import FormerAddress, Organization, Site
from orgs.ownership import owner_of
from reports.models import Report
from sandbox import github_json
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def here(code_host) -> str:
    return code_host.url


@pytest.fixture
def acme(acme, here) -> Organization:
    """alice's organization, which has claimed acme/docs."""
    site_claims.claim_site(acme, f"{here}/acme/docs/")
    return acme


@pytest.fixture(params=["by webhook", "by asking"])
def told(request, webhooks, code_host):
    """How the Hub learns what has happened: call it after that."""
    if request.param == "by asking":
        code_host.app.webhook_url = ""
    return lambda: call_command("reconcile_installations")


def claim() -> Site:
    return Site.objects.get(repository_id__isnull=False)


def send(url: str) -> int:
    return build.send(Client(), build.report(url)).status_code


def test_a_rename_moves_the_claim(acme, told, code_host, here):
    code_host.rename("acme/docs", "handbook")
    told()

    assert (claim().url, claim().path) == (f"{here}/acme/handbook/", "/acme/handbook/")
    assert (claim().repository, claim().status) == ("acme/handbook", "verified")
    assert owner_of(f"{here}/acme/handbook/blob/HEAD/a.md") == acme.pk
    assert owner_of(f"{here}/acme/docs/blob/HEAD/a.md") is None


def test_a_new_name_of_a_private_repository_is_not_told_to_who_may_not_push_any_more(
    acme, told, code_host, here
):
    """An attack: alice has left acme, and reads in her settings what acme calls its repository now."""
    alice = build.member(acme, github_id=code_host.account("alice").id)
    code_host.set_private("acme/docs", True)
    told()
    code_host.remove_member("acme", "alice")
    Integration.objects.update(rights_absences=3, rights_lost_at=timezone.now())

    code_host.rename("acme/docs", "merger-with-beta")
    told()
    read = build.api(build.token(alice)).get("/v1/orgs/me").content.decode()

    assert "merger" not in read
    assert not acme.notices.filter(text__contains="merger").exists()
    assert (claim().path, claim().status) == ("/acme/docs/", "lapsed")

    code_host.add_member("acme", "alice", role="admin")
    reconciling.reconcile()  # finds her
    reconciling.reconcile_due()

    assert claim().path == "/acme/merger-with-beta/"
    assert owner_of(f"{here}/acme/merger-with-beta/blob/HEAD/a.md") == acme.pk


def test_nor_by_the_issue_that_says_so_there(acme, told, code_host, here):
    alice = build.member(acme, github_id=code_host.account("alice").id)
    code_host.set_private("acme/docs", True)
    Integration.objects.update(alerts=True)
    told()
    code_host.remove_member("acme", "alice")
    Integration.objects.update(rights_absences=3, rights_lost_at=timezone.now())

    code_host.rename("acme/docs", "merger-with-beta")
    told()
    causes.compare()
    sending.send_due()
    browser = Client()
    browser.force_login(alice)
    exported = browser.get("/settings/account/export.json").getvalue().decode()

    [issue] = code_host.issues("acme/merger-with-beta")
    assert f"{here}/acme/docs/issues/{issue.number}" in exported
    assert "merger" not in exported


def test_a_rename_in_another_case_is_shown_as_it_is_spelled(acme, told, code_host, here):
    code_host.rename("acme/docs", "Docs")
    told()

    assert (claim().url, claim().path) == (f"{here}/acme/Docs/", "/acme/docs/")
    assert owner_of(f"{here}/acme/docs") == acme.pk


def test_what_waits_when_its_repository_is_renamed_is_delivered(acme, told, code_host, here):
    Delivery.objects.all().delete()
    code_host.fail("500", path="token", times=2)
    send(f"{here}/acme/docs/blob/HEAD/a.md")
    send(f"{here}/acme/docs/wiki/Setup")

    code_host.rename("acme/docs", "handbook")
    told()
    call_command("retry_deliveries", "--now")

    assert {each.status for each in Delivery.objects.all()} == {"sent"}
    assert [each.report.canonical_url for each in Delivery.objects.order_by("pk")] == [
        f"{here}/acme/handbook/blob/HEAD/a.md",
        f"{here}/acme/handbook/wiki/Setup",
    ]


def test_a_late_webhook_with_a_former_name_takes_nobodys_claim(acme, webhooks, code_host, here):
    """The attack: acme/docs has another name by now, bob has a new acme/docs, and a webhook from before comes."""
    former = code_host.repository("acme/docs")
    late = {
        "action": "publicized",
        "installation": {"id": build.installed(code_host).id},
        "repository": github_json.repository(code_host, former),
    }
    code_host.rename("acme/docs", "handbook")
    new = code_host.add_repository("acme", "docs")
    code_host.add_to_installation(build.installed(code_host), new)
    bob = build.organization("bob")
    build.integration(bob, code_host)
    site_claims.claim_site(bob, f"{here}/acme/docs/")

    code_host.deliver_webhook("repository", late)
    theirs = owner_of(f"{here}/acme/docs/blob/HEAD/a.md")
    call_command("reconcile_installations")

    assert theirs == bob.pk
    assert owner_of(f"{here}/acme/docs/blob/HEAD/a.md") == bob.pk
    assert owner_of(f"{here}/acme/handbook/blob/HEAD/a.md") == acme.pk


def waits_since_before_a_rename(told, code_host, here) -> None:
    """A report, the only one, about a file of acme/docs, which is acme/handbook by now."""
    Delivery.objects.all().delete()
    code_host.fail("500", path="token", times=1)
    send(f"{here}/acme/docs/blob/HEAD/a.md")
    code_host.rename("acme/docs", "handbook")
    told()


def test_a_rename_changes_no_report(acme, told, code_host, here):
    """However many wait: their turn comes, and nothing else has to finish first."""
    code_host.fail("500", path="token", times=7)
    for page in range(7):
        send(f"{here}/acme/docs/blob/HEAD/{page}.md")
    mine = Report.objects.filter(doc_url__startswith=here)
    code_host.rename("acme/docs", "between")
    told()
    code_host.rename("acme/between", "handbook")
    told()

    before = {each.canonical_url for each in mine.all()}
    call_command("retry_deliveries", "--now")

    assert before == {f"{here}/acme/docs/blob/HEAD/{page}.md" for page in range(7)}
    after = {each.canonical_url for each in mine.all()}
    assert after == {f"{here}/acme/handbook/blob/HEAD/{page}.md" for page in range(7)}
    assert {each.status for each in Delivery.objects.filter(report__in=mine)} == {"sent"}


def test_a_report_that_is_stored_while_its_repository_is_renamed_is_delivered(
    acme, told, code_host, here
):
    page = f"{here}/acme/docs/blob/HEAD/a.md"
    code_host.rename("acme/docs", "handbook")
    told()

    now = timezone.now()
    report = Report.objects.create(  # its owner was looked up before
        organization=acme, doc_url=page, canonical_url=page, received_at=now, last_received_at=now
    )
    forwarding.forward(report.pk)

    assert Delivery.objects.get(report=report).status == "sent"
    report.refresh_from_db()
    assert report.canonical_url == f"{here}/acme/handbook/blob/HEAD/a.md"


def test_what_is_held_for_its_old_address_is_released(acme, told, code_host, here):
    Delivery.objects.all().delete()
    send(f"{here}/acme/docs/blob/HEAD/a.md")
    Delivery.objects.update(status="held", held_for="ownership", reason="Lost.")
    code_host.rename("acme/docs", "handbook")
    told()

    assert ownership_changes.release_all_regained() == 1

    assert ownership_changes.hold_lost(acme) == 0


def test_the_old_address_of_a_repository_that_is_lost_is_lost_too(acme, told, code_host, here):
    waits_since_before_a_rename(told, code_host, here)

    claim().delete()

    assert ownership_changes.hold_lost(acme) == 1


def test_who_takes_the_name_gets_nothing_that_waits(acme, told, code_host, here):
    waits_since_before_a_rename(told, code_host, here)
    host = claim().host
    other = build.site(build.organization("other"), host, "/acme/docs/")
    Site.objects.filter(pk=other.pk).update(repository_id=99)

    call_command("retry_deliveries", "--now")

    assert Delivery.objects.get().status == "sent"
    assert Delivery.objects.get().report.organization == acme


def test_what_an_operator_holds_by_the_new_address_is_held(acme, told, code_host, here):
    waits_since_before_a_rename(told, code_host, here)
    value = operator_holds.checked("page", f"{here}/acme/handbook/blob/HEAD/a.md")
    root = build.member(build.organization("operators"), "root")
    operator_holds.make(Hold(kind="page", value=value, reason="Made up."), by=root)

    call_command("retry_deliveries", "--now")

    assert Delivery.objects.get().held_for == "operator"
    assert not code_host.issues("acme/handbook")


def test_its_receipt_says_the_same_before_and_after(acme, told, code_host, here):
    code_host.fail("500", path="token", times=1)
    Integration.objects.update(repository_private=False)
    page = f"{here}/acme/docs/blob/HEAD/a.md"
    sent = build.send(Client(), build.report(page)).json()
    statuses = [Client().get(f"/v1/reports/{sent['id']}").json()["status"]]
    code_host.rename("acme/docs", "handbook")
    told()

    statuses.append(Client().get(f"/v1/reports/{sent['id']}").json()["status"])

    assert statuses == ["forwarding", "forwarding"]


def test_an_answer_is_told_before_and_after(acme, told, code_host, here):
    Integration.objects.update(repository_private=False)
    sent = build.send(Client(), build.report(f"{here}/acme/docs/blob/HEAD/a.md")).json()
    delivery = Delivery.objects.get(report=sent["id"])
    Answer.objects.create(delivery=delivery, made_by="alice", text="Use --force.", link="")
    receipt = f"/v1/reports/{sent['id']}"
    answers = [Client().get(receipt).json()["answer"]]
    code_host.rename("acme/docs", "handbook")
    told()

    answers.append(Client().get(receipt).json()["answer"])

    assert [each["text"] for each in answers] == ["Use --force."] * 2


def test_a_name_that_another_repository_has_is_its_own(acme, told, code_host, here):
    """What waits for it is not about the one that had the name before."""
    code_host.rename("acme/docs", "handbook")
    told()
    other = code_host.add_repository("acme", "docs")
    code_host.add_to_installation(build.installed(code_host), other)
    alice = build.member(acme, github_id=code_host.account("alice").id).membership
    configuration.configure(alice, repo_owner="acme", repo_name="docs")
    site_claims.claim_site(acme, f"{here}/acme/docs/")

    configuration.configure(alice, repo_owner="acme", repo_name="handbook")

    assert not FormerAddress.objects.exists()


def test_the_oldest_of_too_many_names_is_forgotten(acme, told, code_host, monkeypatch):
    monkeypatch.setattr(renamed, "MOST", 2)
    for before, name in zip(("docs", *"ab"), "abc", strict=True):
        code_host.rename(f"acme/{before}", name)
        told()

    assert {each.path for each in FormerAddress.objects.all()} == {"/acme/a/", "/acme/b/"}


def test_an_account_that_is_renamed_takes_its_repositories_along(acme, told, code_host, here):
    code_host.rename_account("acme", "initech")
    told()

    assert claim().url == f"{here}/initech/docs/"
    assert owner_of(f"{here}/initech/docs/blob/HEAD/a.md") == acme.pk
    assert owner_of(f"{here}/acme/docs/blob/HEAD/a.md") is None


def test_a_suspended_one_follows_at_once(acme, told, code_host, here):
    code_host.suspend(build.installed(code_host))
    code_host.rename_account("acme", "initech")
    told()

    assert claim().status == "verified"
    assert owner_of(f"{here}/acme/docs") is None


def given_away(code_host) -> None:
    code_host.add_organization("initech")
    code_host.add_member("initech", "alice", role="admin")
    code_host.add_installation("initech")
    code_host.transfer("acme/docs", "initech")


def deleted(code_host) -> None:
    code_host.delete_repository("acme/docs")


def taken_out(code_host) -> None:
    code_host.remove_from_installation(build.installed(code_host), "acme/docs")


def uninstalled(code_host) -> None:
    code_host.uninstall(build.installed(code_host))


@pytest.mark.parametrize("change", [given_away, deleted, taken_out, uninstalled])
def test_without_its_repository_a_claim_lapses_and_its_organization_is_told(
    change, acme, told, code_host, here
):
    change(code_host)
    told()

    assert claim().status == "lapsed"
    assert owner_of(f"{here}/acme/docs/blob/HEAD/a.md") is None
    assert owner_of(f"{here}/initech/docs/blob/HEAD/a.md") is None
    [notice] = acme.notices.filter(text__startswith=f"{claim().url} ")
    if change is not given_away:  # of that GitHub tells by a webhook whose it is now
        assert "is a repository that the app cannot see now" in notice.text


def test_in_reach_again_it_is_restored(acme, told, code_host, here):
    taken_out(code_host)
    told()
    code_host.add_to_installation(build.installed(code_host), "acme/docs")
    told()

    assert claim().status == "verified"


def test_in_reach_again_by_another_name_it_is_restored_there(acme, told, code_host, here):
    taken_out(code_host)
    told()
    renamed = code_host.rename("acme/docs", "handbook") or code_host.repository("acme/handbook")
    code_host.add_to_installation(build.installed(code_host), renamed)

    told()

    assert claim().status == "verified"
    assert claim().url == f"{here}/acme/handbook/"
    assert owner_of(f"{here}/acme/docs") is None


def test_after_a_transfer_it_is_restored_when_the_same_repository_is_chosen_again(
    acme, told, code_host, here
):
    given_away(code_host)
    told()
    there = code_host.installation_on(code_host.account("initech"))
    installation = Integration.objects.get().installation
    installation.github_id, installation.account = there.id, "initech"
    installation.save()
    alice = member_of(acme, code_host)

    configuration.configure(alice, repo_owner="initech", repo_name="docs")

    assert (claim().status, claim().url) == ("verified", f"{here}/initech/docs/")
    assert owner_of(f"{here}/initech/docs/wiki") == acme.pk


def member_of(organization: Organization, code_host, login: str = "alice"):
    if not organization.memberships.filter(login=login).exists():
        build.member(organization, login, github_id=code_host.account(login).id)
    return organization.memberships.get(login=login)


def test_another_repository_that_is_chosen_is_not_claimed_with_it(acme, code_host, here):
    other = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), other)
    alice = member_of(acme, code_host)

    configuration.configure(alice, repo_owner="acme", repo_name="manual")
    elsewhere = claim().status
    configuration.configure(alice, repo_owner="acme", repo_name="docs")

    assert (elsewhere, claim().status) == ("lapsed", "verified")
    assert owner_of(f"{here}/acme/manual") is None


@pytest.fixture
def reused(acme, code_host) -> Organization:
    """bob's organization, whose new repository has the name that alice's had, which nobody told the Hub."""
    code_host.app.webhook_url = ""
    code_host.rename("acme/docs", "handbook")
    new = code_host.add_repository("acme", "docs")
    code_host.add_to_installation(build.installed(code_host), new)
    code_host.grant("bob", "acme/docs", "push")
    other = build.organization("bob")
    member_of(other, code_host, "bob")
    build.integration(other, code_host, "acme/docs")
    return other


def test_a_name_that_is_reused_passes_on_to_the_repository_that_has_it(
    reused, acme, code_host, here
):
    site, is_new = taking_over.claim_site(reused.memberships.get(), f"{here}/acme/docs/")

    assert (is_new, site.organization, owner_of(f"{here}/acme/docs")) == (True, reused, reused.pk)
    assert "is the address of another repository now" in acme.notices.get().text


def test_and_the_one_that_was_renamed_is_found_by_its_new_name(reused, acme, code_host, here):
    taking_over.claim_site(reused.memberships.get(), f"{here}/acme/docs/")

    call_command("reconcile_installations")

    assert owner_of(f"{here}/acme/handbook") == acme.pk
    assert owner_of(f"{here}/acme/docs") == reused.pk


def test_who_only_asserts_the_name_gets_nothing(acme, code_host, here):
    """The Hub knows the repository of bob's integration by a name that it has lost."""
    code_host.app.webhook_url = ""
    other = build.organization("bob")
    bob = member_of(other, code_host, "bob")
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    build.integration(other, code_host, "acme/manual")
    Integration.objects.filter(organization=other).update(repo_name="docs")

    with pytest.raises(site_claims.NotConfigured):
        taking_over.claim_site(bob, f"{here}/acme/docs/")

    assert owner_of(f"{here}/acme/docs") == acme.pk


def claim_of_bob(code_host, here):
    """His organization, which has claimed acme/manual, and that repository."""
    his = build.organization("bob")
    member_of(his, code_host, "bob")
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    build.integration(his, code_host, "acme/manual")
    site_claims.claim_site(his, f"{here}/acme/manual/")
    return his, manual


def test_two_that_swap_their_names_swap_their_claims(acme, code_host, here):
    code_host.app.webhook_url = ""
    other, manual = claim_of_bob(code_host, here)

    docs = code_host.repository("acme/docs")
    code_host.rename(docs, "between")
    code_host.rename(manual, "docs")
    code_host.rename(docs, "manual")
    for _ in range(2):
        call_command("reconcile_installations")

    assert owner_of(f"{here}/acme/manual") == acme.pk
    assert owner_of(f"{here}/acme/docs") == other.pk


def test_a_claim_whose_name_is_taken_before_its_own_rename_is_heard_stays_until_github_is_asked(
    acme, webhooks, code_host, here
):
    other, manual = claim_of_bob(code_host, here)
    code_host.app.webhook_url, there = "", code_host.app.webhook_url
    docs = code_host.repository("acme/docs")
    code_host.rename(docs, "old-docs")
    code_host.app.webhook_url = there
    Installation.objects.update(asked_about_at=timezone.now())

    code_host.rename(manual, "docs")
    until_then = Site.objects.get(organization=acme, repository_id=docs.id).status
    reconciling.reconcile_due()  # as `maintain` does each minute

    assert until_then == "verified"
    assert owner_of(f"{here}/acme/old-docs") == acme.pk
    assert owner_of(f"{here}/acme/docs") == other.pk


def test_of_a_name_that_is_taken_the_installation_that_had_it_is_asked_about_soon(
    acme, code_host, here
):
    """The other one may be on another account, whose webhook says nothing about this one."""
    Installation.objects.update(asked_about_at=timezone.now())

    site_claims.lapse_namesakes(build.organization("bob"), 99, "acme/docs")

    assert claim().status == "lapsed"
    assert Installation.objects.get().asked_about_at is None


def test_without_push_access_for_a_week_the_claim_lapses(acme, code_host, here, clock):
    member_of(acme, code_host)
    code_host.remove_member("acme", "alice")

    for _ in range(3):
        clock.advance(hours=13)
        call_command("reconcile_installations")
    clock.advance(days=8)
    call_command("reconcile_installations")

    assert claim().status == "lapsed"
    assert acme.notices.filter(
        text__contains="is a repository to which none of your members has had push access"
    ).exists()


def test_a_webhook_that_comes_late_is_set_right_by_asking(acme, webhooks, code_host, here):
    code_host.rename("acme/docs", "between")
    late = code_host.webhooks_sent[-1].event
    code_host.rename("acme/between", "handbook")

    code_host.deliver_webhook(late.name, dict(late.payload))
    behind = claim().repository
    call_command("reconcile_installations")

    assert (behind, claim().repository) == ("acme/between", "acme/handbook")
    assert claim().status == "verified"


def test_a_name_that_comes_back_does_not_bring_another_repository_with_it(
    acme, webhooks, code_host, here
):
    """The claim lapsed with its repository; a new one of that name has not been claimed by anybody."""
    code_host.delete_repository("acme/docs")
    new = code_host.add_repository("acme", "docs")
    code_host.add_to_installation(build.installed(code_host), new)
    alice = member_of(acme, code_host)

    configuration.configure(alice, repo_owner="acme", repo_name="docs")
    before = owner_of(f"{here}/acme/docs")
    again, is_new = site_claims.claim_site(acme, f"{here}/acme/docs/")

    assert (before, owner_of(f"{here}/acme/docs")) == (None, acme.pk)
    assert (is_new, again.repository_id) == (True, new.id)
    assert Site.objects.filter(repository_id__isnull=False).count() == 1


def test_a_webhook_of_a_selection_without_names_is_refused_and_changes_nothing(
    acme, webhooks, code_host
):
    installation = {"id": build.installed(code_host).id}
    listed = [{"id": claim().repository_id}]

    sent = code_host.deliver_webhook(
        "installation_repositories",
        {"action": "added", "installation": installation, "repositories_added": listed},
    )

    assert sent.status == 400
    assert claim().status == "verified"
