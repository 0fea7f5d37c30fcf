"""A domain that is sold: who has it, whatever a resolver remembers."""

import pytest

from orgs.domains import name_servers, reverification, txt_records, verification
from tests import build
from tests.dns_server import DNSServer

pytestmark = pytest.mark.django_db(transaction=True)

RECORD = "_hub-challenge.acme.com"
UNASKED = "only if its own name servers answer"


@pytest.fixture
def former():
    """The claim of an organization that had verified the domain."""
    return build.domain(build.organization("former"), "acme.com")


@pytest.fixture
def buyer():
    return build.domain(build.organization("buyer"), "acme.com", verified=False)


@pytest.fixture
def sold(former, buyer, dns, zone):
    """The buyer has verified it; the zone has their record, and the resolver still the one before."""
    dns.txt(RECORD, former.record_value)
    zone.txt(RECORD, buyer.record_value)
    check(buyer)


def check(domain) -> None:
    member = domain.organization.memberships.first()
    if member is None:
        member = build.member(domain.organization, domain.organization.name).membership
    verification.check(domain, by=member)


def statuses(*domains) -> list[str]:
    for each in domains:
        each.refresh_from_db()
    return [each.status for each in domains]


def test_what_was_seen_before_the_buyer_proved_it_takes_it_from_nobody(
    former, buyer, dns, zone, monkeypatch
):
    """The former owner's check began before the sale, and ends after it: their servers answer slowly."""
    look = verification.look

    def and_then_it_is_sold(*asked, **more):
        monkeypatch.setattr(verification, "look", look)
        seen = look(*asked, **more)
        zone.remove(RECORD)
        zone.txt(RECORD, buyer.record_value)
        check(buyer)
        return seen

    zone.txt(RECORD, former.record_value)
    dns.txt(RECORD, former.record_value)
    monkeypatch.setattr(verification, "look", and_then_it_is_sold)

    with pytest.raises(verification.NotConfirmed):
        check(former)

    assert statuses(former, buyer) == ["pending", "verified"]


def test_the_zones_own_servers_pass_it_on(sold, former, buyer):
    assert statuses(former, buyer) == ["pending", "verified"]


def test_a_former_owner_whose_record_a_resolver_remembers_does_not_get_it_back(sold, former, buyer):
    check(former)

    assert statuses(former, buyer) == ["pending", "verified"]


@pytest.mark.parametrize("fault", ["SERVFAIL", "REFUSED", "silence"])
def test_nor_while_the_zones_servers_do_not_answer(sold, former, buyer, zone, impatient, fault):
    zone.fail(RECORD, fault)

    with pytest.raises(verification.VerifiedElsewhere, match=UNASKED):
        check(former)

    assert statuses(former, buyer) == ["pending", "verified"]


def test_the_zones_own_servers_are_asked_over_tcp(sold, dns, zone):
    """An attack: a datagram in the name of the zone's server needs two numbers to be guessed, and no record."""
    assert {each.transport for each in (*dns.asked, *zone.asked)} == {"tcp"}


def test_where_they_answer_over_udp_alone_nothing_is_passed_on(
    former, buyer, dns, zone, monkeypatch
):
    def refuse(*asked):
        raise ConnectionRefusedError

    monkeypatch.setattr(name_servers, "over_tcp", refuse)
    dns.txt(RECORD, former.record_value)
    zone.txt(RECORD, buyer.record_value)

    with pytest.raises(verification.VerifiedElsewhere, match=UNASKED):
        check(buyer)

    assert statuses(former, buyer) == ["verified", "pending"]
    assert RECORD in {each.name for each in zone.asked}


def test_nor_where_the_buyer_has_an_alias(sold, former, buyer, zone):
    zone.remove(RECORD)
    zone.alias(RECORD, "proof.buyer.example")

    with pytest.raises(verification.VerifiedElsewhere, match=UNASKED):
        check(former)

    assert statuses(former, buyer) == ["pending", "verified"]


def test_nor_where_the_operator_names_servers(sold, former, buyer, dns, settings):
    settings.HUB_DNS_SERVERS = "127.0.0.1:1"  # as configured; the resolvers are patched

    with pytest.raises(verification.VerifiedElsewhere, match=UNASKED):
        check(former)

    assert statuses(former, buyer) == ["pending", "verified"]


@pytest.mark.parametrize("remembered", ["ns.former.example", "ns1.acme.com"])
def test_nor_where_a_resolver_remembers_the_name_servers_of_before(
    former, buyer, dns, zone, remembered
):
    """They still answer with authority. The registry has named the buyer's since, maybe by the same name."""
    registry, theirs = DNSServer(), DNSServer()
    zone.txt(RECORD, buyer.record_value)
    theirs.txt(RECORD, former.record_value)
    for name in ("com", "acme.com", "ns1.acme.com"):
        dns.remove(name)
    dns.name_server("acme.com", remembered, "127.0.0.3")
    dns.name_server("com", "ns.registry.example", "127.0.0.2")
    registry.delegate("acme.com", "ns1.acme.com", "127.0.0.1")

    with (
        registry.serving("127.0.0.2", txt_records.PORT),
        theirs.serving("127.0.0.3", txt_records.PORT),
    ):
        check(buyer)
        check(former)

    assert statuses(former, buyer) == ["pending", "verified"]


def test_an_alias_beside_the_record_keeps_no_buyer_waiting(former, buyer, dns, zone):
    zone.alias("*.acme.com", "acme.cdn.example")
    zone.txt(RECORD, buyer.record_value)

    check(buyer)

    assert statuses(former, buyer) == ["pending", "verified"]


def test_where_the_zones_servers_cannot_be_asked_it_passes_on_as_the_claim_before_lapses(
    former, buyer, dns, clock
):
    dns.txt(RECORD, buyer.record_value)
    with pytest.raises(verification.VerifiedElsewhere, match="about nine days"):
        check(buyer)
    refused = statuses(former, buyer)

    for _ in range(20):  # maintain runs twice a day
        clock.advance(hours=12)
        reverification.maintain()
    check(buyer)

    assert refused == ["verified", "pending"]
    assert statuses(former, buyer) == ["pending", "verified"]


def days(clock, number: int, *claims) -> set[tuple[str, ...]]:
    """Which statuses the claims have had in so many days, in which `maintain` runs three times a day."""
    seen = set()
    for _ in range(3 * number):
        clock.advance(hours=8)
        reverification.maintain()
        seen.add(tuple(statuses(*claims)))
    return seen


def test_a_resolver_that_remembers_for_weeks_gives_it_back_in_no_daily_check(
    sold, former, buyer, clock
):
    assert days(clock, 20, former, buyer) == {("pending", "verified")}
    assert not former.organization.notices.filter(kind="lost").exists()
    assert not buyer.organization.notices.filter(kind="lost").exists()


def test_nor_once_the_buyers_record_is_gone(sold, former, buyer, zone, clock):
    zone.remove(RECORD)

    days(clock, 20, former, buyer)

    assert statuses(former, buyer) == ["pending", "pending"]


def test_a_daily_check_takes_it_from_nobody(sold, former, buyer, zone, clock):
    """Not even where the zone has the former owner's record alone: that is for them to ask for."""
    zone.remove(RECORD)
    zone.txt(RECORD, former.record_value)

    assert days(clock, 2, former, buyer) == {("pending", "verified")}

    check(former)

    assert statuses(former, buyer) == ["verified", "pending"]


def test_who_has_never_had_it_verifies_a_free_domain_by_what_a_resolver_says(buyer, dns):
    dns.txt(RECORD, buyer.record_value)

    check(buyer)

    assert statuses(buyer) == ["verified"]
    assert {each.transport for each in dns.asked} == {"tcp"}
