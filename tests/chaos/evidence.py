"""What the oracle is asked about: what the clients saw, what is at GitHub, what was away, and the log."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from sandbox import Issue
from tests.chaos.code_host import ChaosHost, Struck
from tests.chaos.journal import Entry
from tests.chaos.log_lines import Line
from tests.chaos.world import Away

OF_A_REPORT = re.compile(r"<!-- hub:(\w{26}) -->")
TAKEN = (200, 201)
LIMITS = ("403_retry_after", "429", "remaining_0")  # faults
LEFT_ALONE = 3600.0  # seconds
AFTER = 5.0  # seconds that a server may need for its connections once the database is back


@dataclass
class Evidence:
    """What the oracle is asked about."""

    entries: list[Entry]
    host: ChaosHost
    notes: list[Away] = field(default_factory=list)
    log: list[Line] = field(default_factory=list)

    def issues(self) -> list[Issue]:
        """All that the app has opened, deleted ones as well; a transferred one where it is now."""
        every = [each for one in self.host.repositories.values() for each in one.issues]
        return [each for each in every if each.by_app and each.moved_to is None]

    def are_doubled(self, issues: list[Issue]) -> bool:
        """Whether two of them were there at one time.

        What somebody deletes before the Hub has heard of it, the Hub opens again: it cannot know.
        """
        opened, deleted = self.host.opened_at, self.host.deleted_at
        ordered = sorted(issues, key=lambda each: opened[each.id])
        return any(
            deleted.get(one.id, float("inf")) > opened[other.id] for one, other in pairwise(ordered)
        )

    def in_words(self, issue: Issue) -> str:
        """Where it is, when it was opened, and whether it was deleted."""
        opened, deleted = self.host.opened_at[issue.id], self.host.deleted_at.get(issue.id)
        return f"{name(issue)} at {opened:.3f}" + (f", deleted at {deleted:.3f}" if deleted else "")

    def struck_by(self, report_id: str) -> list[Struck]:
        """The faults that a request about a report has met."""
        return [each for each in self.host.struck if each.report_id == report_id]

    def done(self, *acts: str) -> set[str]:
        """The ids with which members did this, or may have."""
        return {one for each in self.entries if each.act in acts for one in each.id.split()}

    def was_away(self, entry: Entry, *whats: str) -> bool:
        """Whether one of these was away while a request ran, or just before."""
        return any(
            note.what in whats and note.since <= entry.ended and entry.begun <= note.until + AFTER
            for note in self.notes
        )

    def was_limited(self, entry: Entry) -> bool:
        """Whether GitHub has asked to be left alone before; the Hub does so for an hour at most."""
        since = entry.begun - LEFT_ALONE
        return any(
            each.kind in LIMITS and since < each.at < entry.ended for each in self.host.struck
        )

    def accepted(self) -> list[Entry]:
        """Reports that were answered 201 or 200."""
        return [each for each in self.entries if each.act == "report" and each.status in TAKEN]

    def marked(self) -> dict[str, list[Issue]]:
        """The issues by the report that their mark names."""
        found: dict[str, list[Issue]] = defaultdict(list)
        for issue in self.issues():
            for mark in OF_A_REPORT.findall(issue.body or "")[-1:]:
                found[mark].append(issue)
        return found

    def removed_pages(self) -> tuple[str, ...]:
        """What the addresses of pages begin with whose claim a member has removed."""
        return tuple(f"https://{name}/" for name in self.done("remove claim"))


def name(issue: Issue) -> str:
    """Its repository and number."""
    return f"{issue.repository.full_name}#{issue.number}"
