from datetime import timedelta

import pytest
from django.utils import timezone

from hub.screen import spark_lines
from integrations.models import Delivery
from reports.models import Report
from tests import build


def test_a_line_goes_from_the_oldest_day_to_the_latest_and_as_high_as_the_highest():
    line = spark_lines.of([0, 4, 2])

    assert line.points == "2.0,18.0 40.0,2.0 78.0,10.0"
    assert line.words == "The last 3 days, one by one: 0, 4, 2"


def test_a_day_without_a_number_is_passed_over():
    line = spark_lines.of([1, None, 2], "{:.1f} s".format)

    assert line.points == "2.0,10.0 78.0,2.0"
    assert line.words.endswith(": 1.0 s, –, 2.0 s")


@pytest.mark.parametrize("days", [[], [3], [0, 0, 0], [None, None], [None, 5, None]])
def test_there_is_no_line_where_it_would_say_nothing(days):
    assert spark_lines.of(days) is None


def test_days_are_the_latest_24_hours_and_those_before():
    now = timezone.now()
    times = [now, now - timedelta(hours=23), now - timedelta(hours=25), now - timedelta(days=3)]

    assert spark_lines.per_day([*times, now + timedelta(hours=1)], now, 3) == [0, 1, 2]


@pytest.mark.django_db(transaction=True)
def test_the_figures_of_the_overview_have_their_lines(client, code_host):
    acme = build.acme(code_host)
    client.force_login(build.member(acme, "alice"))
    for number, days in enumerate((0, 0, 2, 9), start=1):
        build.send(client, build.report(report__summary=f"Step {number} is gone"))
        at = timezone.now() - timedelta(days=days, minutes=1)
        latest = Report.objects.order_by("-received_at").first()
        Report.objects.filter(pk=latest.pk).update(received_at=at)
        Delivery.objects.filter(report=latest).update(last_tried_at=at)
    Delivery.objects.filter(report=latest).update(status="failed")

    page = client.get("/settings/").content.decode()

    drawn = ["0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 2", "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2"]
    for days in drawn:
        assert f'aria-label="The last 14 days, one by one: {days}"' in page
    assert (
        'aria-label="The last 14 days, one by one: 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0"'
        in page
    )
