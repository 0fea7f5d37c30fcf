"""Choosing the repository: everything is checked at GitHub, and each refusal has its own sentence."""

from collections.abc import Callable

import pytest
from django.test import Client

from integrations import github_api
from integrations.github_api import asking
from integrations.models import Delivery, Integration
from integrations.ownership import push_access, site_claims
from integrations.setup import configuration
from orgs.models import Membership, User
from orgs.people import members
from tests import build
from tests.integrations.github_sync.losing import select

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/orgs/me/integrations/github"
REPOSITORIES = "/v1/integrations/github/repositories"
DOCS = {"repo_owner": "acme", "repo_name": "docs", "issue_template": ""}


@pytest.fixture
def acme(code_host):
    """An organization that has the app on the account acme, and no repository yet."""
    owner = build.organization()
    integration = build.integration(owner, code_host)
    Integration.objects.filter(pk=integration.pk).update(
        repository_id=None, repo_owner="", repo_name=""
    )
    return owner


def caller(organization, code_host, login: str) -> Client:
    user = build.member(organization, login, github_id=code_host.account(login).id)
    return build.api(build.token(user))


@pytest.fixture
def alice(acme, code_host) -> Client:
    return caller(acme, code_host, "alice")


def save(client: Client, **changes):
    return client.post(URL, DOCS | changes, content_type="application/json")


def test_a_repository_is_chosen(alice, acme, code_host):
    answer = save(alice, issue_template="{summary}\n\n{details}")

    assert answer.status_code == 200
    assert answer.json() == {
        "provider": "github",
        "status": "configured",
        "account": "acme",
        "repo_owner": "acme",
        "repo_name": "docs",
        "issue_template": "{summary}\n\n{details}",
        "problem": None,
        "alerts": False,
        "likeness": "hint",
        "when_reported_again": "comment",
        "shows_known": False,
        "labels": {},
        "assignees": [],
        "issue_type": None,
        "not_applied": None,
    }
    chosen = Integration.objects.get(organization=acme)
    assert chosen.repository_id == code_host.repository("acme/docs").id
    assert not chosen.repository_private


def test_case_does_not_matter_and_github_spells_the_name(alice):
    answer = save(alice, repo_owner="ACME", repo_name="Docs").json()

    assert (answer["repo_owner"], answer["repo_name"]) == ("acme", "docs")


@pytest.mark.parametrize("template", [None, "", " \n"])
def test_no_template_means_the_default_one(alice, template):
    answer = save(alice, issue_template=template)

    assert answer.json()["issue_template"] is None


def test_push_right_is_enough(acme, code_host):
    code_host.grant("bob", "acme/docs", "push")
    bob = caller(acme, code_host, "bob")

    assert save(bob).status_code == 200


def issues_off(code_host):
    code_host.set_issues("acme/docs", False)


def archived(code_host):
    code_host.archive("acme/docs")


def outside_the_installation(code_host):
    code_host.add_repository("acme", "handbook")
    return {"repo_name": "handbook"}


def same_name_elsewhere(code_host):
    code_host.add_organization("initech")
    code_host.add_member("initech", "alice", role="admin")
    code_host.add_installation(
        "initech", repositories=[code_host.add_repository("initech", "docs")]
    )
    return {"repo_owner": "initech"}


def unknown(code_host):
    return {"repo_name": "nothing"}


def issues_not_permitted(code_host):
    build.installed(code_host).permissions = {"metadata": "read", "contents": "read"}


def issues_read_only(code_host):
    build.installed(code_host).permissions = {"metadata": "read", "issues": "read"}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (issues_off, "Issues are turned off in acme/docs."),
        (archived, "acme/docs is archived."),
        (outside_the_installation, "The app can't see acme/handbook."),
        (same_name_elsewhere, "The app can't see initech/docs."),
        (unknown, "The app can't see acme/nothing."),
        (issues_not_permitted, "The app may not write issues on acme."),
        (issues_read_only, "The app may not write issues on acme."),
    ],
)
def test_what_could_receive_no_issues_is_refused(alice, code_host, made: Callable, message):
    changes = made(code_host) or {}

    answer = save(alice, **changes)

    assert answer.status_code == 422
    assert answer.json()["error"] == "repository_not_writable"
    assert message in answer.json()["message"]
    assert not Integration.objects.configured().exists()


@pytest.mark.parametrize("role", [None, "pull", "triage"])
def test_who_may_not_push_is_refused(acme, code_host, role):
    if role:
        code_host.grant("bob", "acme/docs", role)
    bob = caller(acme, code_host, "bob")

    answer = save(bob)

    assert answer.status_code == 422
    assert "You don't have push access to acme/docs." in answer.json()["message"]


def test_a_login_that_is_somebody_elses_now_gives_no_right(acme, code_host):
    impostor = build.member(acme, "alice", github_id=code_host.account("charlie").id)

    answer = save(build.api(build.token(impostor)))

    assert "You don't have push access" in answer.json()["message"]


def test_a_private_repository_is_not_told_of_to_who_cannot_see_it(acme, code_host):
    """Whether it is there or not, charlie hears the same."""
    secret = code_host.add_repository("acme", "secret", private=True)
    code_host.add_to_installation(build.installed(code_host), secret)
    charlie = caller(acme, code_host, "charlie")

    there = save(charlie, repo_name="secret").json()["message"]
    absent = save(charlie, repo_name="absent").json()["message"]

    assert there.replace("secret", "absent") == absent


def never_installed(acme, code_host):
    Integration.objects.all().delete()


def uninstalled(acme, code_host):
    code_host.uninstall(build.installed(code_host))


def suspended(acme, code_host):
    code_host.suspend(build.installed(code_host))


@pytest.mark.parametrize("made", [never_installed, uninstalled, suspended])
def test_without_an_installation_nothing_is_chosen_or_listed(alice, acme, code_host, made):
    made(acme, code_host)

    for answer in (save(alice), alice.get(REPOSITORIES)):
        assert (answer.status_code, answer.json()["error"]) == (409, "not_installed")


def test_a_placeholder_that_does_not_exist_is_refused_with_the_nearest_one(alice):
    answer = save(alice, issue_template="{sumary} and {{literal}}")

    assert answer.status_code == 400
    assert answer.json() == {
        "error": "unknown_placeholder",
        "message": "There is no placeholder {sumary}. Did you mean {summary}?",
        "placeholder": "sumary",
        "suggestion": "summary",
    }


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("a" * 20_001, "The template has 20,001 characters. Shorten it to 20,000."),
        ("{summary} " * 51, "The template has 51 placeholders. Keep at most 50."),
        (
            "\n".join(["> " * 190 + "{details}"] * 49),
            "{details} is in the template 49 times. Keep it at most 4 times.",
        ),
        (
            "-  " * 24 + "x\n\n{details}",
            "Line 1 begins with 72 characters of quotes, list items and indentation. Use at most 32.",
        ),
    ],
)
def test_a_template_that_makes_too_much_of_a_report_is_refused_with_what_to_do(
    alice, template, said
):
    answer = save(alice, issue_template=template)

    assert answer.status_code == 400
    assert answer.json() == {"error": "template_too_long", "message": said}
    assert Integration.objects.get().issue_template == ""


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"repo_owner": "acme/x"}, "/repo_owner"),
        ({"repo_name": ""}, "/repo_name"),
        ({"repo_name": "../x"}, "/repo_name"),
        ({"repo_name": 7}, "/repo_name"),
        ({"issue_template": "a\0"}, "/issue_template"),
        ({"color": "red"}, "/color"),
    ],
)
def test_a_wrong_shape_is_said_where(alice, changes, path):
    answer = save(alice, **changes)

    assert answer.status_code == 400
    assert answer.json()["error"] == "validation_error"
    assert [fault["path"] for fault in answer.json()["details"]] == [path]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v3/app/installations/*"),
        ("POST", "token"),
        ("GET", "/api/v3/repositories/*/permission"),
    ],
)
@pytest.mark.parametrize("kind", ["500", "refuse", "429"])
def test_where_github_cannot_be_asked_nothing_is_saved(alice, code_host, method, path, kind):
    code_host.fail(kind, method=method, path=path)

    answer = save(alice)

    assert (answer.status_code, answer.json()["error"]) == (502, "code_host_unavailable")
    assert not Integration.objects.configured().exists()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v3/app/installations/*"),
        ("POST", "token"),
        ("GET", "/api/v3/repositories/*/permission"),
        ("GET", "/api/v3/installation/repositories"),
    ],
)
@pytest.mark.parametrize("body", ["<html>", "null", "[]", "{}", "7"])
def test_an_answer_that_makes_no_sense_is_none(alice, code_host, method, path, body):
    status = 201 if method == "POST" else 200
    call = alice.get if path.endswith("/repositories") else lambda _: save(alice)
    code_host.fail("answer", method=method, path=path, status=status, body=body)

    answer = call(REPOSITORIES)

    assert (answer.status_code, answer.json()["error"]) == (502, "code_host_unavailable")


def test_one_organization_has_one_look_at_github_at_a_time(alice, acme, code_host):
    """Many looks at its own long list would take all the places there are."""
    others = build.organization("initech")
    same_name_elsewhere(code_host)
    build.integration(others, code_host, "initech/docs")
    bob = caller(others, code_host, "bob")

    with asking.github(acme.memberships.get()):
        again, beside = alice.get(REPOSITORIES), bob.get(REPOSITORIES)

    assert (again.status_code, again.json()["error"]) == (429, "rate_limited")
    assert "asking GitHub for you" in again.json()["message"]
    assert beside.status_code == 200
    assert alice.get(REPOSITORIES).status_code == 200


def test_tokens_are_for_one_repository_and_issues_or_for_looking_only(alice, code_host):
    save(alice)
    alice.get(REPOSITORIES)

    asked = [each.asked for each in code_host.requests if each.asked is not None]

    assert asked == [
        {"repositories": ["docs"], "permissions": {"issues": "write"}},
        {"permissions": {"metadata": "read"}},
    ]


def test_repositories_to_pick_from_are_those_that_the_caller_may_push_to(acme, code_host):
    handbook = code_host.add_repository("acme", "handbook", private=True)
    code_host.add_repository("acme", "not-given")
    code_host.add_to_installation(build.installed(code_host), handbook)
    code_host.grant("bob", "acme/handbook", "maintain")
    alice, bob = caller(acme, code_host, "alice"), caller(acme, code_host, "bob")

    [hers, his] = [each.get(REPOSITORIES).json() for each in (alice, bob)]

    assert [each["repo_name"] for each in hers["repositories"]] == ["docs", "handbook"]
    assert his == {
        "repositories": [
            {
                "repo_owner": "acme",
                "repo_name": "handbook",
                "private": True,
                "archived": False,
                "has_issues": True,
            }
        ],
        "next_page": None,
    }


def test_who_reads_one_repository_uses_up_no_installation_with_lists(alice, code_host, monkeypatch):
    """Without a repository here, it has half of what all such organizations have together."""
    monkeypatch.setattr(configuration, "LISTS", "4/hour")

    answers = [alice.get(REPOSITORIES).status_code for _ in range(3)]

    assert answers == [200, 200, 429]
    asked = [each for each in code_host.requests if each.path.endswith("/repositories")]
    assert len(asked) == 2


def test_many_repositories_come_by_the_page(alice, code_host):
    for number in range(60):
        added = code_host.add_repository("acme", f"r{number}")
        code_host.add_to_installation(build.installed(code_host), added)

    first = alice.get(REPOSITORIES).json()
    second = alice.get(REPOSITORIES, {"page": first["next_page"]}).json()

    assert [len(each["repositories"]) for each in (first, second)] == [50, 11]
    assert second["next_page"] is None


def test_forgetting_the_repository_holds_what_waits_and_the_site_lapses(alice, acme, code_host):
    save(alice)
    site = build.site(acme, "acme.github.io", "/docs/")
    code_host.fail("500", path="token")
    build.send(Client(), build.report("https://acme.github.io/docs/x"))

    answer = alice.delete(URL)

    assert answer.status_code == 204
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.reason) == (
        "held",
        "No repository is chosen. Choose one to resume.",
    )
    site.refresh_from_db()
    assert site.status == "lapsed"
    assert alice.delete(URL).status_code == 204


def test_a_repository_that_is_chosen_again_gets_what_was_held(alice, acme, code_host):
    save(alice)
    build.domain(acme, "docs.acme.com")
    code_host.fail("500", path="token")
    build.send(Client())
    alice.delete(URL)

    save(alice)

    assert Delivery.objects.get().status == "pending"


def test_moving_to_another_repository_ends_the_sites_that_it_does_not_publish(
    alice, acme, code_host
):
    handbook = code_host.add_repository("acme", "handbook")
    code_host.add_to_installation(build.installed(code_host), handbook)
    save(alice)
    site = build.site(acme, "acme.github.io", "/docs/")

    save(alice, repo_name="handbook")
    build.send(Client(), build.report("https://acme.github.io/docs/x"))

    site.refresh_from_db()
    assert site.status == "lapsed"
    assert not Delivery.objects.exists()
    assert not code_host.issues("acme/docs") + code_host.issues("acme/handbook")


def test_another_organizations_integration_is_not_touched(alice, acme, code_host):
    other = build.organization("initech")
    code_host.add_member("acme", "charlie", role="admin")
    charlie = caller(other, code_host, "charlie")
    save(alice)

    assert save(charlie).json()["error"] == "not_installed"
    assert charlie.delete(URL).status_code == 204

    assert Integration.objects.get().status == "configured"


def meanwhile(monkeypatch, act: Callable[[], object]) -> None:
    """`act` happens while GitHub is asked."""
    ask = configuration._writable

    def slowly(*args):
        act()
        return ask(*args)

    monkeypatch.setattr(configuration, "_writable", slowly)


def test_who_is_removed_while_github_is_asked_saves_nothing(alice, acme, monkeypatch):
    owner = build.member(acme, "bob").membership
    meanwhile(monkeypatch, lambda: members.remove(acme.memberships.get(login="alice"), by=owner))

    answer = save(alice)

    assert answer.status_code == 409
    assert "You are no longer a member of this organization." in answer.json()["message"]
    assert Integration.objects.get().repository == ""


def test_who_is_deactivated_while_github_is_asked_saves_nothing(alice, monkeypatch):
    meanwhile(monkeypatch, lambda: User.objects.update(is_active=False))

    answer = save(alice)

    assert answer.status_code == 409
    assert Integration.objects.get().repository == ""


def test_trying_again_keeps_what_was_saved_meanwhile(alice, acme, monkeypatch):
    save(alice)
    Integration.objects.update(problem="Issues are turned off.")
    meanwhile(monkeypatch, lambda: Integration.objects.update(issue_template="{summary} new"))

    configuration.try_again(acme.memberships.get())

    assert Integration.objects.values_list("issue_template", "problem").get() == (
        "{summary} new",
        "",
    )


def once_answered(monkeypatch, act: Callable[[], object]) -> None:
    """`act` happens after GitHub has answered about the repository, and before the Hub has the answer."""
    ask = github_api.candidate

    def slowly(*args, **kwargs):
        answer = ask(*args, **kwargs)
        act()
        return answer

    monkeypatch.setattr(github_api, "candidate", slowly)


def becomes_private(monkeypatch, code_host, name: str) -> None:
    """The repository does, after GitHub has answered that it is public."""
    once_answered(monkeypatch, lambda: code_host.set_private(name, True))


@pytest.mark.parametrize("name", ["docs", "manual"])
def test_what_a_webhook_has_overtaken_is_not_saved(
    alice, manual, webhooks, code_host, monkeypatch, name
):
    save(alice)
    becomes_private(monkeypatch, code_host, f"acme/{name}")

    refused = save(manual if name == "manual" else alice, repo_name=name)
    now = Integration.objects.get()

    assert (refused.status_code, refused.json()["error"]) == (409, "not_installed")
    assert "Please try again." in refused.json()["message"]
    assert (now.repository, now.repository_private) == ("acme/docs", name == "docs")


def test_what_is_taken_out_together_with_another_while_it_is_chosen_is_not_saved(
    alice, webhooks, code_host, monkeypatch
):
    both = [code_host.repository("acme/docs"), code_host.add_repository("acme", "shop")]
    once_answered(monkeypatch, lambda: select(code_host, "removed", both))

    refused = save(alice)

    assert (refused.status_code, refused.json()["error"]) == (409, "not_installed")
    assert Integration.objects.get().repository == ""


def test_others_that_are_added_together_do_not_keep_a_template_from_being_saved(
    alice, webhooks, code_host, monkeypatch
):
    save(alice)
    more = [code_host.add_repository("acme", name) for name in ("blog", "shop")]
    once_answered(monkeypatch, lambda: select(code_host, "added", more))

    assert save(alice, issue_template="{summary}").status_code == 200


def test_trying_again_does_not_undo_what_a_webhook_tells_meanwhile(
    alice, acme, webhooks, code_host, monkeypatch
):
    save(alice)
    Integration.objects.update(problem="Issues are turned off.")
    becomes_private(monkeypatch, code_host, "acme/docs")

    with pytest.raises(configuration.NotInstalled, match="Please try again"):
        configuration.try_again(acme.memberships.get())

    assert Integration.objects.values_list("repository_private", "problem").get() == (
        True,
        "Issues are turned off.",
    )


def test_trying_again_does_not_undo_a_disconnection(alice, acme, monkeypatch):
    save(alice)
    meanwhile(monkeypatch, lambda: configuration.forget(acme))

    with pytest.raises(configuration.NotInstalled, match="changed in the meantime"):
        configuration.try_again(acme.memberships.get())

    assert Integration.objects.get().repository == ""


@pytest.mark.parametrize(
    ("private", "sent", "wanted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"alerts": None}, True),
        (True, {"alerts": False}, False),
        (False, {"alerts": True}, True),
    ],
)
def test_bad_news_is_told_by_default_where_not_everybody_reads_it(
    alice, code_host, private, sent, wanted
):
    code_host.set_private("acme/docs", private)

    assert save(alice, **sent).json()["alerts"] is wanted
    assert Integration.objects.get().alerts is wanted


@pytest.mark.parametrize("known", [True, False, None])
def test_a_choice_about_bad_news_stays_with_its_repository(alice, code_host, known):
    save(alice)
    Integration.objects.update(alerts=known)

    save(alice, issue_template="{summary}")
    assert Integration.objects.get().alerts is known

    other = code_host.add_repository("acme", "other", private=True)
    code_host.add_to_installation(build.installed(code_host), other)
    save(alice, repo_name="other")
    assert Integration.objects.get().alerts is True


@pytest.mark.parametrize("sent", [{}, {"alerts": True}, None])
def test_alerts_go_off_where_everybody_can_read_them_now(alice, acme, code_host, sent):
    """The attack: it became public, and a member saves or tries again before the webhook says so."""
    code_host.set_private("acme/docs", True)
    save(alice, alerts=True)
    code_host.set_private("acme/docs", False)

    if sent is None:
        configuration.try_again(Membership.objects.get())
    else:
        assert save(alice, **sent).json()["alerts"] is False

    mine = Integration.objects.get()
    assert (mine.alerts, mine.repository_private) == (None, False)
    assert save(alice, alerts=True).json()["alerts"] is True


@pytest.mark.parametrize("wrong", ["yes", 1, "", []])
def test_a_choice_about_bad_news_is_true_or_false(alice, wrong):
    assert save(alice, alerts=wrong).status_code == 400


@pytest.fixture
def manual(acme, code_host) -> Client:
    """bob, a member, who may push to acme/manual only, while acme/docs proves a site."""
    code_host.add_to_installation(
        build.installed(code_host), code_host.add_repository("acme", "manual")
    )
    code_host.account("acme").members.pop("bob", None)  # who could read and write all
    code_host.grant("bob", "acme/manual", "push")
    return caller(acme, code_host, "bob")


def test_who_may_not_push_to_the_repository_before_gives_up_no_site(alice, acme, code_host, manual):
    save(alice)
    site, _ = site_claims.claim_site(acme, "https://acme.github.io/docs/")

    refused = save(manual, repo_name="manual")

    assert (refused.status_code, refused.json()["error"]) == (403, "no_push_right")
    assert Integration.objects.get().repository == "acme/docs"
    site.refresh_from_db()
    assert site.lapsed_at is None
    assert save(alice, repo_name="manual").status_code == 200
    site.refresh_from_db()
    assert site.lapsed_at


def test_without_a_claim_that_lapses_nothing_is_given_up(alice, manual):
    save(alice)

    assert save(manual, repo_name="manual").status_code == 200


def test_if_nobody_may_push_to_it_any_more_another_one_is_chosen(alice, acme, code_host, manual):
    save(alice)
    site_claims.claim_site(acme, "https://acme.github.io/docs/")
    acme.memberships.exclude(login="bob").delete()

    assert save(manual, repo_name="manual").status_code == 200


def test_a_repository_that_another_member_has_chosen_meanwhile_is_not_given_up(
    alice, acme, code_host, manual, monkeypatch
):
    save(alice)
    site_claims.claim_site(acme, "https://acme.github.io/docs/")
    code_host.grant("bob", "acme/docs", "push")
    ask = push_access.require_to_let_go

    def ask_while_another_is_chosen(member):
        ask(member)
        Integration.objects.update(repository_id=99, repo_name="handbook")

    monkeypatch.setattr(push_access, "require_to_let_go", ask_while_another_is_chosen)
    refused = save(manual, repo_name="manual")

    assert (refused.status_code, refused.json()["error"]) == (409, "not_installed")
    assert "changed in the meantime" in refused.json()["message"]
    assert Integration.objects.get().repository == "acme/handbook"
