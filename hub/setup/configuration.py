"""The settings themselves, as far as nobody has to be asked about them."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import ERROR, CheckMessage, run_checks
from django.core.checks.security.base import SECRET_KEY_INSECURE_PREFIX

from hub.setup.findings import Finding, ok, problem, warning

SHORTEST, SHORT = 20, 50  # characters; Django's own advice is 50
FEWEST = 5  # different characters
A_KEY = "`python3 -c 'import secrets; print(secrets.token_urlsafe(50))'` prints one."


def settings_are_read() -> Iterator[Finding]:
    """What is missing or wrong in the environment, all of it, and what Django's checks say."""
    checked = run_checks()
    yield from map(problem, settings.MISCONFIGURED)
    yield from ((problem if each.level >= ERROR else warning)(_in_words(each)) for each in checked)
    if not (settings.MISCONFIGURED or checked):
        yield ok("All settings can be read.")
    if not any("HUB_SECRET_KEY" in each for each in settings.MISCONFIGURED):
        yield _key("HUB_SECRET_KEY", settings.SECRET_KEY)
    for each in map(str, settings.SECRET_KEY_FALLBACKS):
        if _is_weak(each):
            yield _key("A key of HUB_SECRET_KEY_FALLBACKS", each)
    if 0 < len(settings.HUB_METRICS_TOKEN) < SHORTEST:
        yield warning(
            "HUB_METRICS_TOKEN can be guessed, and with it anybody reads /metrics: set it to a long random "
            f"text, here and in Prometheus. {A_KEY}"
        )
    if settings.HUB_CONTACT:
        yield ok(f"HUB_CONTACT is {settings.HUB_CONTACT}.")
    else:
        yield warning(
            "HUB_CONTACT is empty: people find nobody to write to, and there is no security.txt. Set it "
            "to an address for mail, or of an https page."
        )


def _in_words(message: CheckMessage) -> str:
    return f"{message.msg} {message.hint or ''}".strip()


def _is_weak(key: str) -> bool:
    return (
        len(key) < SHORTEST or len(set(key)) < FEWEST or key.startswith(SECRET_KEY_INSECURE_PREFIX)
    )


def _key(name: str, key: str) -> Finding:
    if _is_weak(key):
        return problem(
            f"{name} can be guessed, and with it the networks of senders are read from their hashes, and "
            f"what the Hub signs is forged: set it to a long random text. {A_KEY}"
        )
    if len(key) < SHORT:
        return warning(f"{name} has {len(key)} characters: {SHORT} or more are better. {A_KEY}")
    return ok(f"{name} is a long text.")
