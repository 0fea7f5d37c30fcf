"""The public address: whether it is one, resolves, and leads to this Hub; and the proxies in front."""

import socket
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from django.conf import settings

from hub.server.health import ALIVE
from hub.setup.findings import Finding, ok, problem, warning

TIMEOUT = 5  # seconds for a connection, and for each read
MANY_PROXIES = 3


def address() -> Iterator[Finding]:
    """Whether `HUB_BASE_URL` is an address that others can use, and who answers there."""
    base = urlsplit(settings.HUB_BASE_URL)
    is_trial = settings.HUB_DEBUG and base.hostname in settings.LOOPBACK
    if base.scheme != "https" and not is_trial:
        yield problem(
            f"HUB_BASE_URL is {settings.HUB_BASE_URL}: set it to the public https address."
        )
    if settings.HUB_DEBUG and not is_trial:
        yield problem("HUB_DEBUG is on, which is for trials on your own machine only: unset it.")
    yield from _who_answers(base.hostname or "")


def proxies() -> Iterator[Finding]:
    """Whether `HUB_TRUSTED_PROXIES` can be right."""
    count = settings.HUB_TRUSTED_PROXIES
    if settings.HTTPS and count < 1:
        yield problem(
            "HUB_TRUSTED_PROXIES is 0, and TLS ends in a proxy: all callers share its address and "
            "its limits. Set it to the number of proxies in front, 1 for one."
        )
    elif count > MANY_PROXIES:
        yield warning(
            f"HUB_TRUSTED_PROXIES is {count}: if there are fewer in front, callers can write the address "
            "that they are counted by. Set it to the number of proxies in front, 1 for one."
        )
    elif count:
        yield ok(f"HUB_TRUSTED_PROXIES is {count}. {_who_may_connect()}")
    else:
        yield ok("HUB_TRUSTED_PROXIES is 0: callers connect to the Hub itself.")


def _who_may_connect() -> str:
    """Others than the proxy could write the address that they are counted by."""
    host, port = settings.HUB_HOST, settings.HUB_PORT
    if host in settings.LOOPBACK:
        return f"Only programs on this machine reach {host} port {port}, as the proxy has to."
    return f"Let a firewall keep all but the proxy away from {host} port {port}."


def _who_answers(host: str) -> Iterator[Finding]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        yield problem(
            f"{host} does not resolve: {why}. Publish an A or AAAA record for it, which leads to the proxy."
        )
        return
    addresses = sorted({str(each[4][0]) for each in found})
    yield ok(f"{host} resolves to {', '.join(addresses)}.")
    yield _answer()


def _answer() -> Finding:
    """Who answers at the address. Nobody yet may be right: this can be run before the Hub is started."""
    url = f"{settings.HUB_BASE_URL}/healthz"
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(url, timeout=TIMEOUT) as response:
            said = response.read(len(ALIVE) + 1).decode("utf-8", "replace")
    except HTTPError as error:
        return problem(f"{url} answers {error.code}: let the proxy lead to the Hub.")
    except URLError as error:
        if type(error.reason).__module__ == "ssl":
            return problem(
                f"{url} has no valid certificate: {error.reason}. Renew it at the proxy."
            )
        return _nobody(url, error.reason)
    except (OSError, HTTPException) as error:
        return _nobody(url, error)
    if said != ALIVE:
        return problem(f"{url} is answered by something else: let the proxy lead to the Hub.")
    return ok(f"The Hub answers at {url}.")


def _nobody(url: str, reason: object) -> Finding:
    return warning(
        f"Nothing answers at {url} from this machine ({reason}). If the Hub and its proxy are running, "
        "check where the address leads."
    )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer, too."""

    def redirect_request(self, *args: object) -> None:
        """Follow none."""
