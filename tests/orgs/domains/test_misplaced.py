"""The right value, published where nobody looks for it."""

import pytest

from orgs.domains.diagnosis import look
from orgs.domains.txt_records import THOROUGH
from orgs.models import Domain, Organization
from orgs.models.challenge import new_challenge, record_value


@pytest.fixture
def domain(dns):
    """A claim that waits for its record, with a known value; its zone is there."""
    dns.zones.append("acme.com")
    return claim_of("docs.acme.com")


def claim_of(name: str) -> Domain:
    claim = Domain(organization=Organization(), name=name, registrable=False)
    claim.challenge = "abcdef"
    return claim


def look_at(domain):
    return look(domain, thorough=True)


@pytest.mark.parametrize(
    ("place", "title", "hint"),
    [
        ("docs.acme.com", "The record is on docs.acme.com itself", "it is on docs.acme.com itself"),
        ("acme.com", "The record is on acme.com itself", "it is on acme.com itself"),
        (
            "hub-challenge.docs.acme.com",
            "The name lacks its underscore",
            "its name lacks the underscore: `hub-challenge.docs.acme.com`",
        ),
        (
            "_hub-challenge.acme.com",
            "The record is below acme.com",
            "it is at `_hub-challenge.acme.com`, which is for a claim of acme.com",
        ),
    ],
)
def test_the_value_elsewhere(dns, domain, place, title, hint):
    dns.txt(place, "v=spf1 -all", "hub-verify=abcdef")

    finding = look_at(domain)

    assert finding.proven == frozenset()
    assert finding.title == title
    assert finding.hint == (
        f"The value is right, but {hint}. Put it in a TXT record at `_hub-challenge.docs.acme.com`."
    )


@pytest.mark.parametrize("above", ["guide.docs.acme.com", "acme.com"])
def test_under_the_label_of_a_name_far_above(dns, domain, above):
    dns.txt(f"_hub-challenge.{above}", "hub-verify=abcdef")

    finding = look_at(claim_of("v2.guide.docs.acme.com"))

    assert finding.title == f"The record is below {above}"


@pytest.mark.parametrize("place", ["*.acme.com", "*.docs.acme.com"])
def test_a_wildcard_is_not_taken_for_a_misplaced_record(dns, domain, place):
    dns.txt(place, "hub-verify=abcdef")
    dns.txt("_hub-challenge.docs.acme.com", "another")

    assert look_at(domain).title == "The value is a different one"


def test_another_value_in_those_places_is_not_ours(dns, domain):
    for place in ("acme.com", "docs.acme.com", "hub-challenge.docs.acme.com"):
        dns.txt(place, "hub-verify=ABCDEF")

    assert look_at(domain).title == "No record yet"


def test_no_such_domain(dns):
    dns.zones.append("com")

    finding = look_at(claim_of("docs.acmee.com"))

    assert finding.title == "There is no domain acmee.com"
    assert finding.hint.startswith("The DNS has no domain acmee.com. Check its spelling.")


def test_whether_the_domain_exists_is_not_said_where_nobody_can_tell(dns, domain):
    dns.fail("acme.com", "REFUSED")

    assert look_at(domain).title == "No record yet"


def test_signatures_that_are_not_valid(dns, domain):
    dns.txt("_hub-challenge.docs.acme.com", "hub-verify=abcdef")
    dns.sign_badly("_hub-challenge.docs.acme.com")

    finding = look_at(domain)

    assert finding.proven is None
    assert finding.title == "DNSSEC is broken"
    assert "Correct or remove the DS record at the registrar" in finding.hint
    assert "does not count against your claim" in finding.hint


def test_servers_that_are_broken_are_not_taken_for_bad_signatures(dns, domain):
    dns.fail("_hub-challenge.docs.acme.com", "SERVFAIL")

    assert look_at(domain).title == "No answer from the DNS"


def test_all_that_is_asked_fits_into_its_bound(dns, domain):
    finding = look_at(claim_of("v2.guide.docs.acme.com"))

    assert finding.title == "No record yet"
    assert len(dns.asked) < THOROUGH
    assert len(set(dns.asked)) > len(dns.asked) - 3  # nearly nothing twice


@pytest.mark.parametrize(
    ("name_server", "advice"),
    [
        ("ada.ns.cloudflare.com", "At Cloudflare, enter `_hub-challenge.docs` as Name."),
        (
            "ns-2048.awsdns-64.org",
            (
                "At Route 53, enter `_hub-challenge.docs` as Record name. "
                "Put the value in double quotation marks there."
            ),
        ),
        ("DNS1.Registrar-Servers.com", "At Namecheap, enter `_hub-challenge.docs` as Host."),
        ("ns1-01.azure-dns.net", "At Azure DNS, enter `_hub-challenge.docs` as Name."),
        ("ns1.acme.net", ""),
    ],
)
def test_what_to_enter_at_the_provider(dns, domain, name_server, advice):
    dns.name_server("acme.com", name_server, "192.0.2.1")

    finding = look_at(domain)

    assert finding.title == "No record yet"
    assert finding.in_words == f"{finding.hint} {advice}".strip()


def test_a_zone_of_its_own_shortens_the_name(dns, domain):
    dns.name_server("docs.acme.com", "ns1.digitalocean.com", "192.0.2.1")

    assert look_at(domain).entry.advice == "At DigitalOcean, enter `_hub-challenge` as Hostname."


def test_the_value_of_anothers_claim_at_a_hub_with_a_long_name_is_not_almost_ones_own(
    dns, domain, settings
):
    settings.HUB_BASE_URL = "https://docs-feedback.documentation.example.com"
    domain.challenge = new_challenge()
    value = record_value(new_challenge())
    dns.txt("_hub-challenge.docs.acme.com", value)

    finding = look_at(domain)

    assert finding.title == "The value is a different one"
    assert finding.others == (value,)


def test_the_most_similar_value_comes_first(dns, domain):
    dns.txt("_hub-challenge.docs.acme.com", "v=spf1 -all", "hub-verify=abcdXX", "another")

    finding = look_at(domain)

    assert finding.title == "Almost: the value ends differently"
    assert finding.others == ("hub-verify=abcdXX", "another", "v=spf1 -all")
