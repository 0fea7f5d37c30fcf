"""`/admin/`: what operators see, and the little that they do."""

import html
import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from allauth.idp.oidc.models import Token
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.handlers.exception import convert_exception_to_response
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.template.response import TemplateResponse
from django.test import Client, RequestFactory
from django.urls import resolve
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from core.watching import current
from hub import deliveries_now
from hub.models import Lease
from integrations.delivery import operator_holds
from integrations.models import (
    Answer,
    Attempt,
    Comment,
    Delivery,
    Hold,
    Installation,
    Integration,
    OneTimeState,
    Terms,
    Verdict,
    Webhook,
)
from integrations.models.delivery import EARLIER
from integrations.ownership import unclaimed
from orgs import read_only
from orgs.domains import claiming, hosts
from orgs.models import (
    Domain,
    EarlierChallenge,
    Invitation,
    Membership,
    Notice,
    Organization,
    PersonalToken,
    Site,
    Terminal,
    User,
)
from orgs.people import members, tokens
from reports import erasing
from reports.models import Report
from tests import build

OURS = [model for app in ("orgs", "reports", "integrations", "hub")
        for model in apps.get_app_config(app).get_models()]  # fmt: skip
MANY = 500


@pytest.fixture
def operator(client, db):
    operator = User.objects.create(username="alice", is_staff=True, is_superuser=True)
    client.force_login(operator)
    return client


@pytest.fixture
def some(db) -> None:
    """Three rows of everything."""
    fill(3)


@pytest.fixture
def crowd(db) -> None:
    """Five hundred rows of everything."""
    fill(MANY)


def fill(count: int) -> None:
    """As many rows of everything."""
    now = timezone.now()
    each = range(count)
    users = User.objects.bulk_create([User(username=f"user{n}") for n in each])
    organizations = Organization.objects.bulk_create([Organization(name=f"org{n}") for n in each])
    memberships = Membership.objects.bulk_create(
        [
            Membership(
                organization=organizations[n], user=users[n], github_id=n + 1, login=f"user{n}"
            )
            for n in each
        ]
    )
    made = Token.objects.bulk_create(
        [Token(type="ia", user=users[n], hash=f"hash{n}", expires_at=now) for n in each]
    )
    PersonalToken.objects.bulk_create(
        [PersonalToken(token=made[n], name=f"CI {n}", ending="abcd") for n in each]
    )
    Terminal.objects.bulk_create(
        [Terminal(user=users[n], client="cli", family=f"hash{n}", ends_at=now) for n in each]
    )
    Invitation.objects.bulk_create(
        [
            Invitation(
                organization=organizations[n],
                github_id=n,
                login=f"guest{n}",
                role="member",
                invited_by=memberships[n],
            )
            for n in each
        ]
    )
    Domain.objects.bulk_create(
        [
            Domain(
                organization=organizations[n],
                name=f"docs{n}.acme.com",
                registrable=hosts.is_registrable(f"docs{n}.acme.com", pages_host="github.io"),
            )
            for n in each
        ]
    )
    Site.objects.bulk_create(
        [
            Site(
                organization=organizations[n],
                host=f"org{n}.github.io",
                path="/",
                repository=f"org{n}/docs",
                verified_at=now,
            )
            for n in each
        ]
    )
    installations = Installation.objects.bulk_create(
        [Installation(github_id=n + 1, account=f"org{n}") for n in each]
    )
    integrations = Integration.objects.bulk_create(
        [Integration(organization=organizations[n], installation=installations[n]) for n in each]
    )
    reports = Report.objects.bulk_create(
        [
            Report(
                organization=organizations[n],
                received_at=now,
                last_received_at=now,
                kind="other",
                summary=f"Summary {n}",
            )
            for n in each
        ]
    )
    deliveries = Delivery.objects.bulk_create(
        [Delivery(report=reports[n], integration=integrations[n]) for n in each]
    )
    folded = {"status": "folded", "lead": deliveries[0], "folded_at": now}
    Delivery.objects.filter(pk__in=[one.pk for one in deliveries[1::2]]).update(**folded)
    Attempt.objects.bulk_create(
        [Attempt(delivery=deliveries[n], number=1, started_at=now) for n in each]
    )
    Terms.objects.bulk_create(
        [Terms(delivery=deliveries[n], integration=integrations[n], rule=1, terms={}) for n in each]
    )
    Answer.objects.bulk_create(
        [Answer(delivery=deliveries[n], text=f"Use {n}.", made_by="alice") for n in each]
    )
    Comment.objects.bulk_create(
        [
            Comment(integration=integrations[n], lead=deliveries[n], purpose="also", occasion=now)
            for n in each
        ]
    )
    Verdict.objects.bulk_create(
        [
            Verdict(
                integration=integrations[n], report=reports[n], other=reports[n - 1], is_same=False
            )
            for n in each
        ]
    )
    OneTimeState.objects.bulk_create(
        [
            OneTimeState(
                organization=organizations[n],
                member=memberships[n],
                secret_hash="0",
                expires_at=now,
            )
            for n in each
        ]
    )
    Notice.objects.bulk_create(
        [Notice(organization=organizations[n], at=now, text=f"Notice {n}") for n in each]
    )
    EarlierChallenge.objects.bulk_create(
        [
            EarlierChallenge(organization=organizations[n], name="acme.com", challenge=f"value{n}")
            for n in each
        ]
    )
    Hold.objects.bulk_create(
        [
            Hold(kind="agent", value=f"agent{n}", reason="Junk.", digest=str(n), made_by=users[n])
            for n in each
        ]
    )
    Webhook.objects.bulk_create([Webhook(delivery_id=f"webhook{n}") for n in each])
    Lease.objects.bulk_create([Lease(name=f"lease{n}", until=now) for n in each])
    SocialAccount.objects.bulk_create(
        [SocialAccount(user=users[n], provider="github", uid=str(n), extra_data={}) for n in each]
    )


def text_of(page) -> str:
    """What is written on it, in one line."""
    text = re.sub(r"<[^>]+>", " ", page.content.decode())
    return " ".join(html.unescape(text).split())


def address(model) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def test_people_are_found_by_their_number_and_login_on_github(operator):
    bob = build.member(build.organization(), "bob")
    User.objects.filter(pk=bob.pk).update(username="robert")
    number = bob.membership.github_id

    found = [
        operator.get(f"/admin/orgs/user/?q={each}").content.decode() for each in ("bob", number)
    ]
    page = operator.get(f"/admin/orgs/user/{bob.pk}/change/").content.decode()

    assert all(f"/admin/orgs/user/{bob.pk}/change/" in each for each in found)
    assert f"{number}, bob at the last sign-in" in page


def test_only_what_an_operator_changes_has_a_line_of_its_own_in_the_log(operator, db):
    noted = []
    for browser in (operator, Client()):
        with current.answering(current.Asked()):
            browser.post("/admin/reports/report/", {"action": ""})
            noted.append(current.asked().changed)

    assert noted == [current.SETTINGS, ""]


def test_every_model_can_be_looked_at():
    assert set(OURS) <= set(admin.site._registry)


@pytest.mark.slow
def test_every_list_and_row_opens_with_few_queries_among_five_hundred(
    operator, crowd, django_assert_max_num_queries
):
    for model in admin.site._registry:
        with django_assert_max_num_queries(15):
            listed = operator.get(address(model))
        assert listed.status_code == 200, model
        if row := model._default_manager.first():
            assert operator.get(f"{address(model)}{row.pk}/change/").status_code == 200, model


@pytest.mark.parametrize(
    "model", [each for each in OURS if each is not Hold], ids=lambda model: model.__name__
)
def test_nothing_is_added_or_deleted_by_hand(operator, model):
    assert operator.get(f"{address(model)}add/").status_code == 403


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
@pytest.mark.parametrize("key", ["x", "9" * 30], ids=["text", "a huge number"])
def test_an_address_that_cannot_be_that_of_a_row_leads_to_no_row(operator, model, key):
    pages = [operator.get(f"{address(model)}{key}/{page}/") for page in ("change", "history")]

    assert {(each.status_code, each.get("Location")) for each in pages} == {(302, "/admin/")}


@pytest.mark.parametrize("model", [Report, Delivery, DBTaskResult], ids=lambda m: m.__name__)
@pytest.mark.parametrize("where", ["%00/change/", "%00/history/", "?status__exact=%00", "?q=%00"])
def test_a_nul_is_refused_wherever_an_operator_sends_one(operator, model, where):
    assert operator.get(f"{address(model)}{where}").status_code == 400


@convert_exception_to_response
def listed(request):
    """The answer of the view itself: who is signed in takes much longer to find out."""
    answer = resolve(request.path_info).func(request)
    return answer.render() if isinstance(answer, TemplateResponse) else answer


def statuses(model, asked: dict[str, str]) -> dict[str, int]:
    """How the list of a model answers each of these parameters."""
    request, operator, found = RequestFactory(), User.objects.get(username="alice"), {}
    for name, text in asked.items():
        asking = request.get(address(model), {name: text})
        asking.user = operator
        found[f"{address(model)}?{name}"] = listed(asking).status_code
    return found


def test_a_list_asks_of_no_column_what_its_filters_do_not_ask(operator, some):
    """A list told, a character at a time, the hashes that are not shown; some comparisons were internal errors."""
    comparisons = ("startswith", "regex", "gt", "range", "in", "date", "has_key")
    for model in admin.site._registry:
        columns = [field.name for field in model._meta.fields]
        answered = statuses(
            model, {f"{name}__{how}": "(" for name in columns for how in comparisons}
        )
        assert set(answered.values()) == {400}, answered


@pytest.mark.slow
@pytest.mark.parametrize("value", ["x", "9" * 40, ""], ids=["text", "a huge number", "nothing"])
def test_each_filter_of_a_list_takes_any_value(operator, some, value):
    for model, shown in admin.site._registry.items():
        columns = [each if isinstance(each, str) else each[0] for each in shown.list_filter]
        compared = [f"{name}__{how}" for name in columns for how in read_only.COMPARISONS]
        others = ["o", "p", "all", "_facets", "_popup", "e", *shown.linked_by]
        answered = statuses(model, dict.fromkeys([*columns, *compared, *others], value))
        assert set(answered.values()) <= {200, 302, 400}, answered


@pytest.mark.slow
def test_each_filter_that_a_list_links_to_works(operator, some):
    for model, shown in admin.site._registry.items():
        page = operator.get(address(model)).content.decode()
        links = set(re.findall(r'href="(\?[a-z_]+=[^"]*)"', page))
        assert links or not shown.list_filter, model
        for link in links:
            assert operator.get(address(model) + html.unescape(link)).status_code == 200, link


@pytest.mark.parametrize(
    "text", ["a " * 600, "x" * 60_000, '"', "'", "\\", '"\\"', "9" * 40, "%", "😀 (["],
    ids=["words", "long", "quote", "apostrophe", "backslash", "quoted", "huge", "percent", "signs"],
)  # fmt: skip
def test_any_text_can_be_searched_for(operator, some, text):
    for model in admin.site._registry:
        assert operator.get(address(model), {"q": text}).status_code == 200, model


@pytest.mark.parametrize("model", [User, Report], ids=lambda m: m.__name__)
@pytest.mark.parametrize("text", ["a " * 21, "x" * 501], ids=["words", "characters"])
def test_a_search_for_very_much_is_refused(operator, some, model, text):
    """Six hundred words were answered "The database cannot be reached"."""
    answer = operator.get(address(model), {"q": text})

    assert "Search for at most 20 words, of 500 characters together." in text_of(answer)
    assert not answer.context["cl"].result_list


@pytest.mark.parametrize(
    "path", ["password_change/", "password_change/done/", "r/{}/x/", "r/{}/1/", "r/x/x/"]
)
def test_there_are_no_pages_of_passwords_and_no_public_ones_of_rows(operator, path):
    """Some that led from a row to its public page, which none has, were an internal error."""
    task = ContentType.objects.get_for_model(DBTaskResult)

    assert operator.get(f"/admin/{path.format(task.pk)}").status_code == 404


@pytest.mark.parametrize("key", ["", "x", "\0", "9" * 30], ids=["none", "text", "a NUL", "huge"])
def test_a_selection_that_cannot_be_a_row_is_refused(operator, some, key):
    form = {"action": "retry", "_selected_action": [Delivery.objects.first().pk, key]}

    assert operator.post(address(Delivery), form).status_code == 400


def test_what_journeys_decide_is_never_typed_in(operator, some):
    domain, integration = Domain.objects.first(), Integration.objects.first()

    for row in (domain, integration, Delivery.objects.first(), Membership.objects.first()):
        page = f"{address(type(row))}{row.pk}/"
        shown = operator.get(f"{page}change/").content.decode()
        assert not re.findall(r'<(?:input|select|textarea)[^>]* name="(?!csrf)[a-z_]+"', shown), row
        assert operator.post(f"{page}change/", {"verified_at_0": "2026-01-01"}).status_code == 403
        assert operator.post(f"{page}delete/", {"post": "yes"}).status_code == 403

    domain.refresh_from_db()
    assert domain.verified_at is None


def test_a_secret_is_not_shown(operator, some):
    token = Token.objects.first()

    page = operator.get(f"{address(Token)}{token.pk}/change/").content.decode()

    assert token.hash not in page


def test_an_earlier_value_of_a_record_is_not_shown(operator, some):
    """It was in the title of its page."""
    earlier = EarlierChallenge.objects.first()

    for page in ("", f"{earlier.pk}/change/", f"{earlier.pk}/history/"):
        shown = operator.get(f"{address(EarlierChallenge)}{page}").content.decode()
        assert earlier.challenge not in shown


def test_an_operator_shuts_somebody_out(operator):
    bob = build.member(build.organization(), "bob")
    value = build.token(bob)

    operator.post(f"{address(User)}{bob.pk}/change/", {})

    assert build.api(value).get("/v1/orgs/me").status_code == 401


def test_operators_do_not_shut_themselves_out(operator):
    mine = User.objects.get(is_staff=True)

    operator.post(f"{address(User)}{mine.pk}/change/", {"is_active": ""})

    assert User.objects.get(pk=mine.pk).is_active


def opened(operator, person: User) -> dict[str, str]:
    """What the form of an account sends, apart from the box."""
    page = operator.get(f"{address(User)}{person.pk}/change/").content.decode()
    [before] = re.findall(r'name="was_active" value="(\w+)"', page)
    return {"was_active": before}


@pytest.mark.parametrize("was_active", [True, False])
def test_a_form_that_was_opened_before_another_operator_decided_changes_nothing(
    operator, was_active
):
    """Whoever was deactivated meanwhile was let in again by it."""
    bob = build.member(build.organization(), "bob")
    User.objects.filter(pk=bob.pk).update(is_active=was_active)
    form = opened(operator, bob) | ({"is_active": "on"} if was_active else {})
    User.objects.filter(pk=bob.pk).update(is_active=not was_active)

    answer = operator.post(f"{address(User)}{bob.pk}/change/", form)

    assert "Another operator has changed this account since you opened" in text_of(answer)
    assert User.objects.get(pk=bob.pk).is_active is not was_active
    assert not LogEntry.objects.exists()


def test_the_form_of_an_account_changes_nothing_but_whether_it_is_active(operator, monkeypatch):
    """It saved all columns: an operator whose access a command took away at that moment had it back."""
    carol = User.objects.create(username="carol", is_staff=True, is_superuser=True)
    revoke = tokens.revoke_all

    def undo_meanwhile(person: User) -> None:
        revoke(person)
        User.objects.filter(pk=person.pk).update(is_staff=False, is_superuser=False)

    monkeypatch.setattr(tokens, "revoke_all", undo_meanwhile)
    operator.post(f"{address(User)}{carol.pk}/change/", opened(operator, carol))

    carol.refresh_from_db()
    assert (carol.is_active, carol.is_staff, carol.is_superuser) == (False, False, False)
    assert LogEntry.objects.get().get_change_message() == "Changed Active."


def test_nobody_is_made_an_operator_by_a_form(operator):
    bob = build.member(build.organization(), "bob")

    operator.post(
        f"{address(User)}{bob.pk}/change/",
        {"is_active": "on", "is_staff": "on", "is_superuser": "on"},
    )

    bob.refresh_from_db()
    assert (bob.is_active, bob.is_staff, bob.is_superuser) == (True, False, False)


def test_the_index_shows_how_it_goes(operator, django_assert_max_num_queries):
    now = timezone.now()
    installation = Installation.objects.create(
        github_id=1, account="acme", limited_until=now + timedelta(minutes=5)
    )
    acme = build.organization()
    integration = Integration.objects.create(organization=acme, installation=installation)
    domain = build.domain(acme, "docs.acme.com")
    domain.last_checked_at = now - timedelta(hours=2, minutes=1)
    domain.save()
    held_for = ("", "", "operator", "discarded", "")
    for status, cause in zip(
        ("pending", "pending", "held", "held", "failed"), held_for, strict=True
    ):
        report = Report.objects.create(received_at=now, last_received_at=now, kind="other")
        delivery = Delivery.objects.create(
            report=report,
            integration=integration,
            status=status,
            held_for=cause,
            created_at=now - timedelta(hours=23, minutes=1),
        )
    Attempt.objects.create(
        delivery=delivery, number=1, started_at=now, ended_at=now, outcome="refused"
    )
    old = now - timedelta(hours=3)
    Attempt.objects.create(
        delivery=delivery, number=2, started_at=old, ended_at=old, outcome="refused"
    )
    Attempt.objects.create(
        delivery=delivery, number=3, started_at=old, ended_at=old, outcome="folded"
    )

    with django_assert_max_num_queries(15):
        page = operator.get("/admin/")

    shown = text_of(page)
    assert "Waiting 2 oldest 23 h ago" in shown
    assert "Held 1 and 1 discarded by members" in shown
    assert "Sent 0 since" in shown
    assert re.search(r"Failed attempts 1 of 1 since \d\d:\d\d UTC", shown)
    assert (
        "0 sent, 1 joined an issue, 2 failed, 0 postponed by a limit or a hold. Most failed between"
        in shown
    )
    assert "What deliveries wait for Our pace 2" in shown
    assert "Attempts without an issue, by cause GitHub refused the issue 2" in shown
    assert re.search(r"acme until \d\d:\d\d:\d\d UTC Our pace 2 3 unknown", shown)


def test_the_index_of_an_empty_hub(operator):
    shown = text_of(operator.get("/admin/"))

    assert "nothing waits" in shown
    assert "Delivery has stopped: maintain has never run." in shown
    assert "There was none in the last 24 hours." in shown
    assert "No installation has sent anything" in shown


def test_the_index_says_whether_maintain_runs(operator):
    Lease.objects.take("maintain", holder="me", duration=timedelta(minutes=1))

    shown = text_of(operator.get("/admin/"))

    assert "Delivering · " in shown
    assert "does not run" not in shown


def test_the_index_says_since_when_nothing_is_delivered(operator):
    since = timezone.now() - timedelta(hours=3, minutes=1)
    Lease.objects.create(name="maintain", until=since)

    shown = text_of(operator.get("/admin/"))

    assert f"Delivery has stopped: maintain has not run since {since:%Y-%m-%d %H:%M} UTC." in shown


@pytest.mark.django_db(transaction=True)
def test_issues_that_are_turned_off_are_postponed_and_nothing_has_failed(
    operator, client, code_host
):
    build.acme(code_host)
    code_host.set_issues("acme/docs", False)
    build.send(client)

    page = operator.get("/admin/")

    assert "Failed attempts 0 of 1 since" in text_of(page)
    assert "0 sent, 0 failed, 1 postponed by a limit or a hold." in text_of(page)
    assert 'class="kwait" x=' in page.content.decode()
    assert 'class="kbad" x=' not in page.content.decode()


def test_large_numbers_are_easy_to_read(operator, monkeypatch):
    Installation.objects.create(github_id=1, account="acme", limit_left=12345)
    mine = Installation.objects.get()
    busy = deliveries_now.Busy(mine, 1000, 1001, "state good", "Sending", None, 100)
    monkeypatch.setattr(deliveries_now, "_busiest", lambda *_: [busy])

    assert "acme Sending 1,000 1,001 12,345" in text_of(operator.get("/admin/"))


def test_tables_of_libraries_and_bookkeeping_come_last(operator):
    page = operator.get("/admin/").content.decode()

    shown, _, internals = page.partition("Internals")
    assert "/admin/integrations/delivery/" in shown
    assert "/admin/hub/lease/" not in shown
    assert "/admin/hub/lease/" in internals


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", [Delivery, Integration, Installation])
def test_retry_sends_what_stands_still(operator, client, code_host, model):
    build.acme(code_host)
    code_host.set_issues("acme/docs", False)
    build.send(client)
    code_host.set_issues("acme/docs", True)
    chosen = {"action": "retry", "_selected_action": [model.objects.get().pk]}

    answer = operator.post(address(model), chosen, follow=True)

    assert "1 retried; 0 not delivered yet." in answer.content.decode()
    assert len(code_host.issues("acme/docs")) == 1
    logged = LogEntry.objects.get()
    assert logged.get_change_message() == "Retried."
    assert logged.get_edited_object() == model.objects.get()


@pytest.mark.django_db(transaction=True)
def test_an_action_counts_what_was_selected_though_the_filter_does_not_fit_it_any_more(
    operator, client, code_host
):
    build.acme(code_host)
    code_host.set_issues("acme/docs", False)
    build.send(client)
    chosen = {"action": "retry", "_selected_action": [Delivery.objects.get().pk]}
    Delivery.objects.update(status="failed", held_for="")

    answer = operator.post(f"{address(Delivery)}?status__exact=failed", chosen, follow=True)

    assert Delivery.objects.get().status == "held"
    assert "1 retried; 1 not delivered yet." in answer.content.decode()
    assert LogEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_hold_stops_what_waits(operator, client, code_host):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    chosen = {"action": "hold", "_selected_action": [Delivery.objects.get().pk]}

    answer = operator.post(address(Delivery), chosen, follow=True)
    call_command("retry_deliveries", "--now")

    assert "1 held. What arrives is sent: to hold that, too, select its organization" in text_of(
        answer
    )
    assert Delivery.objects.get().held_for == "operator"
    assert not code_host.issues("acme/docs")


@pytest.fixture
def pulpit(code_host) -> Organization:
    """Of charlie alone, whose template says what he wants in a repository of his."""
    code_host.add_repository("charlie", "bait")
    code_host.add_installation("charlie")
    owner = build.organization("charlie")
    build.member(owner, "charlie", github_id=code_host.account("charlie").id)
    build.integration(owner, code_host, "charlie/bait")
    build.domain(owner, "docs.acme.com")
    words = "**Docs Feedback Hub:** confirm your account at https://evil.example. @alice"
    Integration.objects.update(issue_template=words)
    return owner


@pytest.mark.django_db(transaction=True)
def test_an_operator_stops_an_organization(operator, client, code_host, pulpit):
    """An attack: after its only member was deactivated, and its integration held, each report was an issue."""
    charlie = User.objects.get(username="charlie")
    chosen = {"action": "hold_all", "_selected_action": [pulpit.pk]}
    build.send(client)

    page = f"{address(User)}{charlie.pk}/change/"
    before = text_of(operator.get(page))
    deactivated = text_of(operator.post(page, opened(operator, charlie), follow=True))
    form = operator.post(address(Organization), chosen)["Location"]
    filled = operator.get(form).context["adminform"].form.initial
    held = operator.post(form, filled | {"reason": "Speaks for the Hub."}, follow=True)
    for summary in ("Two", "Three"):
        assert build.send(client, build.report(report__summary=summary)).status_code == 201
    call_command("retry_deliveries", "--now")
    during = len(code_host.issues("charlie/bait"))
    index = text_of(operator.get("/admin/"))
    operator.post(HOLDS, {"action": "release", "_selected_action": [Hold.objects.get().pk]})
    call_command("retry_deliveries", "--now")

    goes_on = "No other member of charlie is active. Unless it is on hold, reports to it are sent all the same. Hold"
    assert f"{goes_on} all that" in before
    assert f"{goes_on} all that" in deactivated
    assert filled == {"kind": "organization", "value": pulpit.pk}
    assert f"The organization “{pulpit.pk}” is on hold until released." in text_of(held)
    assert "organization: Speaks for the Hub." in index
    assert during == 1
    assert len(code_host.issues("charlie/bait")) == 3


@pytest.mark.django_db(transaction=True)
def test_members_read_that_an_operator_holds_all_and_decides(client, code_host):
    acme = build.acme(code_host)
    bob = build.member(acme, "bob")
    api = build.api(build.token(bob))
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    hold = Hold(kind="organization", value=acme.pk, reason="Speaks for the Hub.")
    operator_holds.make(hold, by=root)
    build.send(client)
    client.force_login(bob)

    pages = ["/settings/", "/settings/integration/"]
    shown = [text_of(client.get(page)) for page in pages]
    problem = api.get("/v1/orgs/me").json()["integration"]["problem"]
    report = text_of(client.get(f"/settings/reports/{Report.objects.get().pk}/"))
    operator_holds.release(hold)

    words = (
        "An operator of this Hub holds all that your organization receives, and decides when it is "
        "sent. Speaks for the Hub."
    )
    assert problem == words
    assert all(words in each for each in shown)
    assert "An operator of this Hub has put this delivery on hold. Speaks for the Hub." in report
    assert not [page for page in pages if "Speaks for the Hub." in text_of(client.get(page))]


def test_the_page_of_an_organization_leads_to_its_hold(operator):
    acme = build.organization()

    page = operator.get(f"{address(Organization)}{acme.pk}/change/").content.decode()
    [form] = re.findall(r'href="([^"]+)">Hold all that this organization receives…', page)

    assert f"{acme.pk}</textarea>" in operator.get(html.unescape(form)).content.decode()


def test_organizations_are_held_one_at_a_time(operator):
    pks = [build.organization(name).pk for name in ("acme", "zenith")]
    chosen = {"action": "hold_all", "_selected_action": pks}

    answer = operator.post(address(Organization), chosen, follow=True)

    assert "Select one organization at a time." in text_of(answer)


@pytest.mark.parametrize("is_active", [True, False])
def test_who_deactivates_an_account_is_told_whether_its_organization_goes_on(operator, is_active):
    acme = build.organization()
    bob, carol = build.member(acme, "bob"), build.member(acme, "carol")
    User.objects.filter(pk=carol.pk).update(is_active=is_active)
    page = f"{address(User)}{bob.pk}/change/"

    shown = text_of(operator.get(page))
    saved = text_of(operator.post(page, opened(operator, bob), follow=True))

    assert ["No other member of acme is active" in each for each in (shown, saved)] == [
        not is_active
    ] * 2


@pytest.mark.django_db(transaction=True)
def test_reverify_looks_at_the_record_now(operator, dns):
    acme = build.organization()
    proved = build.domain(acme, "docs.acme.com", verified=False)
    dns.txt(proved.record_name, proved.record_value)
    gone = build.domain(acme, "docs.acme.org")
    chosen = {"action": "reverify", "_selected_action": [proved.pk, gone.pk]}

    answer = operator.post(address(Domain), chosen, follow=True)

    assert "2 checked: 1 verified again, 1 without a record." in answer.content.decode()
    proved.refresh_from_db()
    assert proved.verified_at


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("status", "path", "label"),
    [
        ("422", "issues", "GitHub refused the issue"),
        ("410", "issues", "GitHub accepts no issues there"),
        ("502", "issues", "GitHub answered 5xx"),
        ("500", "token", "GitHub answered 5xx"),
        ("reset_mid_answer", "issues", "No answer from GitHub"),
        ("refuse", "token", "GitHub was not reached"),
        ("429", "issues", "GitHub's limit"),
        ("paused", "", "Held before GitHub was asked"),
        ("operator", "", "Held before GitHub was asked"),
    ],
)
def test_each_cause_is_counted_as_what_it_is(operator, client, code_host, status, path, label):
    build.acme(code_host)
    if path:
        code_host.fail(status, path=path)
        build.send(client)
    else:
        code_host.fail("500", path="token")
        build.send(client)
        Attempt.objects.all().delete()
        if status == "paused":
            Integration.objects.update(paused_at=timezone.now())
        else:
            Hold.objects.create(kind="agent", value="agent-x", reason="Junk.", digest="0")
        call_command("retry_deliveries", "--now")

    shown = text_of(operator.get("/admin/"))

    causes = shown.partition("Attempts without an issue, by cause ")[2]
    assert causes.startswith(f"{label} 1 Of the last 24 hours.")


@pytest.mark.django_db(transaction=True)
def test_what_waits_is_told_apart(operator, client, code_host, settings):
    build.acme(code_host)
    settings.HUB_ISSUE_RATE = "1/minute"
    for summary in ("one", "two", "three"):
        build.send(client, build.report(report__summary=summary))
    paced = text_of(operator.get("/admin/"))
    installation = Installation.objects.get()
    installation.leave_alone_for(timedelta(minutes=5))
    limited = text_of(operator.get("/admin/"))
    past = timezone.now() - timedelta(minutes=1)
    Installation.objects.update(limited_until=past, left_alone_until=past)
    first = Delivery.objects.waiting().first()
    Delivery.objects.filter(pk=first.pk).update(due_at=timezone.now() + timedelta(minutes=5))
    settings.HUB_ISSUE_RATE = "100/minute"
    free = text_of(operator.get("/admin/"))

    assert "What deliveries wait for Our pace 2 Of 2" in paced
    assert "What deliveries wait for GitHub's limit 2 Of 2" in limited
    assert re.search(r"acme until \d\d:\d\d:\d\d UTC GitHub's limit 2 1 \d+", limited)
    assert re.search("wait for (Their next attempt 1 Their turn 1|Their turn 1 Their next)", free)


@pytest.mark.django_db(transaction=True)
def test_what_waits_since_one_network_sends_much_is_told_apart(
    operator, client, code_host, settings
):
    """An attack: two reports a minute, so that what should tell of deliveries that nobody sends is always on."""
    build.acme(code_host)
    settings.HUB_ISSUE_RATE = "8/minute"
    for number in range(4):
        build.send(client, build.report(report__summary=f"Number {number}"))
    sent = Delivery.objects.filter(status="sent").count()

    shown = text_of(operator.get("/admin/"))

    assert f"What deliveries wait for Their network's share of it {4 - sent} Of {4 - sent}" in shown
    assert Installation.objects.get().limited_until is None


@pytest.mark.django_db(transaction=True)
def test_the_index_leads_to_what_could_be_held(operator, client, code_host):
    build.acme(code_host)
    build.send(client)
    build.send(client, build.report("https://nobodys.example/", agent__name="a b & c"))

    page = operator.get("/admin/")
    shown = text_of(page)
    addresses = [
        html.unescape(each)
        for each in re.findall(r'href="([^"]+/hold/add/\?[^"]+)"', page.content.decode())
    ]
    [agent] = [each for each in addresses if "a+b" in each]
    form = operator.get(agent).content.decode()

    assert "Top hosts nobodys.example 1 docs.acme.com 1 Of 2 reports of the last 24 hours." in shown
    assert "Of 1 deliveries since 00:00 UTC." in shown
    assert len(addresses) == 5  # two pages, two agents, one source
    assert '<option value="agent" selected>' in form
    assert "a b &amp; c</textarea>" in form


@pytest.mark.django_db(transaction=True)
def test_what_arrived_before_a_claim_is_no_source_to_hold(operator, client, code_host):
    """All of it has one source, which is nobody's network."""
    acme = build.organization()
    build.integration(acme, code_host)
    build.send(client)
    claim = build.domain(acme, "docs.acme.com")
    unclaimed.send(build.member(acme, "bob").membership, claim, [Report.objects.get().pk])
    sent = Delivery.objects.get()

    index = operator.get("/admin/")
    one = operator.get(f"{address(Delivery)}{sent.pk}/change/").content.decode()

    [sources] = [top for top in index.context["now"]["tops"] if top.id == "sources"]
    assert (sent.source, sources.bars) == (EARLIER, [])
    assert "Hold its agent" in one
    assert "Hold its source" not in one


HOLDS = "/admin/integrations/hold/"
JUNK = {"kind": "agent", "value": " agent-x ", "reason": "Made-up reports."}


@pytest.mark.django_db(transaction=True)
def test_an_operator_holds_an_agent_and_releases_it(operator, client, code_host):
    build.acme(code_host)

    listed = operator.post(f"{HOLDS}add/", JUNK, follow=True)
    answer = build.send(client)
    held = Delivery.objects.get()
    index = text_of(operator.get("/admin/"))
    member = build.member(held.integration.organization, "bob")
    client.force_login(member)
    shown = text_of(client.get(f"/settings/reports/{held.report_id}/"))
    exported = client.get("/settings/account/export.json").getvalue().decode()
    client.force_login(User.objects.get(is_staff=True))
    hold = Hold.objects.get()
    released = operator.post(
        HOLDS, {"action": "release", "_selected_action": [hold.pk]}, follow=True
    )
    call_command("retry_deliveries", "--now")

    assert "The agent “agent-x” is on hold until released." in text_of(listed)
    assert LogEntry.objects.first().object_repr == f"{hold.pk}: agent"  # without its name
    assert "until released" in index
    assert answer.status_code == 201
    assert (held.status, held.held_for) == ("held", "operator")
    assert "On hold" in index
    assert "agent: Made-up reports." in index
    words = "An operator of this Hub has put this delivery on hold. Made-up reports."
    assert words in shown
    assert words in exported
    assert "1 released. What they held is sent in turn." in released.content.decode()
    assert len(code_host.issues("acme/docs")) == 1
    assert {each.get_change_message() for each in LogEntry.objects.all()} == {"Added.", "Released."}
    assert Hold.objects.get().made_by.username == "alice"


def test_the_hold_of_a_source_says_when_it_ends(operator):
    source = {"kind": "source", "value": "0123456789abcdef", "reason": "A flood."}

    form = text_of(operator.get(f"{HOLDS}add/"))
    answer = text_of(operator.post(f"{HOLDS}add/", source, follow=True))
    another = operator.post(f"{HOLDS}add/", JUNK | {"_addanother": "1"})

    assert "a source until its day ends, at 00:00 UTC" in form
    assert re.search("“0123456789abcdef” is on hold until 2[0-9-]+ 00:00 UTC.", answer)
    assert re.search("until 2[0-9-]+ 00:00 UTC", text_of(operator.get("/admin/")))
    assert another["Location"] == f"{HOLDS}add/"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"kind": "page", "value": "a page"}, "Must not contain backslashes, spaces"),
        ({"kind": "source"}, "Must be 16 digits and letters, as Deliveries now lists sources."),
        ({"value": ""}, "This field is required."),
        ({"reason": ""}, "This field is required."),
        ({"value": "agent-y"}, "This agent is on hold already."),
    ],
)
def test_what_cannot_be_held_is_said_in_the_form(operator, changed, why):
    operator.post(f"{HOLDS}add/", JUNK | {"value": "agent-y"})

    answer = operator.post(f"{HOLDS}add/", JUNK | changed)

    assert why in text_of(answer)
    assert Hold.objects.count() == 1


def test_what_another_operator_has_just_held_is_said(operator, monkeypatch):
    operator.post(f"{HOLDS}add/", JUNK)
    monkeypatch.setattr(operator_holds, "checked", lambda kind, text: text.strip())

    answer = operator.post(f"{HOLDS}add/", JUNK, follow=True)

    assert "This agent is on hold already." in text_of(answer)
    assert Hold.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_delivery_leads_to_what_holds_reports_like_it_and_a_hold_to_its_deliveries(
    operator, client, code_host
):
    build.acme(code_host)
    build.send(client)
    build.send(client, build.report(agent__name="another"))
    sent = Delivery.objects.first()

    page = operator.get(f"{address(Delivery)}{sent.pk}/change/").content.decode()
    forms = re.findall(r'href="([^"]+)">Hold its (\w+)</a>', page)
    shown = [operator.get(html.unescape(form)).content.decode() for form, _ in forms]
    hold = Hold.objects.create(kind="agent", value="agent-x", reason="Junk.")
    Delivery.objects.filter(pk=sent.pk).update(operator_hold=hold)
    [link] = re.findall(r'href="([^"]+)">Show</a>', operator.get(HOLDS).content.decode())
    listed = operator.get(html.unescape(link)).context["cl"]

    assert [kind for _, kind in forms] == ["page", "agent", "organization", "source"]
    assert "https://docs.acme.com/install</textarea>" in shown[0]
    assert "agent-x</textarea>" in shown[1]
    assert f"{sent.report.organization_id}</textarea>" in shown[2]
    assert f"{sent.source}</textarea>" in shown[3]
    assert list(listed.result_list) == [sent]


def test_a_link_fills_in_what_to_hold_and_not_why(operator):
    """An attack: one press of an operator, whom another site has led there, would hold it."""
    link = "/admin/integrations/hold/add/?kind=agent&value=agent-x&reason=Junk"

    page = operator.get(link).content.decode()

    assert ">\nagent-x</textarea>" in page
    assert "Junk" not in page


def test_a_hold_is_neither_changed_nor_deleted(operator, some):
    hold = Hold.objects.first()

    assert operator.post(f"{HOLDS}{hold.pk}/change/", JUNK).status_code == 403
    assert operator.post(f"{HOLDS}{hold.pk}/delete/", {"post": "yes"}).status_code == 403


@pytest.mark.parametrize(
    "asked", ["agent-7", "/page-7", "Summary-7", '"acme docs"', "ACME agent-7"]
)
def test_deliveries_are_found_by_what_their_reports_say(operator, code_host, asked):
    now = timezone.now()
    mine = build.integration(build.organization(), code_host)
    for number in range(9):
        report = Report.objects.create(
            received_at=now,
            last_received_at=now,
            kind="other",
            summary=f"Summary-{number}{' of acme docs' if number == 7 else ''}",
            canonical_url=f"https://docs.acme.com/page-{number}",
            agent_name=f"agent-{number}",
        )
        Delivery.objects.create(report=report, integration=mine)

    found = operator.get("/admin/integrations/delivery/", {"q": asked})

    assert [each.report.agent_name for each in found.context["cl"].result_list] == ["agent-7"]
    assert "docs.acme.com/page-7" in text_of(found)
    assert "Summary-7" in text_of(found)


def test_a_report_that_is_nobodys_is_found(operator):
    now = timezone.now()
    Report.objects.create(
        received_at=now, last_received_at=now, kind="other", agent_name="Nobody's"
    )

    found = operator.get("/admin/reports/report/", {"q": "nobody's"}).context["cl"]

    assert len(found.result_list) == 1


def test_every_time_is_in_utc(operator, some):
    at = Report.objects.first().received_at.strftime("%Y-%m-%d %H:%M:%S UTC")

    for page in ("", f"{Report.objects.first().pk}/change/"):
        assert at in text_of(operator.get(f"/admin/reports/report/{page}"))


def test_nobody_is_asked_for_a_password(operator):
    page = operator.get("/admin/integrations/delivery/").content.decode()

    assert "password" not in page.lower()
    assert operator.get("/admin/password_change/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_an_operator_deletes_a_claim_and_its_organization_is_told(operator, client):
    acme = build.organization()
    domain = build.domain(acme, "docs.acme.com")
    chosen = {"action": "delete_claims", "_selected_action": [domain.pk]}

    asked = text_of(operator.post(address(Domain), chosen))
    before = Domain.objects.count()
    answer = operator.post(address(Domain), chosen | {"confirmed": "Delete"}, follow=True)

    assert "Delete 1 claim?" in asked
    assert "docs.acme.com, of acme, verified" in asked
    assert before == 1
    assert "1 deleted." in text_of(answer)
    assert not Domain.objects.exists()
    assert LogEntry.objects.get().get_change_message() == "Deleted the claim."
    told = Notice.objects.get()
    assert told.kind == "operator"
    assert told.text.startswith("An operator of this Hub has deleted your claim")


@pytest.fixture
def claims(db) -> list[str]:
    """The ids of three claims of acme."""
    acme = build.organization()
    return [build.domain(acme, f"d{number}.example").pk for number in range(3)]


def deletion_of(claims: list[str]) -> dict:
    return {"action": "delete_claims", "_selected_action": claims, "confirmed": "Delete"}


@pytest.mark.django_db(transaction=True)
def test_reports_are_stored_between_claims_that_are_deleted(operator, claims, monkeypatch):
    """An attack on SQLite: others' reports were answered 503 while an operator deleted claims."""
    rests, deleted = [], []
    remove = claiming.remove_for_operator
    monkeypatch.setattr(claiming, "remove_for_operator", lambda d: deleted.append(d) or remove(d))
    monkeypatch.setattr(
        "core.batches.time.sleep",
        lambda took: rests.append((took, len(deleted), Domain.objects.count())),
    )

    answer = operator.post(address(Domain), deletion_of(claims), follow=True)

    assert "3 deleted." in text_of(answer)
    assert [each[1:] for each in rests] == [(1, 2), (2, 1), (3, 0)]  # committed, then a rest
    assert all(took > 0 for took, *_ in rests)


@pytest.mark.django_db(transaction=True)
def test_claims_are_deleted_for_so_long_and_their_history_says_which(operator, claims, monkeypatch):
    ticks = iter([0, 1, 2])
    monkeypatch.setattr("orgs.read_only.time", SimpleNamespace(monotonic=lambda: next(ticks, 99)))
    remaining = Domain.objects.values_list("pk", flat=True)

    answer = operator.post(address(Domain), deletion_of(claims), follow=True)

    assert "2 of 3 deleted. The others are left: select them again." in text_of(answer)
    gone = set(claims) - set(remaining)
    assert len(gone) == 2
    assert {each.object_id for each in LogEntry.objects.all()} == gone
    assert Notice.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_claim_that_is_gone_meanwhile_is_not_deleted_again(operator, claims, monkeypatch):
    remove = claiming.remove_for_operator

    def remove_last(domain: Domain) -> bool:
        Domain.objects.filter(pk=domain.pk, name="d2.example").delete()
        return remove(domain)

    monkeypatch.setattr(claiming, "remove_for_operator", remove_last)
    answer = operator.post(address(Domain), deletion_of(claims), follow=True)

    assert "2 of 3 deleted." in text_of(answer)
    assert (LogEntry.objects.count(), Notice.objects.count()) == (2, 2)


@pytest.mark.parametrize("confirmed", [{}, {"confirmed": "Delete"}])
def test_so_many_claims_are_deleted_at_a_time(operator, claims, monkeypatch, confirmed):
    monkeypatch.setattr("orgs.read_only.CONFIRMED_AT_ONCE", 2)
    chosen = {"action": "delete_claims", "_selected_action": claims} | confirmed

    answer = operator.post(address(Domain), chosen, follow=True)

    assert "Select at most 2 domains at a time." in text_of(answer)
    assert Domain.objects.count() == 3


@pytest.mark.parametrize("confirmed", [{}, {"confirmed": "Erase"}])
def test_so_many_reports_are_erased_at_a_time(operator, client, monkeypatch, confirmed):
    """Confirming more was answered 413, since a form takes 1,000 fields, and erased none."""
    monkeypatch.setattr("orgs.read_only.CONFIRMED_AT_ONCE", 2)
    ids = [
        build.send(client, build.report(report__summary=f"Gone {n}")).json()["id"] for n in "abc"
    ]
    chosen = {"action": "erase", "_selected_action": ids[:1], "select_across": "1"} | confirmed

    refused = operator.post(address(Report), chosen, follow=True)
    few = {"action": "erase", "_selected_action": ids[:2], "confirmed": "Erase"}
    erased = operator.post(address(Report), few, follow=True)

    assert "Select at most 2 reports at a time." in text_of(refused)
    assert "2 erased." in text_of(erased)
    assert [*Report.objects.exclude(summary="").values_list("pk", flat=True)] == ids[2:]


@pytest.fixture
def three(client, db) -> list[str]:
    """The ids of three reports."""
    sent = [build.send(client, build.report(report__summary=f"Gone {n}")) for n in "abc"]
    return [each.json()["id"] for each in sent]


def erasing_of(ids: list[str]) -> dict:
    return {"action": "erase", "_selected_action": ids, "confirmed": "Erase"}


@pytest.mark.django_db(transaction=True)
def test_what_was_erased_is_noted_though_a_later_one_fails(operator, three, monkeypatch):
    """Two of three were erased then, and no history said by whom."""
    erase = erasing.erase

    def erase_two(report: Report) -> None:
        if Report.objects.exclude(erased_at=None).count() == 2:
            raise OperationalError("It is away.")
        erase(report)

    monkeypatch.setattr(erasing, "erase", erase_two)
    answer = operator.post(address(Report), erasing_of(three))

    assert answer.status_code == 503
    erased = Report.objects.exclude(erased_at=None).values_list("pk", flat=True)
    assert len(erased) == 2
    assert {each.object_id for each in LogEntry.objects.all()} == set(erased)


@pytest.mark.django_db(transaction=True)
def test_reports_are_stored_between_those_that_are_erased_and_it_takes_so_long(
    operator, three, monkeypatch
):
    rests = []
    ticks = iter([0, 1, 2])
    monkeypatch.setattr("orgs.read_only.time", SimpleNamespace(monotonic=lambda: next(ticks, 99)))
    monkeypatch.setattr("core.batches.time.sleep", rests.append)

    answer = operator.post(address(Report), erasing_of(three), follow=True)

    assert "2 of 3 erased. The others are left: select them again." in text_of(answer)
    assert Report.objects.exclude(erased_at=None).count() == len(rests) == 2


@pytest.mark.parametrize(
    ("model", "action", "breaks", "note"),
    [
        (Delivery, "retry", "integrations.delivery.retries.retry", "Retried."),
        (Integration, "hold", "integrations.delivery.trying_again.stop_all", "Held."),
        (Domain, "reverify", "orgs.domains.reverification.run", "Re-verified."),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_an_action_is_noted_though_it_fails_in_the_middle(
    operator, some, monkeypatch, model, action, breaks, note
):
    """What had been requeued, held or checked by then was changed by nobody, to read the history."""

    def fail(*args, **kwargs):
        raise OperationalError("It is away.")

    monkeypatch.setattr(breaks, fail)
    chosen = [*model.objects.values_list("pk", flat=True)]
    answer = operator.post(address(model), {"action": action, "_selected_action": chosen})

    assert answer.status_code == 503
    assert {each.object_id for each in LogEntry.objects.all()} == {str(pk) for pk in chosen}
    assert {each.get_change_message() for each in LogEntry.objects.all()} == {note}


@pytest.mark.django_db(transaction=True)
def test_who_releases_what_another_operator_has_released_is_not_noted(operator, some):
    over, *others = Hold.objects.order_by("pk")
    operator_holds.release(over)
    chosen = [each.pk for each in (over, *others)]

    answer = operator.post(HOLDS, {"action": "release", "_selected_action": chosen}, follow=True)

    assert "2 released." in text_of(answer)
    noted = {each.object_id for each in LogEntry.objects.all()}
    assert noted == {str(each.pk) for each in others}


def test_visitors_sign_in_by_github(client, db):
    answer = client.get("/admin/", follow=True)

    assert answer.redirect_chain[-1][0] == "/login/?next=/admin/"


@pytest.mark.parametrize("number", [1, 20])
def test_deliveries_say_why_they_wait(
    operator, code_host, settings, django_assert_max_num_queries, number
):
    settings.HUB_ISSUE_RATE = "1/hour"
    now = timezone.now()
    build.integration(build.organization(), code_host)
    mine = Integration.objects.get()
    texts = {"kind": "other", "summary": "Gone", "doc_url": "x", "canonical_url": "x"}
    times = {"received_at": now, "last_received_at": now}
    for each in range(number + 1):
        report = Report.objects.create(**texts, **times, agent_name=f"agent {each}")
        tried = {"status": "failed", "last_tried_at": now} if each == 0 else {}
        delivery = Delivery.objects.create(report=report, integration=mine, **tried)

    with django_assert_max_num_queries(14):
        listed = operator.get("/admin/integrations/delivery/").content.decode()
    one = operator.get(f"/admin/integrations/delivery/{delivery.pk}/change/").content.decode()

    assert listed.count("at most 1 issue an hour go to acme") == number
    assert "at most 1 issue an hour go to acme" in one


@pytest.mark.parametrize("path", ["", "login/", "orgs/user/", "integrations/delivery/"])
def test_to_members_there_is_no_admin(client, path, db):
    client.force_login(build.member(build.organization()))

    assert client.get(f"/admin/{path}", follow=True).status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("permissions", [[], ["view_domain", "view_hold", "change_hold"]])
def test_staff_who_are_no_operators_see_and_do_nothing(client, permissions):
    """An attack: staff without any permission read Deliveries now, and some released holds."""
    staff = User.objects.create(username="bob", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(staff)
    domain = build.domain(build.organization(), "docs.acme.com")
    hold = Hold.objects.create(kind="agent", value="agent-x", reason="Junk.")
    chosen = {
        address(Hold): {"action": "release", "_selected_action": [hold.pk]},
        address(Domain): {
            "action": "delete_claims", "_selected_action": [domain.pk], "confirmed": "Delete"
        },
        f"{HOLDS}add/": JUNK,
    }  # fmt: skip

    for path in ("/admin/", address(Hold), address(Domain), f"{HOLDS}{hold.pk}/change/"):
        assert client.get(path, follow=True).status_code == 404
    for path, form in chosen.items():
        assert client.post(path, form, follow=True).status_code == 404

    assert Domain.objects.exists()
    assert [each.released_at for each in Hold.objects.all()] == [None]


def test_a_password_opens_no_admin(client, db):
    alice = User(username="alice", is_staff=True, is_superuser=True)
    alice.set_password("correct")
    alice.save()

    client.post("/admin/login/", {"username": "alice", "password": "correct"})

    assert client.get("/admin/").status_code == 302


def test_a_command_makes_an_operator_and_undoes_it(client, db, capsys):
    client.force_login(build.member(build.organization(), "alice"))

    call_command("make_operator", "Alice")
    inside = client.get("/admin/").status_code
    call_command("make_operator", "alice", "--undo")
    outside = client.get("/admin/", follow=True).status_code

    assert (inside, outside) == (200, 404)
    assert "Alice is an operator" in capsys.readouterr().out


@pytest.mark.parametrize("ago", [timedelta(hours=2), None])
def test_who_has_renamed_themselves_is_no_operator_in_place_of_who_has_the_login_now(db, ago):
    """An attack: mallory was dana when they signed in here; dana has the login by now, and has not signed in."""
    mallory = build.member(build.organization(), "dana", github_id=666)
    User.objects.update(last_login=ago and timezone.now() - ago)

    with pytest.raises(CommandError, match=r"dana was last the login of the GitHub account 666"):
        call_command("make_operator", "dana")
    with pytest.raises(CommandError, match="dana has not signed in with the account 4711 yet"):
        call_command("make_operator", "dana", "--github-id", "4711")

    mallory.refresh_from_db()
    assert not mallory.is_superuser


def test_of_two_accounts_with_a_login_the_number_says_which(db, capsys):
    build.member(build.organization(), "dana", github_id=666)
    dana = build.member(build.organization(), "dana2", github_id=4711)
    Membership.objects.update(login="dana")

    with pytest.raises(CommandError, match="More than one account had the login dana"):
        call_command("make_operator", "dana")
    call_command("make_operator", "dana", "--github-id", "4711")

    assert "dana is an operator of this Hub: the GitHub account 4711." in capsys.readouterr().out
    assert [*User.objects.filter(is_superuser=True)] == [dana]


def test_who_takes_access_away_is_not_told_so_of_who_has_the_login_now(client, db):
    """An attack: mallory renames themselves on GitHub, and a second account of theirs signs in with their login."""
    mallory = build.member(build.organization(), "mallory", github_id=666)
    call_command("make_operator", "mallory")
    members.welcome(mallory, github_id=666, login="renamed")
    second = build.member(build.organization(), "second", github_id=667)
    members.welcome(second, github_id=667, login="mallory")

    with pytest.raises(CommandError, match=r"are: renamed \(the GitHub account 666\)\."):
        call_command("make_operator", "mallory", "--undo")
    call_command("make_operator", "renamed", "--undo")

    assert not User.objects.filter(is_superuser=True).exists()


def test_access_is_taken_from_the_operator_of_two_accounts_with_a_login(db, capsys):
    mallory = build.member(build.organization(), "mallory", github_id=666)
    call_command("make_operator", "mallory")
    second = build.member(build.organization(), "second", github_id=667)
    members.welcome(second, github_id=667, login="mallory")

    call_command("make_operator", "mallory", "--undo")

    said = "mallory is no longer an operator of this Hub: the GitHub account 666."
    assert said in capsys.readouterr().out
    assert not User.objects.get(pk=mallory.pk).is_superuser


def test_whoever_has_not_signed_in_is_no_operator_yet(db):
    Membership.objects.create(organization=build.organization(), github_id=3, login="charlie")

    with pytest.raises(CommandError, match="has not signed in yet"):
        call_command("make_operator", "charlie")


def test_of_attempts_without_end_the_admin_shows_a_hundred(operator, some):
    delivery = Delivery.objects.order_by("pk")[0]
    build.attempts(delivery, 300)

    page = operator.get(f"/admin/integrations/delivery/{delivery.pk}/change/").content.decode()

    shown = re.findall(r"Attempt (\d+)", page)
    assert [int(each) for each in shown] == [1, *range(202, 301)]


def test_the_admin_needs_no_inline_script_or_style(operator, crowd):
    delivery = Delivery.objects.first()
    for path in ("", "integrations/delivery/", f"integrations/delivery/{delivery.pk}/change/"):
        page = operator.get(f"/admin/{path}").content.decode()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=\"|javascript:", page)
        for attributes, text in re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL):
            assert "src=" in attributes or "application/json" in attributes, text
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
