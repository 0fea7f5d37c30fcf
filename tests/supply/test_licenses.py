"""The licenses of what is locked: listed, up to date, and none that forbids anybody to use the Hub."""

import pytest

from tests.supply import licenses
from tests.supply.licenses import ALLOWED, READ, Unknown, is_allowed, license_of
from tests.supply.locks import Package, packages

LOCKED = sorted({each for lock in ("dev", "mcp", "sentry") for each in packages(lock)})


def test_the_page_lists_what_is_locked():
    """Run script/licenses where this fails, and look at what has changed."""
    page = licenses.PAGE.read_text(encoding="utf-8")

    assert licenses.written(page) == page


def test_a_new_version_in_a_lock_is_missed_on_the_page(monkeypatch):
    page = licenses.PAGE.read_text(encoding="utf-8")
    newer = Package("deprecated", "99.0")
    monkeypatch.setattr(licenses, "packages", lambda lock: [*packages(lock), newer])

    assert "| deprecated 99.0 | MIT |" in licenses.written(page)


@pytest.mark.parametrize("package", LOCKED, ids=lambda each: each.name)
def test_a_license_lets_everybody_use_the_hub(package):
    assert is_allowed(license_of(package)), license_of(package)


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT AND MPL-2.0", True),
        ("GPL-3.0-only OR BSD-3-Clause", True),
        ("AGPL-3.0-only", False),
        ("MIT AND GPL-2.0-only", False),
        ("SSPL-1.0 OR BUSL-1.1", False),
        ("", False),
    ],
)
def test_one_offer_is_enough_and_all_of_it_counts(expression, allowed):
    assert is_allowed(expression) is allowed


def test_a_package_of_which_nobody_has_read_the_license_is_named():
    with pytest.raises(Unknown, match="nothing-of-ours is not installed here"):
        license_of(Package("nothing-of-ours", "1.0"))


def test_another_version_than_the_locked_one_tells_nothing():
    with pytest.raises(Unknown, match=r"is installed, not 0\.1"):
        license_of(Package("django", "0.1"))


def test_what_a_package_says_counts_more_than_what_was_read_of_an_earlier_version(monkeypatch):
    [django] = [each for each in LOCKED if each.name == "django"]
    monkeypatch.setitem(READ, "django", "MIT")

    assert license_of(django) == "BSD-3-Clause"


def test_what_was_read_by_hand_is_locked_and_what_is_allowed_is_used():
    assert set(READ) <= {each.name for each in LOCKED}
    assert all(any(each in license_of(package) for package in LOCKED) for each in ALLOWED)
