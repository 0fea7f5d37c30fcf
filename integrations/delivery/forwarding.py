"""Delivery: one report becomes one issue, however often this is called."""

import logging
import time
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from core import connections, deadlines
from integrations import github_api
from integrations.delivery import (
    coming_back,
    holds,
    issue_states,
    likeness,
    ownership_changes,
    pacing,
    steps,
)
from integrations.folding.looking import Alike
from integrations.issue.evidence import evidence_text
from integrations.issue.rendering import DEFAULT_TEMPLATE, render_issue
from integrations.issue.secrets_at_seams import without_secrets_at_seams
from integrations.models import Alert, Delivery, Hold, Integration
from integrations.models.delivery import LeaseLost
from orgs import repository_pages
from reports.models import Report
from reports.screening import SecretInAddress, SecretNotice

log = logging.getLogger(__name__)

DEADLINE = 10  # seconds, for everything that GitHub is asked about one delivery
SOON = timedelta(seconds=5)
UNTIL_A_CLOCK_IS_SET = timedelta(minutes=5)  # however long that takes, it is no try that has failed
UNCHECKED = "the Hub cannot check there now."
SECRET_IN_ADDRESS = "The address of the page contains a secret, so the report is not sent."  # noqa: S105


def forward_new(report_id: str) -> None:
    """Deliver a report that has just arrived, unless others are waiting before it."""
    if not Delivery.objects.has_older_waiting(report_id):
        forward(report_id)


def forward(report_id: str) -> None:
    """Deliver a report as far as possible now.

    Saves the result, and raises no GitHub errors.
    """
    deadline = time.monotonic() + DEADLINE
    if deadlines.is_full() or not (delivery := pacing.take(report_id)):
        return  # sent, held, being sent by someone else, or to wait for its turn
    since = time.perf_counter()
    try:
        _try(delivery, deadline)
    except LeaseLost:
        log.warning("The delivery of report %s was taken over by another process", report_id)
    except Exception:  # nobody else would tell the maintainer
        log.exception("The delivery of report %s failed with an internal error", report_id)
        with suppress(LeaseLost):
            delivery.record_internal_error()
    steps.note(delivery, time.perf_counter() - since)


class _Stop(NamedTuple):
    """Why a delivery is held before GitHub is asked."""

    cause: Delivery.Cause
    reason: str
    by: Hold | None = None


def _try(delivery: Delivery, deadline: float) -> None:
    """One attempt, from claiming the delivery to saving the result."""
    stop = _stop(delivery)
    if stop and not _may_be_there(delivery, stop):
        return delivery.hold_before_sending(stop.cause, stop.reason, by=stop.by)
    try:
        _send(delivery, deadline, stop)
    except github_api.Suspended as error:
        with transaction.atomic():
            holds.suspend(delivery.integration.installation, str(error))
            delivery.hold(Delivery.Cause.INTEGRATION, str(error))
    except github_api.Blocked as error:
        _block(delivery, error)
    except github_api.Refused as error:
        delivery.fail(str(error))
    except SecretInAddress:
        delivery.fail(SECRET_IN_ADDRESS)
    except github_api.TooQuick as error:
        pacing.note_too_quick(delivery.integration.installation, error, delivery.source)
        delivery.postpone(str(error))
    except github_api.Limited as error:
        delivery.integration.installation.leave_alone_for(error.wait)
        delivery.wait(str(error), error.wait)
    except github_api.Busy as error:
        delivery.wait(str(error), SOON)
    except github_api.OtherTime as error:
        delivery.wait(str(error), UNTIL_A_CLOCK_IS_SET)
    except github_api.Unfinished as error:
        delivery.look_on(str(error), error.until + github_api.CLOCKS_DIFFER)
    except github_api.Unreachable as error:
        delivery.postpone(str(error))
    except github_api.OutcomeUnknown as error:
        delivery.reconcile_later(str(error))


def _stop(delivery: Delivery) -> _Stop | None:
    """What has come up since it was stored; a page that has moved is followed."""
    if hold := delivery.hold_found:
        return _Stop(Delivery.Cause.OPERATOR, hold.words, hold)
    address = delivery.report.canonical_url
    if not delivery.report.follow_page():
        return _Stop(Delivery.Cause.OWNERSHIP, ownership_changes.LOST)
    now = delivery.report.canonical_url
    if now != address and (hold := Hold.objects.of_page(now)):
        return _Stop(Delivery.Cause.OPERATOR, hold.words, hold)
    if not delivery.has_target():  # the integration has just been disconnected
        return _Stop(Delivery.Cause.INTEGRATION, holds.NO_REPOSITORY)
    if delivery.is_withheld_elsewhere():
        return _Stop(Delivery.Cause.OWNERSHIP, ownership_changes.WITHHELD)
    cause, reason = delivery.integration.stop
    if cause in (Delivery.Cause.PAUSE, Delivery.Cause.RIGHTS):
        return _Stop(Delivery.Cause(cause), reason)
    return None


def _may_be_there(delivery: Delivery, stop: _Stop) -> bool:
    """Whether its issue is looked for first: a page may be lost for good, and nobody would ever learn of it."""
    is_unknown = delivery.outcome_unknown_since is not None and delivery.has_target()
    return is_unknown and stop.cause == Delivery.Cause.OWNERSHIP


def _send(delivery: Delivery, deadline: float, stop: _Stop | None) -> None:
    """Find its issue, join a known one, or create one, and save that. Raises what GitHub says, or SecretInAddress.

    With a `stop`, its issue is only looked for.
    """
    found = _look_for(delivery, deadline)
    if delivery.outcome_unknown_since and not found and not delivery.has_settled():
        return delivery.recheck_later()
    if found and _is_of_another(delivery, found.number):
        return delivery.fail(_of_another(delivery, found.number))
    if delivery.report.erased_at and not found:
        return delivery.end_erased()
    if stop and not found:
        return delivery.hold(stop.cause, stop.reason)
    if delivery.is_of_a_backup() and not found:
        if delivery.has_left():
            return delivery.look_there()
        delivery.forget_backup()
    alike = None if found else likeness.look(delivery)
    alike = coming_back.ask(delivery, alike, deadline)
    if alike and likeness.settles(delivery, alike):
        return None
    issue = found or _create(delivery, alike, deadline)
    if found and delivery.is_of_a_backup():
        _record_found(delivery)
    delivery.succeed(issue.number, issue.url, adopted=found is not None)
    delivery.integration.installation.note_limit(issue.limit_left)
    if not found:  # the list can be read even if nothing can be written
        _lift_holds(delivery.integration)
        _note_what_it_lacks(delivery, issue)
    else:
        _note_state(delivery, issue, deadline)
    return None


def _look_for(delivery: Delivery, deadline: float) -> github_api.Issue | None:
    """The issue of a delivery without an answer from GitHub, if it exists."""
    if not delivery.outcome_unknown_since:
        return None
    since = delivery.outcome_unknown_since - github_api.CLOCKS_DIFFER
    if not delivery.repository_id:
        delivery.record_target()
    connections.give_back()  # hold no connection while waiting for GitHub
    return github_api.find_issue(
        delivery.target,
        marker(delivery.report_id),
        since=since,
        now=delivery.started_at,
        deadline=deadline,
        remembers=delivery.is_of_a_backup(),
    )


def _is_of_another(delivery: Delivery, number: int) -> bool:
    """Whether the issue with this number, where it was looked for, is another report's, or one of bad news."""
    there = {"repository_id": delivery.repository_id, "issue_number": number}
    others = Delivery.objects.filter(**there).exclude(pk=delivery.pk)
    return others.exists() or Alert.objects.filter(**there).exists()


def _of_another(delivery: Delivery, number: int) -> str:
    """Why nothing is sent again: it may be there, and whoever may edit issues can have copied its mark."""
    return (
        f"Issue #{number} in {delivery.repository} has the mark of this report, but is about something else. "
        f"Remove the line with hub:{delivery.report_id} there, then press Try again."
    )


def _create(delivery: Delivery, alike: Alike | None, deadline: float) -> github_api.Issue:
    """Save what is sent, and send it."""
    if delivery.outcome_unknown_since:
        delivery.record_again()
    else:
        hint = likeness.hint(delivery, alike)
        text = _last_look(delivery, delivery.integration.repository, hint=likeness.line(hint))
        delivery.record(*text, **likeness.columns(hint))
    connections.give_back()
    return github_api.create_issue(
        delivery.target,
        delivery.title,
        delivery.body,
        deadline=deadline,
        dressing=delivery.integration.dressing_of(delivery.report.kind),
    )


def _note_state(delivery: Delivery, issue: github_api.Issue, deadline: float) -> None:
    """Save whether it was closed before its number was known: a webhook about it said nothing then."""
    target = delivery.target
    connections.give_back()
    try:
        facts = github_api.read_issue(target, issue.number, deadline=deadline)
        issue_states.note(target.id, issue.number, issue_states.read(facts))
    except github_api.Limited as error:
        delivery.integration.installation.leave_alone_for(error.wait)
    except github_api.GitHubError:  # webhooks tell it from now on
        pass


def _note_what_it_lacks(delivery: Delivery, issue: github_api.Issue) -> None:
    """Save which labels, assignees or type GitHub did not take, if that is about the repository of today."""
    if delivery.target.id == delivery.integration.repository_id:
        delivery.integration.note_not_applied(delivery.report.kind, issue.lacks)


def _record_found(delivery: Delivery) -> None:
    """Save the text of an issue that a Hub before the restored one has opened: the same, as far as is known."""
    if not delivery.report.erased_at:
        with suppress(SecretInAddress):
            title, body = _last_look(delivery, delivery.target.name)
            delivery.record_text(title, body)


def _last_look(delivery: Delivery, repository: str, *, hint: str = "") -> tuple[str, str]:
    """Title and body without what today counts as a secret; what was removed is saved."""
    report, template = delivery.report, delivery.integration.issue_template
    changed, notices = report.screen()
    title, body = render(
        report,
        template,
        repository=repository,
        mentions=delivery.integration.mentions,
        notices=notices,
        hint=hint,
    )
    if notices:
        report.note(notices, changed)
    return title, body


def _block(delivery: Delivery, error: github_api.Blocked) -> None:
    """The repository accepts nothing; that stops the integration only if it still uses it."""
    problem = str(error)
    if delivery.target.id != delivery.integration.repository_id:
        if delivery.is_of_a_backup() and isinstance(error, github_api.Gone):
            _end_where_it_is_gone(delivery, problem)
            return
        was = "was" if delivery.body else "may have been"
        delivery.fail(f"It {was} sent to {delivery.repository}, and {UNCHECKED} {problem}")
        return
    with transaction.atomic():
        if holds.block(delivery.integration, problem):
            delivery.hold(Delivery.Cause.INTEGRATION, problem)
            if isinstance(error, github_api.Gone) and delivery.integration.problem != problem:
                delivery.integration.installation.ask_about_soon()  # others still see its issues
        else:  # another one was chosen while GitHub answered
            delivery.wait(problem, SOON)


def _end_where_it_is_gone(delivery: Delivery, problem: str) -> None:
    """Tell a member what cannot be known. Who has it tried again then wants it in the next repository."""
    there = delivery.repository
    told = (
        f"It may have been sent to {there}, and {UNCHECKED} {problem} If {there} is gone for good: Try again "
        "sends it to the repository that is chosen now, and Discard keeps it from being sent."
    )
    if delivery.was_refused_for(told):
        delivery.look_there()
    else:
        delivery.fail(told)


def _lift_holds(integration: Integration) -> None:
    """Release what was held, because GitHub has accepted an issue."""
    if integration.installation.suspended_at:
        holds.unsuspend(integration.installation)
    if integration.probe_at:
        holds.unblock(integration)


def render(
    report: Report,
    template: str,
    *,
    repository: str = "",
    mentions: Collection[str] = (),
    notices: list[SecretNotice] | None = None,
    hint: str = "",
) -> tuple[str, str]:
    """Title and body of a report's issue in `repository` (owner/name), with the Hub's footer and marker.

    `mentions`: whom the template may mention there.
    `hint` is the first line of the footer, and safe.
    Secrets that come about where texts meet in the template are removed and added to `notices`.
    """
    receipt_url = f"{settings.HUB_BASE_URL}/r/{report.id}/"
    fields = {
        "summary": report.summary,
        "details": report.details,
        "doc_url": report.doc_url,
        "agent_name": report.agent_name,
        "report_kind": report.kind,
        "suggested_fix": report.suggested_fix,
        "evidence": evidence_text(report.evidence),
        "report_id": report.id,
        "receipt_url": receipt_url,
    }
    fields = without_secrets_at_seams(template, fields, [] if notices is None else notices)
    code_host = repository_pages.code_host_at(settings.HUB_GITHUB_URL).host
    title, body = render_issue(
        template or DEFAULT_TEMPLATE,
        fields,
        code_host=code_host,
        repository=f"{settings.HUB_GITHUB_URL}/{repository}" if repository else "",
        mentions=mentions,
    )
    footer = "\n\n".join(
        filter(None, [hint, f"[Receipt of this report]({receipt_url})", marker(report.id)])
    )
    return title, f"{body}\n\n---\n{footer}"


def marker(report_id: str) -> str:
    """The mark by which the Hub finds its own issue. Reporters cannot write it: `<` is broken in their text."""
    return f"<!-- hub:{report_id} -->"
