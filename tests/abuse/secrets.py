"""Secrets that somebody pasted into a report, whole or divided, on their way to a public issue."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle
from typing import Any

import requests
from django.conf import settings
from django.test import Client

from integrations.issue.safe_text import ZWSP
from integrations.models import Integration
from reports.contract import SECRETS
from reports.models import Report
from tests import build
from tests.abuse.table import MEMBER, READER, STRANGER, attack
from tests.abuse.world import Fell, Shipped, World, milliseconds, stands_if
from tests.reports.secret_texts import Pasted, divided, real_looking

EACH = 20  # secrets in a report
COSTLY, LONG = 40, 1500  # reports, and milliseconds
ALONE = 10.5  # seconds in which nobody else calls, before the reports
PATIENCE = 60  # seconds
OPEN_KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n"
END = "\n-----END PRIVATE KEY-----"


@attack(READER, "(by mistake) publish a secret")
def secrets_of_every_family(world: World) -> str:
    """200 texts with a secret in each, through the front door."""
    return _pasted(world, real_looking(), most=0.02)


@attack(STRANGER, "publish a secret")
def divided_secrets(world: World) -> str:
    """Tokens with something in them that is gone when the issue is read."""
    return _pasted(world, divided(), most=0)


@attack(STRANGER, "publish a secret")
def secrets_in_halves(world: World) -> str:
    """Tokens of which one half is the summary and the other the details, and a template joins them."""
    world.acme()
    Integration.objects.update(issue_template="{summary}{details}")
    cores = []
    with world.hub() as hub:
        for number in range(EACH):
            head, tail = f"Case {number}: ghp_a1B2c3", f"{number:04}D4e5F6g7" * 3
            hub.post(build.report(report__summary=head, report__details=tail))
            cores.append(f"ghp_a1B2c3{tail}")
    left = [core for core in cores if core in _issues(world)]
    return stands_if(not left, f"{len(left)} of {EACH} whole in an issue")


@attack(STRANGER, "keep others waiting")
def halves_of_secrets_while_nobody_else_calls(world: World) -> str:
    """40 reports at once of 50 KiB of halves of secrets, from a network that is alone; then somebody else reports."""
    world.acme()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, ThreadPoolExecutor(COSTLY) as pool:
        requests.get(f"{hub.url}/login/", headers={"X-Forwarded-For": "198.51.100.1"}, timeout=30)
        time.sleep(ALONE)
        sent = [pool.submit(_costly, hub, number) for number in range(COSTLY)]
        time.sleep(0.5)
        waited = milliseconds(
            lambda: hub.post(_of_nobody("x"), **{"X-Forwarded-For": "203.0.113.1"})
        )
        accepted = sum(each.result() == 201 for each in sent)
    figures = f"{accepted} accepted; the report of somebody else took {waited:.0f} ms"
    return stands_if(accepted == COSTLY and waited < LONG, figures)


@attack(MEMBER, "stop the Hub, or what is sent")
def template_that_completes_a_key(world: World) -> str:
    """A key around the texts in the template, and reports that end it up to 300 times."""
    world.acme()
    Integration.objects.update(issue_template=f"{OPEN_KEY}{{summary}}\n{{details}}{END}")
    took = []
    with world.hub() as hub:
        for ends in (0, 1, 100, 300):
            report = build.report(report__summary=f"Case {ends}", report__details=f"a{END * ends}")
            try:
                took.append(milliseconds(partial(_post, hub, report)))
            except requests.Timeout:
                hub.kill()
                raise Fell(f"no answer in {PATIENCE} s to report {len(took) + 1}") from None
    issues = len(world.host.issues("acme/docs"))
    return stands_if(
        issues == len(took),
        f"{issues} of {len(took)} reports are issues, the slowest in {max(took):.0f} ms",
    )


def _post(hub: Shipped, report: dict[str, Any]) -> None:
    url = f"{hub.url}/v1/reports"
    requests.post(url, json=report, timeout=PATIENCE).raise_for_status()


def _pasted(world: World, pasted: list[Pasted], *, most: float) -> str:
    """How many can be read where anybody, or a member, reads."""
    owner = world.acme()
    Integration.objects.update(issue_template="{summary}\n\n{evidence}")
    with world.hub() as hub:
        for first in range(0, len(pasted), EACH):
            texts = [each.text for each in pasted[first : first + EACH]]
            evidence = [{"kind": "observed", "text": text} for text in texts]
            summary = f"{first}: {texts[0][:400]}"
            hub.post(build.report(report__summary=summary, report__evidence=evidence))
    issues, pages = _issues(world), "\n".join(_pages(owner))
    public = [each for each in pasted if each.core in issues]
    kept = [each for each in pasted if each.core in pages]
    count = len(pasted)
    return stands_if(
        max(len(public), len(kept)) <= most * count,
        f"{len(public)} of {count} whole in an issue, {len(kept)} in pages, tables and the export",
    )


def _costly(hub: Shipped, number: int) -> int:
    signs = [sign for entry in SECRETS["kinds"] for sign in entry["signs"]]
    between = cycle(["\x1b[31m", "\u200b", " ", "\\n", "&#65;"])
    halves = "".join(sign + each for sign, each in zip(signs * 9, between, strict=False))[:3500]
    text = f"{halves} ghp_{'a1B2c3D4e5' * 4} ghp\\_{'a1B2c3D4e5' * 4}"
    report = _of_nobody(
        f"Case {number}",
        report__details=(text * 3)[:8000],
        report__suggested_fix=text,
        report__evidence=[{"kind": "quote", "text": text}] * 9,
        task_context={"transcript_excerpt": text},
    )
    sender = {"X-Forwarded-For": "198.51.100.1"}
    return requests.post(
        f"{hub.url}/v1/reports", json=report, headers=sender, timeout=120
    ).status_code


def _of_nobody(summary: str, **parts: Any) -> dict:
    return build.report("https://nobody.dev/", report__summary=summary, **parts)


def _issues(world: World) -> str:
    """All that is public, as it is read."""
    issues = world.host.issues("acme/docs")
    return "\n".join(f"{issue.title}\n{issue.body}" for issue in issues).replace(ZWSP, "")


def _pages(owner) -> Iterator[str]:
    """Whatever shows a report: to anybody, and to a member."""
    alice = Client(headers={"Host": settings.ALLOWED_HOSTS[0]})
    alice.force_login(build.member(owner))
    paths = ["/settings/reports/", "/settings/reports/reports.csv", "/settings/account/export.json"]
    for report in Report.objects.all():
        page = f"/settings/reports/{report.id}/"
        paths += [f"/v1/reports/{report.id}", page, f"{page}raw"]
    for path in paths:
        answer = alice.get(path)
        assert answer.status_code == 200, path
        whole = b"".join(answer) if answer.streaming else answer.content
        yield whole.decode().replace("&amp;", "&").replace("\\n", "\n").replace(ZWSP, "")
