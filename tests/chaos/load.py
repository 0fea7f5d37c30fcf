"""Many clients at once: who reports, repeats, looks up receipts, and sends again what was not answered."""

import threading
import time
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import requests

from tests.chaos import words
from tests.chaos.journal import Entry, Journal

PATIENCE = 60  # seconds for an answer
REMEMBERED = 300  # reports that may be repeated
NETWORKS = 200 * 200
OTHER_WORDS = 8  # of one report, at most, so that there is room for all of them


class Sent(NamedTuple):
    """A report that was sent, with the number of repeats in other words so far."""

    body: dict[str, Any]
    others: list[str]


class Load:
    """So many clients, which wait `pause` seconds on average between two requests."""

    def __init__(
        self,
        url: str,
        journal: Journal,
        *,
        seed: int,
        clients: int,
        organizations: int,
        pause: float,
    ) -> None:
        self.url, self.journal, self.organizations, self.pause = url, journal, organizations, pause
        self.stopping = threading.Event()
        self.remembered: deque[Sent] = deque(maxlen=REMEMBERED)
        self.extra_pages: deque[str] = deque(maxlen=20)  # of claims that come and go
        self._clients = [
            _Client(self, number, Random(f"{seed} client {number}")) for number in range(clients)
        ]

    def start(self) -> None:
        """Begin to send."""
        for each in self._clients:
            each.start()

    def stop(self) -> None:
        """Wait for the last answers."""
        self.stopping.set()
        for each in self._clients:
            each.join()


class _Client(threading.Thread):
    """One of them."""

    def __init__(self, load: Load, number: int, random: Random) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self._load, self._number, self._random = load, number, random
        self._sent = 0
        self._again: deque[Sent] = deque(maxlen=50)
        self._ids: deque[str] = deque(maxlen=50)
        self._session = requests.Session()

    def run(self) -> None:
        while not self._load.stopping.wait(self._random.expovariate(1 / self._load.pause)):
            acts, weights = zip(*ACTS, strict=True)
            self._random.choices(acts, weights)[0](self)

    def report_new(self) -> None:
        self._report(words.new(self._random, self._page(), self._new_name()))

    def report_hostile(self) -> None:
        self._report(words.hostile(self._random, self._page(), self._new_name()))

    def report_secret(self) -> None:
        self._report(words.with_secret(self._random, self._page(), self._new_name()))

    def report_alike(self) -> None:
        page = words.page_with_problems(self._random, self._load.organizations)
        self._report(words.alike(self._random, page, self._new_name()))

    def report_of_nobody(self) -> None:
        page = f"https://docs.nobody{self._random.randrange(200)}.dev/{self._random.randrange(100)}"
        self._report(words.new(self._random, page, self._new_name()))

    def report_of_a_new_claim(self) -> None:
        pages = list(self._load.extra_pages)
        if pages:
            page = f"{self._random.choice(pages)}{self._random.randrange(9)}"
            self._report(words.new(self._random, page, self._new_name()))

    def repeat(self) -> None:
        """A report of any client, word by word; first of all what was not answered."""
        if self._again:
            self._send(self._again.popleft())
        elif self._load.remembered:
            self._send(self._random.choice(self._load.remembered))

    def repeat_in_other_words(self) -> None:
        if not self._load.remembered:
            return
        first = self._random.choice(self._load.remembered)
        if len(first.others) < OTHER_WORDS:
            text = words.details(self._new_name())
            first.others.append(text)
            body = {**first.body, "report": {**first.body["report"], "details": text}}
            self._send(Sent(body, first.others))

    def look_up(self) -> None:
        if self._ids:
            report_id = self._random.choice(self._ids)
            self._ask("receipt", "GET", f"/v1/reports/{report_id}", id=report_id)

    def ask_about_a_page(self) -> None:
        self._ask("page", "GET", f"/v1/pages?url={self._page()}")

    def _page(self) -> str:
        return words.page(self._random, self._load.organizations)

    def _new_name(self) -> str:
        self._sent += 1
        return f"client-{self._number}-{self._sent}"

    def _report(self, body: dict[str, Any]) -> None:
        sent = Sent(body, [])
        self._send(sent)

    def _send(self, sent: Sent) -> None:
        told = sent.body["report"].get("details", "")
        answer = self._ask(
            "report",
            "POST",
            "/v1/reports",
            json=sent.body,
            page=sent.body["doc_url"],
            words=told if told.startswith("Seen by ") else "",
        )
        if answer is None or answer.status_code in (429, 503):
            self._again.append(sent)
        elif answer.ok:
            self._ids.append(answer.json()["id"])
            self._load.remembered.append(sent)

    def _ask(
        self, act: str, method: str, path: str, *, json: Any = None, **facts: str
    ) -> requests.Response | None:
        network = self._random.randrange(NETWORKS)
        forwarded = {"X-Forwarded-For": f"10.{network // 200}.{network % 200}.9"}
        return ask(
            self._session,
            self._load.journal,
            act,
            method,
            self._load.url + path,
            forwarded,
            json=json,
            **facts,
        )


def ask(
    session: requests.Session,
    journal: Journal,
    act: str,
    method: str,
    url: str,
    headers: dict[str, str],
    *,
    json: Any = None,
    data: Any = None,
    **facts: str,
) -> requests.Response | None:
    """One request, noted; None where there was no answer."""
    begun = time.time()
    try:
        answer = session.request(
            method,
            url,
            json=json,
            data=data,
            headers=headers,
            timeout=PATIENCE,
            allow_redirects=False,
        )
    except requests.RequestException as error:
        journal.note(
            Entry(begun, time.time(), act, None, f"{type(error).__name__}: {error}", **facts)
        )
        return None
    problem = "" if answer.status_code < 400 else answer.text[:300]
    if act == "report" and answer.ok:
        facts["id"] = answer.json()["id"]
    journal.note(Entry(begun, time.time(), act, answer.status_code, problem, **facts))
    return answer


ACTS: list[tuple[Callable[[_Client], None], int]] = [
    (_Client.report_new, 30),
    (_Client.repeat, 18),
    (_Client.repeat_in_other_words, 12),
    (_Client.report_alike, 12),
    (_Client.report_of_nobody, 8),
    (_Client.report_of_a_new_claim, 4),
    (_Client.report_hostile, 5),
    (_Client.report_secret, 3),
    (_Client.look_up, 6),
    (_Client.ask_about_a_page, 2),
]
