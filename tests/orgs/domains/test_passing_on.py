"""A domain that is sold: who has it, whatever a resolver remembers."""

import pytest

from orgs.domains import reverification, txt_records, verification
from orgs.models import Domain
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


def test_who_has_never_had_it_verifies_a_free_domain_by_what_a_resolver_says(buyer, dns):
    dns.txt(RECORD, buyer.record_value)

    check(buyer)

    assert statuses(buyer) == ["verified"]


def below(dns, name: str) -> None:
    """Somebody else proves a name below acme.com."""
    claim = build.domain(build.organization(name), name, verified=False)
    dns.txt(claim.record_name, claim.record_value)
    check(claim)
    assert statuses(claim) == ["verified"]


def test_who_has_the_name_above_is_told(former, dns):
    below(dns, "docs.acme.com")

    [told] = former.organization.notices.all()
    assert told.kind == "below"
    assert told.text == (
        "docs.acme.com now belongs to another organization, which has proved it by a DNS record, and "
        "receives the reports about it. If you do not know of it, remove the TXT record at "
        "_hub-challenge.docs.acme.com. It is below acme.com; of such names you are told once a day."
    )


def test_once_a_day_however_many_names_below_are_proved(former, dns, clock):
    below(dns, "docs.acme.com")
    below(dns, "api.acme.com")
    assert former.organization.notices.count() == 1
    clock.advance(hours=25)

    below(dns, "blog.acme.com")

    assert former.organization.notices.count() == 2


def test_nobody_is_told_of_their_own_or_of_what_is_not_below(former, dns):
    mine = build.domain(former.organization, "docs.acme.com", verified=False)
    dns.txt(mine.record_name, mine.record_value)
    check(mine)
    below(dns, "docs.notacme.com")

    assert not former.organization.notices.exists()


def test_nobody_is_told_twice_of_what_stays_proved(former, dns, clock):
    below(dns, "docs.acme.com")
    clock.advance(hours=25)

    check(Domain.objects.get(name="docs.acme.com"))

    assert former.organization.notices.count() == 1
