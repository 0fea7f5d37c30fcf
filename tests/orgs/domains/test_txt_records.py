"""What a DNS server may answer, and what the Hub makes of it."""

import threading
from concurrent.futures import Future
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import dns.message
import dns.name
import dns.rcode
import pytest
from dns.rdatatype import RdataType
from dns.resolver import Resolver

from orgs.domains import name_servers, txt_records
from orgs.domains.diagnosis import look
from orgs.domains.name_servers import Answer, Record
from orgs.domains.txt_records import AliasLoop, Lookup, NotAnswered, Server, TxtAnswer, is_public
from orgs.models import Domain
from tests.dns_server import DNSServer

NAME = "_hub-challenge.docs.acme.com"


def test_every_record_is_one_text(dns):
    dns.txt(NAME, "one", "TWO three")

    assert sorted(Lookup().at(NAME).texts) == ["TWO three", "one"]


def test_the_strings_of_one_record_are_joined(dns):
    dns.txt(NAME, ["hub-verify=", "abc"])

    assert Lookup().at(NAME).texts == ("hub-verify=abc",)


def test_a_name_that_does_not_exist_has_no_records(dns):
    assert Lookup().at(NAME) == TxtAnswer()


def test_a_name_with_other_records_only_has_no_records(dns):
    dns.name_server("acme.com", NAME, "192.0.2.1")

    assert Lookup().at(NAME) == TxtAnswer()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["SERVFAIL", "REFUSED", "NOTIMP", "FORMERR", "silence"])
def test_where_nobody_can_say_there_is_no_answer(dns, impatient, fault):
    dns.txt(NAME, "one")
    dns.fail(NAME, fault)

    with pytest.raises(NotAnswered):
        Lookup().at(NAME)


def test_where_nobody_listens_there_is_no_answer(settings, impatient):
    settings.HUB_DNS_SERVERS = "127.0.0.1:1"

    with pytest.raises(NotAnswered, match="in time"):
        Lookup().at(NAME)


def test_a_truncated_answer_is_asked_for_again_over_tcp(dns):
    texts = [f"{number}" * 200 for number in range(9)]
    dns.txt(NAME, *texts)
    dns.fail(NAME, "truncated")

    assert sorted(Lookup().at(NAME).texts) == texts
    assert [question.transport for question in dns.asked] == ["udp", "tcp"]


def test_one_lost_answer_is_not_the_end(dns, impatient, settings):
    dns.txt(NAME, "one")
    settings.HUB_DNS_SERVERS = f"127.0.0.1:1,{settings.HUB_DNS_SERVERS}"

    assert Lookup().at(NAME).texts == ("one",)


def test_a_resolver_that_did_not_answer_is_asked_after_the_others(
    dns, impatient, settings, monkeypatch
):
    """Each question began with the first one: with that away, eight seconds were over before a record was seen."""
    asked, over_udp = [], name_servers.over_udp
    monkeypatch.setattr(txt_records, "_silent_until", {})
    monkeypatch.setattr(
        name_servers, "over_udp", lambda *sent: asked.append(sent[1]) or over_udp(*sent)
    )
    dns.txt(NAME, "one")
    [alive] = txt_records.configured_servers()
    settings.HUB_DNS_SERVERS = f"127.0.0.1:1,{settings.HUB_DNS_SERVERS}"

    for _ in range(2):
        assert Lookup().at(NAME).texts == ("one",)

    assert [each.port for each in asked] == [1, alive.port, alive.port]


def test_a_zone_that_does_not_answer_does_not_have_a_dead_resolver_asked_first_again(
    dns, impatient, settings, monkeypatch
):
    """No resolver answers for it, so each has been silent then, the dead one no less."""
    asked, over_udp = [], name_servers.over_udp
    monkeypatch.setattr(txt_records, "_silent_until", {})
    dns.txt(NAME, "one")
    dns.fail(f"silent.{NAME}", "silence")
    settings.HUB_DNS_SERVERS = f"127.0.0.1:1,{settings.HUB_DNS_SERVERS}"
    with pytest.raises(NotAnswered):
        Lookup().at(f"silent.{NAME}")
    monkeypatch.setattr(
        name_servers, "over_udp", lambda *sent: asked.append(sent[1].port) or over_udp(*sent)
    )

    for _ in range(3):
        assert Lookup().at(NAME).texts == ("one",)

    assert asked.count(1) == 1


def test_the_systems_resolvers_are_those_that_it_names_now(settings, monkeypatch, tmp_path):
    settings.HUB_DNS_SERVERS = ""
    file = tmp_path / "resolv.conf"
    read = partial(Resolver, filename=str(file))
    monkeypatch.setattr(txt_records.dns.resolver, "Resolver", read)
    found = []
    for address in ("192.0.2.1", "192.0.2.2"):
        file.write_text(f"nameserver {address}\n")
        found += txt_records._resolvers()

    assert [each.address for each in found] == ["192.0.2.1", "192.0.2.2"]


def test_a_resolver_is_known_by_its_address_in_any_spelling(monkeypatch, dns, impatient):
    """An IPv6 address in `/etc/resolv.conf` may have capitals, zeros, and the name of a network card."""
    [resolver] = txt_records.configured_servers()
    monkeypatch.setattr(txt_records, "_resolvers", lambda: [resolver._replace(address="127.1")])
    dns.txt(NAME, "one")
    dns.txt(f"more.{NAME}", "two")
    dns.fail(f"more.{NAME}", "truncated")

    assert Lookup().at(NAME).texts == ("one",)
    assert Lookup().at(f"more.{NAME}").texts == ("two",)


def test_an_alias_is_followed_and_told(dns):
    dns.alias(NAME, "proof.acme.net")
    dns.alias("proof.acme.net", "deep.acme.org")
    dns.txt("deep.acme.org", "one")

    assert Lookup().at(NAME) == TxtAnswer(("one",), "proof.acme.net")


def test_an_alias_that_a_dname_made_is_told_from_one_that_only_leads_through_a_dname(dns):
    dns.alias_below("docs.acme.com", "docs.acme.net")
    dns.txt("_hub-challenge.docs.acme.net", "one")
    dns.alias("own.acme.com", NAME)

    made = Lookup().at(NAME)
    led = Lookup().at("own.acme.com")

    assert made == TxtAnswer(("one",), "_hub-challenge.docs.acme.net", by_dname=True)
    assert led == TxtAnswer(("one",), NAME)


def test_an_alias_to_nowhere_has_no_records(dns):
    dns.alias(NAME, "gone.acme.net")

    assert Lookup().at(NAME) == TxtAnswer((), "gone.acme.net")


def test_aliases_in_a_circle_are_no_answer(dns):
    dns.alias(NAME, "proof.acme.net")
    dns.alias("proof.acme.net", NAME)

    with pytest.raises(AliasLoop):
        Lookup().at(NAME)


def test_of_an_answer_only_so_much_is_read(dns):
    dns.txt(NAME, *[f"{number:0200}" for number in range(10)])
    dns.txt(f"more.{NAME}", *[f"{number:0200}" for number in range(40)])

    assert len(Lookup().at(NAME).texts) == 10
    with pytest.raises(NotAnswered):
        Lookup().at(f"more.{NAME}")


def _with_a_wrong_id(question: bytes) -> bytes:
    return bytes(255 - byte for byte in question[:2]) + b"\x81" + question[3:]


def _about_something_else(question: bytes) -> bytes:
    return (
        question[:2]
        + dns.message.make_response(dns.message.make_query("other.example", "TXT")).to_wire()[2:]
    )


@pytest.fixture
def parsed(monkeypatch) -> list[bytes]:
    """Each message that was parsed."""
    parsed: list[bytes] = []
    read = name_servers._read

    def noted(wire: bytes, *args):
        parsed.append(wire)
        return read(wire, *args)

    monkeypatch.setattr(name_servers, "_read", noted)
    return parsed


def test_a_few_datagrams_of_a_spoofer_do_not_hide_the_answer(dns, parsed):
    dns.txt(NAME, "one")
    dns.before = [_with_a_wrong_id] * 20

    assert Lookup().at(NAME).texts == ("one",)
    assert len(parsed) == 1


def test_a_flood_of_datagrams_is_not_parsed_and_the_answer_is_read_over_tcp(dns, parsed):
    dns.txt(NAME, "one")
    dns.before = [_with_a_wrong_id] * 120

    assert Lookup().at(NAME).texts == ("one",)
    assert [question.transport for question in dns.asked] == ["udp", "tcp"]
    assert len(parsed) == 1


@pytest.mark.parametrize("wrong", [_about_something_else, lambda question: question[:7]])
def test_of_a_server_that_answers_again_and_again_one_message_is_parsed_for_each_query(
    dns, parsed, wrong
):
    dns.before = [wrong] * 30

    with pytest.raises(NotAnswered):
        Lookup().at(NAME)

    assert len(parsed) == txt_records.TRIES


def test_a_chain_of_aliases_in_one_answer_is_given_up():
    names = [dns.name.from_text(f"a{number}.acme.com") for number in range(18)]
    chain = [
        Record(one, RdataType.CNAME, SimpleNamespace(target=next_one))
        for one, next_one in pairwise(names)
    ]

    with pytest.raises(NotAnswered, match="too many aliases"):
        txt_records._read(Answer(dns.rcode.NOERROR, True, chain, [], []), names[0])


def test_a_chain_of_aliases_without_end_is_given_up(dns):
    for number in range(40):
        dns.alias(f"a{number}.acme.com", f"a{number + 1}.acme.com")

    with pytest.raises(NotAnswered):
        Lookup().at("a0.acme.com")

    assert len(dns.asked) == txt_records.MAX_QUERIES


def test_a_text_that_is_no_utf8_is_read_all_the_same(dns):
    dns.txt(NAME, [b"\xff\x00"])

    assert Lookup().at(NAME).texts == ("\ufffd\x00",)


def test_a_lookup_asks_twelve_questions_at_most(dns):
    lookup = Lookup()
    for number in range(12):
        lookup.at(f"a{number}.acme.com")

    with pytest.raises(NotAnswered):
        lookup.at("a12.acme.com")

    assert len(dns.asked) == 12


def test_a_lookup_ends_in_time_whatever_the_servers_do(dns, monkeypatch):
    monkeypatch.setattr(txt_records, "MAX_SECONDS", 0.2)
    monkeypatch.setattr(txt_records, "QUERY_TIMEOUT", 600)
    dns.fail(NAME, "silence")
    outcome: Future[object] = Future()

    def look_up() -> None:
        try:
            outcome.set_result(Lookup().at(NAME))
        except Exception as error:
            outcome.set_exception(error)

    threading.Thread(target=look_up, daemon=True).start()

    with pytest.raises(NotAnswered):
        outcome.result(timeout=120)


@pytest.mark.parametrize(
    ("setting", "servers"),
    [
        ("192.0.2.1", [Server("192.0.2.1", 53)]),
        ("192.0.2.1:5353, 192.0.2.2", [Server("192.0.2.1", 5353), Server("192.0.2.2", 53)]),
        ("2001:db8::1", [Server("2001:db8::1", 53)]),
        ("[2001:db8::1]:5353", [Server("2001:db8::1", 5353)]),
        ("[2001:db8::1]", [Server("2001:db8::1", 53)]),
        ("", []),
    ],
)
def test_the_operators_servers_are_read(settings, setting, servers):
    settings.HUB_DNS_SERVERS = setting

    assert txt_records.configured_servers() == servers


@pytest.mark.parametrize(
    "setting", ["dns.acme.com", "192.0.2.1:x", "192.0.2.1:0", "192.0.2.1:99999", "[::1"]
)
def test_what_is_no_address_is_refused(settings, setting):
    settings.HUB_DNS_SERVERS = setting

    with pytest.raises(ValueError):  # noqa: PT011
        txt_records.configured_servers()


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111"])
def test_a_public_name_server_may_be_asked(address):
    assert txt_records.is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.251",
        "240.0.0.1",
        "192.0.0.8",
        "192.88.99.1",
        "3fff::1",
        "::1",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::10.0.0.1",
        "2002:a00:1::",
        "2001:0:a00:1::",
        "fec0::1",
    ],
)
def test_a_name_server_inside_is_not_asked(address):
    assert not txt_records.is_public(address)


def test_the_zones_own_server_is_believed_before_the_resolver(dns, zone):
    zone.txt(NAME, "one")
    lookup = Lookup(direct=True)

    assert lookup.at(NAME).texts == ("one",)
    assert lookup.at("_hub-other.docs.acme.com").texts == ()
    assert {question.kind for question in dns.asked} == {"NS", "A"}
    assert [question.name for question in zone.asked] == [NAME, "_hub-other.docs.acme.com"]


def test_a_no_that_the_resolver_remembers_does_not_keep_a_maintainer_waiting(dns, zone):
    domain = Domain(name="docs.acme.com")
    zone.txt(NAME, domain.record_value)

    assert domain.record_value in look(domain, thorough=True).proven
    assert domain.record_value not in look(domain).proven


@pytest.mark.parametrize("fault", ["SERVFAIL", "REFUSED", "silence"])
def test_without_the_zones_own_server_the_resolver_answers(dns, zone, impatient, fault):
    dns.txt(NAME, "one")
    zone.fail(NAME, fault)

    assert Lookup(direct=True).at(NAME).texts == ("one",)


def test_a_zones_server_inside_is_not_asked(dns, zone, monkeypatch):
    monkeypatch.setattr(txt_records, "is_public", is_public)
    dns.txt(NAME, "one")
    zone.txt(NAME, "another")

    assert Lookup(direct=True).at(NAME).texts == ("one",)
    assert not zone.asked


def test_an_alias_of_the_zone_is_followed_by_the_resolver(dns, zone):
    zone.alias(NAME, "proof.acme.net")
    dns.alias(NAME, "proof.acme.net")
    dns.txt("proof.acme.net", "one")

    assert Lookup(direct=True).at(NAME) == TxtAnswer(("one",), "proof.acme.net")


@pytest.mark.parametrize("delegated", ["com", NAME], ids=["to itself", "in a circle"])
def test_a_referral_that_leads_nowhere_is_no_answer(dns, zone, delegated):
    dns.txt(NAME, "one")
    zone.delegate(delegated, "ns1.acme.com", "127.0.0.1")

    assert Lookup(direct=True).at(NAME) == TxtAnswer(("one",))
    assert len(zone.asked) <= 2


def test_after_a_server_that_refers_upward_the_next_one_is_asked(dns, zone):
    """Where a provider no longer has the zone, its server answers so, and is the first of two."""
    lame = DNSServer()
    lame.delegate("com", "ns.registry.net", "127.0.0.2")
    dns.remove("com")
    dns.name_server("com", "ns0.acme.com", "127.0.0.3")
    dns.name_server("com", "ns1.acme.com", "127.0.0.1")
    zone.txt(NAME, "one")

    with lame.serving("127.0.0.3", txt_records.PORT):
        assert Lookup(direct=True).at(NAME) == TxtAnswer(("one",), by_zone=True)

    assert lame.asked


def test_a_referral_gives_no_address_of_a_server_elsewhere(dns, zone):
    registry = DNSServer()
    registry.delegate("acme.com", "ns.provider.net", "127.0.0.3")  # where nobody answers
    dns.remove("com")
    dns.name_server("com", "ns.registry.net", "127.0.0.2")
    dns.address("ns.provider.net", "127.0.0.1")
    zone.txt(NAME, "one")

    with registry.serving("127.0.0.2", txt_records.PORT):
        assert Lookup(direct=True).at(NAME) == TxtAnswer(("one",), by_zone=True)


def test_a_name_under_an_alias_is_found_in_its_own_zone(dns, zone):
    dns.zones.append("acme.net")
    dns.alias(NAME, "proof.acme.net")
    zone.txt(NAME, "one")

    assert Lookup(direct=True).at(NAME).texts == ("one",)


def test_where_the_operator_names_servers_only_those_are_asked(dns, zone, settings):
    settings.HUB_DNS_SERVERS = "127.0.0.1:1"  # as configured; the resolvers are patched above
    dns.txt(NAME, "one")

    assert Lookup(direct=True).at(NAME).texts == ("one",)
    assert not zone.asked
