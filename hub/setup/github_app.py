"""The GitHub App: what GitHub says about it, compared with what the Hub needs."""

import time
from collections.abc import Iterator
from datetime import timedelta
from threading import Lock
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings

from hub.registering.credentials import NAMES
from hub.registering.manifest import EVENTS, PERMISSIONS, callback_urls
from hub.setup.findings import Finding, note, ok, problem, warning
from integrations import github_api
from integrations.github_api import AppFacts, GitHubError

TIMEOUT = 5  # seconds for each of GitHub's answers
CLOCK = timedelta(seconds=5)  # more than that between two clocks is worth a warning
SHORTEST_SECRET = 20  # characters
COPY = "copy it from the settings page of your GitHub App"
TOLD_ONCE = {
    "HUB_GITHUB_CLIENT_SECRET": "GitHub shows it once. Generate a new one on the app's settings page",
    "HUB_GITHUB_PRIVATE_KEY": "GitHub shows it once. Generate a new one on the app's settings page",
    "HUB_GITHUB_WEBHOOK_SECRET": "GitHub never shows it again. Make a new random text, and set it here and "
    "on the app's settings page, under Webhook",
}
AWAY = "cannot be reached"
one_at_a_time = Lock()  # with few threads, there is room for one call to GitHub


def app() -> Iterator[Finding]:
    """Whether the app is there with this key, and is as the Hub needs it."""
    missing = [name for name in NAMES if not getattr(settings, name)]
    if len(missing) == len(NAMES):
        yield problem(
            "There is no GitHub App: run `manage.py setup_github`, which registers one. "
            f"({', '.join(NAMES)} are empty.)"
        )
        return
    there = urlsplit(settings.HUB_GITHUB_URL)
    if there.scheme != "https" and there.hostname not in settings.LOOPBACK:
        yield problem(
            f"HUB_GITHUB_URL is {settings.HUB_GITHUB_URL}: the app's secrets and tokens can be read on the way. "
            "Set it to the https address."
        )
    for name in missing:
        yield problem(f"{name} is empty: {TOLD_ONCE.get(name, COPY)}.")
    if 0 < len(settings.HUB_GITHUB_WEBHOOK_SECRET) < SHORTEST_SECRET:
        yield warning(
            "HUB_GITHUB_WEBHOOK_SECRET can be guessed, and with it anybody sends webhooks in GitHub's "
            f"name: set a random text of {SHORTEST_SECRET} characters or more, here and on GitHub."
        )
    with one_at_a_time:
        if not {"HUB_GITHUB_PRIVATE_KEY", "HUB_GITHUB_APP_ID"} & {*missing}:
            found = list(_if_the_key_is_one())
            yield from found
            if any(AWAY in each.text for each in found):
                return
        if not {"HUB_GITHUB_CLIENT_ID", "HUB_GITHUB_CLIENT_SECRET"} & {*missing}:
            yield _credentials()


def away(error: GitHubError) -> str:
    """That GitHub cannot be reached, and why; empty if the error is another one."""
    why, address = github_api.why_unreached(error), github_api.api_address()
    if not why:
        return ""
    is_here = urlsplit(address).hostname in settings.LOOPBACK
    advice = "Start it, or check" if is_here else "Check"
    return f"GitHub ({address}) {AWAY}: {why}. {advice} HUB_GITHUB_URL and the network."


def without_operators(error: GitHubError) -> str:
    """The sentence of the error for its operators themselves."""
    return str(error).replace(github_api.FOR_OPERATORS, "")


def _about_the_key(error: GitHubError) -> str:
    if isinstance(error, github_api.Busy | github_api.Limited):
        return ""
    return " Check HUB_GITHUB_APP_ID and HUB_GITHUB_PRIVATE_KEY."


def _if_the_key_is_one() -> Iterator[Finding]:
    try:
        load_pem_private_key(github_api.private_key().encode(), password=None)
    except (OSError, ValueError, TypeError) as error:
        yield problem(f"HUB_GITHUB_PRIVATE_KEY is neither a PEM key nor the path of one: {error}.")
        return
    if not settings.HUB_GITHUB_APP_ID.isdecimal():
        yield problem(
            f"HUB_GITHUB_APP_ID is {settings.HUB_GITHUB_APP_ID}: set it to the app's number."
        )
        return
    try:
        facts = github_api.app_facts(deadline=time.monotonic() + TIMEOUT)
    except GitHubError as error:
        yield problem(away(error) or f"{without_operators(error)}{_about_the_key(error)}")
        return
    yield ok(f"GitHub knows the app {facts.slug}, and takes its key.")
    yield from _compared(facts)


def _compared(facts: AppFacts) -> Iterator[Finding]:
    if settings.HUB_GITHUB_APP_SLUG and facts.slug.lower() != settings.HUB_GITHUB_APP_SLUG.lower():
        yield problem(
            f"HUB_GITHUB_APP_SLUG is {settings.HUB_GITHUB_APP_SLUG}: GitHub calls the app {facts.slug}."
        )
    if facts.client_id and settings.HUB_GITHUB_CLIENT_ID not in ("", facts.client_id):
        yield problem(
            f"HUB_GITHUB_CLIENT_ID is {settings.HUB_GITHUB_CLIENT_ID}: the app's is {facts.client_id}."
        )
    yield from _permissions(facts)
    yield from _events(facts)
    yield _clock(facts.clock_ahead)
    urls = " and ".join(callback_urls())
    yield note(
        f"GitHub tells nobody the callback URLs. Compare them at {facts.settings_page}: {urls}, in this "
        "order, with Request user authorization (OAuth) during "
        "installation switched on."
    )


def _permissions(facts: AppFacts) -> Iterator[Finding]:
    lacking = [
        f"{name}: {level}"
        for name, level in PERMISSIONS.items()
        if facts.permissions.get(name) not in _at_least(level)
    ]
    more = sorted(facts.permissions.keys() - PERMISSIONS.keys())
    if lacking:
        yield problem(
            f"The app lacks permissions: {', '.join(lacking)}. Add them on its page Permissions & "
            "events; those who have installed it have to approve."
        )
    if more:
        yield warning(
            f"The app has permissions that the Hub never uses: {', '.join(more)}. Take them away on its "
            "page Permissions & events."
        )
    if not (lacking or more):
        have = ", ".join(f"{name}: {level}" for name, level in PERMISSIONS.items())
        yield ok(f"The app has the permissions that it needs ({have}), and no others.")


def _at_least(level: str) -> tuple[str, ...]:
    return {"read": ("read", "write", "admin"), "write": ("write", "admin")}[level]


def _events(facts: AppFacts) -> Iterator[Finding]:
    missing = [name for name in EVENTS if name not in facts.events]
    if missing:
        names = ", ".join(EVENTS[name] for name in missing)
        yield warning(
            f"The app is not subscribed to: {names}. Tick it on its page Permissions & events; until "
            "then, what changes on GitHub is noticed within the hour instead of at once."
        )
    else:
        yield ok(f"The app is subscribed to what it needs: {', '.join(EVENTS.values())}.")


def _clock(ahead: timedelta) -> Finding:
    seconds = ahead.total_seconds()
    if abs(ahead) < CLOCK:
        return ok("This machine's clock agrees with GitHub's.")
    return warning(
        f"This machine's clock is {seconds:+.0f} seconds off GitHub's, which takes keys of the right "
        "minute only: keep it right by NTP."
    )


def _credentials() -> Finding:
    try:
        if github_api.takes_credentials(deadline=time.monotonic() + TIMEOUT):
            return ok("GitHub takes the client secret, so people can sign in.")
    except GitHubError as error:
        return problem(
            f"Whether GitHub takes the client secret could not be checked: {away(error) or error}"
        )
    return problem(
        "GitHub does not take HUB_GITHUB_CLIENT_ID with HUB_GITHUB_CLIENT_SECRET, so nobody can sign in: "
        "copy both from the app's settings page; a secret that was lost is generated anew there."
    )
