"""Secrets that come about after a report was stored: by newer patterns, or in the template."""

import pytest
from django.core.management import call_command
from django.test import Client

from integrations.issue.safe_text import ZWSP
from integrations.models import Delivery, Integration
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

HALVES = "ghp_" + "a1B2c3D4e5", "F6g7H8i9J0" * 3
TOKEN = "".join(HALVES)


def by(template: str) -> None:
    Integration.objects.update(issue_template=template)


def seen(code_host) -> str:
    """What stands in the only issue, as it is read."""
    [issue] = code_host.issues("acme/docs")
    return f"{issue.title}\n{issue.body}".replace(ZWSP, "")


def test_a_report_from_before_a_pattern_was_known_is_sent_without_the_secret(client, code_host):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client, build.report(report__details="old"))
    Report.objects.update(
        details=f"I used {TOKEN} there",
        evidence=[{"kind": "observed", "text": f"401 for {TOKEN}"}],
        doc_url=f"https://docs.acme.com/install?token={TOKEN}",
    )

    call_command("retry_deliveries", "--now")

    report = Report.objects.get()
    assert HALVES[1] not in seen(code_host)
    assert "I used [removed: GitHub token] there" in seen(code_host)
    assert report.details == "I used [removed: GitHub token] there"
    assert HALVES[1] not in f"{report.evidence}{report.doc_url}{report.canonical_url}"
    assert [each["field"] for each in report.notices] == [
        "/report/details", "/report/evidence/0/text", "/doc_url"
    ]  # fmt: skip


def test_a_report_whose_host_is_a_secret_by_now_is_not_sent_and_says_why(client, code_host):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    Report.objects.update(doc_url=f"https://{TOKEN}.docs.acme.com/")

    call_command("retry_deliveries", "--now")

    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.reason) == (
        "failed",
        "The address of the page contains a secret, so the report is not sent.",
    )
    assert not code_host.issues("acme/docs")


@pytest.mark.parametrize(
    "template", ["{summary}{details}", "> {summary}**{details}**", "{summary}\n{details}"]
)
def test_two_harmless_halves_do_not_meet_in_the_template(client, code_host, template):
    build.acme(code_host)
    by(template)

    answer = build.send(
        client,
        build.report(
            report__summary=f"The token {HALVES[0]}", report__details=f"{HALVES[1]} fails"
        ),
    )

    assert answer.json()["notices"] == []
    assert "The token [removed: GitHub token]" in seen(code_host)
    assert HALVES[1] not in seen(code_host)
    assert Report.objects.get().notices == [
        {"field": "/report/summary", "kind": "GitHub token"},
        {"field": "/report/details", "kind": "GitHub token"},
    ]


def test_the_two_ends_of_one_text_do_not_meet_in_the_template(client, code_host):
    build.acme(code_host)
    by("{details}{details}")

    build.send(client, build.report(report__details=f"{HALVES[1]} fails after {HALVES[0]}"))

    assert "[removed: GitHub token]" in seen(code_host)
    assert HALVES[1] not in seen(code_host)
    assert Report.objects.get().notices == [{"field": "/report/details", "kind": "GitHub token"}]


def test_what_was_removed_is_noted_once_however_often_it_is_tried(client, code_host):
    build.acme(code_host)
    by("{summary}{details}")
    code_host.fail("500", path="token", times=3)
    build.send(client, build.report(report__summary=HALVES[0], report__details=HALVES[1]))

    for _ in range(3):
        call_command("retry_deliveries", "--now")

    assert Delivery.objects.get().status == "sent"
    assert len(Report.objects.get().notices) == 2


@pytest.mark.parametrize(
    "template",
    [
        f"Our bot uses {TOKEN}\n\n{{details}}",
        "https://bot:k9Zebra@acme.com/?about={summary}",
        "curl https://acme.com/triage?token={report_id}",
        "Authorization: Bearer {summary}",
        f"ghp_{{summary}}{HALVES[1]}",
    ],
)
def test_the_maintainers_own_template_is_left_alone(client, code_host, template):
    build.acme(code_host)
    by(template)

    build.send(client, build.report(report__summary="a1B2c3D4e5F6g7H8", report__details="gone"))

    assert "[removed" not in seen(code_host)
    assert Report.objects.get().notices == []


def test_a_member_reads_what_was_removed(client, code_host):
    owner = build.acme(code_host)
    build.send(client, build.report(report__details=f"I used {TOKEN}"))
    alice = Client()
    alice.force_login(build.member(owner))
    report = Report.objects.get()

    page = alice.get(f"/settings/reports/{report.id}/").content.decode()

    assert report.notices == [{"field": "/report/details", "kind": "GitHub token"}]
    assert "GitHub token from <code>/report/details</code>" in page


def test_a_template_that_completes_a_key_lets_the_report_become_an_issue(client, code_host):
    build.acme(code_host)
    by(
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n"
        "{summary}\n{details}\n-----END PRIVATE KEY-----"
    )

    build.send(client, build.report(report__summary="Broken link", report__details="It is gone."))

    assert "Broken link\nIt is gone." in seen(code_host)
    assert Report.objects.get().notices == []


BROKEN = "The sample fails: Server=db;Uid=docs;\nPwd=k9Zebra"
ONE_LINE = "The sample fails: Server=db;Uid=docs; Pwd=[removed: password]"


def test_a_secret_that_a_line_end_breaks_is_in_no_title(client, code_host):
    """The attack: the summary became one line after it had been searched."""
    build.acme(code_host)

    answer = build.send(client, build.report(report__summary=BROKEN))

    [issue] = code_host.issues("acme/docs")
    assert answer.json()["notices"] == [{"field": "/report/summary", "kind": "password"}]
    assert issue.title.replace(ZWSP, "") == f"[docs] {ONE_LINE}"
    assert "k9Zebra" not in seen(code_host)


@pytest.mark.parametrize(
    "template", ["| a | b |\n|-|-|\n| {details} | x |\n", "Said: `{details}`\n"]
)
def test_nor_where_a_template_makes_one_line_of_the_details(client, code_host, template):
    build.acme(code_host)
    by(template)

    build.send(client, build.report(report__details=BROKEN))

    assert "k9Zebra" not in seen(code_host)
    assert "Pwd=[removed: password]" in seen(code_host)


def test_nor_of_a_report_from_before(client, code_host):
    build.acme(code_host)
    code_host.fail("500", path="token")
    build.send(client)
    Report.objects.update(summary=BROKEN)

    call_command("retry_deliveries", "--now")

    assert "k9Zebra" not in seen(code_host)
    assert Report.objects.get().summary.endswith("Pwd=[removed: password]")
