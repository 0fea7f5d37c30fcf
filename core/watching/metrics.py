"""What every process counts and times for `/metrics`. Without `HUB_METRICS_TOKEN` nothing is.

The values of a label are known beforehand, so that nobody outside can make the files grow. All counts of one
kind begin together, at 0: Prometheus can tell from 0 to 1, and not from nothing to 1.

While the disk has no room for the files, nothing is counted.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from threading import Lock
from typing import Any, ClassVar

from django.conf import settings

OTHER = "other"
MOST = 250  # values of a label that are only known when they come, such as the names of routes

_beginning = Lock()


class _Metric:
    """Something that is counted, for each value of one label."""

    every: ClassVar[list["_Metric"]] = []

    def __init__(
        self, name: str, meaning: str, label: str = "", values: Iterable[str] = ()
    ) -> None:
        self.name, self.meaning, self.label = name, meaning, label
        self.values = [*values, OTHER] if label else [""]
        self._of: dict[str, Any] = {}
        _Metric.every.append(self)

    def begin(self) -> None:
        """Begin to count, at 0 for each value that is known."""
        with _beginning:
            whole = self._made(_library())
            self._of = {
                value: whole.labels(value) if self.label else whole for value in self.values
            }

    def _child(self, value: str) -> Any:
        """What counts this value; None if nothing is counted."""
        if found := self._of.get(value):
            return found
        if not settings.HUB_METRICS_TOKEN:
            return None
        if not self._of:
            with suppress(OSError):
                self.begin()
        return self._of.get(value) or self._of.get(OTHER)

    def _made(self, library: Any) -> Any:
        raise NotImplementedError


class Count(_Metric):
    """How often something happened."""

    def up(self, value: str = "", by: int = 1) -> None:
        """It has happened once more, or `by` times."""
        if child := self._child(value):
            with _new_files_after_a_fork():
                child.inc(by)

    def _made(self, library: Any) -> Any:
        label = [self.label] if self.label else []
        return library.Counter(self.name, self.meaning, label, registry=None)


class Times(_Metric):
    """How long something took."""

    def __init__(
        self,
        name: str,
        meaning: str,
        label: str = "",
        values: Iterable[str] = (),
        *,
        buckets: tuple[float, ...],
    ) -> None:
        super().__init__(name, meaning, label, values)
        self._buckets = buckets

    def took(self, seconds: float, value: str = "") -> None:
        """It has happened, and took so many seconds."""
        if child := self._child(value):
            with _new_files_after_a_fork():
                child.observe(seconds)

    def _made(self, library: Any) -> Any:
        label, buckets = [self.label] if self.label else [], self._buckets
        return library.Histogram(self.name, self.meaning, label, registry=None, buckets=buckets)


class TimesOfRoutes(Times):
    """The same for each route that was asked for: at most `MOST`, then the others together."""

    def _child(self, value: str) -> Any:
        child = super()._child(value)
        if child is None or value in self._of or len(self._of) >= MOST:
            return child
        with _beginning, suppress(OSError):
            child = self._of[value] = self._whole.labels(value)
        return child

    def _made(self, library: Any) -> Any:
        self._whole = super()._made(library)
        return self._whole


@contextmanager
def _new_files_after_a_fork() -> Iterator[None]:
    """The library begins new ones then; where there is no room for them, all that is counted begins anew."""
    try:
        yield
    except OSError:
        forget()


def _library() -> Any:
    """`prometheus_client`, which chooses when it is loaded whether to count in files."""
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_FOLDER)
    import prometheus_client
    from prometheus_client import values

    if values.ValueClass is not _value_class:
        _choose(values)
    return prometheus_client


_value_class: Any = None


def _choose(values: Any) -> None:
    global _value_class
    from core.watching import process_files

    values.MmapedDict = process_files.RoomyDict
    name = process_files.name_of_this_process
    _value_class = values.ValueClass = values.MultiProcessValue(name)


def every() -> list[_Metric]:
    """All that is counted."""
    return _Metric.every


def begin_all() -> None:
    """Begin to count everything, so that all of it is in the files."""
    for each in _Metric.every:
        each._child(each.values[-1])


def forget() -> None:
    """Begin anew, with the next that is counted."""
    global _value_class
    if _value_class:
        _value_class.close_all_files()
    _value_class = None
    for each in _Metric.every:
        each._of = {}


requests = TimesOfRoutes(
    "hub_request_seconds",
    "From a whole request to its whole answer, by the name of the route.",
    "route",
    buckets=(0.005, 0.025, 0.1, 0.5, 2.5, 10),
)
answers = Count(
    "hub_responses_total",
    "Responses to requests, by status, without those of probes and static files.",
    "status",
    [str(status.value) for status in HTTPStatus if status >= HTTPStatus.OK],
)
reports = Count(
    "hub_reports_total",
    "Reports that were accepted: new ones, and duplicates of an earlier one.",
    "kind",
    ["new", "duplicate"],
)
attempts = Count(
    "hub_attempts_total",
    "Attempts at deliveries that have ended, by outcome.",
    "outcome",
    ["sent", "adopted", "folded", "later", "unknown", "held", "refused"],
)
hints = Count(
    "hub_hints_total", "Issues that were opened and say which one is maybe about the same problem."
)
comments = Count(
    "hub_comments_total",
    "Comments that the Hub has written on issues that it has opened, edits of them, and issues reopened.",
    "what",
    ["made", "edited", "reopened"],
)
github = Count(
    "hub_github_responses_total",
    "GitHub's responses to the Hub's calls without sign-in, by class of status; limited: a rate limit; "
    "unreachable, timeout: no answer.",
    "result",
    ["2xx", "3xx", "4xx", "5xx", "limited", "unreachable", "timeout"],
)
github_seconds = Times(
    "hub_github_seconds",
    "How long GitHub took for one call, answered or not.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
dns = Count(
    "hub_dns_checks_total",
    "Checks of the DNS record of a claim: the value is there, it is not, or nobody could tell.",
    "result",
    ["found", "missing", "unanswered"],
)
rounds = Count("hub_maintain_rounds_total", "Rounds that maintain has finished.")
lines_dropped = Count(
    "hub_log_lines_dropped_total", "Lines of the log that were dropped because nobody read stderr."
)
