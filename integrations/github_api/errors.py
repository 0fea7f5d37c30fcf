"""Errors of calls to GitHub. The package's docstring shows the tree."""

from datetime import datetime, timedelta

FOR_OPERATORS = " An operator of this Hub has to fix this."
IS_LOCKED = "The issue is locked. Unlock it, and the Hub comments on it within a day."
LIMIT_REACHED = "GitHub's rate limit is reached"


class GitHubError(Exception):
    """The message is a sentence for the maintainer."""


class Unreachable(GitHubError):
    """Nothing was created; try again later."""


class Busy(Unreachable):
    """Too many of our calls are in progress."""


class TimedOut(Unreachable):
    """There was no answer before the deadline."""


class Unfinished(TimedOut):
    """There is more to look through than the deadline allowed; the rest was updated after `until`."""

    def __init__(self, until: datetime):
        super().__init__("There are many issues in the repository. The Hub goes on looking there.")
        self.until = until


class ReadOn(TimedOut):
    """There is more to read than the deadline allowed; the next call goes on there."""


class Limited(Unreachable):
    """A rate limit of GitHub is reached; wait for `wait`."""

    def __init__(self, wait: timedelta):
        super().__init__(f"{LIMIT_REACHED}; it asked us to wait {wait.seconds} seconds.")
        self.wait = wait


class TooQuick(Limited):
    """The same, told of this issue or comment, perhaps for its text: with growing waits, and others need not wait."""


class RefusedText(Unreachable):
    """The text was refused, by GitHub or by what stands in front of it, and the repository takes issues."""


class OtherTime(Unreachable):
    """The clocks of the database and of GitHub differ, so that nothing is found; wait until one is set."""


class OutcomeUnknown(GitHubError):
    """The issue may or may not have been created."""


class Refused(GitHubError):
    """GitHub refuses to create this issue, or to write this comment."""


class Blocked(Refused):
    """GitHub creates no issue in this repository until something is changed there."""


class Forbidden(Blocked):
    """GitHub refuses, for a reason that we do not know."""


class Gone(Blocked):
    """The app cannot get at the repository: it was deleted, or the app has lost its access."""


class Locked(Refused):
    """The issue takes no comment now, or GitHub refuses another thing about it. Says nothing about others."""


class IssueGone(Refused):
    """The issue was deleted, or transferred to another repository."""


class Suspended(Refused):
    """GitHub gives no token for this installation."""


class BadCode(Refused):
    """The code that a browser brought is wrong, old or used."""
