"""Test reports of before the upgrade are marked as such, and nothing else is."""

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from reports.models import Report

MARK = import_module("reports.migrations.0013_test_reports").mark_test_reports
TEST = {
    "agent_name": "Docs Feedback Hub",
    "summary": "Test report: this is how reports arrive",
    "details": "A maintainer sent this from the Hub to try it. There is nothing to fix.",
}


def report(**columns) -> Report:
    now = timezone.now()
    return Report.objects.create(received_at=now, last_received_at=now, **columns)


@pytest.mark.django_db
def test_what_was_told_by_its_agent_is_told_by_its_key():
    old = report(dedup_key="key:x", **TEST)
    others = [
        report(dedup_key="key:1", **{**TEST, "summary": "Something else"}),
        report(dedup_key="key:2", **{**TEST, "agent_name": "claude-code"}),
        report(dedup_key="key:3", **{**TEST, "details": "A stranger's"}),
        report(dedup_key="auto:4", **TEST),
        report(dedup_key=None, **TEST),
        report(dedup_key="test:y", **TEST),
    ]

    MARK(apps, None)

    old.refresh_from_db()
    assert (old.is_test, old.dedup_key) == (True, f"test:{old.pk}")
    for each in others:
        key = each.dedup_key
        each.refresh_from_db()
        assert each.dedup_key == key
