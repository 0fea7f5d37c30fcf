"""How the lists are read: from which index, so that they cost the same however much there is."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import counting
from hub.screen import export, lately
from integrations.api import report_list
from integrations.delivery import withholding
from integrations.delivery.queue import Queue
from integrations.delivery.task import forward_report
from integrations.models import Delivery, Integration
from orgs import read_only
from orgs.models import User
from reports.models import Report
from tests import build
from tests.plans import plans_of

pytestmark = pytest.mark.django_db
WHOLE = "SCAN (reports_report|integrations_del|orgs_)|Seq Scan on (reports_report|integrations_del|orgs_)"

FLAT = (  # an index, or some rows by their ids
    "report_received|report_withheld|delivery_turn|delivery_held|delivery_pace"
    "|integrations_delivery_report_id|autoindex_integrations_delivery_1"
    "|reports_report_pkey|autoindex_reports_report_1"
)


@pytest.fixture
def acme(code_host):
    """With reports that are sent, held, withheld and without a delivery."""
    owner = build.organization()
    now = timezone.now()
    for number in range(20):
        Report.objects.create(
            organization=owner,
            received_at=now - timedelta(minutes=number),
            last_received_at=now,
            doc_url="https://docs.acme.com/",
            canonical_url="https://docs.acme.com/",
            kind="other",
            summary=f"Number {number}",
            agent_name="agent-x",
            withheld_for=7 if number % 5 == 4 else None,
        )
    integration = build.integration(owner, code_host)
    for report in Report.objects.filter(summary__endswith="1"):
        held = {"status": "held", "held_for": "ownership"}
        Delivery.objects.create(report=report, integration=integration, **held)
    return owner


@pytest.fixture
def alice(acme, client):
    client.force_login(build.member(acme))
    return client


def test_the_overview(alice):
    plans = plans_of(lambda: alice.get("/settings/"))

    read = [str(each) for each in plans if re.search("reports_report|integrations_del", each.sql)]
    assert len(read) >= 10
    for plan in read:
        assert re.search(FLAT, plan), plan
        assert not re.search(WHOLE, plan)


def test_the_latest_issues_are_found_by_when_they_were_tried(acme):
    mine = Integration.objects.get()
    plans = plans_of(lambda: list(lately.issues(mine)))

    assert len(plans) == 2
    for plan in plans:
        assert "delivery_pace" in plan
        assert not re.search("Sort|TEMP B-TREE", plan)


def test_what_is_not_sent_yet_is_found_by_its_state(acme):
    mine = Integration.objects.get()
    plans = plans_of(lambda: lately.unsent(mine, lately.Stopped(1, 1, 1)))

    assert len(plans) == 3
    for plan in plans:
        assert re.search("delivery_turn|delivery_held", plan)
        assert not re.search("Sort|TEMP B-TREE", plan)


@pytest.mark.parametrize("asked", [{}, {"status": "held"}, {"status": "none"}, {"agent": "x"}])
def test_the_list_of_reports(alice, asked):
    plans = plans_of(lambda: alice.get("/settings/reports/", asked))

    read = [str(each) for each in plans if re.search("reports_report|integrations_del", each.sql)]
    assert len(read) >= 2
    for plan in read:
        assert re.search(FLAT, plan), plan
        assert not re.search(WHOLE, plan)


def test_what_is_withheld(acme):
    [plan, *_] = plans_of(lambda: withholding.explained(acme))

    assert "report_withheld" in plan
    assert not re.search("Sort|TEMP B-TREE", plan)


def test_the_files(acme):
    csv = plans_of(lambda: list(report_list.everything(acme, {})))
    exported = plans_of(lambda: list(export.as_json(acme)))

    for plans in (csv, exported):
        read = [str(plan) for plan in plans if 'FROM "reports_report"' in plan.sql]
        assert read
        assert all("report_received" in plan for plan in read)
        assert not [plan for plan in read if re.search("Sort|TEMP B-TREE", plan)]


@pytest.fixture
def operator(alice):
    User.objects.update(is_staff=True, is_superuser=True)
    return alice


@pytest.fixture
def short_sighted(monkeypatch) -> None:
    monkeypatch.setattr(read_only, "LOOKED_AT", 5)


LONG = {  # SQLite walks along a table in the order of its number without an index
    "reports/report/": "received_at",
    "reports/account/": "reports_account_pkey|^SCAN",
    "integrations/delivery/": "integrations_delivery_pkey|^SCAN",
    "integrations/attempt/": "integrations_attempt_pkey|^SCAN",
    "integrations/answer/": "integrations_answer_pkey|^SCAN",
    "integrations/comment/": "integrations_comment_pkey|autoindex_integrations_comment_1",
    "integrations/terms/": "integrations_terms_pkey|^SCAN",
    "integrations/verdict/": "integrations_verdict_pkey|^SCAN",
    "integrations/webhook/": "integrations_webhook_pkey|^SCAN",
    "orgs/domain/": "orgs_domain_pkey|orgs_domain_1",
    "orgs/notice/": "orgs_notice_pkey|^SCAN",
    "django_tasks_database/dbtaskresult/": "dbtaskresult_pkey|autoindex_django_tasks_database_dbtaskresult_1",
}


@pytest.mark.parametrize("path", LONG)
@pytest.mark.parametrize("asked", [{}, {"q": "nothing"}])
def test_the_end_of_a_long_list_of_the_admin(operator, short_sighted, path, asked):
    plans = plans_of(lambda: operator.get(f"/admin/{path}", asked))

    [edge] = [plan for plan in plans if "OFFSET 5" in plan.sql]
    assert re.search(LONG[path], edge)
    assert not re.search("Sort|TEMP B-TREE", edge)


@pytest.mark.parametrize("asked", [{}, {"q": "number"}, {"kind__exact": "other"}, {"o": "3"}])
def test_the_latest_reports_of_the_admin(operator, short_sighted, asked):
    plans = plans_of(lambda: operator.get("/admin/reports/report/", asked))
    shown = operator.get("/admin/reports/report/", asked).context["cl"]

    rows = [str(plan) for plan in plans if '"received_at" > ' in plan.sql]
    assert len(rows) >= 2  # one counts
    by_time_or_id = "reports_report_received_at|reports_report_pkey|autoindex_reports_report_1"
    assert all(re.search(by_time_or_id, plan) and "Seq Scan" not in plan for plan in rows)
    assert (shown.result_count, len(shown.result_list)) == (5, 5)


def test_the_latest_tasks_are_found_in_the_order_in_which_they_were_put_there(
    operator, short_sighted, monkeypatch
):
    """On a queue of 200,000 tasks the list took most of a second to sort them."""
    times = iter(range(1000, 1010))
    monkeypatch.setattr("ulid.time.time_ns", lambda: next(times) * 10**9)
    queue = Queue("default", {})
    ids = [str(queue.enqueue(forward_report, (f"0{n}",), {}).id) for n in range(8)]

    listed = operator.get("/admin/django_tasks_database/dbtaskresult/").context["cl"]
    oldest = operator.get("/admin/django_tasks_database/dbtaskresult/", {"q": ids[0]}).context["cl"]

    assert [str(each.pk) for each in listed.result_list] == ids[:2:-1]
    assert [str(each.pk) for each in oldest.result_list] == ids[:1]


def test_an_older_report_is_found_by_its_id(operator, short_sighted):
    oldest = Report.objects.earliest("received_at")

    found = operator.get("/admin/reports/report/", {"q": f" {oldest.pk} "}).context["cl"]
    unknown = operator.get("/admin/reports/report/", {"q": f'"{oldest.summary}"'}).context["cl"]

    assert [each.pk for each in found.result_list] == [oldest.pk]
    assert not unknown.result_list


@pytest.mark.parametrize("path", ["reports/report/", "integrations/delivery/"])
def test_a_later_page_skips_rows_by_their_ids(operator, acme, path, monkeypatch):
    rows = operator.get(f"/admin/{path}").context["cl"]
    everything = [each.pk for each in rows.result_list]
    monkeypatch.setattr(rows.model_admin, "list_per_page", 1)

    with CaptureQueriesContext(connection) as asked:
        later = operator.get(f"/admin/{path}", {"p": "2"}).context["cl"]

    assert [each.pk for each in later.result_list] == everything[1:2]
    [skipping] = [each["sql"] for each in asked if "LIMIT 1 OFFSET 1" in each["sql"]]
    assert "," not in skipping.partition(" FROM ")[0]  # only one column is read


def test_the_hosts_of_the_start_page(operator, acme):
    for url in [
        "https://b.example:81/",
        "https://b.example/?a#b",
        "https://[::1]/x",
        "docs/a.md",
        "",
    ]:
        now = timezone.now()
        Report.objects.create(
            received_at=now, last_received_at=now, canonical_url=url, kind="other"
        )

    hosts = operator.get("/admin/").context["now"]["tops"][0]

    assert {each.name: each.times for each in hosts.bars} == {
        "docs.acme.com": 20,
        "b.example": 2,
        "paths without a host": 2,
        "::1": 1,
    }


def test_the_start_page_of_the_admin(operator):
    plans = plans_of(lambda: operator.get("/admin/"))

    read = [str(plan) for plan in plans if re.search("ns_delivery|ns_attempt|s_report", plan.sql)]
    assert len(read) == 7
    for plan in read:
        assert re.search("delivery_(due|held|with_source)|attempt_oldest|report_received", plan)
        assert not re.search(WHOLE + "|Seq Scan on integrations_a|SCAN integrations_attempt", plan)
        assert not re.search("Sort|TEMP B-TREE FOR ORDER BY", plan)


def test_more_deliveries_than_the_admin_counts(operator, monkeypatch):
    monkeypatch.setattr(counting, "MOST", 1)

    shown = operator.get("/admin/").context["now"]

    assert (shown["waiting"], shown["held"], shown["discarded"]) == ("0", "more than 1", "0")


def with_deliveries(code_host, name: str, number: int, problem: str = "", **columns) -> None:
    """An organization whose deliveries are held for so long, all of them."""
    mine, now = build.integration(build.organization(name), code_host), timezone.now()
    Integration.objects.filter(pk=mine.pk).update(problem=problem)
    for _ in range(number):
        report = Report.objects.create(received_at=now, last_received_at=now, kind="other")
        Delivery.objects.create(report=report, integration=mine, status="held", **columns)


def alarms(operator) -> list[tuple[str, str]]:
    refused = operator.get("/admin/").context["now"]["refused"]
    return [(each.organization.name, held) for each, held in refused]


def test_what_others_discard_hides_no_alarm_and_nothing_that_is_held(
    operator, code_host, monkeypatch
):
    """An attack: 1,001 discarded deliveries hid that GitHub accepts nothing for others."""
    monkeypatch.setattr(counting, "MOST", 4)
    old = timezone.now() - timedelta(days=2)
    with_deliveries(code_host, "loud", 6, held_for="discarded", due_at=old)
    with_deliveries(code_host, "hit", 2, "It is archived.", held_for="integration")
    with_deliveries(code_host, "hit-harder", 3, "It is archived.", held_for="integration")
    with_deliveries(code_host, "well-again", 1, "", held_for="integration")

    shown = operator.get("/admin/").context["now"]

    assert alarms(operator) == [("hit-harder", "3"), ("hit", "2")]
    assert (shown["held"], shown["discarded"]) == ("more than 4", "more than 4")


def test_all_that_github_accepts_nothing_for_are_counted(operator, code_host, monkeypatch):
    for number in range(5):
        with_deliveries(code_host, f"hit{number}", number, "Archived.", held_for="integration")

    shown = operator.get("/admin/")

    assert [held for _, held in alarms(operator)] == ["4", "3", "2"]
    assert shown.context["now"]["refused_more"] == "1"
    assert "GitHub accepts nothing for 1 other, either." in " ".join(shown.content.decode().split())


def test_what_is_held_is_counted_at_one_integration_after_the_other(operator, code_host):
    with_deliveries(code_host, "hit", 1, "It is archived.", held_for="integration")
    plans = plans_of(lambda: operator.get("/admin/"))

    [walk] = [plan for plan in plans if plan.sql.startswith("WITH RECURSIVE")]
    [counts] = [plan for plan in plans if "held_for" in plan.sql and plan != walk]
    for plan in (walk, counts):
        assert "delivery_held" in plan
        assert not re.search(WHOLE + "|Sort|TEMP B-TREE", plan)


def test_an_organization_shows_the_first_of_its_claims(operator, acme, monkeypatch):
    monkeypatch.setattr(read_only, "SHOWN_BELOW", 3)
    for number in range(9):
        build.domain(acme, f"d{number}.example")

    page = operator.get(f"/admin/orgs/organization/{acme.pk}/change/").content.decode()

    assert page.count('.example"') + page.count(".example</p>") == 3
