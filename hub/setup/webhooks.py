"""The app's webhooks: where GitHub sends them, and what came back."""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from core import times
from hub.registering.manifest import webhook_url
from hub.setup.findings import Finding, note, ok, problem, warning
from hub.setup.github_app import TIMEOUT, away, one_at_a_time, without_operators
from integrations import github_api
from integrations.github_api import GitHubError, SentWebhook

SIGNATURE = 401, 403
AGAIN = "GitHub sends it again from the app's page Advanced, by Redeliver."
IN_A_ROW = 3  # failures that are no short outage


def webhooks() -> Iterator[Finding]:
    """Whether webhooks are sent here, and arrive."""
    if not (settings.HUB_GITHUB_APP_ID and settings.HUB_GITHUB_PRIVATE_KEY):
        yield note("Not checked: there is no app to ask about.")
        return
    try:
        with one_at_a_time:
            yield from _address()
            yield from _arrival(github_api.sent_webhooks(deadline=time.monotonic() + TIMEOUT))
    except GitHubError as error:
        if away(error):  # as the question before says
            yield note("Not checked: GitHub cannot be reached.")
        else:
            yield problem(f"The webhooks could not be checked: {without_operators(error)}")


def _address() -> Iterator[Finding]:
    hook, here = github_api.webhook_facts(deadline=time.monotonic() + TIMEOUT), webhook_url()
    page = "on the app's settings page, under Webhook"
    if not hook.url:
        yield problem(f"GitHub sends no webhooks: make them active {page}, with the URL {here}.")
        return
    if hook.url != here:
        yield problem(f"GitHub sends webhooks to {hook.url}: set the URL to {here} {page}.")
    if hook.content_type != "json":
        yield problem(f"GitHub sends webhooks as {hook.content_type}: choose JSON {page}.")
    if not hook.checks_certificate:
        yield problem(
            f"GitHub does not check the Hub's certificate: turn SSL verification on {page}."
        )
    if (hook.url, hook.content_type, hook.checks_certificate) == (here, "json", True):
        yield ok(f"GitHub sends webhooks to {here}.")


def _arrival(sent: Sequence[SentWebhook]) -> Iterator[Finding]:
    """About the latest ones; GitHub lists the newest first."""
    failed = [each for each in sent if not each.was_taken]
    if not sent:
        yield note("GitHub has sent no webhooks lately, so whether they arrive is not known yet.")
    elif not failed:
        yield ok(f"The last {len(sent)} webhooks arrived, the latest {_ago(sent[0].at)}.")
    elif sent[0].was_taken:
        yield warning(
            f"The latest webhook arrived {_ago(sent[0].at)}, but {len(failed)} of the last {len(sent)} "
            f"did not: {_described(failed[0])}. The Hub asks about what they told within the hour."
        )
    else:
        say = problem if _is_lasting(sent) else warning
        yield say(f"The latest webhook failed: {_described(sent[0])}. {_advice(sent[0])}")


def _is_lasting(sent: Sequence[SentWebhook]) -> bool:
    """Whether those that failed tell of more than a short outage."""
    in_a_row = len(sent) >= IN_A_ROW and not any(each.was_taken for each in sent[:IN_A_ROW])
    return in_a_row or sent[0].status in SIGNATURE


def _described(each: SentWebhook) -> str:
    return f"{each.event}, {_ago(each.at)}, with {each.status or 'no answer'} ({each.outcome})"


def _advice(each: SentWebhook) -> str:
    if each.status in SIGNATURE:
        return (
            "Set HUB_GITHUB_WEBHOOK_SECRET to the secret that GitHub has. GitHub never shows it again: where "
            "it is lost, set a new one here and on the app's settings page."
        )
    if each.status >= 500:
        return f"If it was not the proxy without the Hub, the log of the Hub says why. {AGAIN}"
    return f"If the Hub was running, let GitHub reach it at its public address. {AGAIN}"


def _ago(at: datetime) -> str:
    return times.in_words(at, timezone.now())
