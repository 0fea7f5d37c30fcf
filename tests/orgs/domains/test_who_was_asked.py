"""Each name server of a zone, and what it answered."""

from contextlib import ExitStack

import pytest

from orgs.domains import txt_records
from orgs.domains.diagnosis import Asked, look
from orgs.models import Domain, Organization
from tests.dns_server import DNSServer

NAME = "_hub-challenge.docs.acme.com"
HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")


@pytest.fixture
def domain():
    claim = Domain(organization=Organization(), name="docs.acme.com", registrable=False)
    claim.challenge = "abcdef"
    return claim


@pytest.fixture
def servers(dns, settings, monkeypatch):
    """Five name servers of acme.com on one port, as the resolver names them."""
    port = 0
    with ExitStack() as running:
        servers = []
        for number, host in enumerate(HOSTS, 1):
            server = DNSServer()
            server.zones.append("acme.com")
            address = running.enter_context(server.serving(host, port))
            port = int(address.rpartition(":")[2])
            servers.append(server)
            dns.name_server("acme.com", f"ns{number}.acme.com", host)
        dns.name_server("com", "ns1.acme.com", HOSTS[0])
        resolver = txt_records.configured_servers()
        monkeypatch.setattr(txt_records, "_resolvers", lambda: resolver)
        monkeypatch.setattr(txt_records, "PORT", port)
        monkeypatch.setattr(txt_records, "is_public", lambda address: True)
        settings.HUB_DNS_SERVERS = ""
        yield servers


def test_each_of_the_first_four_is_asked(servers, domain):
    finding = look(domain, thorough=True)

    assert finding.title == "No record yet"
    assert finding.asked == tuple(
        Asked(f"ns{number}.acme.com", "No record", has_it=False) for number in (1, 2, 3, 4)
    )
    assert not servers[4].asked


def test_a_record_that_some_lack(servers, domain):
    for server in servers[1:3]:
        server.txt(NAME, "hub-verify=abcdef")
    servers[3].txt(NAME, "one", "two")

    finding = look(domain, thorough=True)

    assert finding.title == "Only 2 of 4 name servers answer with it"
    assert "`ns1.acme.com` does not" in finding.hint
    assert [each.answer for each in finding.asked] == [
        "No record",
        "Has the value",
        "Has the value",
        "2 values, none of them yours",
    ]
    assert finding.proven == frozenset()


@pytest.mark.parametrize(
    ("fault", "words"),
    [("REFUSED", "No answer: REFUSED"), ("silence", "No answer: no answer in time")],
)
def test_one_that_does_not_answer_is_named(servers, domain, impatient, fault, words):
    servers[2].fail(NAME, fault)

    finding = look(domain, thorough=True)

    assert finding.asked[2] == Asked("ns3.acme.com", words, has_it=False)


def test_one_without_a_public_address_is_not_asked(servers, domain, monkeypatch):
    monkeypatch.setattr(txt_records, "is_public", lambda address: address != HOSTS[1])

    finding = look(domain, thorough=True)

    assert finding.asked[1].answer == "No answer: it has no public address"
    assert not servers[1].asked


def test_a_name_of_a_server_is_cut_and_on_one_line(dns, servers, domain):
    dns.remove("acme.com")
    dns.name_server("acme.com", ".".join(["a\n<b>`" + "x" * 50] * 4), HOSTS[0])

    [asked] = look(domain, thorough=True).asked

    assert len(asked.server) <= 101
    assert asked.server.isprintable()
    assert "`" not in asked.server


def test_where_the_operator_names_servers_they_are_not_named_to_members(dns, domain):
    dns.zones.append("acme.com")

    finding = look(domain, thorough=True)

    assert finding.asked == (Asked("The Hub's resolver", "No record", has_it=False),)


def test_the_questions_stay_within_their_bound_whatever_the_servers_do(servers, dns, domain):
    for server in servers:
        server.fail(NAME, "REFUSED")
    dns.fail(f"{NAME}.acme.com", "SERVFAIL")

    look(domain, thorough=True)

    assert sum(len(each.asked) for each in (dns, *servers)) <= txt_records.THOROUGH
