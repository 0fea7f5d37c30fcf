"""`/settings/`: what is left to set up, what needs attention, and recent reports."""

from collections import Counter
from datetime import timedelta
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from hub.screen import inviting, setup_steps, weeks
from hub.screen.access import MemberRequest, members_only
from hub.screen.delivery_states import DeliveryState, state_of
from integrations.api.report_list import NONE
from integrations.delivery import catching_up, withholding
from integrations.issue import template_limits
from integrations.models import Delivery, Integration
from integrations.models.delivery import STATE
from orgs.models import Domain, Organization, Site
from reports.models import Report

LATEST = 5
NOTICES, NEWS = 5, timedelta(days=14)
COUNTED = 10_000  # the latest reports, so that the cost of the page does not grow
MOST_REPORTED, RECENTLY = 5, timedelta(days=30)
COLUMNS = ["id", "received_at", "doc_url", "kind", "summary", "times_reported"]


class LatestReport(NamedTuple):
    """A report, and its state as shown."""

    report: Report
    state: DeliveryState


@members_only
def overview(request: MemberRequest) -> HttpResponse:
    """The overview, in thirteen queries however much there is."""
    mine = request.membership.organization
    integration = integration_of(mine)
    domains, sites, deliveries = _claims_and_deliveries(mine, integration)
    to_do = setup_steps.set_up(integration, domains, sites=sites, deliveries=deliveries)
    counted, is_part = _counted(mine)
    context: dict[str, Any] = {
        "membership": request.membership,
        "integration": integration,
        "steps": to_do,
        "left": sum(each.state is not setup_steps.StepState.DONE for each in to_do),
        "progress": setup_steps.progress(to_do),
        "template_problem": template_limits.problem(integration.issue_template)
        if integration
        else "",
        "held": deliveries.get(Delivery.Status.HELD, 0),
        "failed": deliveries.get(Delivery.Status.FAILED, 0),
        "notices": mine.notices.filter(at__gte=timezone.now() - NEWS)[:NOTICES],
        "lapsed": [
            *(each for each in domains if each.lapsed_at),
            *(each for each in sites if each.lapsed_at),
        ],
        "invitations": inviting.of(request.membership),
        "not_shown": withholding.explained(mine)
        if integration and integration.has_withheld
        else "",
        "of_latest": f"{COUNTED:,}" if is_part else "",
        "weeks": weeks.bars(counted),
        "pages": _most_reported(counted),
        "latest": _latest(mine),
    }
    return render(request, "hub/overview.html", context)


def integration_of(organization: Organization) -> Integration | None:
    """The organization's integration with its installation, and whether anything is withheld."""
    known = Integration.objects.select_related("installation").noting_withheld()
    return known.of(organization).first()


def next_step(organization: Organization) -> setup_steps.Step | None:
    """The next thing to do in setting up; None if all is done, or waits for something."""
    integration = integration_of(organization)
    domains, sites, deliveries = _claims_and_deliveries(organization, integration)
    to_do = setup_steps.set_up(integration, domains, sites=sites, deliveries=deliveries)
    return next((each for each in to_do if each.state is setup_steps.StepState.TO_DO), None)


def _claims_and_deliveries(
    mine: Organization, integration: Integration | None
) -> tuple[list[Domain], list[Site], dict[str, int]]:
    sites = list(mine.sites.order_by("host", "path"))
    return list(mine.domains.order_by("name")), sites, _by_state(integration)


def _by_state(integration: Integration | None) -> dict[str, int]:
    """How many deliveries are in each state, or will be once they all follow their integration."""
    counts: Counter[str] = Counter()
    if integration:
        mine = integration.deliveries.values_list("status", "held_for")
        for status, cause, count in mine.annotate(Count("pk")).order_by():
            counts[catching_up.expected_state(integration, status, cause)] += count
    return counts


def _counted(organization: Organization) -> tuple[QuerySet[Report], bool]:
    """The latest reports, at most `COUNTED`, and whether there are more in the weeks shown."""
    since = timezone.now() - timedelta(weeks=weeks.WEEKS)
    received = Report.objects.readable_by(organization).filter(received_at__gte=since)
    latest = received.order_by("-received_at", "-id").values_list("received_at", flat=True)
    if one_too_many := list(latest[COUNTED : COUNTED + 1]):
        return received.filter(received_at__gt=one_too_many[0]), True
    return received, False


def _most_reported(reports: QuerySet[Report]) -> list[Any]:
    """The pages that most recent reports are about."""
    received = reports.filter(received_at__gte=timezone.now() - RECENTLY)
    pages = received.values("canonical_url").annotate(times=Sum("times_reported"))
    return list(pages.order_by("-times", "canonical_url")[:MOST_REPORTED])


def _latest(organization: Organization) -> list[LatestReport]:
    status = Delivery.objects.filter(report=OuterRef("pk")).values_list(STATE)
    received = Report.objects.readable_by(organization).annotate(
        status=Coalesce(Subquery(status), Value(NONE))
    )
    latest = received.order_by("-received_at", "-id").only(*COLUMNS)[:LATEST]
    return [LatestReport(each, state_of(each.status)) for each in latest]
