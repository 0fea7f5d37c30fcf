"""`/admin/`: what operators see, and the little that they do."""

import re
from datetime import timedelta

import pytest
from allauth.idp.oidc.models import Token
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.utils import timezone

from hub.models import Lease
from integrations.models import (
    Attempt,
    Delivery,
    Installation,
    Integration,
    OneTimeState,
    Webhook,
)
from orgs.domains import hosts
from orgs.models import (
    Domain,
    EarlierChallenge,
    Invitation,
    Membership,
    Notice,
    Organization,
    PersonalToken,
    Site,
    User,
)
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
def crowd(db) -> None:
    """Five hundred rows of everything."""
    now = timezone.now()
    each = range(MANY)
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
    tokens = Token.objects.bulk_create(
        [Token(type="ia", user=users[n], hash=f"hash{n}", expires_at=now) for n in each]
    )
    PersonalToken.objects.bulk_create(
        [PersonalToken(token=tokens[n], name=f"CI {n}", ending="abcd") for n in each]
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
    Attempt.objects.bulk_create(
        [Attempt(delivery=deliveries[n], number=1, started_at=now) for n in each]
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
    Webhook.objects.bulk_create([Webhook(delivery_id=f"webhook{n}") for n in each])
    Lease.objects.bulk_create([Lease(name=f"lease{n}", until=now) for n in each])
    SocialAccount.objects.bulk_create(
        [SocialAccount(user=users[n], provider="github", uid=str(n), extra_data={}) for n in each]
    )


def address(model) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


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


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_nothing_is_added_or_deleted_by_hand(operator, model):
    assert operator.get(f"{address(model)}add/").status_code == 403


def test_what_journeys_decide_is_never_typed_in(operator, crowd):
    domain, integration = Domain.objects.first(), Integration.objects.first()

    for row in (domain, integration, Delivery.objects.first(), Membership.objects.first()):
        page = f"{address(type(row))}{row.pk}/"
        shown = operator.get(f"{page}change/").content.decode()
        assert not re.findall(r'<(?:input|select|textarea)[^>]* name="(?!csrf)[a-z_]+"', shown), row
        assert operator.post(f"{page}change/", {"verified_at_0": "2026-01-01"}).status_code == 403
        assert operator.post(f"{page}delete/", {"post": "yes"}).status_code == 403

    domain.refresh_from_db()
    assert domain.verified_at is None


def test_a_secret_is_not_shown(operator, crowd):
    token = Token.objects.first()

    page = operator.get(f"{address(Token)}{token.pk}/change/").content.decode()

    assert token.hash not in page


def test_an_operator_shuts_somebody_out(operator):
    bob = build.member(build.organization(), "bob")
    value = build.token(bob)

    operator.post(f"{address(User)}{bob.pk}/change/", {})

    assert build.api(value).get("/v1/orgs/me").status_code == 401


def test_operators_do_not_shut_themselves_out(operator):
    mine = User.objects.get(is_staff=True)

    operator.post(f"{address(User)}{mine.pk}/change/", {"is_active": ""})

    assert User.objects.get(pk=mine.pk).is_active


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
            created_at=now - timedelta(days=1, minutes=1),
        )
    Attempt.objects.create(
        delivery=delivery, number=1, started_at=now, ended_at=now, outcome="refused"
    )
    old = now - timedelta(hours=3)
    Attempt.objects.create(
        delivery=delivery, number=2, started_at=old, ended_at=old, outcome="refused"
    )

    with django_assert_max_num_queries(15):
        page = operator.get("/admin/")

    shown = " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split()).replace("\xa0", " ")
    assert "Waiting 2 Oldest of them 1 day" in shown
    assert "Held 1 Discarded 1 Failed in the last hour 1 of 1 attempts" in shown
    assert "acme: limited until" in shown
    assert "Last re-verification 2 hours" in shown


def test_the_index_of_an_empty_hub(operator):
    page = operator.get("/admin/").content.decode()

    assert "No installation is limited" in page
    assert "Never" in page


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

    assert "1 held." in answer.content.decode()
    assert Delivery.objects.get().held_for == "operator"
    assert not code_host.issues("acme/docs")


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


def test_visitors_sign_in_by_github(client, db):
    answer = client.get("/admin/", follow=True)

    assert answer.redirect_chain[-1][0] == "/login/?next=/admin/"


@pytest.mark.parametrize("path", ["", "login/", "orgs/user/", "integrations/delivery/"])
def test_to_members_there_is_no_admin(client, path, db):
    client.force_login(build.member(build.organization()))

    assert client.get(f"/admin/{path}", follow=True).status_code == 404


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


def test_whoever_has_not_signed_in_is_no_operator_yet(db):
    Membership.objects.create(organization=build.organization(), github_id=3, login="charlie")

    with pytest.raises(CommandError, match="has not signed in yet"):
        call_command("make_operator", "charlie")


def test_of_attempts_without_end_the_admin_shows_a_hundred(operator, crowd):
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
