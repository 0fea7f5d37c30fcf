"""The address guard: one verdict in both clients, and no socket for what is refused."""

import json
import unicodedata

import pytest

from orgs.domains.hosts import InvalidHost, normalize
from tests.clients.conftest import CONTRACT, Sdk, World
from tests.clients.stand_ins import HUB

CASES = json.loads((CONTRACT / "address_cases.json").read_text())
NEW = {"status": 201, "headers": {}, "body": {"id": "r1"}}
OPTED_IN = {"status": 200, "body": {"protocol_version": "0", "opt_in": True}}
VERDICTS = {url: verdict for verdict, urls in CASES.items() for url in urls}


def _report(url: str) -> dict:
    report = {"kind": "other", "summary": "x"}
    return {"protocol_version": "0", "doc_url": url, "agent": {"name": "x"}, "report": report}


def test_every_spelling_is_judged_as_the_table_says(sdk: Sdk):
    outcomes = sdk.do(*({"do": "judge", "url": url} for url in VERDICTS))

    judged = [
        outcome["fields"]["reason"] if "raises" in outcome else outcome["result"]
        for outcome in outcomes
    ]
    assert dict(zip(VERDICTS, judged, strict=True)) == VERDICTS
    assert len(VERDICTS) >= 200


def test_an_international_host_is_the_one_that_browsers_mean(sdk: Sdk):
    table = {
        "https://fa\xdf.de/x": "https://xn--fa-hia.de/x",
        "https://FA\u1e9e.de": "https://xn--fa-hia.de",
        "https://B\xdcCHER.example.": "https://xn--bcher-kva.example",
        "https://\u03b1\u03c2.example": "https://xn--mxa8a.example",
        "https://\u0391\u03a3.example": "https://xn--mxa0b.example",
        "https://\u4f8b\u3048.\u30c6\u30b9\u30c8:8443/": "https://xn--r8jz45g.xn--zckzah:8443/",
        "https://docs\u3002acme\uff0ecom/": "https://docs.acme.com/",
        "https://[2606:4700::1111]/": "https://[2606:4700::1111]/",
        f"https://{chr(0xFC) * 60}.example/": None,
        "https://docs.acme.com/\xfc": None,
    }

    outcomes = sdk.do(*({"do": "ascii", "url": url} for url in table))

    assert [outcome["result"] for outcome in outcomes] == list(table.values())


def test_a_host_is_refused_or_the_one_to_which_the_hub_gives_the_page(sdk: Sdk):
    """Else the site of another host would say where reports about a page are sent: \u03f2 is \u03c3, and no \u03c2."""
    letters = [chr(each) for each in range(0x80, 0x1F000) if not 0xD800 <= each < 0xE000]
    hosts = {
        host: there for host in (f"a{each}b.com" for each in letters) if (there := of_hub(host))
    }

    outcomes = sdk.do({"do": "ascii_hosts", "hosts": list(hosts)})[0]["result"]

    taken = [(host, here) for host, here in zip(hosts, outcomes, strict=True) if here]
    assert [(host, here) for host, here in taken if here != hosts[host]] == []
    assert len(taken) > 60_000


def of_hub(host: str) -> str:
    """As the Hub writes it; empty if that takes no such page."""
    try:
        return normalize(host)
    except InvalidHost:
        return ""


def test_a_text_that_is_too_long_for_a_host_is_not_normalized(sdk: Sdk):
    longest = unicodedata.normalize("NFD", ".".join([*["\u1e69" * 62] * 3, "example."]))
    heaped = f"a{chr(0x301) * 15_900}{chr(0x316) * 15_900}"

    accepted, *lengths = sdk.do(
        {"do": "judge", "url": f"https://{longest}/x"},
        {"do": "longest_normalized", "host": longest},
        {"do": "longest_normalized", "host": heaped},
    )

    assert accepted == {"result": "public"}
    assert lengths == [{"result": len(longest)}, {"result": 0}]
    assert len(longest) > 550


def test_a_letter_and_its_mark_are_one_where_the_capital_and_the_mark_are_two(sdk: Sdk):
    table = {
        "j\u030con.example": "xn--on-t5a.example",
        "J\u030con.example": "xn--on-t5a.example",
    }

    outcomes = sdk.do(*({"do": "ascii_host", "host": host} for host in table))

    assert [outcome["result"] for outcome in outcomes] == list(table.values())


def test_in_brackets_a_host_is_an_ipv6_address_or_none(sdk: Sdk):
    table = {
        "[2606:4700::1111]": "[2606:4700::1111]",
        "[FE80::A]": "[fe80::a]",
        "[\u4f8b": None,
        "[\u4f8b:]": None,
        "[a]": None,
        "[::1": None,
        f"[{':' * 300}]": None,
    }

    outcomes = sdk.do(*({"do": "ascii_host", "host": host} for host in table))

    assert [outcome["result"] for outcome in outcomes] == list(table.values())


def test_no_socket_is_opened_for_a_refused_page(sdk: Sdk):
    refused = [
        url for url, verdict in VERDICTS.items() if verdict not in ("public", "path") and url
    ]

    *outcomes, sockets = sdk.do(
        *({"do": "send", "report": _report(url)} for url in refused), {"do": "sockets"}
    )

    kinds = {outcome["raises"] for outcome in outcomes}
    assert kinds == {"PrivateAddress", "ValidationError"}
    assert sockets == {"result": 0}


def test_no_socket_is_opened_for_a_draft(sdk: Sdk):
    report = _report("https://docs.acme.com/install")

    drafted, sockets = sdk.do({"do": "draft", "report": report}, {"do": "sockets"})

    assert drafted == {"result": report}
    assert sockets == {"result": 0}


def test_the_count_of_sockets_would_see_one(sdk: Sdk):
    del sdk.environment["https_proxy"]

    *_, sockets = sdk.do(
        {"do": "send", "report": _report("docs/install.md"), "client": {"timeout": 1}},
        {"do": "sockets"},
    )

    assert sockets["result"] > 0


def test_a_host_that_leads_to_a_private_address_is_refused(sdk: Sdk):
    del sdk.environment["https_proxy"]
    found = [["127.0.0.1"], ["10.0.0.7"], ["169.254.169.254"], ["1.1.1.1", "192.168.0.1"]]
    report = _report("https://docs.acme.com/install")

    outcomes = sdk.do(
        *(
            call
            for ips in found
            for call in ({"do": "resolve_as", "ips": ips}, {"do": "send", "report": report})
        )
    )

    sentence = "docs.acme.com resolves to a private address. Only public pages can be reported."
    for outcome in outcomes[1::2]:
        assert (outcome["raises"], outcome["message"]) == ("PrivateAddress", sentence)


def test_nobody_is_asked_what_is_known_of_a_page_on_a_private_address(sdk: Sdk, world: World):
    del sdk.environment["https_proxy"]
    calls = [
        {"do": "resolve_as", "ips": ["10.0.0.5"]},
        {"do": "known", "url": "https://docs.acme.com/install"},
    ]

    _, outcome = sdk.do(*calls)

    assert (outcome["raises"], outcome["code"]) == ("PrivateAddress", "private_address")
    assert outcome["message"].startswith("docs.acme.com resolves to a private address.")
    assert HUB not in world.stage.asked


@pytest.mark.parametrize("ips", [["10.1.2.3"], ["1.1.1.1", "192.168.0.1"]])
def test_a_proxy_does_not_hide_that_a_host_leads_to_a_private_address(
    sdk: Sdk, world: World, ips: list[str]
):
    world.stage.answers = {HUB: [NEW], "docs.acme.com": [OPTED_IN]}

    _, outcome = sdk.do(
        {"do": "resolve_as", "ips": ips},
        {"do": "send", "report": _report("https://docs.acme.com/install")},
    )

    sentence = "docs.acme.com resolves to a private address. Only public pages can be reported."
    assert (outcome["raises"], outcome["message"]) == ("PrivateAddress", sentence)
    assert world.stage.asked == {}


@pytest.mark.parametrize("is_proxied", [False, True])
def test_a_host_that_does_not_resolve_in_time_is_refused(sdk: Sdk, world: World, is_proxied: bool):
    world.stage.answers = {HUB: [NEW], "docs.acme.com": [OPTED_IN]}
    if not is_proxied:
        del sdk.environment["https_proxy"]
    report = _report("https://docs.acme.com/install")

    _, outcome = sdk.do(
        {"do": "resolve_slowly", "seconds": 2},
        {"do": "send", "report": report, "client": {"timeout": 0.5}},
    )

    assert (outcome["raises"], outcome["code"]) == ("PrivateAddress", "private_address")
    assert outcome["message"].startswith("The name docs.acme.com did not resolve in time, ")
    assert world.stage.asked == {}


def test_where_only_the_proxy_resolves_names_it_is_asked(sdk: Sdk, world: World):
    world.stage.answers = {HUB: [NEW], "docs.acme.com": [OPTED_IN]}

    _, outcome = sdk.do(
        {"do": "resolve_nothing"},
        {"do": "send", "report": _report("https://docs.acme.com/install")},
    )

    assert outcome["result"]["id"] == "r1"
    assert set(world.stage.asked) == {HUB, "docs.acme.com"}


def test_the_proxy_is_used_as_the_environment_says(sdk: Sdk):
    table = [
        ("", "https://docs.acme.com/", True),
        ("", "http://docs.acme.com/", False),
        ("", "https://localhost:8443/v1/reports", False),
        ("", "https://127.0.0.1/", False),
        ("", "https://[::1]:8443/", False),
        ("", "https://localhost.acme.com/", True),
        ("*", "https://docs.acme.com/", False),
        ("acme.com", "https://docs.acme.com/", False),
        (".acme.com", "https://docs.acme.com/", False),
        ("Docs.Acme.com", "https://docs.acme.com/", False),
        ("example.com, docs.acme.com", "https://docs.acme.com/", False),
        ("docs.acme.com:8443", "https://docs.acme.com:8443/", False),
        ("docs.acme.com:8443", "https://docs.acme.com/", True),
        ("cme.com", "https://docs.acme.com/", True),
        ("docs.acme.com.example", "https://docs.acme.com/", True),
    ]

    outcomes = sdk.do(
        *({"do": "proxied", "no_proxy": no_proxy, "url": url} for no_proxy, url, _ in table)
    )

    assert [outcome["result"] for outcome in outcomes] == [proxied for *_, proxied in table]


def test_a_proxy_may_be_an_ipv6_address(sdk: Sdk):
    sdk.environment["http_proxy"] = "http://[::1]:1"
    client = {"hub_url": "http://hub.acme.com"}

    (outcome,) = sdk.do({"do": "send", "report": _report("docs/install.md"), "client": client})

    assert outcome["raises"] == "Unreachable"
    assert "there is no such host" not in outcome["message"]


def test_an_https_proxy_without_a_password_is_asked(sdk: Sdk, world: World):
    world.stage.answers = {HUB: [NEW], "hub.acme.com": [NEW]}
    sdk.environment["https_proxy"] = world.hub.replace("http://", "https://")
    client = {"hub_url": "https://hub.acme.com"}

    (outcome,) = sdk.do({"do": "send", "report": _report("docs/install.md"), "client": client})

    assert outcome["result"]["id"] == "r1"
