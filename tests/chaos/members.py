"""Members at work, through the API and the pages: they claim, pause, choose, discard, erase and answer."""

import threading
from collections.abc import Callable
from random import Random
from typing import Any

import requests
from django.conf import settings

from tests.chaos.building import Member
from tests.chaos.journal import Journal
from tests.chaos.load import Load, ask
from tests.chaos.world import World

TOKEN_OF_FORMS = "c" * 32  # what a browser gets as a cookie and sends back
TEMPLATES = ("", "{summary}\n\n{details}\n\n{doc_url}", "> {details}\n\n`{agent_name}`: {summary}")
CLAIMS = 3  # at most, that one organization has besides its own


class Members(threading.Thread):
    """All of them in turn, one act after the other."""

    def __init__(
        self,
        world: World,
        members: list[Member],
        load: Load,
        journal: Journal,
        *,
        seed: int,
        pause: float,
    ) -> None:
        super().__init__(name="members", daemon=True)
        self._world, self._members, self._load, self._journal = world, members, load, journal
        self._random, self._pause = Random(f"{seed} members"), pause
        self._session = requests.Session()
        self._claims: dict[str, list[str]] = {}
        self._made = 0
        self.stopping = threading.Event()

    def run(self) -> None:
        while not self.stopping.wait(self._random.expovariate(1 / self._pause)):
            acts, weights = zip(*ACTS, strict=True)
            self._random.choices(acts, weights)[0](self, self._random.choice(self._members))

    def stop(self) -> None:
        """Finish, and leave nothing paused."""
        self.stopping.set()
        self.join()

    def resume_all(self) -> None:
        """What ends a pause of any organization."""
        for each in self._members:
            self._press(each, "resume")

    def claim(self, member: Member) -> None:
        mine = self._claims.setdefault(member.account, [])
        if len(mine) >= CLAIMS:
            return
        self._made += 1
        name = f"guide{self._made}.{member.account}.com"
        answer = self._call(member, "claim", "POST", "domains", {"domain": name}, id=name)
        if answer is not None and answer.status_code == 201:
            record = answer.json()["dns_record"]
            self._world.dns.txt(record["name"], record["value"])
            mine.append(name)
            self.verify(member)

    def verify(self, member: Member) -> None:
        for name in self._claims.get(member.account, []):
            answer = self._call(member, "verify", "POST", f"domains/{name}/verify", id=name)
            if answer is not None and answer.ok and answer.json()["status"] == "verified":
                self._load.extra_pages.append(f"https://{name}/guide/")

    def remove_claim(self, member: Member) -> None:
        mine = self._claims.get(member.account)
        if mine:
            name = mine[0]
            answer = self._call(member, "remove claim", "DELETE", f"domains/{name}", id=name)
            if answer is not None and answer.status_code in (204, 404):
                mine.remove(name)
                self._world.dns.remove(f"_hub-challenge.{name}")

    def pause(self, member: Member) -> None:
        """For a moment."""
        self._press(member, "pause")
        self.stopping.wait(self._random.uniform(0.2, 3))
        self._press(member, "resume")

    def try_integration_again(self, member: Member) -> None:
        self._press(member, "try-again")

    def configure(self, member: Member) -> None:
        body = {
            "repo_owner": member.account,
            "repo_name": self._random.choice(("docs", "docs", "guide")),
            "issue_template": self._random.choice(TEMPLATES),
            "alerts": True,
        }
        self._call(member, "configure", "POST", "integrations/github", body, id=member.account)

    def choose(self, member: Member) -> None:
        body = {
            "likeness": self._random.choice(("fold", "fold", "hint", "off")),
            "when_reported_again": self._random.choice(("nothing", "comment", "reopen", "issue")),
        }
        self._call(member, "choose", "PATCH", "integrations/github", body)

    def act_on_a_report(self, member: Member) -> None:
        """What its state allows, and now and then what it does not."""
        state = self._random.choice(tuple(FITTING))
        answer = self._call(member, "list", "GET", f"reports?status={state}")
        found = answer.json()["reports"] if answer is not None and answer.ok else []
        if not found:
            return
        report_id = self._random.choice(found)["id"]
        act = self._random.choice(FITTING[state])
        if act == "answer":
            body = {"text": "We know. It is fixed with the next version."}
            self._call(member, act, "PUT", f"reports/{report_id}/answer", body, id=report_id)
        elif act == "same-as":
            self._same_as(member, report_id)
        else:
            self._call(member, act, "POST", f"reports/{report_id}/{act}", id=report_id)

    def _same_as(self, member: Member, report_id: str) -> None:
        answer = self._call(member, "list", "GET", "reports?status=sent")
        sent = answer.json()["reports"] if answer is not None and answer.ok else []
        urls = [each["delivery"]["issue_url"] for each in sent if each["delivery"]["issue_url"]]
        if urls:
            body = {"issue_url": self._random.choice(urls)}
            self._call(
                member, "same-as", "POST", f"reports/{report_id}/same-as", body, id=report_id
            )

    def act_on_many(self, member: Member) -> None:
        act, state = self._random.choice(
            (
                ("discard", "pending"),
                ("restore", "discarded"),
                ("retry", "held"),
                ("retry", "failed"),
            )
        )
        answer = self._call(member, "list", "GET", f"reports?status={state}")
        found = answer.json()["reports"] if answer is not None and answer.ok else []
        ids = [each["id"] for each in found[:5]]
        if ids:
            self._call(member, act, "POST", f"reports/{act}", {"ids": ids}, id=" ".join(ids))

    def look(self, member: Member) -> None:
        self._call(member, "me", "GET", "")

    def _call(
        self, member: Member, act: str, method: str, path: str, json: Any = None, **facts: str
    ) -> requests.Response | None:
        url = f"{self._world.hub.url}/v1/orgs/me{f'/{path}' if path else ''}"
        headers = {"Authorization": f"Bearer {member.token}", "X-Forwarded-For": "192.0.2.1"}
        return ask(self._session, self._journal, act, method, url, headers, json=json, **facts)

    def _press(self, member: Member, button: str) -> None:
        """A button of the page of the integration."""
        cookies = f"{settings.SESSION_COOKIE_NAME}={member.session}; {settings.CSRF_COOKIE_NAME}={TOKEN_OF_FORMS}"
        headers = {"Cookie": cookies, "X-Forwarded-For": "192.0.2.1"}
        url = f"{self._world.hub.url}/settings/integration/{button}/"
        data = {"csrfmiddlewaretoken": TOKEN_OF_FORMS}
        with requests.Session() as browser:
            ask(browser, self._journal, button, "POST", url, headers, data=data)


FITTING = {
    "sent": ("answer", "answer", "erase", "discard"),
    "folded": ("not-the-same", "not-the-same", "discard"),
    "pending": ("discard", "retry", "same-as", "erase"),
    "held": ("retry", "discard", "same-as"),
    "failed": ("retry", "retry", "discard"),
    "discarded": ("restore", "restore", "erase"),
}
ACTS: list[tuple[Callable[[Members, Member], None], int]] = [
    (Members.claim, 3),
    (Members.verify, 2),
    (Members.remove_claim, 1),
    (Members.pause, 2),
    (Members.try_integration_again, 1),
    (Members.configure, 2),
    (Members.choose, 2),
    (Members.act_on_a_report, 14),
    (Members.act_on_many, 3),
    (Members.look, 2),
]
