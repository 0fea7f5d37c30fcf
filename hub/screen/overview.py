"""`/settings/`: how things stand, what needs attention, what is left to set up, and the latest reports."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from core import counting
from hub.screen import attention, inviting, lately, news, setup_steps, spark_lines, weeks
from hub.screen.access import MemberRequest, members_only
from hub.screen.report_rows import rows_of
from integrations.api import report_list
from integrations.delivery import holds, withholding
from integrations.delivery.backlog import backlog
from integrations.models import Integration
from orgs.models import Organization

LATEST = 5


class Standing(NamedTuple):
    """Whether reports become issues now: a word, and the CSS classes of its mark."""

    words: str
    shape: str


@members_only
def overview(request: MemberRequest) -> HttpResponse:
    """The overview, in the same queries and a bounded time however much there is."""
    mine = request.membership.organization
    integration = integration_of(mine)
    claims = setup_steps.Claims.of(mine)
    known = lately.known(integration)
    stopped = known.stopped
    to_do = setup_steps.set_up(integration, claims, has_sent=known.has_sent)
    not_shown = withholding.explained(mine) if integration and integration.has_withheld else ""
    waiting = backlog(integration) if integration and stopped.waiting else None
    latest = rows_of(report_list.page(mine, {}, size=LATEST).reports)
    needed = attention.lines(
        mine,
        request.user,
        integration,
        claims=claims,
        stopped=stopped,
        waiting=waiting,
        not_shown=not_shown,
    )
    standing = standing_of(integration, claims)
    context: dict[str, Any] = {
        "membership": request.membership,
        "integration": integration,
        "claims": claims,
        "standing": standing,
        "steps": to_do,
        "left": sum(each.state is not setup_steps.StepState.DONE for each in to_do),
        "progress": setup_steps.progress(to_do, receives=standing is not None),
        "invitations": inviting.of(request.membership),
        "attention": needed,
        "news": news.Told.of(mine),
        "messages": attention.unsaid(messages.get_messages(request), needed),
        "waiting": waiting,
        "not_shown": not_shown,
        "latest": latest,
        **(_numbers(mine, integration, known) if latest else {}),
    }
    return render(request, "hub/overview.html", context)


def integration_of(organization: Organization) -> Integration | None:
    """The organization's integration with its installation, and whether anything is withheld."""
    known = Integration.objects.select_related("installation").noting_withheld()
    return known.of(organization).first()


def goes_out(organization: Organization, *, is_one: bool = False) -> str:
    """What becomes of reports that were just put back, as a sentence: each is sent, or why nothing is sent now."""
    mine = integration_of(organization)
    if mine and (why := holds.why_stopped(mine)):
        return f"Nothing is sent now. {why}"
    return f"{'It' if is_one else 'Each'} is sent in its turn."


def next_step(organization: Organization) -> setup_steps.Step | None:
    """The next thing to do in setting up; None if all is done, or waits for something."""
    return next_of(integration_of(organization), setup_steps.Claims.of(organization))


def next_of(integration: Integration | None, claims: setup_steps.Claims) -> setup_steps.Step | None:
    """The same, of what was read already."""
    to_do = setup_steps.set_up(integration, claims, has_sent=setup_steps.has_sent(integration))
    return next((each for each in to_do if each.is_next), None)


def standing_of(integration: Integration | None, claims: setup_steps.Claims) -> Standing | None:
    """How things stand; None while too little is set up for anything to arrive."""
    if integration is None or not integration.repository or not claims.live:
        return None
    if integration.words_of_hold:
        return Standing("On hold", "pill wait")
    if integration.paused_at:
        return Standing("Paused", "pill wait")
    if integration.obstacle:
        return Standing("Stopped", "pill bad")
    if not claims.is_heard:
        return Standing("Opted out", "pill wait")
    return Standing("Receiving", "state good")


def _numbers(
    organization: Organization, integration: Integration | None, known: lately.Known
) -> dict[str, Any]:
    """The figures and the charts."""
    stopped, arrived = known.stopped, lately.arrivals(organization)
    unsent = lately.unsent(integration, stopped)
    columns = weeks.columns(weeks.mondays(), arrived.by_week, unsent)
    return {
        "figures": [arrived.figure, *lately.issues(integration)],
        "failed_or_held": counting.in_short(stopped.failed + stopped.held),
        "stopped": list(_parts(integration, stopped)),
        "has_failed": stopped.failed,
        "joined": lately.joined(organization) if known.has_joined else "",
        "unsent_line": spark_lines.of(spark_lines.per_day(unsent, timezone.now(), lately.DRAWN)),
        "columns": columns,
        "has_unsent": any(each.unsent for each in columns),
        "pages_since": (timezone.now() - lately.RECENTLY).date(),
        "pages": lately.most_reported(lately.latest_since(organization, lately.RECENTLY)),
        "of_latest": f"{lately.COUNTED:,}" if arrived.is_bounded else "",
    }


def _parts(
    integration: Integration | None, stopped: lately.Stopped
) -> Iterator[tuple[str, str, str]]:
    """How many have failed and are held, in words, with the status that lists them.

    What waits for a stopped integration counts as held, while its status still says that it waits.
    """
    about_to_be = stopped.waiting if integration and integration.obstacle else 0
    if stopped.failed:
        yield counting.in_short(stopped.failed), "failed", "failed"
    if stopped.held:
        words = "held or about to be" if about_to_be else "held"
        status = "held" if stopped.held > about_to_be else "pending"
        yield counting.in_short(stopped.held), words, status
