"""What the DNS says about a claim, and what its owner should do about it."""

import secrets
from collections.abc import Collection
from typing import NamedTuple

from core.watching import metrics
from orgs.domains import misplaced, providers, values
from orgs.domains.providers import Entry
from orgs.domains.txt_records import (
    THOROUGH,
    AliasLoop,
    Lookup,
    NotAnswered,
    ServerFailed,
    TxtAnswer,
)
from orgs.models import Domain

NO_COUNT = "This does not count against your claim."
BESIDE_ALIAS = 2  # random names that are asked about beside an alias


class Asked(NamedTuple):
    """A server that was asked, what it answered in words, and whether it has the value."""

    server: str
    answer: str
    has_it: bool


class Finding(NamedTuple):
    """What the DNS said about a claim. All text from the DNS is cut, and on one line.

    `proven`: the values at the record's name that prove a claim; None if nobody could tell.
    `title`, `hint`: for the maintainer whose value is not among them, in a few words and in a sentence or
    two. `others`: the values that are there instead, the most similar one first. `asked`: who answered.
    `entry`: what to enter where the zone is hosted, if that is known. `by_zone`: whether the zone's own
    name servers have answered about the name itself; else a resolver has, or an alias was followed.
    """

    proven: frozenset[str] | None
    hint: str = ""
    title: str = ""
    others: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    entry: Entry | None = None
    by_zone: bool = False

    @property
    def in_words(self) -> str:
        """The hint with what to enter at the provider; empty if there is nothing to do."""
        return f"{self.hint} {self.entry.advice}" if self.hint and self.entry else self.hint


def look(
    domain: Domain, earlier: Collection[str] = (), *, direct: bool = False, thorough: bool = False
) -> Finding:
    """Ask the DNS whether a claim's record is published, and if not, why. Bounded as `txt_records.Lookup` is.

    `direct` asks the authoritative servers first. So does `thorough`, which is for a person who is waiting: it also
    looks where records end up by mistake. `earlier`: values that the organization was asked for before.
    """
    lookup = Lookup(direct=True, queries=THOROUGH) if direct or thorough else Lookup()
    finding = _looked(lookup, domain, earlier, thorough)
    metrics.dns.up(_result(domain, finding))
    return finding


def _result(domain: Domain, finding: Finding) -> str:
    if finding.proven is None:
        return "unanswered"
    return "found" if domain.record_value in finding.proven else "missing"


def _looked(lookup: Lookup, domain: Domain, earlier: Collection[str], thorough: bool) -> Finding:
    try:
        answer = lookup.at(domain.record_name)
        proven = _proven(lookup, domain, answer)
    except NotAnswered as error:
        return _unanswered(lookup, domain, error) if thorough else Finding(None)
    if domain.record_value in proven or not thorough:
        return Finding(proven, by_zone=answer.by_zone)
    finding = _explained(lookup, domain, answer, proven, earlier)
    return finding._replace(entry=_entry(lookup, domain))


def _proven(lookup: Lookup, domain: Domain, answer: TxtAnswer) -> frozenset[str]:
    """The values at the name, without those that a random sibling name has as well.

    Through an alias, none if a sibling is an alias, too: its target may answer each name as it likes.
    """
    if not answer.texts or answer.by_dname:
        return frozenset()
    if not answer.alias_of:
        return frozenset(answer.texts) - set(lookup.at(_sibling(domain)).texts)
    siblings = [_sibling(domain) for _ in range(BESIDE_ALIAS)]
    if _any_alias(lookup, siblings):
        return frozenset()
    beside = [lookup.at(each) for each in siblings]
    if any(each.alias_of for each in beside):
        return frozenset()
    return frozenset(answer.texts).difference(*(each.texts for each in beside))


def _sibling(domain: Domain) -> str:
    """A name that nobody can have made."""
    return f"_hub-{secrets.token_hex(4)}.{domain.name}"


def _any_alias(lookup: Lookup, names: Collection[str]) -> bool:
    """Whether one of the names is an alias. Raises `NotAnswered` if only one that did not answer could be."""
    unanswered = None
    for name in names:
        try:
            if lookup.is_alias(name):
                return True
        except NotAnswered as error:
            unanswered = error
    if unanswered:
        raise unanswered
    return False


def _explained(
    lookup: Lookup,
    domain: Domain,
    answer: TxtAnswer,
    proven: frozenset[str],
    earlier: Collection[str],
) -> Finding:
    if domain.record_value in answer.texts and not answer.by_dname:
        return _wildcard(proven, domain, answer)
    is_empty = not (answer.texts or answer.alias_of or answer.by_dname)
    if is_empty and (missing := _missing_zone(lookup, domain)):
        return Finding(proven, *_no_such_domain(missing))
    asked = _asked(lookup, domain, answer)
    if any(each.has_it for each in asked):
        return Finding(proven, *_at_some(asked), asked=asked)
    if answer.by_dname:
        return Finding(proven, *_below_dname(domain), asked=asked)
    if place := misplaced.find(lookup, domain):
        return Finding(proven, place.text, place.title, asked=asked)
    return _at_the_name(domain, answer, proven, earlier)._replace(asked=asked)


def _missing_zone(lookup: Lookup, domain: Domain) -> str:
    """The registrable name, if the DNS does not have it."""
    top = misplaced.zones(domain)[0]
    try:
        return "" if lookup.is_known(top) else top
    except NotAnswered:
        return ""


def _asked(lookup: Lookup, domain: Domain, answer: TxtAnswer) -> tuple[Asked, ...]:
    """Each name server with its answer; where none can be asked, the resolver with `answer`."""
    try:
        each = sorted(lookup.at_each(domain.record_name), key=lambda said: said[0])
    except NotAnswered:
        each = []
    said = each or [("The Hub's resolver", answer)]
    return tuple(Asked(values.shown(name), *_in_words(domain, one)) for name, one in said)


def _in_words(domain: Domain, said: TxtAnswer | NotAnswered) -> tuple[str, bool]:
    """An answer in a few words, and whether it has the value."""
    if isinstance(said, NotAnswered):
        return f"No answer: {said}", False
    if said.by_dname:
        return "A DNAME", False
    if domain.record_value in said.texts:
        return "Has the value", True
    if said.alias_of:
        return "A CNAME", False
    if not said.texts:
        return "No record", False
    number = len(said.texts)
    return ("1 other value" if number == 1 else f"{number} values, none of them yours"), False


def _entry(lookup: Lookup, domain: Domain) -> Entry | None:
    """What to enter where the zone is hosted, if its provider is known."""
    try:
        zone, name_servers = lookup.zone(domain.record_name)
    except NotAnswered:
        return None
    provider = providers.of(name_servers)
    top = misplaced.zones(domain)[0]
    if provider is None or not f".{zone}".endswith(f".{top}"):
        return None
    return Entry(*provider, domain.record_name.removesuffix(f".{zone}"))


def _at_the_name(
    domain: Domain, answer: TxtAnswer, proven: frozenset[str], earlier: Collection[str]
) -> Finding:
    if answer.alias_of and not proven:
        return Finding(
            proven,
            f"A CNAME is in the way: `{domain.record_name}` points to `{values.shown(answer.alias_of)}`, "
            "so a TXT record there is not seen. Remove the CNAME, then add the TXT record.",
            "A CNAME is in the way",
        )
    if not answer.texts:
        return Finding(
            proven,
            f"There is no TXT record at `{domain.record_name}` yet. "
            "If you just saved it, your provider may need a few minutes.",
            "No record yet",
        )
    if not proven:
        return _wildcard(proven, domain, answer)
    if not proven.isdisjoint(earlier):
        return Finding(
            proven,
            f"`{domain.record_name}` has an older value of yours. "
            f"Replace it with `{domain.record_value}`.",
            "An older value",
        )
    return _different(domain, proven)


def _different(domain: Domain, proven: frozenset[str]) -> Finding:
    wanted = domain.record_value
    nearest = sorted(proven, key=lambda value: (-values.same(value, wanted), value))
    own = max(wanted.find("="), wanted.rfind("/")) + 1  # where it differs from others of this Hub
    is_close = values.same(nearest[0], wanted) > (own + len(wanted)) // 2
    return Finding(
        proven,
        f"`{domain.record_name}` has a different value than `{wanted}`: "
        f"{values.differences(nearest, wanted)}.",
        "Almost: the value ends differently" if is_close else "The value is a different one",
        tuple(values.shown(value) for value in nearest[: values.MOST]),
    )


def _below_dname(domain: Domain) -> tuple[str, str]:
    top = misplaced.zones(domain)[0]
    claim = f"If it is at a name below {top}, claim {top}, which covers {domain.name}. Else remove"
    hint = (
        "A DNAME is in the way: it leads every name below its own elsewhere, so there can be no TXT record "
        f"at `{domain.record_name}`. {'Remove' if domain.name == top else claim} the DNAME, "
        "then add the TXT record."
    )
    return hint, "A DNAME is in the way"


def _wildcard(proven: frozenset[str], domain: Domain, answer: TxtAnswer) -> Finding:
    rest = (
        "in place of the alias."
        if answer.alias_of
        else "and remove the value from the wildcard record if it is there."
    )
    return Finding(
        proven,
        f"A wildcard record answers for every name below {domain.name}, so it proves nothing. "
        f"Add a TXT record at `{domain.record_name}` itself, {rest}",
        "A wildcard record answers",
    )


def _no_such_domain(name: str) -> tuple[str, str]:
    hint = (
        f"The DNS has no domain {name}. Check its spelling. If it was just registered or renewed, "
        "try again in an hour."
    )
    return hint, f"There is no domain {name}"


def _at_some(asked: Collection[Asked]) -> tuple[str, str]:
    lacking = [each.server for each in asked if not each.has_it]
    if not lacking:
        return "All name servers have the record now. Check again.", "It has just appeared"
    have = len(asked) - len(lacking)
    hint = (
        f"Only {have} of {len(asked)} name servers answer with the record. `{lacking[0]}` does not. "
        "They usually agree within minutes. If they do not, ask your provider why."
    )
    return hint, f"Only {have} of {len(asked)} name servers answer with it"


def _unanswered(lookup: Lookup, domain: Domain, error: NotAnswered) -> Finding:
    asked = (Asked("The Hub's resolver", f"No answer: {error}", False),)
    if isinstance(error, AliasLoop):
        return Finding(None, _alias_loop(domain), "A CNAME points back to itself", asked=asked)
    if isinstance(error, ServerFailed) and lookup.answers_unchecked(domain.record_name):
        return Finding(None, _badly_signed(domain), "DNSSEC is broken", asked=asked)
    hint = f"The name servers did not answer: {error}. {NO_COUNT} Try again in a few minutes."
    return Finding(None, hint, "No answer from the DNS", asked=asked)


def _alias_loop(domain: Domain) -> str:
    return (
        f"A CNAME is in the way: the one at `{domain.record_name}` points back to itself. "
        f"Remove it, then add the TXT record. {NO_COUNT}"
    )


def _badly_signed(domain: Domain) -> str:
    top = misplaced.zones(domain)[0]
    return (
        f"The DNS of {top} is signed with DNSSEC, and its signatures are not valid, so its answers "
        "are not believed. Correct or remove the DS record at the registrar, or sign the zone again. "
        f"{NO_COUNT}"
    )
