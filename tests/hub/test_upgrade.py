"""A database of the latest release, with rows in every table, is migrated to now; both versions run on it."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps.registry import Apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from core import ids
from integrations.models import Delivery
from orgs.models import Domain, User
from tests import build, keeping
from tests.hub.upgrading import BASELINE

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

OURS = tuple(BASELINE)
Rows = dict[tuple[str, Any], dict[str, Any]]


class Old:
    """The version before: its models know the columns that there were."""

    def __init__(self, apps: Apps) -> None:
        self.apps = apps
        self.now = timezone.now()

    def add(self, model: str, **columns: Any) -> Any:
        """Insert a row with these columns, as that version does."""
        return self.apps.get_model(*model.split(".")).objects.create(**columns)

    def models(self) -> list[Any]:
        return [each for each in self.apps.get_models() if each._meta.app_label in OURS]

    def fill(self, name: str, code_host) -> dict[str, str]:
        """A row in every table, for an organization of this name; returns what its people know of it."""
        add, now = self.add, self.now
        owner = add("orgs.organization", id=ids.new_id(), name=name, created_at=now)
        person = add("orgs.user", username=name, password="!")
        add("socialaccount.socialaccount", user=person, provider="github", uid=name)
        member = add(
            "orgs.membership", organization=owner, user=person, github_id=_number(name), login=name
        )
        bob = {"github_id": _number(f"bob of {name}"), "login": "bob", "role": "member"}
        add("orgs.invitation", organization=owner, invited_by=member, **bob)
        add("orgs.notice", organization=owner, at=now, text="alice joined.")
        self._claims(owner, name)
        installed = code_host.installation_on(code_host.account("acme")) if name == "acme" else None
        installation = add(
            "integrations.installation",
            github_id=installed.id if installed else _number(name),
            account=name,
        )
        integration = add(
            "integrations.integration",
            organization=owner,
            installation=installation,
            repository_id=code_host.repository("acme/docs").id if installed else _number(name),
            repo_owner=name,
            repo_name="docs",
        )
        add(
            "integrations.alert",
            id=ids.new_id(),
            integration=integration,
            cause="rights",
            since=now,
        )
        state = {"secret_hash": "0" * 64, "expires_at": now}
        add(
            "integrations.onetimestate", id=ids.new_id(), organization=owner, member=member, **state
        )
        add("integrations.webhook", delivery_id=f"d-{name}")
        add("hub.lease", name=f"of {name}", until=now)
        return self._report(owner, integration, name) | self._token(person, name) | {"name": name}

    def _claims(self, owner: Any, name: str) -> None:
        add, now = self.add, self.now
        host = f"docs.{name}.com"
        claim = {"registrable": False, "challenge": f"c-{name}", "verified_at": now}
        add("orgs.domain", id=ids.new_id(), organization=owner, name=host, **claim)
        add("orgs.earlierchallenge", organization=owner, name=host, challenge=f"earlier-{name}")
        page = {"host": f"{name}.github.io", "path": "/", "repository": f"{name}/docs"}
        add("orgs.site", id=ids.new_id(), organization=owner, verified_at=now, **page)

    def _report(self, owner: Any, integration: Any, name: str) -> dict[str, str]:
        add, now = self.add, self.now
        words = {"kind": "outdated", "summary": f"Gone at {name}"}
        times = {"received_at": now, "last_received_at": now}
        url = f"https://docs.{name}.com/install"
        page = {"doc_url": url, "canonical_url": url, "agent_name": "agent-x"}
        report = add(
            "reports.report", id=ids.new_id(), organization=owner, **words, **times, **page
        )
        add(
            "reports.account",
            report=report,
            words_hash=name.ljust(32, "0")[:32],
            size=9,
            **words,
            **times,
        )
        hold = {
            "kind": "page",
            "value": url,
            "reason": "Junk",
            "digest": _digest(url),
            "released_at": now,
        }
        add("integrations.hold", **hold)
        delivery = add("integrations.delivery", report=report, integration=integration)
        add("integrations.attempt", delivery=delivery, number=1, started_at=now)
        return {"report": report.pk}

    def _token(self, person: Any, name: str) -> dict[str, str]:
        value = f"hub_{name}"
        token = self.add(
            "allauth_idp_oidc.token",
            type="at",
            user=person,
            hash=_digest(value),
            scopes="orgs:read\norgs:write",
            expires_at=self.now + timedelta(days=9),
        )
        self.add("orgs.personaltoken", token=token, name="CI", ending="abcd")
        return {"token": value}

    def rows(self) -> Rows:
        """All rows, by table and key, with the columns that this version knows."""
        return {
            (model._meta.label, row["pk"]): row
            for model in self.models()
            for row in model.objects.values("pk", *(f.attname for f in model._meta.concrete_fields))
        }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _number(text: str) -> int:
    return int(_digest(text)[:8], 16)


def migrated(**targets: str) -> Apps:
    """Migrate to these, and return the models of then."""
    executor = MigrationExecutor(connection)
    leaves = [each for each in executor.loader.graph.leaf_nodes() if each[0] not in OURS]
    wanted = [*leaves, *targets.items()]
    executor.migrate(wanted)
    return executor.loader.project_state(wanted).apps


@pytest.fixture
def upgraded(tmp_path, code_host) -> Iterator[tuple[Old, Rows, dict[str, str]]]:
    """A database that was filled before it was migrated to now: the version before, its rows, what people know."""
    with keeping.empty_database(tmp_path) as name, keeping.using(name):
        old = Old(migrated(**BASELINE))
        known = old.fill("acme", code_host)
        before = old.rows()
        call_command("migrate", verbosity=0)
        yield old, before, known


def test_the_data_is_whole_and_the_hub_works_with_it(upgraded, code_host, client):
    old, before, known = upgraded
    tables = {label for label, _ in before}

    after = old.rows()
    receipt = client.get(f"/v1/reports/{known['report']}")
    page = client.get(f"/r/{known['report']}/")
    mine = build.api(known["token"]).get("/v1/orgs/me")
    call_command("retry_deliveries")
    client.force_login(User.objects.get())

    assert tables == {model._meta.label for model in old.models()}
    assert {key: after[key] for key in before} == before
    assert (receipt.status_code, page.status_code, mine.status_code) == (200, 200, 200)
    assert "acme" in mine.content.decode()
    assert Delivery.objects.get().status == "sent"
    [issue] = code_host.issues("acme/docs")
    assert "Gone at acme" in issue.title
    assert client.get("/settings/").status_code == 200
    assert build.send(client, build.report("https://docs.acme.com/other")).status_code == 201
    assert len(code_host.issues("acme/docs")) == 2


def test_the_version_before_goes_on_beside_it(upgraded, code_host):
    """Its statements name the columns that it knows: they read, insert, save and delete as before."""
    old, before, _ = upgraded

    later = old.fill("later", code_host)
    for model in old.models():
        for row in model.objects.all():
            row.save()
    saved = old.rows()
    sent = build.send(Client(), build.report("https://docs.later.com/new"))
    read = old.apps.get_model("reports", "report").objects.filter(summary__startswith="The install")
    seen = read.count()
    for name in ("acme", "later"):
        old.apps.get_model("orgs", "user").objects.filter(username=name).delete()

    assert len(saved) >= 2 * len(before)
    assert Domain.objects.filter(name="docs.later.com").exists()
    assert later["report"]
    assert (sent.status_code, seen) == (201, 1)
    assert not User.objects.exists()
