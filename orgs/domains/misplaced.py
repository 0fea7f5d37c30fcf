"""Finds a record that was published under another name than its own."""

import secrets
from collections.abc import Iterator
from typing import NamedTuple

from django.conf import settings

from orgs.domains import hosts
from orgs.domains.txt_records import Lookup, NotAnswered
from orgs.models import Domain

LABEL = "_hub-challenge"
ABOVE = 2  # names above the domain whose own label is looked at


class Place(NamedTuple):
    """Where the record is instead, and what to do about it."""

    name: str
    title: str
    text: str


def find(lookup: Lookup, domain: Domain) -> Place | None:
    """The first of the places where records end up by mistake that has the right value."""
    for place in _places(domain):
        if _is_at(lookup, place.name, domain) and not _is_everywhere(lookup, place.name, domain):
            return place
    return None


def zones(domain: Domain) -> list[str]:
    """The names that a provider may have appended: the registrable one, and the domain itself."""
    top = hosts.registrable(domain.name, pages_host=settings.HUB_PAGES_HOST)
    return list(dict.fromkeys([top, domain.name]))


def _places(domain: Domain) -> Iterator[Place]:
    for zone in zones(domain):
        short = domain.record_name.removesuffix(f".{zone}")
        yield Place(
            f"{domain.record_name}.{zone}",
            f"The name has {zone} twice",
            f"Your provider added {zone} a second time. Set Name to `{short}`.",
        )
    for name in reversed(zones(domain)):
        yield _moved(
            name,
            f"The record is on {name} itself",
            f"The value is right, but it is on {name} itself.",
            domain,
        )
    yield _moved(
        domain.record_name.removeprefix("_"),
        "The name lacks its underscore",
        f"The value is right, but its name lacks the underscore: `{domain.record_name[1:]}`.",
        domain,
    )
    for name in _above(domain):
        yield _moved(
            f"{LABEL}.{name}",
            f"The record is below {name}",
            f"The value is right, but it is at `{LABEL}.{name}`, which is for a claim of {name}.",
            domain,
        )


def _moved(name: str, title: str, where: str, domain: Domain) -> Place:
    return Place(name, title, f"{where} Put it in a TXT record at `{domain.record_name}`.")


def _above(domain: Domain) -> list[str]:
    """The names above the domain that belong to somebody: the nearest and the registrable one."""
    top = hosts.registrable(domain.name, pages_host=settings.HUB_PAGES_HOST)
    above = [each for each in hosts.parents(domain.name) if f".{each}".endswith(f".{top}")]
    return list(dict.fromkeys([*above[:1], *above[-1:]]))[:ABOVE]


def _is_everywhere(lookup: Lookup, name: str, domain: Domain) -> bool:
    """Whether a wildcard answers with the value for any name beside this one."""
    label, _, rest = name.partition(".")
    if not label.endswith("hub-challenge"):
        return False
    return _is_at(lookup, f"_hub-{secrets.token_hex(4)}.{rest}", domain)


def _is_at(lookup: Lookup, name: str, domain: Domain) -> bool:
    if len(name) > hosts.MAX_NAME:
        return False
    try:
        return domain.record_value in lookup.at(name).texts
    except NotAnswered:
        return False  # it would only have helped to explain
