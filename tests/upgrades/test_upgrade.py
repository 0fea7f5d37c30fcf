"""What a release has left in its database is migrated to now; both versions run on it."""

import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.test import Client

import hub
from integrations.models import Delivery
from orgs.models import User
from reports.models import Report
from sandbox import CodeHost
from tests import build, keeping
from tests.conftest import new_code_host, served
from tests.upgrades.fullness import lacks
from tests.upgrades.kept import OURS, Kept, Table, all_kept, tables
from tests.upgrades.upgrading import losses

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

EVERY = pytest.mark.parametrize("kept", all_kept(), ids=lambda each: each.version)
LATEST = pytest.mark.parametrize("kept", all_kept()[-1:], ids=lambda each: each.version)


@pytest.fixture
def code_host(settings) -> Iterator[CodeHost]:
    """One that has none of the numbers that the other one had then."""
    yield from served(new_code_host(ids_from=1_000_000), settings)


@pytest.fixture
def before(kept: Kept, tmp_path: Path, code_host: CodeHost) -> Iterator[dict[str, Table]]:
    """What is in the database that the release has left; it is the one that is used now."""
    with keeping.empty_database(tmp_path) as name, keeping.using(name):
        kept.load()
        _meet(code_host)
        yield tables()


@pytest.fixture
def token(before) -> str:
    """A personal token that alice had then."""
    value = f"hub_{secrets.token_urlsafe(32)}"
    _sql(
        "UPDATE allauth_idp_oidc_token SET hash = %s WHERE id = "
        "(SELECT token_id FROM orgs_personaltoken WHERE name = 'CI')",
        hashlib.sha256(value.encode()).hexdigest(),
    )
    return value


def _meet(host: CodeHost) -> None:
    """GitHub is another one than then: it knows the app, and the repositories in which something is done here."""
    there = build.installed(host)
    _sql("UPDATE integrations_installation SET github_id = %s WHERE account = 'acme'", there.id)
    for name in ("docs", "waiting"):
        repository = host.find_repository(f"acme/{name}") or host.add_repository("acme", name)
        host.add_to_installation(there, repository)
        [(then,)] = _sql(
            "SELECT repository_id FROM integrations_integration WHERE repo_name = %s", name
        )
        for table in ("integration", "delivery", "alert"):
            change = f"UPDATE integrations_{table} SET repository_id = %s WHERE repository_id = %s"
            _sql(change, repository.id, then)
        of_then = "SELECT COALESCE(MAX(issue_number), 0) FROM integrations_delivery WHERE repository_id = %s"
        for _ in range(_sql(of_then, repository.id)[0][0]):
            host.create_issue(repository, title="One of then", user="alice")


def _sql(statement: str, *values: Any) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


@EVERY
def test_nothing_is_lost_and_the_hub_goes_on_with_it(kept, before, token, code_host, client):
    then = _models_of(kept)
    assert not lacks(then)

    call_command("migrate", verbosity=0)

    assert not losses(before, tables())
    _members_find_all(build.api(token), client)
    _strangers_find_all(client)
    _is_sent_once(code_host)
    _operators_find_all(client)


def _members_find_all(api: Client, client: Client) -> None:
    """Lists, pages and the export have everything that acme has received."""
    mine = Report.objects.filter(organization__name="acme")
    listed, cursor = [], ""
    while cursor is not None:
        page = api.get("/v1/orgs/me/reports", {"cursor": cursor} if cursor else {}).json()
        listed += [each["id"] for each in page["reports"]]
        cursor = page["next_cursor"]
    folded = api.get("/v1/orgs/me/reports?status=folded").json()["reports"]
    client.force_login(User.objects.get(username="alice"))
    pages = [client.get(f"/settings/reports/{each}/") for each in listed]
    exported = json.loads(client.get("/settings/account/export.json").getvalue())

    assert api.get("/v1/orgs/me").json()["name"] == "acme"
    assert set(listed) == set(mine.values_list("pk", flat=True))
    assert folded
    assert all(each["delivery"]["lead"] for each in folded)
    assert {page.status_code for page in pages} == {200}
    assert {each["id"] for each in exported["reports"]} == set(listed)


def _strangers_find_all(client: Client) -> None:
    """Each report has its receipt; one that comes again is counted."""
    kept = Report.objects.get(summary="A page that is broken")
    body = build.report(kept.doc_url, report__summary=kept.summary, report__kind="broken")

    receipts = {client.get(f"/v1/reports/{each.pk}").status_code for each in Report.objects.all()}
    again = build.send(client, body).json()

    assert receipts == {200}
    assert client.get(f"/r/{kept.pk}/").status_code == 200
    assert (again["id"], again["is_duplicate"]) == (kept.pk, True)
    assert Report.objects.get(pk=kept.pk).times_reported == kept.times_reported + 1


def _is_sent_once(code_host: CodeHost) -> None:
    """What waited then is sent now, and what comes in is, too."""
    waiting = Delivery.objects.filter(report__summary="It waits for its turn")
    body = build.report("https://docs.docs.com/new", report__summary="New in this version")

    for _ in range(2):
        call_command("retry_deliveries", "--now", verbosity=0)
    build.send(Client(), body)

    assert waiting.get().status == "sent"
    assert len(code_host.issues("acme/waiting")) == 1
    assert "New in this version" in code_host.issues("acme/docs")[-1].title


def _operators_find_all(client: Client) -> None:
    """Each of our tables, as far as the admin has it."""
    lists = {}
    client.force_login(User.objects.get(is_superuser=True))
    for model in apps.get_models():
        if model._meta.app_label in OURS:
            path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
            lists[path] = client.get(path).status_code

    assert set(lists.values()) <= {200, 404}  # 404: it is not in the admin
    assert lists["/admin/integrations/delivery/"] == 200


@LATEST
def test_the_version_before_goes_on_beside_it(kept, before, token):
    """Its statements name the columns that it knows: they read, delete, insert and update as before."""
    call_command("migrate", verbosity=0)
    then = [model for model in _models_of(kept).get_models() if model._meta.app_label in OURS]
    rows = {model: list(model._base_manager.all()) for model in then}
    assert all(rows.values())

    with transaction.atomic():
        for model, known in rows.items():
            _insert_anew(model, known)
    for known in rows.values():
        for row in known:
            row.save()
    [users] = [model for model in then if model.__name__ == "User"]
    users.objects.get(username="bob").delete()

    assert build.api(token).get("/v1/orgs/me").json()["name"] == "acme"
    assert build.send(Client(), build.report("https://docs.docs.com/new")).json()["claimed"]


def _insert_anew(model: type[models.Model], known: list[Any]) -> None:
    model._base_manager.all()._raw_delete(connection.alias)
    model._base_manager.bulk_create(known)
    assert model._base_manager.count() == len(known)


def _models_of(kept: Kept) -> Any:
    """The models as they were then, with the columns that there were."""
    loader = MigrationLoader(connection)
    others = [each for each in loader.graph.leaf_nodes() if each[0] not in OURS]
    return loader.project_state([*others, *kept.baseline.items()]).apps


PLANTED = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("hub", "{last}")]
    operations = [
        migrations.RunSQL("UPDATE integrations_delivery SET reason = ''"),
        migrations.RunSQL("DELETE FROM integrations_webhook"),
        migrations.RunSQL("ALTER TABLE reports_report DROP COLUMN locale"),
    ]
"""


@LATEST
def test_a_migration_that_loses_something_is_seen(kept, before, tmp_path, settings, monkeypatch):
    """As a later version could have it."""
    folder = shutil.copytree(Path(hub.__file__).parent / "migrations", tmp_path / "planted")
    last = max(path.stem for path in folder.glob("0*.py"))
    (folder / "9999_planted.py").write_text(PLANTED.format(last=last))
    monkeypatch.syspath_prepend(tmp_path)
    settings.MIGRATION_MODULES = {"hub": "planted"}

    call_command("migrate", verbosity=0)

    found = losses(before, tables())
    assert "integrations_delivery.reason has changed" in found
    assert "integrations_webhook.delivery_id has changed" in found
    assert [each for each in found if each.startswith("reports_report")] == [
        "reports_report.locale is gone"
    ]
