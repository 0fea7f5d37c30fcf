"""Templates and reports that cost more than they say."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from integrations.models import Integration
from tests import build
from tests.abuse.table import MEMBER, STRANGER, attack
from tests.abuse.world import Fell, Shipped, World, stands_if

SLOW = 1000  # milliseconds of computing, for a report and its issue
LARGE = (
    60  # MiB that the server may grow by meanwhile, its caches and the answer's buffers included
)
PATIENCE = 60  # seconds
LINES = "a\n" * 4_000
BOMB = "\n".join(["> " * 190 + "{%s}"] * 49)
EVIDENCE = [{"kind": "observed", "text": LINES[:4_000]}] * 10


@attack(MEMBER, "stop the Hub")
def template_of_list_items(world: World) -> str:
    """72 characters that took exponential time, from then on with every report."""
    return _report_through(world, "-  " * 24 + "x\n\n{details}")


@attack(MEMBER, "stop the Hub")
def template_of_hosts(world: World) -> str:
    """The beginning of a host, 4,600 times, before fifty placeholders."""
    return _report_through(world, "www." * 4_600 + "{summary}" * 50)


@attack(MEMBER, "stop the Hub")
def template_of_definitions(world: World) -> str:
    """Half a definition of a link, 9,200 times, before fifty placeholders."""
    return _report_through(world, "]:" * 9_200 + "{summary}" * 50)


@attack(MEMBER, "stop the Hub")
def template_of_links(world: World) -> str:
    """The middle of a link, 9,200 times, before fifty placeholders."""
    return _report_through(world, "](" * 9_200 + "{summary}" * 50)


@attack(MEMBER, "fill the memory")
def template_that_multiplies_details(world: World) -> str:
    """49 lines, each in 190 quotes: a report of 8,000 characters becomes 150 million."""
    return _report_through(world, BOMB % (("details",) * 49), report__details=LINES)


@attack(MEMBER, "fill the memory")
def template_that_multiplies_evidence(world: World) -> str:
    """The same with evidence: ten observations of 4,000 characters, 49 times in 190 quotes."""
    return _report_through(world, BOMB % (("evidence",) * 49), report__evidence=EVIDENCE)


@attack(STRANGER, "fill the memory")
def report_of_empty_cells(world: World) -> str:
    """Two wide tables of narrow rows, in a report of 8,000 characters and the default template."""
    table = "a|" * 400 + "\n" + "-|" * 400 + "\n" + "a\n" * 1_100
    return _report_through(world, "", report__details=f"{table}\n{table}"[:8_000])


@attack(MEMBER, "stop the Hub")
def template_of_empty_code_blocks(world: World) -> str:
    """2,000 of them, in each of which the end of another one was looked for, and a report with code."""
    blocks = "```\n```\n" * 2_000 + '"' * 1_900
    template = f"{{suggested_fix}}\n\n{blocks}\n\n{{details}}\n\n{{evidence}}"
    quoted = {"report__details": '"' * 8_000, "report__evidence": EVIDENCE[:2]}
    return _report_through(world, template, report__suggested_fix="```\nx\n```", **quoted)


@attack(MEMBER, "stop the Hub")
def labels_of_marks(world: World) -> str:
    """A name of 31,000 marks, which is refused, once its marks were put in order to compare it."""
    token = build.token(build.member(world.acme()))
    body = {"labels": {"broken": ["\u0301" * 15_500 + "\u0323" * 15_500]}}
    wire = json.dumps({"repo_owner": "acme", "repo_name": "docs", **body}, ensure_ascii=False)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with world.hub() as hub:
        path = f"{hub.url}/v1/orgs/me/integrations/github"
        told: list[int] = []
        for sent in (b"{}", wire.encode()):
            took = hub.cpu_of(
                lambda sent=sent: told.append(
                    requests.post(path, sent, headers=headers, timeout=60).status_code
                )
            )
    return stands_if(took < SLOW / 5 and told == [400, 400], f"{told}; {took:.0f} ms of computing")


@attack(STRANGER, "stop the Hub")
def report_of_vowels_that_become_marks(world: World) -> str:
    """8,000 Tibetan vowels, each of which becomes two marks in normal form, and all were put in order."""
    return _report_through(world, "", report__details="\u0f73" * 8_000)


@attack(MEMBER, "fill the memory")
def template_of_empty_cells(world: World) -> str:
    """A wide table of narrow rows in 17,600 characters, by line ends that a browser does not send."""
    wide = "a|" * 900 + "\r" + "-|" * 900 + "\f\r" + "\u3000\r" * 7_000
    return _report_through(world, wide + "{details}")


@attack(MEMBER, "stop the Hub")
def saving_a_bomb(world: World) -> str:
    """By the API, which refuses each of them in words."""
    token = build.token(build.member(world.acme()))
    templates = [
        BOMB % (("details",) * 49),
        "-  " * 24 + "x\n\n{details}",
        "> " * 190 + "{details}",
    ]
    headers = {"Authorization": f"Bearer {token}"}
    with world.hub() as hub:
        url = f"{hub.url}/v1/orgs/me/integrations/github"
        wanted = {"repo_owner": "acme", "repo_name": "docs"}
        answers = [
            requests.post(url, json=wanted | {"issue_template": each}, headers=headers, timeout=60)
            for each in templates
        ]
    codes = {f"{each.status_code} {each.json()['error']}" for each in answers}
    return stands_if(codes == {"400 template_too_long"}, ", ".join(sorted(codes)))


def _report_through(world: World, template: str, **parts: object) -> str:
    """What a report costs until it is an issue by this template, saved before there were limits."""
    world.acme()
    Integration.objects.update(issue_template=template)
    report = build.report(**{"report__details": "x", **parts})
    with world.hub() as hub:
        hub.post(build.report(doc_url="https://nobody.example/"))
        with _growth(hub) as grown:
            took = hub.cpu_of(lambda: _post(hub, report))
    return stands_if(
        took < SLOW and grown[-1] < LARGE,
        f"{took:.0f} ms of computing and {grown[-1]:.0f} MiB for a report and its issue",
    )


def _post(hub: Shipped, report: dict) -> None:
    """Send it; raises `Fell` if there is no answer within `PATIENCE`."""
    try:
        requests.post(f"{hub.url}/v1/reports", json=report, timeout=PATIENCE).raise_for_status()
    except requests.Timeout:
        hub.kill()
        raise Fell(f"no answer in {PATIENCE} s") from None


@contextmanager
def _growth(hub: Shipped) -> Iterator[list[float]]:
    """By how many MiB the server's processes have grown at most, the last one; looks 100 times a second."""
    before, most, ended = hub.resident(), [0.0], threading.Event()

    def look() -> None:
        while not ended.wait(0.01):
            most.append(max(most[-1], (hub.resident() - before) / 2**20))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield most
    finally:
        ended.set()
        looking.join()
