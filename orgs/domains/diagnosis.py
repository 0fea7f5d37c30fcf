"""What the DNS says about a claim, and what its owner should do about it."""

import secrets
from collections.abc import Collection, Iterable
from itertools import zip_longest
from typing import NamedTuple

from django.conf import settings

from orgs.domains import hosts
from orgs.domains.txt_records import AliasLoop, Lookup, NotAnswered, TxtAnswer
from orgs.models import Domain

VALUES_SHOWN = 5  # at most, of other people's values
LONGEST = 100  # characters of each


class Finding(NamedTuple):
    """What the DNS said about a claim.

    `proven`: the values at the record's name that prove a claim; None if nobody could tell.

    `hint`: a sentence or two for the maintainer whose value is not among them.
    """

    proven: frozenset[str] | None
    hint: str


def look(domain: Domain, earlier: Collection[str] = (), *, thorough: bool = False) -> Finding:
    """Ask the DNS whether a claim's record is published, and if not, why. Bounded as `txt_records.Lookup` is.

    `thorough` is for a person who is waiting: it asks the authoritative servers, and also looks where
    records end up by mistake. `earlier`: values that the organization was asked for before.
    """
    lookup = Lookup(direct=thorough)
    try:
        answer = lookup.at(domain.record_name)
        proven = _proven(lookup, domain, answer)
    except AliasLoop:
        return Finding(None, _alias_loop(domain))
    except NotAnswered as error:
        return Finding(None, _unanswered(error))
    if domain.record_value in proven or not thorough:
        return Finding(proven, "")
    if domain.record_value in answer.texts:
        return Finding(proven, _wildcard(domain))
    hint = _misplaced(lookup, domain) or _at_the_name(domain, answer, proven, earlier)
    return Finding(proven, hint)


def _proven(lookup: Lookup, domain: Domain, answer: TxtAnswer) -> frozenset[str]:
    """The values at the name, without those that a random sibling name has as well."""
    if not answer.texts:
        return frozenset()
    beside = lookup.at(f"_hub-{secrets.token_hex(4)}.{domain.name}")
    if answer.alias_of and beside.alias_of == answer.alias_of:
        return frozenset()  # a wildcard alias: its target may answer any name
    return frozenset(answer.texts) - set(beside.texts)


def _misplaced(lookup: Lookup, domain: Domain) -> str:
    """Where else the right value is; empty if it is nowhere."""
    for zone in _zones(domain):
        beside = f"_hub-{secrets.token_hex(4)}.{domain.name}.{zone}"  # would match a wildcard, too
        if _is_at(lookup, f"{domain.record_name}.{zone}", domain) and not _is_at(
            lookup, beside, domain
        ):
            short = domain.record_name.removesuffix(f".{zone}")
            return f"Your provider added {zone} a second time. Set Name to `{short}`."
    if _is_at(lookup, domain.name, domain):
        return (
            f"The value is right, but it is on {domain.name} itself. "
            f"Put it in a TXT record at `{domain.record_name}`."
        )
    return ""


def _zones(domain: Domain) -> list[str]:
    """The names that a provider may have appended: the registrable one, and the domain itself."""
    above = [
        name
        for name in hosts.parents(domain.name)
        if hosts.is_registrable(name, pages_host=settings.HUB_PAGES_HOST)
    ]
    return [*above, domain.name]


def _is_at(lookup: Lookup, name: str, domain: Domain) -> bool:
    if len(name) > hosts.MAX_NAME:
        return False
    try:
        return domain.record_value in lookup.at(name).texts
    except NotAnswered:
        return False  # it would only have helped to explain


def _at_the_name(
    domain: Domain, answer: TxtAnswer, proven: frozenset[str], earlier: Collection[str]
) -> str:
    if answer.alias_of and not proven:
        return (
            f"A CNAME is in the way: `{domain.record_name}` points to `{_shown(answer.alias_of)}`, "
            "so a TXT record there is not seen. Remove the CNAME, then add the TXT record."
        )
    if not answer.texts:
        return (
            f"There is no TXT record at `{domain.record_name}` yet. "
            "If you just saved it, your provider may need a few minutes."
        )
    if not proven:
        return _wildcard(domain)
    if not proven.isdisjoint(earlier):
        return (
            f"`{domain.record_name}` has an older value of yours. "
            f"Replace it with `{domain.record_value}`."
        )
    return (
        f"`{domain.record_name}` has a different value than `{domain.record_value}`: "
        f"{_differences(sorted(proven), domain.record_value)}."
    )


def _wildcard(domain: Domain) -> str:
    return (
        f"A wildcard record answers for every name below {domain.name}, so it proves nothing. "
        f"Add a TXT record at `{domain.record_name}` itself, and remove the value from the "
        "wildcard record if it is there."
    )


def _differences(values: Iterable[str], wanted: str) -> str:
    """Each value with the place where it first differs.

    >>> _differences(["hub-verify=abX", "hub-verify=abcd"], "hub-verify=abc")
    '`hub-verify=abX` (character 14 is `X`, not `c`); `hub-verify=abcd` (character 15 is too many)'
    """
    described = [f"`{_shown(value)}` ({_difference(value, wanted)})" for value in values]
    more = len(described) - VALUES_SHOWN
    return "; ".join(described[:VALUES_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _difference(value: str, wanted: str) -> str:
    pairs = enumerate(zip_longest(value, wanted), start=1)
    place, (seen, right) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    if seen is None:
        return f"it ends before character {place}, `{right}`"
    if right is None:
        return f"character {place} is too many"
    return f"character {place} is `{_shown(seen)}`, not `{right}`"


def _shown(text: str) -> str:
    """Text from the DNS, safe to show: on one line, and not too long."""
    printable = "".join(c if c.isprintable() and c != "`" else "�" for c in text)
    return printable if len(printable) <= LONGEST else f"{printable[:LONGEST]}…"


def _alias_loop(domain: Domain) -> str:
    return (
        f"A CNAME is in the way: the one at `{domain.record_name}` points back to itself. "
        "Remove it, then add the TXT record. This does not count against your claim."
    )


def _unanswered(error: NotAnswered) -> str:
    return (
        f"The name servers did not answer: {error}. This does not count against your claim. "
        "Try again in a few minutes."
    )
