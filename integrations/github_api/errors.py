"""What can go wrong at GitHub. The tree of it is in the package's docstring."""

from datetime import timedelta


class GitHubError(Exception):
    """`str()` of it is a sentence for the maintainer."""


class Unreachable(GitHubError):
    """Nothing was made; try again later."""


class Busy(Unreachable):
    """We are too busy to ask."""


class TimedOut(Unreachable):
    """There was no answer before the deadline."""


class Limited(Unreachable):
    """GitHub asks to be left alone for `wait`."""

    def __init__(self, wait: timedelta):
        super().__init__(
            f"GitHub's rate limit is reached; it asked us to wait {wait.seconds} seconds."
        )
        self.wait = wait


class OutcomeUnknown(GitHubError):
    """The issue may or may not have been made."""


class Refused(GitHubError):
    """GitHub will not make this issue."""


class Blocked(Refused):
    """GitHub makes no issue in this repository, until something is changed there."""


class Suspended(Refused):
    """GitHub gives no token for this installation."""


class BadCode(Refused):
    """The code that a browser brought along is wrong, old or used."""
