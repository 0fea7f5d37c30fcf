"""Webhooks that GitHub has not sent, has sent before, or sends in another order than that of what happened."""

import hashlib
import hmac
import json
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import requests
from django.db import connection

from integrations.models import Delivery, Integration, Webhook
from tests import build
from tests.abuse._asking import asking
from tests.abuse.people import Program
from tests.abuse.table import STRANGER, attack
from tests.abuse.world import Shipped, World, milliseconds, stands_if
from tests.waiting import wait_until

NETWORK = "140.82.112"  # of GitHub
SLOW = 1000  # milliseconds, for one of two
SECRET = "not-a-secret"  # of the sandbox
FORGED: list[Callable[[bytes], dict[str, str]]] = [
    lambda body: {},
    lambda body: {"X-Hub-Signature-256": ""},
    lambda body: {"X-Hub-Signature-256": "sha256="},
    lambda body: {"X-Hub-Signature-256": _signed(body, "another")},
    lambda body: {"X-Hub-Signature-256": _signed(body, "")},
    lambda body: {"X-Hub-Signature-256": _signed(body + b" ", SECRET)},
    lambda body: {"X-Hub-Signature-256": _signed(body, SECRET).removeprefix("sha256=")},
    lambda body: {"X-Hub-Signature-256": _signed(body, SECRET).upper()},
    lambda body: {"X-Hub-Signature": f"sha1={hmac.new(b'x', body, 'sha1').hexdigest()}"},
]


@attack(STRANGER, "stop what is sent to a repository")
def forged_webhooks(world: World) -> str:
    """That acme's installation was suspended, with nine signatures that are not GitHub's."""
    world.acme()
    body = _suspension(world)
    with world.hub() as hub:
        answers = Counter(_post(hub, body, each(body)) for each in FORGED)
        hub.post(build.report())
    issues = len(world.host.issues("acme/docs"))
    figures = f"{dict(answers)}; a report after them: {issues} issue"
    return stands_if(answers == {401: len(FORGED)} and issues == 1, figures)


@attack(STRANGER, "stop what is sent to a repository")
def replayed_webhooks(world: World) -> str:
    """A true webhook that says *suspended* is sent ten times more, after it was taken back."""
    world.acme()
    installation = build.installed(world.host)
    with world.hub() as hub:
        world.host.app.webhook_url = f"{hub.url}/v1/webhooks/github"
        world.host.suspend(installation)
        body, old = _suspension(world), world.host.webhooks_sent[-1]
        world.host.unsuspend(installation)
        answers = Counter(
            world.host.deliver_webhook(
                old.event.name, dict(old.event.payload), delivery_id=old.event.id
            ).status
            for _ in range(10)
        )
        hub.post(build.report())
    problem, heard = Integration.objects.get().problem, Webhook.objects.count()
    connection.close()
    issues = len(world.host.issues("acme/docs"))
    figures = (
        f"{dict(answers)}, {heard} heard; problem {problem!r}; a report after them: {issues} issue"
    )
    return stands_if(bool(body) and not problem and issues == 1 and heard == 2, figures)


@attack(STRANGER, "keep GitHub's webhooks out")
def flood_of_forged_webhooks(world: World) -> str:
    """400 forged ones of one address; then GitHub sends a true one from another."""
    world.acme()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub:
        body = _suspension(world)
        forged = Counter(_post(hub, body, {}, "198.51.100.7") for _ in range(400))
        signed = {"X-Hub-Signature-256": _signed(body, SECRET)}
        heard = _post(hub, body, signed, f"{NETWORK}.9")
    figures = f"{dict(forged)}; the true one {heard}"
    return stands_if(set(forged) <= {401, 429} and forged[429] > 0 and heard == 202, figures)


@attack(STRANGER, "keep GitHub's webhooks out")
def webhooks_that_strangers_have_github_send(world: World) -> str:
    """500 connections of GitHub's own network with what it signed for others; true ones of the same network."""
    world.acme()
    body = _suspension(world)
    others = _signed(body, "of somebody else")
    asked = [
        f"POST /v1/webhooks/github HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {NETWORK}.{number}\r\n"
        f"Content-Length: {len(body)}\r\nX-Hub-Signature-256: {others}\r\n\r\n{body.decode()}"
        for number in range(20, 40)
    ]
    true = {"X-Hub-Signature-256": _signed(body, SECRET)}
    heard: Counter[int] = Counter()
    with world.hub(HUB_TRUSTED_PROXIES="1") as hub, asking(hub.port, 500, asked):
        time.sleep(3)  # until all of them ask
        times = [
            milliseconds(lambda: heard.update([_post(hub, body, true, f"{NETWORK}.9")]))
            for _ in range(30)
        ]
    figures = f"the true ones {dict(heard)}, after {median(times):.0f} ms (median), {max(times):.0f} at most"
    return stands_if(heard == {202: 30} and median(times) < SLOW, figures)


@attack(STRANGER, "read where an issue of a private repository is, and its title")
def a_repository_that_is_public_for_a_moment(world: World) -> str:
    """GitHub says first that it is private again, and then that it was public; then it is, and the Hub asks."""
    world.acme()
    world.host.set_private("acme/docs", True)
    Integration.objects.update(repository_private=True, shows_known=True)
    connection.close()
    with world.hub(maintain=True) as hub:
        sent = hub.post(build.report()).json()["id"]
        wait_until(lambda: Delivery.objects.filter(report=sent, status="sent").exists())
        world.host.app.webhook_url = "http://127.0.0.1:1/"  # nothing arrives yet
        for private in (False, True):
            world.host.set_private("acme/docs", private)
        events = [each.event for each in world.host.webhooks_sent][-2:]
        world.host.app.webhook_url = f"{hub.url}/v1/webhooks/github"
        heard = [
            world.host.deliver_webhook(each.name, dict(each.payload)).status
            for each in reversed(events)
        ]
        shown = [_shown(hub, sent)]
        asked = len(world.host.requests)
        world.host.set_private("acme/docs", False)  # is there somebody who asks?
        shown_again = wait_until(lambda: _shown(hub, sent) == 2)
        asked = len(world.host.requests) - asked
    connection.close()
    figures = f"heard {heard}; shown {shown}, and once it is public, 2 after {asked} questions"
    stands = heard == [202, 202] and shown == [0] and shown_again and asked > 0
    return stands_if(stands, figures)


@attack(STRANGER, "read where an issue of a private repository is, and its title")
def a_repository_that_becomes_private_while_github_answers(world: World) -> str:
    """A member saves the integration; GitHub's answer from before comes after its webhook."""
    acme = world.acme()
    Integration.objects.update(repository_private=False, shows_known=True)
    alice = build.member(acme, github_id=world.host.account("alice").id)
    token = build.token(alice)
    connection.close()
    chosen = {"repo_owner": "acme", "repo_name": "docs"}
    with world.hub() as hub, ThreadPoolExecutor(1) as pool:
        sent = hub.post(build.report()).json()["id"]
        wait_until(lambda: Delivery.objects.filter(report=sent, status="sent").exists())
        world.host.app.webhook_url = f"{hub.url}/v1/webhooks/github"
        shown = [_shown(hub, sent)]
        world.host.fail("slow", path="token", seconds=3)
        saves = Program(hub, token).call
        saving = pool.submit(saves, "POST", "/orgs/me/integrations/github", chosen)
        wait_until(lambda: not world.host.faults.waiting())
        world.host.set_private("acme/docs", True)
        saved = saving.result().status_code
        shown.append(_shown(hub, sent))
    connection.close()
    return stands_if(saved == 409 and shown == [2, 0], f"saving {saved}; shown {shown}")


@attack(STRANGER, "read where an issue of a private repository is, and its title")
def a_repository_that_becomes_private_out_of_sight(world: World) -> str:
    """The app is suspended, loses it, or is uninstalled; then it becomes private, and GitHub tells nobody."""
    world.acme()
    Integration.objects.update(repository_private=False, shows_known=True)
    connection.close()
    installation, figures = build.installed(world.host), []
    with world.hub() as hub:
        sent = hub.post(build.report()).json()["id"]
        wait_until(lambda: Delivery.objects.filter(report=sent, status="sent").exists())
        world.host.app.webhook_url = f"{hub.url}/v1/webhooks/github"
        leave: dict[str, Callable[[], object]] = {
            "suspended": lambda: world.host.suspend(installation),
            "taken out": lambda: world.host.remove_from_installation(installation, "acme/docs"),
            "uninstalled": lambda: world.host.uninstall(installation),
        }
        for how, act in leave.items():
            for model in (Integration, Delivery):  # as if GitHub had called it public
                model.objects.update(repository_private=False)
            connection.close()
            before = _shown(hub, sent)
            act()
            world.host.set_private("acme/docs", True)
            figures.append((how, before, _shown(hub, sent)))
            world.host.set_private("acme/docs", False)
    connection.close()
    stands = all((before, after) == (2, 0) for _, before, after in figures)
    return stands_if(stands, "; ".join(f"{how}: shown [{a}, {b}]" for how, a, b in figures))


def _shown(hub: Shipped, report_id: str) -> int:
    """What a stranger is shown of an issue: its address on the receipt, its title among the known problems."""
    receipt = requests.get(f"{hub.url}/v1/reports/{report_id}", timeout=60).json()
    page = {"url": build.report()["doc_url"]}
    known = requests.get(f"{hub.url}/v1/pages", page, timeout=60).json()
    return bool(receipt["issue_url"]) + len(known.get("problems", []))


def _signed(body: bytes, secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _suspension(world: World) -> bytes:
    installation = {"id": build.installed(world.host).id}
    return json.dumps({"action": "suspend", "installation": installation}).encode()


def _post(hub: Shipped, body: bytes, signature: dict[str, str], address: str = "192.0.2.9") -> int:
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "installation",
        "X-GitHub-Delivery": f"d-{address}",
        "X-Forwarded-For": address,
        **signature,
    }
    url = f"{hub.url}/v1/webhooks/github"
    return requests.post(url, body, headers=headers, timeout=60).status_code
