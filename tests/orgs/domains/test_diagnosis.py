"""What DNS answered, in the words that the maintainer reads."""

import pytest

from orgs.domains.diagnosis import look
from orgs.domains.txt_records import MAX_QUERIES, Lookup
from orgs.models import Domain, Organization

NAME = "_hub-challenge.docs.acme.com"


@pytest.fixture
def domain(dns):
    """A claim that waits for its record, with a known value; its zone is there."""
    dns.zones.append("acme.com")
    claim = Domain(organization=Organization(), name="docs.acme.com", registrable=False)
    claim.challenge = "abcdef"
    return claim


def hint(domain, *earlier: str) -> str:
    return look(domain, earlier, thorough=True).hint


def test_nothing_yet(dns, domain):
    assert hint(domain) == (
        "There is no TXT record at `_hub-challenge.docs.acme.com` yet. "
        "If you just saved it, your provider may need a few minutes."
    )


def test_there_it_needs_no_hint(dns, domain):
    dns.txt(NAME, "v=spf1 -all", ["hub-verify=", "abcdef"])

    finding = look(domain, thorough=True)

    assert domain.record_value in finding.proven
    assert finding.hint == ""


@pytest.mark.parametrize(
    ("zone", "short"), [("acme.com", "_hub-challenge.docs"), ("docs.acme.com", "_hub-challenge")]
)
def test_a_doubled_zone(dns, domain, zone, short):
    dns.txt(f"{NAME}.{zone}", "hub-verify=abcdef")

    assert hint(domain) == f"Your provider added {zone} a second time. Set Name to `{short}`."


def test_a_wildcard_that_holds_the_value_is_no_doubled_zone(dns, domain):
    """It answers for the doubled name, too."""
    dns.txt("*.acme.com", "hub-verify=abcdef")

    assert hint(domain).startswith("A wildcard record answers for every name below docs.acme.com")


def test_a_wildcard_beside_a_record_of_its_own_is_no_doubled_zone(dns, domain):
    dns.txt("*.acme.com", "hub-verify=abcdef")
    dns.txt(NAME, "v=spf1 -all")

    assert "has a different value than `hub-verify=abcdef`: `v=spf1 -all`" in hint(domain)


def test_on_the_host_itself(dns, domain):
    dns.txt("docs.acme.com", "hub-verify=abcdef")

    assert "it is on docs.acme.com itself" in hint(domain)


@pytest.mark.parametrize(
    ("value", "difference"),
    [
        ("hub-verify=abcdeX", "character 17 is `X`, not `f`"),
        ("hub-verify=ABCDEF", "character 12 is `A`, not `a`"),
        ("hub-verify=abcde", "it ends before character 17, `f`"),
        ("hub-verify=abcdef ", "character 18 is too many"),
        ('"hub-verify=abcdef"', 'character 1 is `"`, not `h`'),
        ("abcdef", "character 1 is `a`, not `h`"),
        ("hub-verify=\x1b[1m", "character 12 is `�`, not `a`"),
        ("x" * 255, f"`{'x' * 100}…` (character 1 is `x`, not `h`)"),
    ],
)
def test_another_value_with_its_first_difference(dns, domain, value, difference):
    dns.txt(NAME, value)

    assert difference in hint(domain)
    assert hint(domain).isprintable()


def test_of_many_values_some_are_listed(dns, domain):
    dns.txt(NAME, *(f"value {number}" for number in range(8)))

    assert hint(domain).count("character 1 is `v`") == 5
    assert "and 3 more" in hint(domain)


def test_an_earlier_value(dns, domain):
    dns.txt(NAME, "hub-verify=old", "v=spf1 -all")

    assert hint(domain, "hub-verify=old") == (
        "`_hub-challenge.docs.acme.com` has an older value of yours. "
        "Replace it with `hub-verify=abcdef`."
    )


def test_a_cname_in_the_way(dns, domain):
    dns.alias(NAME, "acme.github.io")

    assert "A CNAME is in the way" in hint(domain)
    assert "`acme.github.io`" in hint(domain)


def test_a_cname_in_a_circle(dns, domain):
    dns.alias(NAME, NAME)

    finding = look(domain, thorough=True)

    assert finding.proven is None
    assert "points back to itself" in finding.hint


@pytest.mark.parametrize("target", ["proof.acme.net", "Proof.ACME.net"])
def test_an_alias_that_leads_to_the_value_proves_it(dns, domain, target):
    dns.alias(NAME, target)
    dns.txt("proof.acme.net", "hub-verify=abcdef")

    assert domain.record_value in look(domain).proven
    assert (
        len(dns.asked) == 6
    )  # the name, the target, and of two names beside it the alias and the value


@pytest.mark.parametrize("text", ["hub-verify=abcdef", "v=spf1 -all"])
def test_a_wildcard_proves_nothing(dns, domain, text):
    dns.txt("*.docs.acme.com", text)

    finding = look(domain, thorough=True)

    assert finding.proven == frozenset()
    assert "A wildcard record answers for every name below docs.acme.com" in finding.hint


@pytest.mark.parametrize(
    "targets",
    [
        ["proof.evil.example"],
        ["proof.evil.example", "Proof.evil.example"],
        ["proof.evil.example", "acme.cdn.example"],
    ],
)
def test_a_wildcard_alias_proves_nothing_whatever_its_target_answers(
    dns, domain, monkeypatch, targets
):
    """Whoever runs the target could give each name another answer, and so prove what is not theirs."""
    dns.alias("*.docs.acme.com", *targets)
    dns.txt("proof.evil.example", "hub-verify=abcdef")
    ask = Lookup.at

    def at(lookup: Lookup, name: str):
        answer = ask(lookup, name)
        dns.remove("proof.evil.example")
        dns.txt("proof.evil.example", "something else")
        return answer

    monkeypatch.setattr(Lookup, "at", at)

    assert look(domain).proven == frozenset()


@pytest.mark.parametrize("apex", ["docs.acme.com", "acme.com"])
def test_a_name_that_a_dname_made_proves_nothing(dns, domain, apex):
    """Each name below has an alias of its own, and whoever runs the target need only answer this one."""
    dns.alias_below(apex, "v.evil.example")
    dns.txt(NAME.replace(apex, "v.evil.example"), "hub-verify=abcdef")

    finding = look(domain, thorough=True)

    assert finding.proven == frozenset()
    assert finding.title == "A DNAME is in the way"
    assert [(asked.answer, asked.has_it) for asked in finding.asked] == [("A DNAME", False)]


@pytest.mark.parametrize("value", ["hub-verify=abcdef", "v=spf1 -all", None])
def test_below_a_dname_no_record_is_asked_for(dns, domain, value):
    dns.alias_below("docs.acme.com", "v.evil.example")
    if value:
        dns.txt("_hub-challenge.v.evil.example", value)

    assert hint(domain) == (
        "A DNAME is in the way: it leads every name below its own elsewhere, so there can be no TXT record "
        f"at `{NAME}`. If it is at a name below acme.com, claim acme.com, which covers docs.acme.com. "
        "Else remove the DNAME, then add the TXT record."
    )


def test_below_a_dname_of_the_registrable_name_there_is_nothing_to_claim(dns, domain):
    domain.name, domain.registrable = "acme.com", True
    dns.alias_below("acme.com", "v.evil.example")

    assert hint(domain).endswith(
        "at `_hub-challenge.acme.com`. Remove the DNAME, then add the TXT record."
    )


def test_a_value_on_the_host_cannot_be_moved_below_its_dname(dns, domain):
    dns.alias_below("docs.acme.com", "v.evil.example")
    dns.txt("docs.acme.com", "hub-verify=abcdef")

    assert look(domain, thorough=True).title == "A DNAME is in the way"


def test_an_alias_beside_a_wildcard_alias_proves_nothing(dns, domain):
    """Nobody can tell it from one of the wildcard's."""
    dns.alias("*.docs.acme.com", "acme.cdn.example")
    dns.alias(NAME, "proof.acme.net")
    dns.txt("proof.acme.net", "hub-verify=abcdef")

    assert look(domain).proven == frozenset()


def test_an_alias_beside_a_wildcard_with_its_value_proves_nothing(dns, domain):
    dns.txt("*.docs.acme.com", "hub-verify=abcdef")
    dns.alias(NAME, "proof.acme.net")
    dns.txt("proof.acme.net", "hub-verify=abcdef", "v=spf1 -all")

    assert look(domain).proven == frozenset(["v=spf1 -all"])


def test_a_record_of_its_own_counts_beside_a_wildcard_alias(dns, domain):
    dns.alias("*.docs.acme.com", "acme.cdn.example")
    dns.txt(NAME, "hub-verify=abcdef")

    assert domain.record_value in look(domain).proven


def test_a_record_of_its_own_counts_beside_a_wildcard(dns, domain):
    dns.txt("*.docs.acme.com", "v=spf1 -all")
    dns.txt(NAME, "hub-verify=abcdef")

    assert domain.record_value in look(domain).proven


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("SERVFAIL", "SERVFAIL"), ("REFUSED", "REFUSED"), ("silence", "no answer in time")],
)
def test_no_answer_is_held_against_nobody(dns, impatient, domain, fault, reason):
    dns.fail(NAME, fault)

    finding = look(domain, thorough=True)

    assert finding.proven is None
    assert finding.hint == (
        f"The name servers did not answer: {reason}. This does not count against your claim. "
        "Try again in a few minutes."
    )


def test_a_value_whose_neighbors_cannot_be_seen_is_not_known_to_be_proof(dns, domain, monkeypatch):
    monkeypatch.setattr("orgs.domains.diagnosis.secrets.token_hex", lambda size: "beside")
    dns.txt(NAME, "hub-verify=abcdef")
    dns.fail("_hub-beside.docs.acme.com", "SERVFAIL")

    assert look(domain).proven is None


@pytest.fixture
def siblings(monkeypatch) -> list[str]:
    """The random names that are asked about beside an alias."""
    names = ["first", "second"]
    drawn = iter(names)
    monkeypatch.setattr("orgs.domains.diagnosis.secrets.token_hex", lambda size: next(drawn))
    return [f"_hub-{name}.docs.acme.com" for name in names]


@pytest.mark.parametrize("kind", ["CNAME", "TXT"])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("fault", ["SERVFAIL", "silence"])
def test_an_alias_whose_neighbors_cannot_be_seen_is_not_known_to_be_proof(
    dns, impatient, domain, siblings, fault, which, kind
):
    dns.alias(NAME, "proof.acme.net")
    dns.txt("proof.acme.net", "hub-verify=abcdef")
    dns.fail(siblings[which], fault, kind=kind)

    finding = look(domain, thorough=True)

    assert finding.proven is None
    assert "This does not count against your claim." in finding.hint


@pytest.mark.parametrize("which", [0, 1])
def test_one_neighbor_that_is_an_alias_is_enough(dns, domain, siblings, which):
    dns.alias("*.docs.acme.com", "proof.evil.example")
    dns.txt("proof.evil.example", "hub-verify=abcdef")
    dns.fail(siblings[which], "SERVFAIL")

    assert look(domain).proven == frozenset()


def test_the_target_of_a_wildcard_alias_cannot_hide_that_its_neighbors_are_aliases(
    dns, domain, siblings
):
    """A resolver says SERVFAIL where it follows to a server that does; it does not follow to find a CNAME."""
    dns.alias("*.docs.acme.com", "proof.evil.example")
    dns.txt("proof.evil.example", "hub-verify=abcdef")
    for name in siblings:
        dns.fail(name, "SERVFAIL", kind="TXT")

    assert look(domain).proven == frozenset()


def test_an_alias_that_a_neighbor_shows_only_to_those_who_ask_for_its_value_is_seen(
    dns, domain, siblings
):
    dns.alias("*.docs.acme.com", "proof.evil.example", "a.cdn.example", "b.cdn.example")
    dns.txt("proof.evil.example", "hub-verify=abcdef")
    for name in siblings:
        dns.fail(name, "NXDOMAIN", kind="CNAME")

    assert look(domain).proven == frozenset()


def test_the_target_of_a_dname_cannot_hide_that_its_neighbors_are_aliases(dns, domain, siblings):
    """Resolvers such as Unbound follow a DNAME whatever they are asked for."""
    dns.alias_below("docs.acme.com", "v.evil.example")
    dns.txt("_hub-challenge.v.evil.example", "hub-verify=abcdef")
    for name in siblings:
        dns.fail(name, "SERVFAIL")

    assert look(domain).proven == frozenset()


def test_an_alias_that_leads_through_a_dname_proves_it(dns, domain):
    """The alias itself is no other name's."""
    dns.alias(NAME, "proof.acme.net")
    dns.alias_below("acme.net", "acme.org")
    dns.txt("proof.acme.org", "hub-verify=abcdef")

    assert domain.record_value in look(domain).proven


def test_a_look_through_an_alias_stays_within_its_bound_whatever_the_servers_do(
    dns, domain, siblings
):
    dns.alias(NAME, "proof.acme.net")
    dns.txt("proof.acme.net", "hub-verify=abcdef")
    for name in siblings:
        dns.fail(name, "truncated")

    look(domain)

    assert len(dns.asked) <= MAX_QUERIES


def test_a_look_that_nobody_waits_for_asks_little(dns, domain):
    look(domain)

    assert len(dns.asked) == 1


def test_the_longest_name_has_no_room_for_a_doubled_zone(dns, domain):
    domain.name = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 42, "com"])
    dns.zones.append(f"{'d' * 42}.com")

    assert "There is no TXT record" in hint(domain)
