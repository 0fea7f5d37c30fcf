"""Who loses their push right at GitHub loses what rests on it here."""

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from integrations import github_api
from integrations.delivery import catching_up, holds
from integrations.github_sync import reconciling
from integrations.github_sync.reconciling import reconcile_due
from integrations.models import Delivery, Installation, Integration
from integrations.ownership import push_access, site_claims
from integrations.setup import configuration
from orgs.models import Membership, Site, User
from orgs.ownership import owner_of
from tests import build
from tests.integrations.world import delivery, integration

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(code_host):
    """acme is set up, and alice, who owns acme at GitHub, is its only member here."""
    owner = build.acme(code_host)
    return build.member(owner, github_id=code_host.account("alice").id).membership


A_DAY = (1, 12, 13)  # hours, with a look after each


def hours_pass(clock, *waits: int) -> None:
    """With a look at the end of each of them."""
    for hours in waits:
        clock.advance(hours=hours, minutes=1)
        reconcile_due()


def rights_are_lost(code_host) -> None:
    """alice has left acme, and three looks over a day have found nobody else."""
    code_host.remove_member("acme", "alice")
    now = timezone.now()
    Integration.objects.update(rights_absences=3, rights_absent_since=now, rights_lost_at=now)


def questions(code_host, since: int = 0) -> list[str]:
    """The logins that the code host was asked about, in order."""
    paths = [each.path for each in code_host.requests[since:]]
    return [each.split("/")[-2] for each in paths if each.endswith("/permission")]


def test_what_comes_in_after_the_last_member_with_push_right_has_left_is_held(
    alice, code_host, clock
):
    reconcile_due()
    code_host.remove_member("acme", "alice")

    hours_pass(clock, 1, 11, 11)
    build.send(Client(), build.report("https://docs.acme.com/before"))
    before = delivery().status
    hours_pass(clock, 2)
    build.send(Client(), build.report("https://docs.acme.com/after"))

    held = Delivery.objects.get(report__doc_url="https://docs.acme.com/after")
    assert before == "sent"
    assert (held.status, held.held_for) == ("held", "rights")
    assert "No member of your organization has push access" in integration().obstacle
    told = alice.organization.notices.get()
    assert told.kind == "rights"
    assert "acme/docs" in told.text


def test_what_waited_when_the_right_was_lost_is_held_and_goes_on_with_it(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    reconcile_due()
    code_host.fail("500", path="token")
    build.send(Client())
    hours_pass(clock, *A_DAY)
    held = (delivery().status, delivery().held_for)

    code_host.add_member("acme", "alice", role="admin")
    hours_pass(clock, 1)
    call_command("retry_deliveries")

    assert held == ("held", "rights")
    assert delivery().status == "sent"
    assert integration().rights_absences == 0


def test_a_look_a_day_is_needed_not_three_in_an_hour(alice, code_host, clock):
    code_host.remove_member("acme", "alice")

    for _ in range(3):
        call_command("reconcile_installations")
    build.send(Client())

    assert integration().rights_absences == 3
    assert delivery().status == "sent"


def test_one_member_with_push_right_is_enough_and_is_asked_about_first(alice, code_host, clock):
    for login in ("bob", "charlie"):
        account = code_host.account(login).id
        build.member(alice.organization, login, role="member", github_id=account)
    code_host.remove_member("acme", "alice")
    code_host.grant("bob", "acme/docs", "push")

    reconcile_due()
    first = questions(code_host)
    hours_pass(clock, 1)

    assert set(first) == {"alice", "bob", "charlie"}
    assert first[0] == "charlie"  # who came last
    assert questions(code_host)[len(first) :] == ["bob"]
    assert integration().rights_of == code_host.account("bob").id


def test_one_question_an_hour_is_asked_where_all_is_well(alice, code_host, clock):
    build.member(alice.organization, "bob", github_id=code_host.account("bob").id)

    hours_pass(clock, 1, 1)

    assert questions(code_host) == ["bob", "alice", "alice"]


def test_a_login_that_somebody_else_has_taken_gives_no_right(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    code_host.rename_account("alice", "alicia")
    code_host.add_user("alice")
    code_host.add_member("acme", "alice", role="admin")

    hours_pass(clock, 1)

    assert integration().rights_absences == 1


def test_a_new_login_takes_no_right_away_and_is_learned(alice, code_host, clock):
    code_host.rename_account("alice", "alicia")
    code_host.add_user("alice")

    hours_pass(clock, 1, 1)

    assert integration().rights_absences == 0
    assert questions(code_host) == ["alice", "alicia", "alicia"]
    alice.refresh_from_db()
    assert alice.login == "alicia"


def many_members(alice, code_host, monkeypatch) -> None:
    """alice has left acme; two more have signed in after bob, who may push; a look asks about two."""
    code_host.remove_member("acme", "alice")
    bob = code_host.account("bob").id
    build.member(alice.organization, "bob", role="member", github_id=bob)
    code_host.grant("bob", "acme/docs", "push")
    for login in ("charlie", "charlie-too"):
        build.member(alice.organization, login, role="member")
    monkeypatch.setattr(push_access, "MOST", 2)


def test_the_only_one_who_may_push_is_found_among_more_members_than_a_look_asks_about(
    alice, code_host, clock, monkeypatch
):
    many_members(alice, code_host, monkeypatch)

    reconcile_due()
    unfinished = integration().rights_absences
    hours_pass(clock, 1)

    assert unfinished == 0
    assert (integration().rights_absences, integration().rights_asked_to) == (0, 0)
    assert integration().rights_of == code_host.account("bob").id
    assert push_access.some_members(alice.organization_id).people[0].login == "bob"


def test_that_nobody_of_many_may_push_is_one_absence_for_all_of_them(
    alice, code_host, clock, monkeypatch
):
    many_members(alice, code_host, monkeypatch)
    code_host.revoke("bob", "acme/docs")

    absences = []
    for _ in range(4):
        hours_pass(clock, 1)
        absences.append(integration().rights_absences)

    assert absences == [0, 1, 1, 2]


def test_who_leaves_and_comes_back_keeps_no_look_from_its_end(alice, code_host, clock, monkeypatch):
    """The attack: more members than a look asks about, who all come back as new ones between two looks."""
    monkeypatch.setattr(push_access, "MOST", 2)
    code_host.remove_member("acme", "alice")

    for time in range(8):
        Membership.objects.exclude(pk=alice.pk).delete()
        for number in range(3):
            build.member(alice.organization, f"charlie-{time}-{number}", role="member")
        hours_pass(clock, 8)

    assert integration().rights_lost_at


def test_a_look_that_takes_too_long_goes_on_where_it_ended(alice, code_host, clock, monkeypatch):
    """The attack: accounts that GitHub takes long to tell about, since they were renamed."""
    code_host.remove_member("acme", "alice")
    for number in range(5):
        build.member(alice.organization, f"charlie-{number}", role="member")
    looks, ask = [], github_api.rights

    def only_two(reached, people, *, deadline):
        looks[-1].extend(each.login for each in people)
        if len(looks[-1]) > 2:
            raise github_api.TimedOut("GitHub took too long to answer.")
        return ask(reached, people, deadline=deadline)

    monkeypatch.setattr(push_access, "TOGETHER", 1)
    monkeypatch.setattr(github_api, "rights", only_two)
    for _ in range(3):
        looks.append([])
        hours_pass(clock, 1)

    assert [look[:2] for look in looks] == [
        ["charlie-4", "charlie-3"],
        ["charlie-2", "charlie-1"],
        ["charlie-0", "alice"],
    ]
    assert integration().rights_absences == 1


def test_the_logins_of_all_who_are_asked_about_are_kept(alice, code_host, clock):
    charlie = code_host.account("charlie").id
    build.member(alice.organization, "charlie", github_id=charlie)
    code_host.rename_account("charlie", "charles")

    hours_pass(clock, 1)

    assert Membership.objects.get(github_id=charlie).login == "charles"


def test_a_member_ends_nothing_while_not_all_others_were_asked_about(alice, code_host, monkeypatch):
    site_claims.claim_site(alice.organization, URL)
    many_members(alice, code_host, monkeypatch)
    api = caller(alice)
    site = Site.objects.get()

    refused = api.delete(f"/v1/orgs/me/sites/{site.pk}")
    Integration.objects.update(rights_lost_at=timezone.now())
    given_up = api.delete(f"/v1/orgs/me/sites/{site.pk}")

    assert (refused.status_code, given_up.status_code) == (403, 204)


PERMISSION = "/api/v3/repositories/*/permission"
UNANSWERED = [
    ("500", {}),
    ("403_retry_after", {"value": 120}),
    ("429", {"value": 120}),
    ("refuse", {}),
    ("truncated", {}),
    ("hang", {}),
]


@pytest.mark.slow
def test_a_right_that_github_does_not_tell_about_is_not_lost(alice, code_host, clock, monkeypatch):
    monkeypatch.setattr(push_access, "LONGEST_LOOK", 1)
    code_host.remove_member("acme", "alice")

    for kind, details in UNANSWERED:
        code_host.fail(kind, method="GET", path=PERMISSION, **details)
        hours_pass(clock, 12)

    assert set(questions(code_host)) == {"alice"}
    assert integration().rights_absences == 0


def test_github_is_left_alone_for_as_long_as_it_asks(alice, code_host, clock):
    code_host.fail("403_retry_after", method="GET", path=PERMISSION, value=3600)
    reconcile_due()
    asked = len(code_host.requests)

    clock.advance(minutes=59)
    Installation.objects.update(asked_about_at=None)  # as after an account was renamed
    reconcile_due()
    call_command("reconcile_installations")
    too_early = len(code_host.requests) - asked
    clock.advance(minutes=2)
    reconcile_due()

    assert too_early == 0
    assert len(code_host.requests) > asked


def test_our_own_pace_keeps_nobody_from_asking(alice, code_host, settings):
    settings.HUB_ISSUE_RATE = "1/hour"
    for number in range(2):
        build.send(Client(), build.report(f"https://docs.acme.com/{number}"))
    assert Installation.objects.get().limited_until

    reconcile_due()

    assert integration().rights_seen_at


def test_an_integration_that_cannot_be_asked_about_keeps_no_other_waiting(alice, code_host, clock):
    other = build.organization("initech")
    build.member(other, "bob", github_id=code_host.account("bob").id)
    build.integration(other, code_host)
    code_host.remove_member("acme", "alice")
    code_host.fail("500", method="GET", path=PERMISSION)

    reconcile_due()

    assert Integration.objects.exclude(rights_absent_since=None).count() == 1


@pytest.mark.parametrize("broken", ["acme/docs", "acme/handbook"])
def test_a_repository_that_github_does_not_answer_about_keeps_no_other_waiting(
    alice, code_host, clock, monkeypatch, broken
):
    handbook = code_host.add_repository("acme", "handbook")
    code_host.add_to_installation(build.installed(code_host), handbook)
    other = build.organization("initech")
    build.member(other, "charlie")
    build.integration(other, code_host, "acme/handbook")
    ask, number = github_api.reached, code_host.repository(broken).id
    code_host.remove_member("acme", "alice")

    def all_but_one(installation_id, repository_id, *, deadline):
        if repository_id == number:
            raise github_api.Unreachable("GitHub answered 500 when asked for a token.")
        return ask(installation_id, repository_id, deadline=deadline)

    monkeypatch.setattr(github_api, "reached", all_but_one)
    hours_pass(clock, *A_DAY)

    lost = Integration.objects.exclude(rights_lost_at=None)
    assert {each.repository for each in lost} == {"acme/docs", "acme/handbook"} - {broken}


def others_with_the_same_installation(number: int, code_host) -> None:
    """So many organizations of one member each, who has no push access."""
    for each in range(number):
        other = build.organization(f"initech-{each}")
        build.member(other, f"charlie-{each}")
        build.integration(other, code_host)


def test_many_organizations_with_one_installation_are_asked_about_a_part_at_a_time(
    alice, code_host, clock
):
    """Whatever else `maintain` does waits for it, and webhooks may have it asked about again and again."""
    code_host.remove_member("acme", "alice")
    others_with_the_same_installation(6, code_host)
    bookmark, absences = reconciling.Bookmark(), []
    for _ in range(4):
        turns = iter([True, True, True])
        Installation.objects.update(asked_about_at=None)  # as after a webhook
        reconcile_due(lambda turns=turns: next(turns, False), bookmark)
        absences.append(sum(Integration.objects.values_list("rights_absences", flat=True)))

    assert absences == [3, 6, 9, 12]
    assert max(Integration.objects.values_list("rights_absences", flat=True)) == 2


def test_the_rest_of_many_organizations_is_asked_about_at_the_next_call(alice, code_host, clock):
    code_host.remove_member("acme", "alice")
    others_with_the_same_installation(2, code_host)
    bookmark, absences = reconciling.Bookmark(), []

    for _ in range(4):
        turns = iter([True])
        reconcile_due(lambda turns=turns: next(turns, False), bookmark)
        absences.append(sum(Integration.objects.values_list("rights_absences", flat=True)))

    assert absences == [1, 2, 3, 3]


def test_many_organizations_with_one_installation_are_not_all_that_is_asked_about(
    alice, code_host, clock, monkeypatch
):
    monkeypatch.setattr(reconciling, "LONGEST", 0)
    code_host.remove_member("acme", "alice")
    others_with_the_same_installation(3, code_host)

    reconcile_due()
    part = Integration.objects.filter(rights_absences=1).count()
    call_command("reconcile_installations")

    assert part == 1
    assert Integration.objects.filter(rights_absences=0).count() == 0


def test_a_right_that_is_missing_outlasts_a_pause_and_a_problem(alice, code_host):
    rights_are_lost(code_host)
    holds.pause(integration())
    build.send(Client())
    paused = delivery().held_for

    holds.resume(integration())
    holds.block(integration(), "Issues are turned off in acme/docs.")
    holds.unblock(integration())
    holds.probe()

    assert paused == "pause"
    assert (delivery().status, delivery().held_for) == ("held", "rights")


def test_a_delivery_that_was_let_go_without_the_right_is_held_again(alice, code_host):
    rights_are_lost(code_host)
    build.send(Client())

    Delivery.objects.requeue()  # as an operator's retry does
    catching_up.catch_up()

    assert (delivery().status, delivery().held_for) == ("held", "rights")
    assert not code_host.issues("acme/docs")


def test_a_member_who_has_the_right_sets_free_what_was_held(alice, code_host):
    rights_are_lost(code_host)
    build.send(Client())
    bob = build.member(alice.organization, "bob", github_id=code_host.account("bob").id)
    code_host.grant("bob", "acme/docs", "push")

    configuration.try_again(bob.membership)
    call_command("retry_deliveries")

    assert delivery().status == "sent"
    assert (integration().obstacle, integration().rights_absences) == ("", 0)


def test_what_was_held_for_a_lost_right_goes_to_the_next_repository(alice, code_host):
    rights_are_lost(code_host)
    build.send(Client())
    code_host.add_member("acme", "alice", role="admin")
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)

    configuration.forget(alice.organization)
    forgotten = (delivery().held_for, integration().obstacle)
    configuration.configure(alice, repo_owner="acme", repo_name="manual")
    call_command("retry_deliveries")

    assert forgotten == ("integration", "")
    assert [each.title for each in code_host.issues("acme/manual")]


def test_a_lost_right_is_shown_from_the_first_look_on(alice, code_host, clock, client):
    client.force_login(alice.user)
    code_host.remove_member("acme", "alice")

    hours_pass(clock, 1)
    pages = [client.get(f"/settings/{each}").content.decode() for each in ("", "integration/")]
    rights_are_lost(code_host)
    stopped = client.get("/settings/").content.decode()
    refused = client.post("/settings/integration/try-again/", follow=True).content.decode()

    assert all("If this lasts for a day, nothing is sent" in each for each in pages)
    assert "Nothing is being sent" in stopped
    assert "have push access to acme/docs." in refused


URL = "https://acme.github.io/docs/"


def caller(member: Membership) -> Client:
    return build.api(build.token(member.user))


def opt_out(client: Client, site: Site, value: bool = True):
    path = f"/v1/orgs/me/sites/{site.pk}"
    return client.patch(path, {"opted_out": value}, content_type="application/json")


@pytest.fixture
def site(alice) -> Site:
    return site_claims.claim_site(alice.organization, URL)[0]


def leaves(code_host) -> None:
    code_host.remove_member("acme", "alice")


def is_away(code_host) -> None:
    code_host.fail("500", method="GET", path=PERMISSION, times=3)


@pytest.mark.parametrize(
    ("happens", "error"),
    [(leaves, (403, "no_push_right")), (is_away, (502, "code_host_unavailable"))],
)
def test_who_may_not_push_any_more_ends_nothing_for_those_who_may(
    alice, site, code_host, client, happens, error
):
    build.member(alice.organization, "bob", github_id=code_host.account("bob").id)
    code_host.grant("bob", "acme/docs", "push")
    happens(code_host)
    api = caller(alice)
    client.force_login(alice.user)

    answers = [
        opt_out(api, site),
        api.delete(f"/v1/orgs/me/sites/{site.pk}"),
        api.delete("/v1/orgs/me/integrations/github"),
    ]
    if happens is leaves:
        page = client.post(f"/settings/claims/{site.pk}/opt-out/", {"opted_out": "1"}, follow=True)
        assert "have push access to acme/docs" in page.content.decode()

    assert {(each.status_code, each.json()["error"]) for each in answers} == {error}
    assert Site.objects.live().get().opted_out_at is None
    assert integration().repository == "acme/docs"
    assert build.send(Client(), build.report(f"{URL}install")).status_code == 201


def test_a_claim_that_has_lapsed_is_not_opted_out_by_who_may_push_elsewhere(alice, site, code_host):
    """An attack: the claim came back with its repository, and refused all reports."""
    another = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), another)
    Integration.objects.update(repository_id=another.id, repo_name=another.name)
    site_claims.lapse_unpublished(alice.organization)

    refused = opt_out(caller(alice), site)

    assert (refused.status_code, refused.json()["error"]) == (403, "no_push_right")
    assert "has lapsed" in refused.json()["message"]
    assert Site.objects.get().opted_out_at is None


def is_suspended(code_host) -> None:
    code_host.suspend(build.installed(code_host))


def is_out_of_reach(code_host) -> None:
    code_host.remove_from_installation(build.installed(code_host), "acme/docs")


@pytest.mark.parametrize("happens", [is_suspended, is_out_of_reach])
def test_who_cannot_be_asked_about_is_told_to_give_the_app_access(alice, site, code_host, happens):
    """Not to ask a colleague, who would be refused, too."""
    happens(code_host)

    refused = opt_out(caller(alice), site)

    assert (refused.status_code, refused.json()["error"]) == (403, "no_push_right")
    assert "Give the app access on GitHub first." in refused.json()["message"]
    assert Site.objects.get().opted_out_at is None


def test_of_a_claim_that_has_lapsed_github_is_asked_nothing(alice, site, code_host):
    is_out_of_reach(code_host)
    site_claims.lapse_unpublished(alice.organization)
    before = len(code_host.requests)

    refused = opt_out(caller(alice), site)

    assert "has lapsed, so nothing depends on this" in refused.json()["message"]
    assert len(code_host.requests) == before


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_a_claim_is_as_it_was_if_another_repository_is_chosen_while_github_is_asked(
    alice, site, code_host, monkeypatch, method
):
    another = code_host.add_repository("acme", "manual")
    ask = push_access.reach

    def ask_meanwhile(*args, **kwargs):
        found = ask(*args, **kwargs)
        Integration.objects.update(repository_id=another.id, repo_name=another.name)
        return found

    monkeypatch.setattr(push_access, "reach", ask_meanwhile)
    call = getattr(caller(alice), method)
    body = {"opted_out": True} if method == "patch" else None
    refused = call(f"/v1/orgs/me/sites/{site.pk}", body, content_type="application/json")

    assert (refused.status_code, refused.json()["error"]) == (403, "no_push_right")
    assert Site.objects.get().opted_out_at is None


def test_who_removes_a_claim_that_was_just_removed_is_content(alice, site, monkeypatch):
    require = push_access.require_to_let_go

    def remove_meanwhile(member):
        require(member)
        Site.objects.all().delete()

    monkeypatch.setattr(push_access, "require_to_let_go", remove_meanwhile)

    assert caller(alice).delete(f"/v1/orgs/me/sites/{site.pk}").status_code == 204


def test_nobody_has_to_keep_what_no_member_may_end(alice, site, code_host):
    leaves(code_host)
    api = caller(alice)

    refused = opt_out(api, site)  # that would keep reports from whose site it is
    given_up = api.delete(f"/v1/orgs/me/sites/{site.pk}")
    disconnected = api.delete("/v1/orgs/me/integrations/github")

    assert refused.json()["error"] == "no_push_right"
    assert (given_up.status_code, disconnected.status_code) == (204, 204)


def test_who_is_deactivated_while_github_is_asked_lets_nothing_go(
    alice, site, code_host, monkeypatch
):
    ask = push_access.reach

    def ask_meanwhile(*args, **kwargs):
        User.objects.update(is_active=False)
        return ask(*args, **kwargs)

    monkeypatch.setattr(push_access, "reach", ask_meanwhile)
    api = caller(alice)
    disconnected = api.delete("/v1/orgs/me/integrations/github")
    User.objects.update(is_active=True)
    given_up = api.delete(f"/v1/orgs/me/sites/{site.pk}")

    assert (disconnected.status_code, given_up.status_code) == (403, 403)
    assert integration().repository == "acme/docs"
    assert owner_of(site.url) == alice.organization_id


def test_a_repository_that_was_chosen_while_github_is_asked_is_not_let_go(
    alice, site, code_host, monkeypatch
):
    another = code_host.add_repository("acme", "manual")
    ask = push_access.reach

    def ask_meanwhile(*args, **kwargs):
        Integration.objects.update(repository_id=another.id, repo_name=another.name)
        return ask(*args, **kwargs)

    monkeypatch.setattr(push_access, "reach", ask_meanwhile)
    refused = caller(alice).delete("/v1/orgs/me/integrations/github")

    assert (refused.status_code, refused.json()["error"]) == (409, "not_installed")
    assert integration().repository == "acme/manual"


def gone(code_host) -> None:
    code_host.delete_repository("acme/docs")


def uninstalled(code_host) -> None:
    code_host.uninstall(build.installed(code_host))


@pytest.mark.parametrize("happens", [gone, uninstalled])
def test_what_the_app_does_not_reach_any_more_can_be_given_up(alice, site, code_host, happens):
    happens(code_host)
    api = caller(alice)

    assert api.delete(f"/v1/orgs/me/sites/{site.pk}").status_code == 204
    assert api.delete("/v1/orgs/me/integrations/github").status_code == 204


def test_a_domain_is_proved_by_its_record_alone(alice, code_host):
    leaves(code_host)

    assert caller(alice).delete("/v1/orgs/me/domains/docs.acme.com").status_code == 204
    assert not code_host.requests


def test_a_member_is_offered_nothing_that_an_owner_has_to_do(alice, site, code_host, client):
    bob = build.member(
        alice.organization, "bob", role="member", github_id=code_host.account("bob").id
    )
    code_host.grant("bob", "acme/docs", "push")
    client.force_login(bob)
    domain = alice.organization.domains.get()
    claims = [f"/settings/claims/{each.pk}/" for each in (site, domain)]

    pages = [client.get(each).content.decode() for each in [*claims, "/settings/integration/"]]
    refusals = [
        client.post(address, {"opted_out": "1"}, follow=True).content.decode()
        for each in claims
        for address in (f"{each}opt-out/", f"{each}delete/")
    ]
    refusals += [client.post("/settings/integration/disconnect/", follow=True).content.decode()]

    assert not any("Opt out</button>" in each or "Disconnect …" in each for each in pages)
    assert not any("Give up this claim …" in each for each in pages)
    assert all("Only owners can do that." in each for each in refusals)
    assert Site.objects.live().get().opted_out_at is None
    assert alice.organization.domains.get().opted_out_at is None
    assert integration().repository == "acme/docs"


def test_github_is_left_alone_by_people_too(alice, site, code_host):
    code_host.fail("403_retry_after", method="GET", path=PERMISSION, value=600)
    first = opt_out(caller(alice), site)
    asked = len(code_host.requests)

    second = opt_out(caller(alice), site)

    assert (first.status_code, second.status_code) == (502, 502)
    assert "rate limit for acme is reached" in second.json()["message"]
    assert len(code_host.requests) == asked


def test_where_rights_are_lost_no_site_is_claimed(alice, code_host):
    rights_are_lost(code_host)

    with pytest.raises(site_claims.NotConfigured, match="No member of your organization"):
        site_claims.claim_site(alice.organization, URL)


def test_what_nobody_may_push_to_for_a_week_more_proves_no_site_until_somebody_may(
    alice, site, code_host, clock
):
    leaves(code_host)
    hours_pass(clock, *A_DAY, 6 * 24)
    in_time = owner_of(URL)
    hours_pass(clock, 25)
    after_it = owner_of(URL)
    code_host.add_member("acme", "alice", role="admin")
    hours_pass(clock, 1, 1)

    assert (in_time, after_it) == (alice.organization.pk, None)
    assert owner_of(URL) == alice.organization.pk
    told = [each.text for each in alice.organization.notices.all()]
    assert "After 7 days your claims of the sites that it publishes lapse" in told[1]
    assert "none of your members has had push access for more than 7 days" in told[0]
