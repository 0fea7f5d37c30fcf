"""Who is calling."""

import pytest

from core import client_address as addresses
from core import rates
from core.client_address import client_address


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "address"),
    [
        (0, "192.0.2.1", None, "192.0.2.1"),
        (0, "192.0.2.1", "198.51.100.9", "192.0.2.1"),
        (1, "10.0.0.1", "198.51.100.9", "198.51.100.9"),
        (1, "10.0.0.1", "6.6.6.6, 198.51.100.9", "198.51.100.9"),
        (2, "10.0.0.1", "6.6.6.6, 198.51.100.9, 10.0.0.2", "198.51.100.9"),
        (2, "10.0.0.1", "198.51.100.9", "198.51.100.9"),
        (1, "10.0.0.1", None, "10.0.0.1"),
        (1, "10.0.0.1", "198.51.100.4:1234", "198.51.100.4"),
        (1, "10.0.0.1", " 198.51.100.4 ", "198.51.100.4"),
        (1, "10.0.0.1", '"198.51.100.4"', "198.51.100.4"),
        (1, "10.0.0.1", "2001:db8:1:2::5", "2001:db8:1:2::/64"),
        (1, "10.0.0.1", "[2001:db8:1:2::5]", "2001:db8:1:2::/64"),
        (1, "10.0.0.1", "[2001:db8:1:2::5]:443", "2001:db8:1:2::/64"),
        (1, "10.0.0.1", '"[2001:db8:1:2::5]:443"', "2001:db8:1:2::/64"),
        (1, "10.0.0.1", "fe80::1%eth0", "fe80::/64"),
        (1, "10.0.0.1", "[::ffff:198.51.100.4]:1234", "198.51.100.4"),
        (1, "10.0.0.1", "6.6.6.6,,198.51.100.4", "198.51.100.4"),
        (1, "10.0.0.1", "nonsense", "10.0.0.1"),
        (1, "10.0.0.1", "unknown", "10.0.0.1"),
        (1, "10.0.0.1", "198.51.100.4,", "10.0.0.1"),
        (1, "10.0.0.1", "", "10.0.0.1"),
        (1, "10.0.0.1", "999.1.1.1:80", "10.0.0.1"),
        (1, "10.0.0.1", "[", "10.0.0.1"),
        (1, "10.0.0.1", "," * 10_000, "10.0.0.1"),
        (1, "::1", "nonsense", "::/64"),
        (1, "", "nonsense", "unknown"),
        (-1, "192.0.2.1", "198.51.100.9", "192.0.2.1"),
        (0, "2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::/64"),
        (0, "2001:db8:1:2:ffff::1", None, "2001:db8:1:2::/64"),
        (0, "::ffff:192.0.2.1", None, "192.0.2.1"),
        (0, "64:ff9b::192.0.2.1", None, "192.0.2.1"),
        (0, "64:ff9b:1::192.0.2.1", None, "64:ff9b:1::/64"),
        (1, "10.0.0.1", "[64:ff9b::c000:201]:1234", "192.0.2.1"),
        (0, "", None, "unknown"),
    ],
)
def test_the_callers_address(rf, settings, proxies, remote, forwarded, address):
    settings.HUB_TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}

    request = rf.get("/", REMOTE_ADDR=remote, headers=headers)

    assert client_address(request) == address


def test_who_moves_from_network_to_network_of_a_48_sends_ten_times_as_much_and_no_more(rf):
    def ask(network: str) -> None:
        request = rf.get("/", REMOTE_ADDR=f"2001:db8:{network}::1")
        rates.check_all(*addresses.limits(request, "2/minute", "x"))

    for number in range(10):
        for _ in range(2):
            ask(f"1:{number}")

    with pytest.raises(rates.RateLimited):
        ask("1:ffff")
    ask("2:0")


def test_one_network_that_sends_too_much_takes_nothing_from_those_beside_it(rf):
    def ask(network: str) -> None:
        request = rf.get("/", REMOTE_ADDR=f"2001:db8:1:{network}::1")
        rates.check_all(*addresses.limits(request, "2/minute", "x"))

    for _ in range(2):
        ask("1")
    for _ in range(50):
        with pytest.raises(rates.RateLimited):
            ask("1")

    ask("2")


def test_a_proxy_that_is_not_believed_is_said_once(rf, settings, caplog):
    addresses._warn_once.cache_clear()
    settings.HUB_TRUSTED_PROXIES = 0

    for _ in range(3):
        client_address(rf.get("/", headers={"X-Forwarded-For": "198.51.100.9"}))

    [warning] = caplog.records
    assert "set HUB_TRUSTED_PROXIES to the number of proxies" in warning.message
