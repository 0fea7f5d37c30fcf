"""`POST /v1/reports`: every row of its table of answers."""

import json
from collections.abc import Callable

import pytest
from django.db import IntegrityError, OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core import rates
from orgs.domains import hosts
from orgs.models import Organization
from orgs.ownership import claim_covering
from reports import canonical, intake
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db


def statements(act: Callable[[], object]) -> int:
    """How many statements reach the tables; BEGIN, COMMIT and SAVEPOINT are not counted."""
    with CaptureQueriesContext(connection) as queries:
        act()
    verbs = [query["sql"].split()[0] for query in queries]
    return sum(verb in ("SELECT", "INSERT", "UPDATE", "DELETE") for verb in verbs)


def count_calls(monkeypatch, calls: list[str], module, name: str) -> None:
    """Note each call of a function of the module in `calls`."""
    known = getattr(module, name)
    monkeypatch.setattr(module, name, lambda text: calls.append(name) or known(text))


def errors(answer) -> dict[str, str]:
    return {fault["path"]: fault["message"] for fault in answer.json()["details"]}


def test_a_report_is_accepted(client):
    answer = build.send(client)

    report = Report.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "id": report.id,
        "is_duplicate": False,
        "received_at": report.received_at.isoformat().replace("+00:00", "Z"),
        "protocol_version": "0",
        "server_capabilities": [],
        "receipt_url": f"https://hub.example/r/{report.id}/",
        "notices": [],
        "claimed": False,
        "status": "received",
        "issue_url": None,
        "known_issue": None,
        "answer": None,
    }
    assert len(report.id) == 26


def test_the_address_of_a_page_is_read_once(client, monkeypatch):
    calls: list[str] = []
    for module, name in ((canonical, "_web_address"), (hosts, "normalize")):
        count_calls(monkeypatch, calls, module, name)

    assert build.send(client).status_code == 201
    assert sorted(calls) == ["_web_address", "normalize"]


def test_everything_that_was_sent_is_kept(client):
    sent = build.report(
        "HTTPS://Docs.Acme.com:443/install/?utm_source=x#step-2",
        agent__version="1.2",
        agent__vendor="Acme",
        report__details="Try *this*",
        report__evidence=[{"kind": "expected", "text": "It works"}],
        report__suggested_fix="Say `npm ci`",
        task_context__task_summary="Install it",
        submitted_at="2026-06-06T12:34:56Z",
        locale="en-GB",
        client_capabilities=["a.b"],
    )

    build.send(client, {"$comment": "ignored", **sent})

    report = Report.objects.get()
    assert report.doc_url == sent["doc_url"]
    assert report.canonical_url == "https://docs.acme.com/install"
    assert (report.agent_name, report.agent_version, report.agent_vendor) == (
        "agent-x",
        "1.2",
        "Acme",
    )
    assert report.evidence == sent["report"]["evidence"]
    assert report.task_context == {"task_summary": "Install it"}
    assert report.submitted_at == sent["submitted_at"]


def test_a_repeat_is_counted_under_the_first_id(client):
    first = build.send(client).json()

    second = build.send(client)

    assert second.status_code == 201
    assert second.json() == {**first, "is_duplicate": True}
    assert Report.objects.get().times_reported == 2


def test_the_open_protocol_tells_a_duplicate_by_200(client):
    build.send(client)

    again = build.send(client, X_Docs_Feedback_Protocol_Version="0")

    assert again.status_code == 200
    assert again.json()["is_duplicate"] is True


def test_a_clients_key_means_its_own_agent_and_page_only(client):
    first = build.send(client, build.report(report__summary="One"), Idempotency_Key="1").json()
    same = build.send(
        client, build.report(report__summary="Other words"), Idempotency_Key="1"
    ).json()
    stranger = build.send(client, build.report(agent__name="agent-y"), Idempotency_Key="1").json()
    elsewhere = build.send(
        client, build.report("https://docs.acme.com/x"), Idempotency_Key="1"
    ).json()

    assert same["id"] == first["id"]
    assert len({first["id"], stranger["id"], elsewhere["id"]}) == 3


def test_the_key_in_the_header_wins(client):
    first = build.send(client, build.report(idempotency_key="a")).json()

    again = build.send(client, build.report(idempotency_key="b"), Idempotency_Key="a").json()

    assert again["id"] == first["id"]


def test_nobody_can_send_the_key_that_another_report_gets_by_itself(client):
    build.send(client)
    key = Report.objects.get().dedup_key

    other = build.send(client, build.report(report__summary="Another"), Idempotency_Key=key)

    assert key.startswith("auto:")
    assert other.json()["is_duplicate"] is False


@pytest.mark.parametrize("key", ["test:", "test:1"])
def test_no_key_that_is_sent_makes_a_test_report(client, key):
    build.send(client, build.report(idempotency_key=key))
    build.send(client, build.report(report__summary="Another"), Idempotency_Key=f"{key}2")

    assert Report.objects.count() == 2
    assert not Report.objects.tests().exists()
    assert not any(each.is_test for each in Report.objects.all())


def test_after_the_window_the_same_report_is_new(client, settings):
    first = build.send(client).json()
    settings.HUB_DEDUP_DAYS = 0

    second = build.send(client).json()

    assert second["is_duplicate"] is False
    assert second["id"] != first["id"]
    assert Report.objects.get(pk=first["id"]).dedup_key is None


def test_secrets_are_removed_before_anything_is_stored(client):
    token = "ghp_" + "a1B2" * 9

    answer = build.send(client, build.report(report__details=f"I used {token} for it"))

    assert answer.status_code == 201
    [notice] = answer.json()["notices"]
    assert notice["field"] == "/report/details"
    assert notice["kind"] in Report.objects.get().details
    assert token not in Report.objects.get().details


@pytest.mark.parametrize(
    "address",
    [
        "https://docs.acme.com/x?token={}&b=1",
        "https://docs.acme.com/x?token={}&b=1#top",
        "https://docs.acme.com/x#{}",
        "docs/x.md#{}",
    ],
)
@pytest.mark.parametrize("prefix", ["ghp_", "gh%70_", "ghp%5F"])
def test_a_secret_in_the_pages_address_leaves_an_address(client, address, prefix):
    token = prefix + "a1B2" * 9

    answer = build.send(client, build.report(address.format(token)))

    report = Report.objects.get()
    assert answer.status_code == 201
    assert answer.json()["notices"] == [{"field": "/doc_url", "kind": "GitHub token"}]
    assert "a1B2" not in report.doc_url + report.canonical_url
    assert canonical.url(report.doc_url) == report.canonical_url
    if "token" in address:
        assert report.doc_url == "https://docs.acme.com/x?token=%5Bremoved:%20GitHub%20token%5D&b=1"


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        (
            "https://docs.acme.com/x?next=https%3A%2F%2Falice%3Ahunter22secret%40a.dev%2F",
            "hunter22",
        ),
        ("https://docs.acme.com/x?c=AccountKey%3D" + "aB1%2B" * 21 + "aB%3D%3D", "aB1"),
        ("docs/x.md?token=gh%70_" + "a1B2" * 9, "a1B2"),
    ],
)
def test_a_secret_that_shows_only_when_unescaped_is_removed(client, address, secret):
    answer = build.send(client, build.report(address))

    report = Report.objects.get()
    assert answer.status_code == 201
    assert answer.json()["notices"]
    assert secret not in report.doc_url + report.canonical_url


def test_an_address_full_of_secrets_is_no_crash(client):
    key = "AKIA" + "Q3EGTJ5ZK7W2XN4P"

    answer = build.send(client, build.report("https://docs.acme.com/?" + f"{key}&" * 96))

    assert answer.status_code == 201


def test_a_number_that_is_too_long_is_refused_in_words_for_a_client(client):
    answers = [build.send(client, b"9" * digits) for digits in (1000, 1001, 65_000)]

    faults = [each.json()["details"][0]["message"] for each in answers]
    refused = "The body is not valid JSON: a number has over 1000 digits."
    assert faults == ["Must be an object.", refused, refused]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b" ", ""),
        (b"{", ""),
        (b"\xff", ""),
        (b"[]", ""),
        (b"null", ""),
        (b"[" * 30_000, ""),
        (b'{"a":' * 8_000, ""),
        (b'{"protocol_version": "0", "protocol_version": "0"}', ""),
        (b'{"protocol_version": NaN}', ""),
        (b'{"protocol_version": ' + b"9" * 5_000 + b"}", ""),
    ],
)
def test_what_is_no_json_object_is_refused(client, body, path):
    answer = build.send(client, body)

    assert answer.status_code == 400
    assert answer.json()["error"] == "validation_error"
    assert path in errors(answer)
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"protocol_version": "1"}, "/protocol_version"),
        ({"protocol_version": 0}, "/protocol_version"),
        ({"priority": "high"}, "/priority"),
        ({"a/b~c": 1}, "/a~1b~0c"),
        ({"\ud800": 1}, ""),
        ({"doc_url": "ftp://docs.acme.com/"}, "/doc_url"),
        ({"doc_url": "https://a:b@docs.acme.com/"}, "/doc_url"),
        ({"doc_url": "https://docs.acme.com/a b"}, "/doc_url"),
        ({"doc_url": "//docs.acme.com/"}, "/doc_url"),
        ({"doc_url": ""}, "/doc_url"),
        ({"doc_url": "https://docs.acme.com/" + "a" * 2048}, "/doc_url"),
        ({"agent": None}, "/agent"),
        ({"agent__name": ""}, "/agent/name"),
        ({"agent__name": " "}, "/agent/name"),
        ({"agent__name": "a\nb"}, "/agent/name"),
        ({"agent__name": "a" * 121}, "/agent/name"),
        ({"agent__email": "x"}, "/agent/email"),
        ({"report__kind": "blocking"}, "/report/kind"),
        ({"report__summary": " \n"}, "/report/summary"),
        ({"report__summary": "a" * 501}, "/report/summary"),
        ({"report__details": "a" * 8001}, "/report/details"),
        ({"report__details": "a\0b"}, "/report/details"),
        ({"report__details": "\ud800"}, "/report/details"),
        ({"report__evidence": [{"kind": "x", "text": "y"}]}, "/report/evidence/0/kind"),
        ({"report__evidence": [{"kind": "quote", "text": "y"}] * 21}, "/report/evidence"),
        ({"idempotency_key": "a b"}, "/idempotency_key"),
        ({"submitted_at": "yesterday"}, "/submitted_at"),
        ({"submitted_at": "2026-02-30T00:00:00Z"}, "/submitted_at"),
        ({"locale": "e_n"}, "/locale"),
        ({"client_capabilities": ["A"]}, "/client_capabilities/0"),
        ({"$comment": "a" * 257}, "/$comment"),
    ],
)
def test_a_wrong_field_is_named(client, change, path):
    answer = build.send(client, json.dumps(build.report(**change)))

    assert answer.status_code == 400
    assert path in errors(answer)
    assert not Report.objects.exists()


def test_every_fault_is_named_at_once(client):
    answer = build.send(client, {"report": {"kind": "x"}, "extra": 1})

    assert errors(answer).keys() == {
        "/protocol_version", "/doc_url", "/agent", "/report/kind", "/report/summary", "/extra"
    }  # fmt: skip


def test_null_in_an_optional_field_counts_as_absent(client):
    body = build.report(agent__version=None, report__details=None, task_context=None, locale=None)

    answer = build.send(client, body)

    assert answer.status_code == 201
    assert build.send(client).json()["is_duplicate"] is True


@pytest.mark.parametrize(
    "doc_url",
    [
        "docs/install.md",
        "/guide",
        "http://localhost:3000/x",
        "http://127.0.0.1/",
        "http://my_host/",
    ],
)
def test_a_page_may_be_nobodys(client, doc_url):
    assert build.send(client, build.report(doc_url)).status_code == 201


@pytest.mark.parametrize(
    ("headers", "path"),
    [
        ({"Idempotency_Key": "a b"}, "header:Idempotency-Key"),
        ({"Idempotency_Key": "a" * 129}, "header:Idempotency-Key"),
        ({"X_Docs_Feedback_Protocol_Version": "1"}, "header:X-Docs-Feedback-Protocol-Version"),
    ],
)
def test_a_wrong_header_is_named(client, headers, path):
    answer = build.send(client, **headers)

    assert answer.status_code == 400
    assert path in errors(answer)


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("text/plain", {}),
        ("application/json; charset=latin-1", {}),
        ("application/jsonx", {}),
        ("application/json", {"Content-Encoding": "gzip"}),
    ],
)
def test_only_plain_json_is_taken(client, content_type, headers):
    answer = client.post("/v1/reports", json.dumps(build.report()), content_type, headers=headers)

    assert answer.status_code == 415
    assert answer.json()["error"] == "unsupported_media_type"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json;charset=UTF-8",
        'Application/JSON; charset="utf-8"',
        "application/json; profile=x",
    ],
)
def test_utf8_may_be_said(client, content_type):
    assert client.post("/v1/reports", json.dumps(build.report()), content_type).status_code == 201


def test_a_byte_order_mark_is_no_fault(client):
    assert (
        build.send(client, b"\xef\xbb\xbf" + json.dumps(build.report()).encode()).status_code == 201
    )


def test_a_body_may_have_64_kib_and_not_a_byte_more(client):
    body = json.dumps(build.report()).encode()

    fits = build.send(client, body.ljust(64 * 1024))
    exceeds = build.send(client, body.ljust(64 * 1024 + 1))

    assert fits.status_code == 201
    assert exceeds.status_code == 413
    assert exceeds.json()["max_bytes"] == 64 * 1024


def test_a_body_of_unknown_length_is_refused(client):
    answer = client.generic("POST", "/v1/reports", b"{}", "application/json", CONTENT_LENGTH="")

    assert answer.status_code == 411
    assert answer.json()["error"] == "length_required"


def test_an_address_that_sends_too_much_is_told_when_to_come_back(client, settings):
    settings.HUB_REPORT_RATE = "2/minute"

    statuses = [build.send(client).status_code for _ in range(3)]
    refused = build.send(client)
    other = build.send(Client(REMOTE_ADDR="192.0.2.7"))

    assert statuses == [201, 201, 429]
    assert refused.json()["error"] == "rate_limited"
    assert 1 <= int(refused["Retry-After"]) <= 120
    assert refused["Access-Control-Allow-Origin"] == "*"
    assert other.status_code == 201


def test_one_address_does_not_use_up_what_all_may_send(client, settings):
    settings.HUB_REPORT_RATE, settings.HUB_TOTAL_RATE = "2/minute", "50/minute"
    for _ in range(100):
        build.send(client)

    assert build.send(Client(REMOTE_ADDR="192.0.2.7")).status_code == 201


@pytest.mark.parametrize("body", [None, b"{}"])
@pytest.mark.parametrize(
    ("network", "elsewhere"), [("2001:db8:1:{}::1", "2001:db8:2::1"), ("192.0.2.{}", "192.0.3.1")]
)
def test_one_network_does_not_use_up_what_all_may_send(settings, network, elsewhere, body):
    settings.HUB_TOTAL_RATE = "50/minute"

    statuses = [
        build.send(Client(REMOTE_ADDR=network.format(n)), body).status_code for n in range(60)
    ]

    assert [status == 429 for status in statuses] == [False] * 5 + [True] * 55
    assert build.send(Client(REMOTE_ADDR=elsewhere)).status_code == 201


@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_what_is_no_report_counts_as_one(client, settings, kind):
    settings.HUB_REPORT_RATE = "2/minute"

    statuses = [client.post("/v1/reports", "{}", content_type=kind).status_code for _ in range(4)]

    assert statuses == [statuses[0]] * 2 + [429] * 2
    assert build.send(client).status_code == 429


def test_what_a_page_or_a_network_has_no_room_for_counts_for_its_sender(client, settings):
    settings.HUB_REPORT_RATE, settings.HUB_HOST_RATE = "5/minute", "10/minute"  # of it 1

    about_one = [sent_about("https://a.dev/", of="192.0.2.1") for _ in range(5)]

    assert about_one == [201, 429, 429, 429, 429]
    assert sent_about("https://b.dev/", of="192.0.2.1") == 429
    assert sent_about("https://b.dev/", of="192.0.2.2") == 201


SECRET = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("address", [f"https://{SECRET}.com/", f"https://{SECRET}.acme.dev/x"])
def test_a_secret_in_the_host_of_a_page_is_refused_and_counts(client, settings, address):
    settings.HUB_REPORT_RATE = "2/minute"

    answers = [build.send(client, build.report(address)) for _ in range(3)]

    assert [each.status_code for each in answers] == [400, 400, 429]
    assert errors(answers[0]) == {"/doc_url": "Must not contain a secret."}


def test_a_path_does_not_become_the_address_that_its_escapes_hide(client):
    path = f"h%74%74ps%3A%2F%2Facme%2Ecom%2F?access_token%253D{SECRET[4:]}"

    answer = build.send(client, build.report(path))

    assert errors(answer) == {"/doc_url": "Must not contain a secret."}
    assert not Report.objects.exists()


def test_a_secret_in_a_path_of_an_address_is_removed(client):
    answer = build.send(client, build.report(f"https://[::1]/{SECRET}"))

    assert answer.status_code == 201
    assert SECRET not in Report.objects.get().doc_url


def test_what_fails_counts_for_its_sender(client, settings, monkeypatch):
    settings.HUB_REPORT_RATE = "2/minute"

    def away(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr("core.prepared.PreparedStatement.rows", away)

    assert [build.send(client).status_code for _ in range(3)] == [503, 503, 429]


def test_who_is_refused_costs_no_statement(client, settings):
    settings.HUB_REPORT_RATE = "1/minute"
    build.send(client)

    assert statements(lambda: build.send(client)) == 0


def test_who_has_opted_out_is_not_asked_without_end(client, settings):
    settings.HUB_REPORT_RATE = "2/minute"
    domain = build.domain(build.organization(), "docs.acme.com")
    domain.opt_out(True)

    assert [build.send(client).status_code for _ in range(4)] == [410, 410, 429, 429]


def test_nothing_is_remembered_of_those_who_ask_while_the_total_is_used_up(settings):
    settings.HUB_TOTAL_RATE = "2/minute"
    statuses = [build.send(Client(REMOTE_ADDR=f"192.0.{n}.1")).status_code for n in range(2)]
    remembered = len(rates._windows)

    for number in range(50):
        statuses.append(build.send(Client(REMOTE_ADDR=f"192.1.{number}.1")).status_code)

    assert statuses == [201, 201] + [429] * 50
    assert len(rates._windows) == remembered


def sent_about(address: str, *, of: str) -> int:
    """The status of a report about this address, sent by a caller."""
    return build.send(Client(REMOTE_ADDR=of), build.report(address)).status_code


def test_reports_about_one_host_are_limited_too(settings):
    settings.HUB_HOST_RATE = "1/minute"

    sent_about("https://docs.acme.com/install", of="192.0.2.1")
    same = sent_about("https://docs.acme.com/other", of="198.51.100.1")
    other = sent_about("https://docs.example.com/", of="198.51.100.1")

    assert (same, other) == (429, 201)


def refused_among(addresses: list[str]) -> int:
    """How many reports about these addresses are refused, each from a network of its own."""
    answers = [sent_about(each, of=f"192.0.{n}.1") for n, each in enumerate(addresses)]
    return answers.count(429)


def test_subdomains_of_a_claimed_domain_share_its_limit(settings):
    settings.HUB_HOST_RATE = "3/minute"
    build.domain(build.organization(), "acme.com")

    refused = refused_among([f"https://a{n}.acme.com/" for n in range(10)])

    assert (refused, Report.objects.count()) == (7, 3)


def test_subdomains_of_a_domain_that_nobody_claimed_share_its_limit(settings):
    settings.HUB_HOST_RATE = "3/minute"

    refused = refused_among([f"https://a{n}.acme.co.uk/" for n in range(10)])

    assert (refused, Report.objects.count()) == (7, 3)


@pytest.mark.parametrize("owner", ["acme", None])
@pytest.mark.parametrize(
    ("network", "elsewhere"), [("2001:db8:1:{}::1", "2001:db8:2::1"), ("192.0.2.{}", "192.0.3.1")]
)
def test_one_network_uses_up_a_tenth_of_what_may_come_about_a_claim(
    settings, owner, network, elsewhere
):
    settings.HUB_HOST_RATE = "20/minute"
    if owner:
        build.domain(build.organization(owner), "docs.acme.com")
    page = "https://docs.acme.com/install"

    statuses = [sent_about(page, of=network.format(n)) for n in range(30)]
    others = [sent_about(page, of=f"198.51.{n}.1") for n in range(17)]

    assert statuses == [201, 201] + [429] * 28
    assert {*others, sent_about(page, of=elsewhere)} == {201}
    assert sent_about(page, of="203.0.113.1") == 429


def test_one_network_has_its_tenth_of_each_claim(settings):
    settings.HUB_HOST_RATE = "10/minute"
    pages = ["https://a.acme.com/", "https://a.example.com/"]

    assert [sent_about(each, of="192.0.2.1") for each in [*pages, *pages]] == [201, 201, 429, 429]


@pytest.mark.parametrize(
    ("network", "elsewhere"), [("2001:db8:1:{}::1", "2001:db8:2::1"), ("192.0.2.{}", "192.0.3.1")]
)
def test_one_network_cannot_fill_the_disk_with_reports_about_pages_of_many(
    settings, network, elsewhere
):
    settings.HUB_NETWORK_RATE = "3/hour"
    pages = [f"https://a{n}.dev/" for n in range(9)]

    statuses = [sent_about(page, of=network.format(n)) for n, page in enumerate(pages)]

    assert statuses == [201] * 3 + [429] * 6
    assert sent_about(pages[-1], of=elsewhere) == 201


def test_of_large_reports_one_network_sends_a_twentieth(settings):
    settings.HUB_NETWORK_RATE = "40/hour"
    client = Client(REMOTE_ADDR="192.0.2.1")
    large = json.dumps(build.report()).encode().ljust(8 * 1024 + 1)

    statuses = [build.send(client, large).status_code for _ in range(4)]

    assert statuses == [201, 201, 429, 429]
    assert build.send(client, large[:-100]).status_code == 201
    assert build.send(Client(REMOTE_ADDR="192.0.3.1"), large).status_code == 201


def test_an_address_that_becomes_long_makes_a_report_large(settings):
    settings.HUB_NETWORK_RATE = "20/hour"
    client = Client(REMOTE_ADDR="192.0.2.1")
    pages = [f"https://a{n}.dev/{'文' * 1000}" for n in range(2)]

    assert [build.send(client, build.report(page)).status_code for page in pages] == [201, 429]


def test_sites_of_one_user_have_a_limit_each_where_they_are_claimed(settings):
    settings.HUB_HOST_RATE = "1/minute"
    for path in ("/docs/", "/blog/"):
        build.site(build.organization(path), "acme.github.io", path)
    addresses = ["/x", "/y", "/docs/a", "/docs/b", "/blog/a"]

    answers = [
        sent_about(f"https://acme.github.io{each}", of=f"192.0.{n}.1")
        for n, each in enumerate(addresses)
    ]

    assert answers == [201, 429, 201, 429, 201]


def test_a_test_report_arrives_during_a_flood(client, settings, code_host):
    settings.HUB_HOST_RATE = "1/minute"
    alice = build.api(build.token(build.member(build.acme(code_host))))
    build.send(client)

    assert sent_about("https://docs.acme.com/install", of="192.0.2.7") == 429
    assert alice.post("/v1/orgs/me/test-report").status_code == 201


def test_a_database_that_is_away_is_said_so(client, monkeypatch):
    def away(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr("core.prepared.PreparedStatement.rows", away)

    answer = build.send(client)

    assert answer.status_code == 503
    assert answer.json()["error"] == "unavailable"


def test_a_new_report_that_nobody_owns_costs_one_statement(client):
    assert statements(lambda: build.send(client)) == 1


@pytest.mark.parametrize("forwarding", ["inline", "queue"])
def test_a_new_report_with_a_delivery_costs_five_statements(
    client, settings, code_host, forwarding
):
    settings.HUB_FORWARDING = forwarding
    build.acme(code_host)
    build.send(client)

    assert statements(lambda: build.send(client, build.report(report__summary="Another"))) == 5


def test_the_first_report_about_pages_that_are_owned_costs_two_more(client, code_host):
    build.acme(code_host)

    assert statements(lambda: build.send(client)) == 7


def test_a_duplicate_costs_one_statement(client):
    build.send(client)

    assert statements(lambda: build.send(client)) == 1


def test_a_duplicate_of_a_report_with_a_delivery_costs_four(client, code_host):
    build.acme(code_host)
    build.send(client)

    assert statements(lambda: build.send(client)) == 4


def test_a_repeat_counts_once_though_its_integration_goes_meanwhile(client, monkeypatch):
    build.domain(build.organization(), "docs.acme.com")
    build.send(client)
    monkeypatch.setattr("reports.repeats.is_true", lambda *_, **__: True)

    def gone(*args):
        raise IntegrityError

    monkeypatch.setattr("reports.repeats._save_again", gone)

    assert build.send(client).json()["is_duplicate"]
    assert Report.objects.get().times_reported == 2


def test_scripts_of_any_origin_may_report(client):
    preflight = client.options(
        "/v1/reports",
        headers={"Origin": "https://docs.acme.com", "Access-Control-Request-Method": "POST"},
    )
    answer = build.send(client, Origin="https://docs.acme.com")

    assert preflight.status_code == 204
    assert preflight["Access-Control-Allow-Methods"] == "POST"
    assert "Idempotency-Key" in preflight["Access-Control-Allow-Headers"]
    for each in (preflight, answer):
        assert each["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in each


def test_a_token_is_neither_needed_nor_looked_at(client):
    assert build.send(client, Authorization="Bearer nonsense").status_code == 201


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_repeat", [False, True])
def test_an_owner_that_goes_meanwhile_makes_it_nobodys(client, monkeypatch, is_repeat):
    if is_repeat:
        build.send(client)
    owner = build.organization()
    build.domain(owner, "docs.acme.com")
    looks = []

    def look(url):
        looks.append(claim := claim_covering(url))
        if len(looks) > 2:
            raise OperationalError("looked too often")
        Organization.objects.all().delete()
        return claim

    monkeypatch.setattr("reports.intake.claim_covering", look)
    answer = build.send(client)

    assert answer.json()["is_duplicate"] == is_repeat
    assert Report.objects.get().organization is None
    assert Report.objects.get().times_reported == 1 + is_repeat


def test_a_repeat_about_a_page_that_has_passed_on_is_read_by_its_new_owner_only(client):
    acme = build.organization("acme")
    build.domain(acme, "docs.acme.com")
    first = build.send(client).json()["id"]
    acme.domains.all().delete()
    initech = build.organization("initech")
    build.domain(initech, "docs.acme.com")

    again = build.send(client, build.report(report__details="Said afterwards")).json()
    once_more = build.send(client, build.report(report__details="Said afterwards")).json()

    hers = Report.objects.get(pk=first)
    new = Report.objects.get(pk=again["id"])
    assert (hers.times_reported, hers.accounts.count()) == (1, 0)
    assert (again["is_duplicate"], once_more["is_duplicate"]) == (False, True)
    assert new.organization == initech


@pytest.mark.parametrize(
    ("details", "counted"), [("Said first", True), ("Said when the page was nobody's", False)]
)
def test_who_has_lost_a_page_reads_no_new_words_about_it(client, details, counted):
    acme = build.organization("acme")
    build.domain(acme, "docs.acme.com")
    first = build.send(client, build.report(report__details="Said first")).json()["id"]
    acme.domains.all().delete()

    again = build.send(client, build.report(report__details=details)).json()
    back = build.domain(acme, "docs.acme.com")
    known = build.send(client, build.report(report__details=details)).json()

    assert back.verified_at
    assert (again["id"] == first, again["is_duplicate"]) == (counted, counted)
    assert (known["id"], known["is_duplicate"]) == (again["id"], True)
    assert not Report.objects.get(pk=first).accounts.exists()
    assert Report.objects.get(pk=again["id"]).organization == acme


@pytest.mark.django_db(transaction=True)
def test_a_report_whose_key_others_take_at_each_try_is_to_be_sent_again(
    client, monkeypatch, caplog
):
    """Nothing of it is kept: what is sent again is a report of its own."""
    build.send(client)
    store = intake._saved

    def too_late(new: Report) -> intake.Stored:
        """Another one has the key by now, which is too old to be repeated."""
        Report.objects.filter(dedup_key=new.dedup_key).update(dedup_key=None)
        long_ago = {"received_at": new.too_old_to_repeat, "last_received_at": new.received_at}
        other = {"canonical_url": new.canonical_url, "dedup_key": new.dedup_key}
        Report.objects.create(**other, **long_ago)
        return store(new)

    with monkeypatch.context() as patch:
        patch.setattr(intake, "_saved", too_late)
        answer = build.send(client)
    again = build.send(client)

    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert answer["Retry-After"] == "1"
    assert (again.status_code, again.json()["is_duplicate"]) == (201, False)
    assert [each.exc_info for each in caplog.records if each.name == "reports.intake"] == [None]
