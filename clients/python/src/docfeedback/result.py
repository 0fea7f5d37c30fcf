"""The output of a command."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Sequence


class Result(NamedTuple):
    """`lines` for people or `data` for programs, on stdout; `notes` on stderr.

    If `data` is empty, all that is for programs was written already.
    """

    lines: Sequence[str]
    data: Dict[str, Any]
    notes: Sequence[str] = ()
    exit_code: int = 0
