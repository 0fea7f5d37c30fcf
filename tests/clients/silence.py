"""A FIFO that nobody writes into: whoever reads it waits."""

import os
import select
from pathlib import Path

MILLISECONDS = 5000  # for a process that was killed to be gone


def has_reader(fifo: Path) -> bool:
    """Whether a process waits for the FIFO and goes on doing so."""
    try:
        pipe = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        readers = select.poll()
        readers.register(pipe, 0)  # an error is told in any case: that nobody reads any more
        return not readers.poll(MILLISECONDS)
    finally:
        os.close(pipe)
