"""`/settings/`: what is left to set up, what needs attention, and recent reports."""

from datetime import timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from core import counting, looks
from hub.screen import inviting, setup_steps, weeks
from hub.screen.access import MemberRequest, members_only
from hub.screen.delivery_states import DeliveryState, state_of
from integrations.api.report_filters import NONE
from integrations.delivery import catching_up, withholding
from integrations.issue import template_limits
from integrations.models import Delivery, Integration
from integrations.models.delivery import STATE
from orgs.models import Domain, Organization, Site
from reports.models import Report

LATEST = 5
LAPSED = 10
NOTICES, NEWS = 5, timedelta(days=14)
COUNTED = 5000  # the latest reports, so that the cost of the page does not grow
MOST_REPORTED, RECENTLY = 5, timedelta(days=30)
COLUMNS = ["id", "received_at", "doc_url", "kind", "summary", "times_reported"]


class LatestReport(NamedTuple):
    """A report, and its state as shown."""

    report: Report
    state: DeliveryState


@members_only
def overview(request: MemberRequest) -> HttpResponse:
    """The overview, in the same queries and a bounded time however much there is."""
    mine = request.membership.organization
    integration = integration_of(mine)
    to_do = setup_steps.set_up(integration, setup_steps.Claims.of(mine))
    lapsed = _lapsed(mine)
    in_weeks = _latest_since(mine, timedelta(weeks=weeks.WEEKS))
    bars = weeks.bars(in_weeks)
    context: dict[str, Any] = {
        "membership": request.membership,
        "integration": integration,
        "steps": to_do,
        "left": sum(each.state is not setup_steps.StepState.DONE for each in to_do),
        "progress": setup_steps.progress(to_do),
        "template_problem": template_limits.problem(integration.issue_template)
        if integration
        else "",
        **_stopped(integration),
        "notices": mine.notices.filter(at__gte=timezone.now() - NEWS)[:NOTICES],
        "lapsed": lapsed[:LAPSED],
        "more_lapsed": lapsed[LAPSED:],
        "invitations": inviting.of(request.membership),
        "not_shown": withholding.explained(mine)
        if integration and integration.has_withheld
        else "",
        "of_latest": f"{COUNTED:,}" if sum(bar.reports for bar in bars) == COUNTED else "",
        "weeks": bars,
        "pages": _most_reported(_latest_since(mine, RECENTLY)),
        "latest": _latest(mine),
    }
    return render(request, "hub/overview.html", context)


def integration_of(organization: Organization) -> Integration | None:
    """The organization's integration with its installation, and whether anything is withheld."""
    known = Integration.objects.select_related("installation").noting_withheld()
    return known.of(organization).first()


def next_step(organization: Organization) -> setup_steps.Step | None:
    """The next thing to do in setting up; None if all is done, or waits for something."""
    to_do = setup_steps.set_up(integration_of(organization), setup_steps.Claims.of(organization))
    return next((each for each in to_do if each.state is setup_steps.StepState.TO_DO), None)


def _lapsed(organization: Organization) -> list[Domain | Site]:
    """The first of the claims that have lapsed, at most one more than is shown."""
    domains = organization.domains.filter(lapsed_at__isnull=False).order_by("name")
    sites = organization.sites.filter(lapsed_at__isnull=False).order_by("host", "path")
    found: list[Domain | Site] = [*domains[: LAPSED + 1], *sites[: LAPSED + 1]]
    return found[: LAPSED + 1]


def _stopped(integration: Integration | None) -> dict[str, str]:
    """How many deliveries are held (or will be, once all follow their integration) and how many failed."""
    if integration is None:
        return {}
    failed = counting.up_to_most(integration.deliveries.in_state(Delivery.Status.FAILED))
    counts = {"held": catching_up.expected_held(integration), "failed": failed}
    return {name: counting.in_words(count) for name, count in counts.items() if count}


def _latest_since(organization: Organization, age: timedelta) -> QuerySet[Report]:
    """The latest reports that are not older, at most `COUNTED`."""
    return Report.objects.newest_first(organization, after=(timezone.now() - age, ""))[:COUNTED]


def _most_reported(reports: QuerySet[Report]) -> list[dict[str, Any]]:
    """The pages that most of these reports are about."""
    order = f"GROUP BY canonical_url ORDER BY times DESC, canonical_url LIMIT {MOST_REPORTED}"
    pages = looks.at(
        reports.values("canonical_url", "times_reported"),
        "canonical_url, SUM(times_reported) AS times",
        then=order,
    )
    with connection.cursor() as cursor:
        cursor.execute(*pages)
        return [{"canonical_url": url, "times": times} for url, times in cursor.fetchall()]


def _latest(organization: Organization) -> list[LatestReport]:
    status = Delivery.objects.filter(report=OuterRef("pk")).values_list(STATE)
    received = Report.objects.newest_first(organization).only(*COLUMNS)
    latest = received.annotate(status=Coalesce(Subquery(status), Value(NONE)))
    return [LatestReport(each, state_of(each.status)) for each in latest[:LATEST]]
