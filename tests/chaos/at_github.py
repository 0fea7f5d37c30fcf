"""People at GitHub: they close, reopen, delete and comment on issues, and edit what the Hub has written."""

import threading
from random import Random

from sandbox import Issue
from tests.chaos.code_host import MARK, ChaosHost
from tests.chaos.journal import Journal

LATEST = 30  # issues that somebody looks at


class AtGitHub(threading.Thread):
    """One of them at a time."""

    def __init__(self, host: ChaosHost, journal: Journal, *, seed: int, pause: float) -> None:
        super().__init__(name="at GitHub", daemon=True)
        self._host, self._journal = host, journal
        self._random, self._pause = Random(f"{seed} GitHub"), pause
        self.stopping = threading.Event()

    def run(self) -> None:
        while not self.stopping.wait(self._random.expovariate(1 / self._pause)):
            repository = self._random.choice(list(self._host.repositories.values()))
            issues = self._host.issues(repository)[-LATEST:]
            if issues:
                issue = self._random.choice(issues)
                act = self._do(issue)
                where = f"{issue.repository.full_name}#{issue.number}"
                self._journal.say("GitHub", act=act, issue=where, id=MARK.findall(issue.body or ""))

    def stop(self) -> None:
        """Finish."""
        self.stopping.set()
        self.join()

    def _do(self, issue: Issue) -> str:
        """Something to it, which is returned in a word."""
        where, drawn = issue.repository, self._random.random()
        if drawn < 0.35:
            reason = self._random.choice(("completed", "not_planned"))
            self._host.close_issue(where, issue.number, by="charlie", reason=reason)
            return "close"
        if drawn < 0.6 and issue.state == "closed":
            self._host.reopen_issue(where, issue.number, by="charlie")
            return "reopen"
        if drawn < 0.8 and issue.comments:
            comment = self._random.choice(issue.comments)
            self._host.edit_comment(comment, f"{comment.body}\n\nEdited by hand.")
            return "edit"
        if 0.8 <= drawn < 0.84:
            self._host.delete_issue(where, issue.number, by="charlie")
            return "delete"
        self._host.comment(where, issue.number, "I see that, too.", user="charlie")
        return "comment"
