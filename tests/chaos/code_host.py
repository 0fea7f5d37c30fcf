"""The stand-in for GitHub, which notes what its faults struck, and whose webhooks may go wrong."""

import re
import threading
import time
from typing import Any, NamedTuple

from sandbox import CodeHost, Fault, Issue, Sent
from sandbox.messages import Request, Response
from sandbox.state import AnyRepository
from sandbox.webhooks import Event
from tests import conftest

MARK = re.compile(r"<!-- hub:(\w{26})")
REPLAYS = 10


class Struck(NamedTuple):
    """A request that a fault has struck, and the report that it was about, if it names one."""

    at: float
    kind: str
    method: str
    path: str
    report_id: str


class ChaosHost(CodeHost):
    """`webhooks` is what becomes of them: "sent", "lost", "late" or "replayed"."""

    def __init__(self) -> None:
        app = conftest.new_code_host().app
        app.events = ("issues", "repository")
        super().__init__(app=app, rate_limit=1_000_000)
        self.webhooks, self.late_by = "sent", 0.0
        self.webhooks_spoiled = 0
        self.struck: list[Struck] = []
        self.opened_at: dict[int, float] = {}  # issues by their ids, in seconds of `time.time()`
        self.deleted_at: dict[int, float] = {}

    def answer(self, request: Request) -> tuple[Response | None, Fault]:
        """As the host does; a fault is noted."""
        answered = super().answer(request)
        if answered[1].kind != Fault().kind:
            mark = MARK.search(request.body.decode(errors="replace"))
            self.struck.append(
                Struck(
                    time.time(),
                    answered[1].kind,
                    request.method,
                    request.path,
                    mark[1] if mark else "",
                )
            )
        return answered

    def new_issue(self, *args: Any, **kwargs: Any) -> Issue:
        """As the host does, whose clock may be off."""
        issue = super().new_issue(*args, **kwargs)
        self.opened_at[issue.id] = time.time()
        return issue

    def delete_issue(self, repository: AnyRepository, number: int, *, by: str) -> None:
        """As the host does."""
        deleted = self.issue(repository, number)
        self.deleted_at[deleted.id] = time.time()
        super().delete_issue(repository, number, by=by)

    def _send(self, event: Event) -> Sent:
        if self.webhooks == "sent":
            return super()._send(event)
        self.webhooks_spoiled += 1
        if self.webhooks == "lost":
            return Sent(event, None, "lost")
        if self.webhooks == "late":
            later = threading.Timer(self.late_by, super()._send, [event])
            later.daemon = True
            later.start()
            return Sent(event, None, "late")
        return [super(ChaosHost, self)._send(event) for _ in range(REPLAYS)][-1]


def furnish(host: ChaosHost, organizations: int) -> None:
    """Accounts acme0, acme1, ... with two repositories each, and alice and bob in each of them."""
    for number in range(organizations):
        account = f"acme{number}"
        host.add_organization(account)
        for login, role in ((f"alice{number}", "admin"), (f"bob{number}", "member")):
            host.add_user(login)
            host.add_member(account, login, role=role)
        repositories = [host.add_repository(account, name) for name in ("docs", "guide")]
        host.add_installation(account, repositories=repositories)
    host.add_organization("elsewhere")
    host.add_user("charlie")
