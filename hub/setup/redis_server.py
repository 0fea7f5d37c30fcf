"""Redis: whether it answers, and keeps what it is given."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings

from core import redis_client
from core.shared_windows import SharedWindows
from hub.setup.findings import Finding, note, ok, problem, warning

TIMEOUT = 3  # seconds for a connection, and for each answer
NEARLY_FULL = 0.9
NEEDED = (
    "HUB_PROCESSES is more than 1, so the processes must share their rate limits: set REDIS_URL, or "
    "leave HUB_PROCESSES at 1."
)


def redis() -> Iterator[Finding]:
    """Whether Redis is there if it is needed, and is set up to keep what it is given."""
    if not settings.REDIS_URL:
        yield _without()
        return
    try:
        with redis_client.client(settings.REDIS_URL, TIMEOUT) as client:
            client.ping()
            facts = _facts(client)
    except Exception as error:  # the client raises many kinds for a URL that is wrong
        why = str(error).rstrip(".")
        yield problem(f"Redis does not answer: {why}. Check REDIS_URL, and that it is running.")
        return
    if refused := _refused(settings.REDIS_URL):
        yield problem(
            f"Redis answers, but does not do what the Hub asks of it: {refused}. Limits are counted in each "
            "process only, and nobody can sign in from a terminal, until it does."
        )
        return
    yield ok(f"Redis {facts.get('redis_version', '')} answers.".replace("  ", " "))
    if facts:
        yield from _memory(facts)
    else:
        yield note("Its memory was not checked: the user of REDIS_URL may not ask for INFO.")


def _refused(url: str) -> str:
    """Why Redis does not do all that the Hub does with it; empty if it does."""
    shared = SharedWindows(url)
    try:
        shared.try_all()
    except Exception as error:
        return str(error).rstrip(".")
    finally:
        shared.close()
        shared.client.close()
    return ""


def _facts(client: Any) -> dict[str, Any]:
    """What Redis says about itself; nothing, if the user of `REDIS_URL` may not ask."""
    from redis import ResponseError

    try:
        return {**client.info("server"), **client.info("memory")}
    except ResponseError:
        return {}


def _without() -> Finding:
    if settings.HUB_PROCESSES > 1:
        return problem(NEEDED)
    return ok("REDIS_URL is empty, which is right for one process.")


def _memory(facts: dict[str, Any]) -> Iterator[Finding]:
    policy = str(facts.get("maxmemory_policy", ""))
    used, most = int(facts.get("used_memory", 0)), int(facts.get("maxmemory", 0))
    if policy.startswith("allkeys"):
        yield warning(
            f"Redis may drop any key when its memory is full (maxmemory-policy {policy}), and counts "
            "of rate limits are lost with it. Set maxmemory-policy to noeviction or volatile-ttl."
        )
    if most and used > NEARLY_FULL * most:
        yield warning(
            f"Redis uses {used // 2**20} of {most // 2**20} MiB of memory: raise maxmemory."
        )
    elif not policy.startswith("allkeys"):
        yield ok(f"Redis has room, and keeps what it is given (maxmemory-policy {policy}).")
