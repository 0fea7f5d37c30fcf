"""Values of TXT records: how they differ from the one that is wanted, and how they are shown."""

from collections.abc import Sequence
from itertools import zip_longest

MOST = 5  # values that are shown, of all that are there
LONGEST = 100  # characters of each


def differences(values: Sequence[str], wanted: str) -> str:
    """Each value with the place where it first differs.

    >>> differences(["hub-verify=abX", "hub-verify=abcd"], "hub-verify=abc")
    '`hub-verify=abX` (character 14 is `X`, not `c`); `hub-verify=abcd` (character 15 is too many)'
    """
    described = [f"`{shown(value)}` ({_difference(value, wanted)})" for value in values[:MOST]]
    more = len(values) - MOST
    return "; ".join(described) + (f"; and {more} more" if more > 0 else "")


def same(value: str, wanted: str) -> int:
    """How many characters both begin with.

    >>> same("hub-verify=abX", "hub-verify=abc")
    13
    """
    pairs = enumerate(zip_longest(value, wanted))
    return next((at for at, (one, other) in pairs if one != other), len(wanted))


def _difference(value: str, wanted: str) -> str:
    at = same(value, wanted)
    if at == len(value):
        return f"it ends before character {at + 1}, `{wanted[at]}`"
    if at == len(wanted):
        return f"character {at + 1} is too many"
    return f"character {at + 1} is `{shown(value[at])}`, not `{wanted[at]}`"


def shown(text: str) -> str:
    """Text from the DNS, safe to show: on one line, and not too long."""
    printable = "".join(c if c.isprintable() and c != "`" else "�" for c in text[: LONGEST + 1])
    return printable if len(printable) <= LONGEST else f"{printable[:LONGEST]}…"
