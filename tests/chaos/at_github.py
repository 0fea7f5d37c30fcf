"""People at GitHub: they close, reopen, delete and comment on issues, and edit what the Hub has written."""

import threading
from random import Random

from sandbox import Issue
from tests.chaos.code_host import ChaosHost

LATEST = 30  # issues that somebody looks at


class AtGitHub(threading.Thread):
    """One of them at a time."""

    def __init__(self, host: ChaosHost, *, seed: int, pause: float) -> None:
        super().__init__(name="at GitHub", daemon=True)
        self._host, self._random, self._pause = host, Random(f"{seed} GitHub"), pause
        self.stopping = threading.Event()
        self.done = 0

    def run(self) -> None:
        while not self.stopping.wait(self._random.expovariate(1 / self._pause)):
            repository = self._random.choice(list(self._host.repositories.values()))
            issues = self._host.issues(repository)[-LATEST:]
            if issues:
                self._do(self._random.choice(issues))
                self.done += 1

    def stop(self) -> None:
        """Finish."""
        self.stopping.set()
        self.join()

    def _do(self, issue: Issue) -> None:
        where, drawn = issue.repository, self._random.random()
        if drawn < 0.35:
            reason = self._random.choice(("completed", "not_planned"))
            self._host.close_issue(where, issue.number, by="charlie", reason=reason)
        elif drawn < 0.6 and issue.state == "closed":
            self._host.reopen_issue(where, issue.number, by="charlie")
        elif drawn < 0.8 and issue.comments:
            comment = self._random.choice(issue.comments)
            self._host.edit_comment(comment, f"{comment.body}\n\nEdited by hand.")
        elif drawn < 0.84:
            self._host.delete_issue(where, issue.number, by="charlie")
        else:
            self._host.comment(where, issue.number, "I see that, too.", user="charlie")
