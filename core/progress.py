"""How far a long command has come."""


class Progress:
    """Counts on a terminal; says nothing elsewhere."""

    def __init__(self, stream, total: int) -> None:
        self.stream, self.total, self.done = stream, total, 0

    def step(self, by: int = 1) -> None:
        self.done += by
        if self.stream.isatty():
            ending = "\n" if self.done == self.total else ""
            self.stream.write(f"\r{self.done} of {self.total}", ending=ending)
