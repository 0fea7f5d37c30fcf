"""Who is calling."""

import pytest

from reports.address import client_address


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "address"),
    [
        (0, "192.0.2.1", None, "192.0.2.1"),
        (0, "192.0.2.1", "198.51.100.9", "192.0.2.1"),
        (1, "10.0.0.1", "198.51.100.9", "198.51.100.9"),
        (1, "10.0.0.1", "6.6.6.6, 198.51.100.9", "198.51.100.9"),
        (2, "10.0.0.1", "6.6.6.6, 198.51.100.9, 10.0.0.2", "198.51.100.9"),
        (2, "10.0.0.1", "198.51.100.9", "198.51.100.9"),
        (1, "10.0.0.1", None, "unknown"),
        (1, "10.0.0.1", "nonsense", "unknown"),
        (0, "2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::/64"),
        (0, "2001:db8:1:2:ffff::1", None, "2001:db8:1:2::/64"),
        (0, "::ffff:192.0.2.1", None, "192.0.2.1"),
        (0, "", None, "unknown"),
    ],
)
def test_the_callers_address(rf, settings, proxies, remote, forwarded, address):
    settings.HUB_TRUSTED_PROXIES = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}

    request = rf.get("/", REMOTE_ADDR=remote, headers=headers)

    assert client_address(request) == address
