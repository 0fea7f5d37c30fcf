"""The accept and reject tables of `orgs.domains.hosts`."""

from importlib import resources

import publicsuffixlist
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgs.domains import hosts

PAGES_HOST = "pages.acme.dev"
CODE_HOST = "code.acme.dev"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("docs.acme.com", "docs.acme.com"),
        ("DOCS.Acme.COM.", "docs.acme.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("bu\u0308cher.example", "xn--bcher-kva.example"),
        ("XN--Bcher-KVA.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("docs。acme．com", "docs.acme.com"),
        ("ｄｏｃｓ.acme.com", "docs.acme.com"),
        ("soft\u00adhyphen.example", "softhyphen.example"),
        ("my_host.bücher.example", "my_host.xn--bcher-kva.example"),
        ("my--site.-odd-.example", "my--site.-odd-.example"),
        ("xn--i-7iq.example", "xn--i-7iq.example"),
        ("localhost", "localhost"),
        ("my_host", "my_host"),
        ("127.0.0.1", "127.0.0.1"),
        ("0X7F.1", "0x7f.1"),
        ("2130706433", "2130706433"),
        ("[::1]", "[::1]"),
        ("[2001:DB8::A]", "[2001:db8::a]"),
        ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
    ],
)
def test_a_host_has_one_spelling(host, expected):
    assert hosts.normalize(host) == expected


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "..",
        ".acme.com",
        "docs..acme.com",
        "acme.com..",
        "acme com",
        "acme.com/",
        "acme.com:80",
        "alice@acme.com",
        "acme%2ecom",
        "*.acme.com",
        "acme.com\n",
        "acme\x00.com",
        "℀.example",
        "／.example",
        "i❤.example",
        "\ud800.example",
        "a" * 64 + ".example",
        "ü" * 64 + ".example",
        ".".join(["a" * 63] * 4),
        "ü" * 2000,
        "[]",
        "[::1",
        "[::1]]",
        "[127.0.0.1]",
        "[fe80::1%eth0]",
        "[v1.x]",
    ],
)
def test_garbage_is_not_a_host(host):
    with pytest.raises(hosts.InvalidHost, match=r"docs\.example\.com"):
        hosts.normalize(host)


@given(st.text() | st.from_regex(r"[a-zßüA-Z0-9.\-\u0300-\u0310\u200d]{1,30}", fullmatch=True))
def test_a_normalized_host_stays_as_it_is(text):
    try:
        host = hosts.normalize(text)
    except hosts.InvalidHost:
        return

    assert hosts.normalize(host) == host
    assert host.isascii()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acme.com", "acme.com"),
        ("Docs.ACME.com.", "docs.acme.com"),
        ("acme.co.uk", "acme.co.uk"),
        ("my--site.acme.com", "my--site.acme.com"),
        ("bücher.de", "xn--bcher-kva.de"),
        ("XN--BCHER-KVA.DE", "xn--bcher-kva.de"),
        ("食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("acme.readthedocs.io", "acme.readthedocs.io"),
        ("city.kobe.jp", "city.kobe.jp"),
        ("render.com", "render.com"),
        ("docs.fedoraproject.org", "docs.fedoraproject.org"),
        ("acme.dev", "acme.dev"),
        ("local.acme.com", "local.acme.com"),
        ("notgithub.com", "notgithub.com"),
        ("1.acme.com", "1.acme.com"),
    ],
)
def test_a_name_of_ones_own_can_be_claimed(text, expected):
    name = hosts.claimable_domain(text, pages_host=PAGES_HOST, code_host=CODE_HOST)

    assert name == expected


def test_the_longest_name_leaves_room_for_the_name_of_the_dns_record():
    longest = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 42, "com"])

    name = hosts.claimable_domain(longest, pages_host=PAGES_HOST, code_host=CODE_HOST)

    assert len(f"_hub-challenge.{name}") == 253


@pytest.mark.parametrize(
    "text",
    [
        "",
        "acme",
        "localhost",
        "docs.localhost",
        "docs.acme.internal",
        "printer.local",
        "acme.test",
        "acme.onion",
        "onion",
        "internal",
        "acme.nosuchending",
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "2130706433",
        "１２７.0.0.1",
        "::1",
        "[::1]",
        "github.com",
        "docs.github.com",
        "acme.ghe.com",
        "raw.githubusercontent.com",
        CODE_HOST,
        "gist." + CODE_HOST,
        "https://docs.acme.com/",
        "docs.acme.com/install",
        "docs.acme.com:443",
        "alice@acme.com",
        "my_host.acme.com",
        "_hub-challenge.acme.com",
        "*.acme.com",
        "-docs.acme.com",
        "docs-.acme.com",
        "docs..acme.com",
        " acme.com",
        "i❤.ws",
        "xn--i-7iq.ws",
        "xn--a.com",
        "xn--.com",
        ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 43, "com"]),
    ],
)
def test_what_nobody_can_prove_is_an_invalid_domain(text):
    with pytest.raises(hosts.InvalidDomain, match=r"docs\.(example|acme)\.com"):
        hosts.claimable_domain(text, pages_host=PAGES_HOST, code_host=CODE_HOST)


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "１２７.0.0.1", "[::1]"]
)
def test_an_address_is_told_from_a_name(text):
    with pytest.raises(hosts.InvalidDomain, match="An IP address cannot be claimed"):
        hosts.claimable_domain(text, pages_host=PAGES_HOST, code_host=CODE_HOST)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("com", "com"),
        ("CO.UK.", "co.uk"),
        ("github.io", "github.io"),
        ("readthedocs.io", "readthedocs.io"),
        ("githubusercontent.com", "githubusercontent.com"),
        ("kobe.jp", "kobe.jp"),
        ("nagoya.kobe.jp", "nagoya.kobe.jp"),
        ("公司.cn", "xn--55qx5d.cn"),
        ("рф", "xn--p1ai"),
        (PAGES_HOST, PAGES_HOST),
    ],
)
def test_a_public_suffix_cannot_be_claimed(text, name):
    with pytest.raises(hosts.PublicSuffix, match=f"`{name}` is shared by many owners"):
        hosts.claimable_domain(text, pages_host=PAGES_HOST, code_host=CODE_HOST)


@pytest.mark.parametrize(
    "text", ["alice.pages.acme.dev", "ALICE.pages.acme.dev.", "x.alice.pages.acme.dev"]
)
def test_a_site_of_the_pages_host_is_claimed_as_a_site(text):
    with pytest.raises(hosts.UseSiteClaim, match=r"https://alice\.pages\.acme\.dev/repo/"):
        hosts.claimable_domain(text, pages_host=PAGES_HOST, code_host=CODE_HOST)


def test_the_pages_host_may_be_a_private_name():
    with pytest.raises(hosts.PublicSuffix):
        hosts.claimable_domain(
            "pages.localhost", pages_host="Pages.localhost", code_host="127.0.0.1"
        )
    with pytest.raises(hosts.UseSiteClaim):
        hosts.claimable_domain(
            "alice.pages.localhost", pages_host="Pages.localhost", code_host="127.0.0.1"
        )


def test_the_refusal_of_the_pages_host_shows_the_address_of_a_site():
    with pytest.raises(hosts.PublicSuffix) as refusal:
        hosts.claimable_domain("github.io", pages_host="github.io", code_host="github.com")

    assert str(refusal.value) == (
        "`github.io` is shared by many owners, so nobody can claim all of it. "
        "Claim your own address, for example https://you.github.io/repo/."
    )


@given(st.text() | st.from_regex(r"(xn--)?[a-zßü0-9.\-]{1,20}\.(com|co\.uk)", fullmatch=True))
def test_whatever_can_be_claimed_is_claimed_under_one_name(text):
    try:
        name = hosts.claimable_domain(text, pages_host="github.io", code_host="github.com")
    except hosts.NotClaimable:
        return

    again = hosts.claimable_domain(
        name.upper() + ".", pages_host="github.io", code_host="github.com"
    )

    assert again == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("acme.com", True),
        ("docs.acme.com", False),
        ("com", False),
        ("co.uk", False),
        ("acme.co.uk", True),
        ("alice.github.io", True),
        ("github.io", False),
        ("amazonaws.com", True),
        ("docs.fedoraproject.org", False),
        ("alice.pages.acme.dev", True),
        ("x.alice.pages.acme.dev", False),
        ("pages.acme.dev", False),
        ("acme.dev", True),
        ("localhost", False),
        ("acme.test", False),
        ("127.0.0.1", False),
    ],
)
def test_registrable_is_a_public_suffix_plus_one_label(name, expected):
    assert hosts.is_registrable(name, pages_host=PAGES_HOST) is expected


def test_the_pages_host_counts_as_a_suffix_even_right_below_a_top_level():
    assert not hosts.is_registrable("acme.com", pages_host="acme.com")
    assert hosts.is_registrable("alice.acme.com", pages_host="acme.com")


def test_every_rule_of_the_current_list_is_read_as_another_reader_reads_it():
    other = publicsuffixlist.PublicSuffixList(accept_unknown=False)
    path = resources.files("publicsuffixlist") / "public_suffix_list.dat"
    lines = path.read_text("utf-8").splitlines()
    rules = [line.split()[0].lstrip("!*.") for line in lines if line and not line.startswith("//")]
    names = {above for rule in rules for above in _with_parents(f"b.a.{hosts.normalize(rule)}")}

    different = [
        name
        for name in names
        if hosts.is_registrable(name, pages_host=PAGES_HOST) != (other.privatesuffix(name) == name)
    ]

    assert len(names) > 20_000
    assert different == []


def _with_parents(name):
    labels = name.split(".")
    return [".".join(labels[i:]) for i in range(len(labels))]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("alice.github.io", True),
        ("x.alice.github.io", True),
        ("github.io", False),
        ("notgithub.io", False),
        ("github.io.acme.com", False),
    ],
)
def test_a_user_site_lies_below_the_pages_host(host, expected):
    assert hosts.is_user_site(host, pages_host="GitHub.io") is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.docs.acme.com", ["docs.acme.com", "acme.com"]),
        ("acme.com", []),
        ("localhost", []),
        ("[::1]", []),
    ],
)
def test_parents_come_nearest_first(name, expected):
    assert hosts.parents(name) == expected


def test_the_parents_of_a_very_deep_name_are_bounded():
    above = hosts.parents("a." * 120 + "acme.com")

    assert above[-1] == "acme.com"
    assert len(above) == 15


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.acme.com:8443/guide/",
        "http://DOCS.acme.com",
        "docs.acme.com:8443",
        "docs.acme.com/guide/?v=2#install",
    ],
)
def test_an_address_is_refused_with_the_name_in_it(text):
    with pytest.raises(hosts.Garbled, match=r"docs\.acme\.com") as refused:
        hosts.claimable_domain(text, pages_host="github.io", code_host="github.com")

    assert str(refused.value.detail) == (
        "This is not a host name. Give `docs.acme.com`: a claim of it covers all its pages, on every port."
    )


@pytest.mark.parametrize(
    "text", ["ht!tp://x", "a b", "docs/", "https://", f"{'a.' * 200}com/x", "@/x", "-a-.com/"]
)
def test_of_what_holds_no_name_none_is_given(text):
    with pytest.raises(hosts.InvalidDomain) as refused:
        hosts.claimable_domain(text, pages_host="github.io", code_host="github.com")

    assert "Give a name such as" in str(refused.value.detail)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("https://github.com/acme/docs", "A repository is claimed as a site."),
        ("GitHub.com:443/acme", "belongs to the code host"),
        ("https://alice.github.io/docs/", "https://alice.github.io/repo/"),
        ("https://co.uk/docs", "is shared by many owners"),
        ("http://10.0.0.1/docs", "An IP address cannot be claimed."),
        ("http://wiki.internal:8080/", "is not a name in the public DNS"),
    ],
)
def test_of_an_address_no_name_is_given_that_would_be_refused_in_turn(text, why):
    with pytest.raises(hosts.InvalidDomain) as refused:
        hosts.claimable_domain(text, pages_host="github.io", code_host="github.com")

    assert refused.value.get_codes() == "invalid_domain"
    assert why in str(refused.value.detail)
    assert "Give `" not in str(refused.value.detail)
