"""What agents find on a claimed host: its public files, fetched and read."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from orgs.discovery.fetching import Answer, NotFetched, fetch
from orgs.discovery.kit import LLMS, WELL_KNOWN, endpoint, form

ABSENT = (404, 410)
SHOWN = 200  # characters of what a stranger wrote

Got = Answer | NotFetched
Verdict = tuple[str, str]  # the state of a finding, and its words


class Finding(NamedTuple):
    """What was found at a URL. `state` is `good`, `todo` (missing), `bad` (there, and wrong) or `off` (not read)."""

    url: str
    state: str
    words: str


class Found(NamedTuple):
    """What a site shows to agents, and whether its host says that no reports are wanted (None: unknown)."""

    findings: list[Finding]
    refuses: bool | None


class Unreadable(Exception):
    """The file is none that clients can read. The message is the reason."""


class WellKnown(NamedTuple):
    """What is read of `docs-feedback.json`."""

    opt_in: bool
    endpoint: str


def look(site: str, hub: str, *, opted_out: bool) -> Found:
    """What agents find at the site, a URL, that leads to this Hub, and what is missing."""
    host = urlsplit(site).hostname or ""
    judges = {
        file_of(host): partial(_of_clients, hub=hub, opted_out=opted_out),
        f"https://{host}{LLMS}": partial(_mentions, link=hub),
        site: partial(_mentions, link=form(hub)),
    }
    with ThreadPoolExecutor(len(judges)) as pool:  # each may take all its time
        got = dict(zip(judges, pool.map(_get, judges), strict=True))
    findings = [_finding(url, got[url], judge) for url, judge in judges.items()]
    return Found(findings, _refusal(got[file_of(host)]))


def refuses(host: str) -> bool | None:
    """Whether the host's file says that no reports are wanted; None if it cannot be read."""
    return _refusal(_get(file_of(host)))


def file_of(host: str) -> str:
    """The URL of the host's `docs-feedback.json`."""
    return f"https://{host}{WELL_KNOWN}"


def _get(url: str) -> Got:
    try:
        return fetch(url)
    except NotFetched as error:
        return error


def _refusal(got: Got) -> bool | None:
    if isinstance(got, NotFetched):
        return None
    if got.status in ABSENT:
        return False
    try:
        return not _read(got).opt_in if got.status == 200 else None
    except Unreadable:
        return None


def _finding(url: str, got: Got, judge: Callable[[Answer], Verdict]) -> Finding:
    if isinstance(got, NotFetched):
        return Finding(url, "off", f"The Hub could not read it: {got}.")
    if got.status in ABSENT:
        return Finding(url, "todo", "It is not there.")
    if got.status != 200:
        return Finding(url, "bad", f"The server answers {got.status}.")
    return Finding(url, *judge(got))


def _of_clients(answer: Answer, *, hub: str, opted_out: bool) -> Verdict:
    try:
        said = _read(answer)
    except Unreadable as error:
        return "bad", f"Clients cannot read it: {error}."
    if not said.opt_in:
        refused = "It says that you want no reports, and clients send none."
        return ("good" if opted_out else "bad"), refused
    if opted_out:
        return "bad", "It asks for reports, but you have opted out, so this Hub refuses them."
    if said.endpoint != endpoint(hub):
        where = said.endpoint[:SHOWN] or "an endpoint that it does not name"
        return "bad", f"Clients send reports elsewhere: to {where}."
    return "good", "Clients send reports to this Hub."


def _read(answer: Answer) -> WellKnown:
    try:
        said = json.loads(answer.text)
    except (ValueError, RecursionError):
        raise Unreadable("it is not valid JSON") from None
    if not isinstance(said, dict) or said.get("protocol_version") != "0":
        raise Unreadable('its protocol_version is not "0"')
    opt_in, named = said.get("opt_in"), said.get("endpoint", "")
    if not isinstance(opt_in, bool):
        raise Unreadable("its opt_in is neither true nor false")
    if not isinstance(named, str) or not named.isprintable():
        raise Unreadable("its endpoint is not a string of printable characters")
    return WellKnown(opt_in, named)


def _mentions(answer: Answer, *, link: str) -> Verdict:
    if link in answer.text:
        return "good", "It leads to this Hub."
    return "todo", "It is there, without a link to this Hub."
