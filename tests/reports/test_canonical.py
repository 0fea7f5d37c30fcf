"""The accept and reject tables of `reports.canonical`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import canonical

RFC3986 = re.compile(r"https?://[a-z0-9._:\[\]-]+/(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})*")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://docs.acme.com/install", "https://docs.acme.com/install"),
        ("HTTP://EXAMPLE.COM:80/", "http://example.com/"),
        ("https://docs.acme.com:443/", "https://docs.acme.com/"),
        ("https://docs.acme.com:80/", "https://docs.acme.com:80/"),
        ("https://docs.acme.com:08443/", "https://docs.acme.com:8443/"),
        ("https://docs.acme.com:/", "https://docs.acme.com/"),
        ("https://docs.acme.com./", "https://docs.acme.com/"),
        ("https://Bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://b%C3%BCcher.example/", "https://xn--bcher-kva.example/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://docs%2eacme.com/", "https://docs.acme.com/"),
        ("http://localhost:3000/x", "http://localhost:3000/x"),
        ("http://my_host/x", "http://my_host/x"),
        ("http://127.0.0.1/x", "http://127.0.0.1/x"),
        ("http://0X7F.1/x", "http://0x7f.1/x"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
    ],
)
def test_a_host_has_one_spelling(text, expected):
    assert canonical.url(text) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "/"),
        ("/", "/"),
        ("//", "/"),
        ("/a/", "/a"),
        ("/a//", "/a"),
        ("//a", "//a"),
        ("/a//b", "/a//b"),
        ("/a/./b/../c", "/a/c"),
        ("/a/%2e%2E/b", "/b"),
        ("/a/.%2e/b", "/b"),
        ("/../../a", "/a"),
        ("/a/b/..", "/a"),
        ("/a/.", "/a"),
        ("/...", "/..."),
        ("/%7Ealice/%61-%5f%2D", "/~alice/a-_-"),
        ("/a%2fb%3f", "/a%2Fb%3F"),
        ("/grün", "/gr%C3%BCn"),
        ("/gr%c3%bcn", "/gr%C3%BCn"),
        ("/文/", "/%E6%96%87"),
        ("/100%", "/100%25"),
        ("/%zz", "/%25zz"),
        ("/%%34%31", "/%2541"),
        ("/%2541", "/%2541"),
        ("/a;v=1/b,c/(d)/e:f@g", "/a;v=1/b,c/(d)/e:f@g"),
        ("/<a>|`[b]`^{c}\"'", "/%3Ca%3E%7C%60%5Bb%5D%60%5E%7Bc%7D%22'"),
        ("/a#b", "/a"),
        ("#b", "/"),
        ("/a#b?c=d", "/a"),
    ],
)
def test_a_path_has_one_spelling(path, expected):
    assert canonical.url(f"https://docs.acme.com{path}") == f"https://docs.acme.com{expected}"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?", ""),
        ("?a=1", "?a=1"),
        ("?b=2&a=1&b=3", "?b=2&a=1&b=3"),
        ("?utm_source=x&a=1", "?a=1"),
        ("?a=1&utm_source=x&b=2", "?a=1&b=2"),
        ("?a=1&mc_cid=x&mc_eid=y", "?a=1"),
        ("?gclid=1&fbclid=2&ref=3&ref_src=4&ref_url=5", ""),
        ("?ref", ""),
        ("?utm%5Fsource=x", ""),
        ("?UTM_SOURCE=x", "?UTM_SOURCE=x"),
        ("?Ref=x", "?Ref=x"),
        ("?reference=x&href=y&ref2=z", "?reference=x&href=y&ref2=z"),
        ("?a=utm_source", "?a=utm_source"),
        ("?a=1;utm_source=x", "?a=1;utm_source=x"),
        ("?a=1&&b=", "?a=1&&b="),
        ("?q=a+b%20c", "?q=a+b%20c"),
        ("?q=%26%3d", "?q=%26%3D"),
        ("?q=ü", "?q=%C3%BC"),
        ("?f[a]=1", "?f%5Ba%5D=1"),
        ("?u=https://acme.com/?x", "?u=https://acme.com/?x"),
        ("?a=../b/", "?a=../b/"),
        ("?a=50%", "?a=50%25"),
        ("?a#b", "?a"),
    ],
)
def test_a_query_keeps_all_but_what_tracks_the_reader(query, expected):
    assert canonical.url(f"https://docs.acme.com/a/{query}") == f"https://docs.acme.com/a{expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docs/install.md", "docs/install.md"),
        ("/docs/install.md", "/docs/install.md"),
        ("./docs/../install.md", "./docs/../install.md"),
        ("docs/install.md#linux", "docs/install.md"),
        ("docs/a:b.md", "docs/a:b.md"),
        ("README", "README"),
        ("docs/grün/%7e/", "docs/grün/%7e/"),
        ("a//b", "a//b"),
    ],
)
def test_a_path_in_a_repository_only_loses_its_fragment(text, expected):
    assert canonical.url(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "URL or path of a page"),
        ("#install", "Must be a path"),
        ("https://alice@docs.acme.com/", "a user name or password"),
        ("https://alice:x@docs.acme.com/", "a user name or password"),
        ("https://@docs.acme.com/", "a user name or password"),
        ("https://docs.acme.com\\@evil.example/", "backslashes"),
        ("C:\\docs\\install.md", "backslashes"),
        ("docs\\install.md", "backslashes"),
        ("https://docs.acme.com/a b", "spaces"),
        (" https://docs.acme.com/", "spaces"),
        ("https://docs.acme.com/\n", "spaces"),
        ("https://docs.acme.com/\u2028", "spaces"),
        ("https://docs.acme.com/\x00", "control characters"),
        ("https://docs.acme.com/\x7f", "control characters"),
        ("https://docs.acme.com/#\x85", "control characters"),
        ("docs/\ud800.md", "control characters"),
        ("ftp://docs.acme.com/", "https://"),
        ("file:///etc/passwd", "https://"),
        ("javascript:alert(1)", "https://"),
        ("mailto:alice", "https://"),
        ("foo:bar", "https://"),
        ("docs.acme.com:8443/install", "https://"),
        ("https:docs.acme.com", "https://"),
        ("https:/docs.acme.com", "https://"),
        ("//docs.acme.com/", "Must have a scheme"),
        ("https://", "valid host"),
        ("https:///install", "valid host"),
        ("https://:443/", "valid host"),
        ("https://?a=1", "valid host"),
        ("https://docs.acme.com:x/", "host and port"),
        ("https://docs.acme.com:-1/", "host and port"),
        ("https://docs.acme.com:٤٤٣/", "host and port"),
        ("https://docs.acme.com:65536/", "host and port"),
        (f"https://docs.acme.com:{'1' * 5000}/", "host and port"),  # more digits than `int` takes
        ("https://docs.acme.com:" + "9" * 2000, "host and port"),
        ("https://./", "valid host"),
        ("https://docs..acme.com/", "valid host"),
        ("https://*.acme.com/", "valid host"),
        ("https://docs%2Facme.com/", "valid host"),
        ("https://docs%40acme.com/", "valid host"),
        ("https://docs%ff.acme.com/", "valid host"),
        ("https://[::1/", "valid host"),
        ("https://[::1]x/", "valid host"),
        ("https://[acme.com]/", "valid host"),
        ("https://docs.acme.com]/", "valid host"),
        ("https://::1/", "valid host"),
    ],
)
def test_what_is_no_address_of_a_page_is_refused(text, hint):
    with pytest.raises(canonical.InvalidURL, match=re.escape(hint)):
        canonical.url(text)


URL_LIKE = st.lists(
    st.sampled_from(
        ["/", "//", ".", "..", "%", "%2", "%2e", "%2F", "%25", "41", "?", "#", "&", "="]
    )
    | st.sampled_from(
        ["utm_x", "ref", ":", ":80", "@", "[", "]", "::1", "a", "ü", "ﬀ", "。", "xn--"]
    )
    | st.characters()
).map("".join)


@given(
    st.text() | URL_LIKE | URL_LIKE.map("https://".__add__) | URL_LIKE.map("http://a.b/".__add__)
)
def test_a_canonical_address_stays_as_it_is(text):
    try:
        address = canonical.url(text)
    except canonical.InvalidURL:
        return

    assert canonical.url(address) == address
    assert "#" not in address
    assert RFC3986.fullmatch(address) or not canonical.SCHEME.match(text)
