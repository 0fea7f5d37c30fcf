"""Progress of a long command."""

from django.core.management.base import OutputWrapper


class Progress:
    """Shows a counter on a terminal; prints nothing elsewhere."""

    def __init__(self, stream: OutputWrapper, total: int) -> None:
        self.stream, self.total, self.done = stream, total, 0

    def step(self, by: int = 1) -> None:
        """Count `by` more as done."""
        self.done += by
        if self.stream.isatty():
            ending = "\n" if self.done == self.total else ""
            self.stream.write(f"\r{self.done} of {self.total}", ending=ending)
