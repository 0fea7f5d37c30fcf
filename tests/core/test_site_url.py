"""The one spelling of a site's address in the settings."""

import pytest

from core import site_url


@pytest.mark.parametrize(
    ("written", "normalized"),
    [
        ("https://hub.example.com", "https://hub.example.com"),
        ("HTTPS://Hub.Example.com/", "https://hub.example.com"),
        (" https://hub.example.com\r\n", "https://hub.example.com"),
        ("https://hub.example.com:443", "https://hub.example.com"),
        ("http://hub.example.com:443", "http://hub.example.com:443"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("https://hub.example.com.", "https://hub.example.com"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://[2001:DB8:0::1]:8443", "https://[2001:db8::1]:8443"),
        ("https://my_hub", "https://my_hub"),
    ],
)
def test_an_address_has_one_spelling(written, normalized):
    assert site_url.normalized(written) == normalized
    assert site_url.normalized(normalized) == normalized


@pytest.mark.parametrize(
    "written",
    [
        "",
        "hub.example.com",
        "ftp://hub.example.com",
        "https://",
        "https://*",
        "https://.example.com",
        "https://a..b",
        "https://hub.example.com/hub",
        "https://hub.example.com?x",
        "https://hub.example.com#x",
        "https://user@hub.example.com",
        "https://hub.example.com:0",
        "https://hub.example.com:99999",
        "https://hub.example.com;x",
        "https://hub example.com",
        "https://one.example,https://two.example",
        "https://fe80::1",
        "https://[fe80::1%eth0]",
        "https://[v1.x]",
    ],
)
def test_what_is_more_or_less_is_refused(written):
    with pytest.raises(ValueError, match=r"\w"):
        site_url.normalized(written)
