"""Secrets that come about after a report was stored: by newer patterns, or in the template."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations_with_replacement

import pytest
from django.core.management import call_command
from django.test import Client

from integrations import last_look
from integrations.issue_text import DEFAULT_TEMPLATE
from integrations.last_look import without_secrets_at_seams
from integrations.models import Delivery, Integration
from integrations.safe_text import ZWSP
from reports import secrets
from reports.contract import SECRETS
from reports.models import Report
from reports.screening import Notice
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


@pytest.mark.parametrize("length", [30, 5_000])
def test_long_texts_are_cut_where_they_meet(length):
    words = "word " * (length // 5)
    fields = {
        "summary": "s",
        "details": f"{words}{HALVES[0]}",
        "suggested_fix": f"{HALVES[1]} {words}",
    }
    notices: list[Notice] = []

    cut = without_secrets_at_seams("{details}{suggested_fix}", fields, notices)

    assert cut["details"] == f"{words}[removed: GitHub token]"
    assert cut["suggested_fix"] == f"[removed: GitHub token] {words}".strip()
    assert notices == [
        ("/report/details", "GitHub token"),
        ("/report/suggested_fix", "GitHub token"),
    ]


def test_what_meets_nothing_stays_as_it_was_sent():
    fields = {"summary": "Ａ \u200b b", "details": "c\u00ad\r\nd", "report_kind": "other"}

    assert without_secrets_at_seams(DEFAULT_TEMPLATE, fields, []) == fields


FAMILIES = [
    pytest.param("".join(finds), id=f"{entry['kind']} {number}")
    for entry in SECRETS["kinds"]
    for number, finds in enumerate(entry["finds"])
]
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n"
END = "\n-----END PRIVATE KEY-----"


def test_a_template_that_completes_a_key_lets_the_report_become_an_issue(client, code_host):
    build.acme(code_host)
    by(f"{KEY}{{summary}}\n{{details}}{END}")

    build.send(client, build.report(report__summary="Broken link", report__details="It is gone."))

    assert "Broken link\nIt is gone." in seen(code_host)
    assert Report.objects.get().notices == []


def test_a_report_that_ends_a_key_of_the_template_again_and_again_is_cut_and_noted_once():
    notices: list[Notice] = []
    fields = {"summary": "Broken", "details": END * 300}

    with searching() as searched:
        cut = without_secrets_at_seams(f"{KEY}{{summary}}{{details}}", fields, notices)

    assert cut == {"summary": "[removed: private key]", "details": "[removed: private key]"}
    assert [notice.field for notice in notices] == ["/report/summary", "/report/details"]
    assert len(searched) <= 2 * (last_look.LOOKS + len(fields))


@pytest.mark.parametrize("secret", FAMILIES)
def test_no_part_of_a_secret_makes_one_of_two_texts_wherever_the_template_has_the_others(secret):
    length = len(secret)
    places = sorted({0, 1, length // 4, length // 2, 3 * length // 4, length - 1, length})
    for a, b, c, d in combinations_with_replacement(places, 4):
        fields = {"summary": secret[a:b], "details": secret[c:d]}
        template = f"{secret[:a]}{{summary}}{secret[b:c]}{{details}}{secret[d:]}"
        if a == b or c == d or any(secrets.remove(text)[1] for text in fields.values()):
            continue
        notices: list[Notice] = []

        cut = without_secrets_at_seams(template, fields, notices)

        assert without_secrets_at_seams(template, cut, more := []) == cut
        assert not more
        assert len(set(notices)) == len(notices)
        if (a, d) == (0, length):
            whole = template.replace("{summary}", cut["summary"])
            assert secret not in whole.replace("{details}", cut["details"])


@pytest.mark.parametrize("between", ["", "ab" * 300, "ab" * 900])
def test_only_what_is_near_a_place_where_two_texts_meet_is_searched(between):
    long = between.join(["{details}", "{suggested_fix}", "{evidence}"] * 4)
    fields = dict.fromkeys(["details", "suggested_fix", "evidence"], "some words " * 7_000)

    with searching() as searched:
        without_secrets_at_seams(long, fields, [])

    assert sum(searched) <= 2 * 11 * 3 * last_look.REACH


def test_a_key_that_goes_on_behind_what_is_searched_is_removed_to_its_end():
    lines = "\n".join(["a1B2c3D4" * 8] * 50)
    fields = {"summary": KEY.splitlines()[0], "details": f"{lines}{END}"}

    cut = without_secrets_at_seams("{summary}\n{details}", fields, [])

    assert cut == {"summary": "[removed: private key]", "details": "[removed: private key]"}


@contextmanager
def searching() -> Iterator[list[int]]:
    """How many characters each search looked at."""
    searched: list[int] = []
    found_in = secrets.found_in

    def counted(text: str) -> list[secrets.Secret]:
        searched.append(len(text))
        return found_in(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "found_in", counted)
        yield searched
