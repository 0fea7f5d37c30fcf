"""How the lists are read: from which index, so that they cost the same however much there is."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from hub.screen import export
from integrations.api import report_list
from integrations.delivery import withholding
from integrations.models import Delivery
from reports.models import Report
from tests import build
from tests.plans import plans_of

pytestmark = pytest.mark.django_db
WHOLE = "SCAN (reports_report|integrations_del|orgs_)|Seq Scan on (reports_report|integrations_del|orgs_)"


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

    read = [each.text for each in plans if re.search("reports_report|integrations_del", each.sql)]
    assert len(read) >= 8
    for plan in read:
        assert re.search("report_readable|report_withheld|delivery_turn|delivery_held", plan), plan
        assert not re.search(WHOLE, plan)


def test_what_is_withheld(acme):
    [plan, *_] = plans_of(lambda: withholding.explained(acme))

    assert "report_withheld" in plan.text
    assert not re.search("Sort|TEMP B-TREE", plan.text)


def test_the_files(acme):
    csv = plans_of(lambda: list(report_list.everything(acme, {})))
    exported = plans_of(lambda: list(export.as_json(acme)))

    for plans in (csv, exported):
        read = [plan.text for plan in plans if 'FROM "reports_report"' in plan.sql]
        assert read
        assert all("report_readable" in plan for plan in read)
        assert not [plan for plan in read if re.search("Sort|TEMP B-TREE", plan)]
