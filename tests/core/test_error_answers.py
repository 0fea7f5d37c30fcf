"""One shape of an error, whatever happens."""

import pytest
from django.db import OperationalError, connection
from django.test import Client

from core.watching.current import Asked
from hub.server import answers
from hub.server.charset import Application
from orgs.domains import claiming
from orgs.models import Organization
from orgs.people import members
from tests import build
from tests.hub.server.test_bridge import scope


@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "options"])
@pytest.mark.parametrize("address", ["/v1/nothing", "/v1/reports/", "/v1/", "/v1"])
def test_an_unknown_address_is_json(client, method, address):
    answer = getattr(client, method)(address)

    assert answer.status_code == 404
    assert answer.json()["error"] == "not_found"
    assert "Access-Control-Allow-Origin" not in answer


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_a_wrong_method_is_json(client, method):
    answer = getattr(client, method)("/v1/reports")

    assert answer.status_code == 405
    assert answer.json()["error"] == "method_not_allowed"
    assert answer["Allow"] == "POST, OPTIONS"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/png"])
def test_the_answer_is_json_whatever_is_asked_for(client, accept):
    answer = client.get("/v1/reports", headers={"Accept": accept})

    assert answer.status_code == 405
    assert answer["Content-Type"] == "application/json"


def test_a_crash_is_json_and_in_the_log(client, monkeypatch, caplog):
    def crash(*args, **kwargs):
        raise ZeroDivisionError("the details of it")

    monkeypatch.setattr("reports.intake.accept", crash)

    answer = build.send(client)

    assert answer.status_code == 500
    assert answer.json()["error"] == "internal_error"
    assert "details of it" not in answer.content.decode()
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_what_belongs_to_something_that_was_just_deleted_is_not_found(monkeypatch, caplog):
    alice = build.member(build.organization())
    client = build.api(build.token(alice))
    claim = claiming.claim_domain

    def claim_of_one_that_goes(member, text):
        Organization.objects.filter(pk=member.organization_id).delete()
        return claim(member, text)

    monkeypatch.setattr(claiming, "claim_domain", claim_of_one_that_goes)
    monkeypatch.setattr(members, "lock_for_claim", lambda organization: None)  # which would see it
    answer = client.post(
        "/v1/orgs/me/domains", {"domain": "docs.acme.com"}, content_type="application/json"
    )

    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert "was deleted in the meantime" in answer.json()["message"]
    assert [each.levelname for each in caplog.records if each.name == "core.error_answers"] == [
        "WARNING"
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["RENAME TO gone", "RENAME COLUMN summary TO gone"])
def test_a_database_without_its_migrations_is_not_called_away(client, caplog, change):
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE reports_report {change}")

    answer = build.send(client)

    assert answer.status_code == 500
    assert answer.json()["error"] == "internal_error"
    assert "not up to date" in answer.json()["message"]
    assert "Retry-After" not in answer
    [line] = [each for each in caplog.records if each.name == "core.error_answers"]
    assert "run `manage.py migrate`" in line.message
    assert "\n" not in line.message


@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_deadlock_is_not_called_a_database_that_is_away(client, monkeypatch, caplog):
    def deadlock(*args, **kwargs):
        with connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE deadlock_detected; END $$")

    monkeypatch.setattr("reports.intake.accept", deadlock)

    answer = build.send(client)

    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert answer["Retry-After"] == "5"
    [line] = [each for each in caplog.records if each.name == "core.error_answers"]
    assert line.message.startswith("The database has ended a deadlock: ")


@pytest.mark.django_db
def test_a_page_without_its_migrations_says_so(caplog):
    client = Client(raise_request_exception=False)
    client.force_login(build.member(build.organization()))
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE orgs_membership RENAME TO gone")

    answer = client.get("/settings/claims/", headers={"Accept": "text/html"})

    assert answer.status_code == 500
    assert "not up to date" in answer.content.decode()
    assert "run `manage.py migrate`" in caplog.text


@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "hub.example,evil"])
def test_a_foreign_host_is_refused_as_json(client, host):
    answer = client.get("/v1/reports", headers={"Host": host})

    assert answer.status_code == 400
    assert answer.json()["error"] == "bad_request"
    assert "Use https://hub.example instead" in answer.json()["message"]
    assert host not in answer.content.decode().replace("https://hub.example", "")


def test_a_foreign_host_is_refused_in_words_wherever_a_program_looks_first(client):
    headers = {"Host": "evil.example", "Accept": "application/json"}

    answer = client.get("/.well-known/openid-configuration", headers=headers)

    assert answer.status_code == 400
    assert "Use https://hub.example instead" in answer.json()["message"]


def test_a_person_at_a_foreign_host_is_told_the_right_one(client):
    headers = {"Host": "evil.example", "Accept": "text/html,application/json"}

    answer = client.get("/", headers=headers)

    assert answer.status_code == 400
    assert "Use https://hub.example instead" in answer.content.decode()
    assert "evil" not in answer.content.decode()


def test_a_program_that_asks_for_a_page_that_is_none_gets_a_line_of_text(client):
    answer = client.get("/nothing/")

    assert answer.status_code == 404
    assert answer["Content-Type"] == "text/plain"


def test_a_person_gets_a_page_that_says_what_is_wrong(client, db):
    client.force_login(build.member(build.organization()))

    answer = client.get("/settings/nothing/", headers={"Accept": "text/html"})

    assert answer.status_code == 404
    assert "<h1>Page not found</h1>" in answer.content.decode()
    assert "Sign out" in answer.content.decode()


def test_a_form_without_its_token_is_a_page_too(db):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(build.member(build.organization()))

    answer = strict.post("/settings/claims/new/", headers={"Accept": "text/html"})

    assert answer.status_code == 403
    assert "<h1>Not allowed</h1>" in answer.content.decode()


def test_a_page_that_cannot_reach_the_database_says_so(db, monkeypatch):
    def away(mine):
        raise OperationalError("the server closed the connection")

    client = Client(raise_request_exception=False)
    client.force_login(build.member(build.organization()))
    monkeypatch.setattr("hub.screen.overview.integration_of", away)
    monkeypatch.setattr("core.error_answers.close_old_connections", lambda: None)

    answer = client.get("/settings/", headers={"Accept": "text/html"})

    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert "Temporarily unavailable." in answer.content.decode()


def test_a_form_that_is_too_large_is_refused_as_such(db):
    client = Client()
    client.force_login(build.member(build.organization()))

    answer = client.post("/settings/claims/new/", {"address": "a" * 3_000_000})

    assert answer.status_code == 413
    assert "The form is too large" in answer.content.decode()


def test_a_crash_of_a_page_is_a_page(db, monkeypatch):
    client = Client(raise_request_exception=False)
    client.force_login(build.member(build.organization()))
    monkeypatch.setattr("hub.screen.overview.integration_of", lambda mine: 1 / 0)

    answer = client.get("/settings/", headers={"Accept": "text/html"})

    assert answer.status_code == 500
    assert "<h1>Internal error</h1>" in answer.content.decode()
    assert "Sign out" not in answer.content.decode()  # nobody is asked for after a crash


CALLBACK = "/v1/integrations/github/callback"
NOT_OF_TEXT = ["hex", "idna", "zlib", "rot13", "undefined", "punycode"]  # charsets that Python has


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "query", "content_type", "status"),
    [
        (CALLBACK, b"a&" * 1001, "text/plain", 400),
        (CALLBACK, b"a&" * 1001, "text/plain; charset=utf-8", 400),
        ("/login/", b"a&" * 1001, "text/plain; charset=utf-8", 400),
        ("/v1/reports", b"a&" * 1001, "text/plain; charset=utf-8", 405),
        *((CALLBACK, b"state=x%ff", f"a/b; charset={each}", 400) for each in NOT_OF_TEXT),
        *(("/login/", b"next=x%ff", f"a/b; charset={each}", 200) for each in NOT_OF_TEXT),
    ],
)
def test_no_address_that_anybody_can_write_is_a_crash(path, query, content_type, status):
    headers = [(b"host", b"hub.example"), (b"content-type", content_type.encode())]
    asked = scope(path, headers, query) | {"method": "GET"}

    assert answers.of(Application(), asked, b"", Asked()).status == status


@pytest.mark.parametrize("wanted", ["-1", "%", "9" * 40, "a\nb", "'", "None", "\u0663", "_" * 300])
def test_who_is_signed_in_may_have_written_any_next_address(db, wanted):
    client = Client()
    client.force_login(build.member(build.organization()))

    assert client.get("/login/", {"next": wanted}).status_code in (302, 400)


def test_too_many_parameters_are_said_to_be_that(client):
    answer = client.get(CALLBACK + "?" + "a&" * 1001)

    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
    assert answer.json()["message"] == "The URL has too many parameters."
