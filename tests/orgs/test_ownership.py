"""Whose page it is."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from orgs import ownership
from orgs.ownership import owner_of
from tests import build

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("claimed", "url", "owned"),
    [
        ("acme.com", "https://acme.com/", True),
        ("acme.com", "https://acme.com:8443/x", True),
        ("acme.com", "http://acme.com/x", True),
        ("acme.com", "https://docs.acme.com/x", True),
        ("acme.com", "https://a.b.docs.acme.com/x", True),
        ("acme.com", "https://notacme.com/", False),
        ("acme.com", "https://acme.com.evil.example/", False),
        ("acme.com", "https://acme.org/", False),
        ("docs.acme.com", "https://docs.acme.com/x", True),
        ("docs.acme.com", "https://v1.docs.acme.com/x", False),
        ("docs.acme.com", "https://acme.com/x", False),
        ("acme.co.uk", "https://docs.acme.co.uk/", True),
        ("amazonaws.com", "https://docs.amazonaws.com/", True),
        ("amazonaws.com", "https://acme.s3.amazonaws.com/", False),  # everybody's
        ("acme.s3.amazonaws.com", "https://docs.acme.s3.amazonaws.com/", True),
        ("acme.com", "docs/acme.com", False),
        ("acme.com", "http://127.0.0.1/", False),
        ("acme.com", "http://[::1]/", False),
    ],
)
def test_a_domain_covers_itself_and_where_registrable_what_is_below(claimed, url, owned):
    owner = build.organization()
    build.domain(owner, claimed)

    assert owner_of(url) == (owner.pk if owned else None)


def test_a_pending_domain_covers_nothing():
    build.domain(build.organization(), "acme.com", verified=False)

    assert owner_of("https://acme.com/") is None


def test_the_nearest_domain_wins():
    above, between = build.organization("above"), build.organization("between")
    build.domain(above, "acme.com")
    build.domain(between, "docs.acme.com")

    assert owner_of("https://docs.acme.com/x") == between.pk
    assert owner_of("https://other.acme.com/x") == above.pk


@pytest.mark.parametrize(
    ("path", "url", "owned"),
    [
        ("/repo/", "https://alice.github.io/repo", True),
        ("/repo/", "https://alice.github.io/repo/guide", True),
        ("/repo/", "https://alice.github.io//repo/guide", True),
        ("/repo/", "https://alice.github.io/repository", False),
        ("/repo/", "https://alice.github.io/x/../repo/guide", True),
        ("/repo/", "https://alice.github.io/repo/%2e%2e/other", False),
        ("/repo/", "https://alice.github.io/", False),
        ("/repo/", "https://bob.github.io/repo/", False),
        ("/repo/", "https://github.io/repo/", False),
        ("/", "https://alice.github.io/", True),
        ("/", "https://alice.github.io/anything/below", True),
        ("/", "https://docs.alice.github.io/", False),
    ],
)
def test_a_site_covers_what_is_below_its_path(path, url, owned):
    owner = build.organization()
    build.site(owner, "alice.github.io", path)

    assert owner_of(url) == (owner.pk if owned else None)


def test_the_longest_path_wins_across_organizations():
    all_of_it, one_repository = build.organization("all"), build.organization("one")
    build.site(all_of_it, "alice.github.io", "/")
    build.site(one_repository, "alice.github.io", "/repo/")

    assert owner_of("https://alice.github.io/repo/x") == one_repository.pk
    assert owner_of("https://alice.github.io/other/x") == all_of_it.pk


def test_a_lapsed_site_covers_nothing():
    site = build.site(build.organization(), "alice.github.io")
    site.lapsed_at = site.verified_at
    site.save()

    assert owner_of("https://alice.github.io/") is None


@pytest.mark.parametrize(
    "url", ["https://a.b.c.d.e.f.acme.com/x/y", "https://alice.github.io/" + "x/" * 500]
)
def test_one_query_whatever_the_number_of_claims(url, django_assert_num_queries):
    for number in range(30):
        owner = build.organization(f"org {number}")
        build.domain(owner, f"sub{number}.acme.com")
        build.site(owner, "alice.github.io", f"/repo{number}/")

    with django_assert_num_queries(1):
        owner_of(url)


@pytest.mark.parametrize(
    ("url", "owned"),
    [
        ("https://git.acme.com/acme/docs/issues/1", False),
        ("https://git.acme.com:8443/", False),
        ("https://raw.git.acme.com/x", False),
        ("https://mygit.acme.com/", True),
        ("https://docs.acme.com/", True),
        ("https://alice.pages.git.acme.com/", True),
    ],
)
def test_the_pages_of_the_code_host_are_nobodys(settings, url, owned):
    settings.HUB_GITHUB_URL = "https://git.acme.com"
    settings.HUB_PAGES_HOST = "pages.git.acme.com"
    owner = build.organization()
    build.domain(owner, "acme.com")
    build.site(owner, "alice.pages.git.acme.com")

    assert owner_of(url) == (owner.pk if owned else None)


@pytest.mark.parametrize("spelling", ["https://gït.acme.com", "https://xn--gt-tja.acme.com."])
def test_the_code_host_is_known_however_the_setting_spells_its_name(settings, spelling):
    settings.HUB_GITHUB_URL = spelling
    build.domain(build.organization(), "acme.com")

    assert owner_of("https://xn--gt-tja.acme.com/acme/docs/issues/1") is None


PAGES = [
    "https://acme.com/",
    "https://docs.acme.com/x",
    "https://a.b.docs.acme.com/x",
    "https://other.acme.com/x",
    "https://a.only.acme.org/",
    "https://only.acme.org/",
    "https://acme.org/",
    "https://pending.dev/",
    "https://alice.github.io/",
    "https://alice.github.io/repo/x",
    "https://alice.github.io/other/x",
    "https://bob.github.io/repo/x",
    "https://bob.github.io/other/x",
    "https://carol.github.io/",
    "http://127.0.0.1/",
    "https://github.com/",
    "docs/acme.com",
]


@pytest.fixture
def claimed():
    """Claims of five organizations, so that each of `PAGES` has an owner of its own kind."""
    above, between, exact, rest, repository = map(build.organization, "abcde")
    build.domain(above, "acme.com")
    build.domain(between, "docs.acme.com")
    build.domain(exact, "only.acme.org")
    build.domain(exact, "pending.dev", verified=False)
    build.site(rest, "alice.github.io", "/")
    build.site(repository, "alice.github.io", "/repo/")
    build.site(repository, "bob.github.io", "/repo/")
    lapsed = build.site(rest, "carol.github.io", "/")
    lapsed.lapsed_at = lapsed.verified_at
    lapsed.save()


def test_the_owners_of_many_places_are_those_of_each(claimed, monkeypatch):
    monkeypatch.setattr(ownership, "NAMES", 3)  # in a query, of the some twenty that there are
    places = {page: place for page in PAGES if (place := ownership.place(page))}
    alone = {place: owner for page, place in places.items() if (owner := owner_of(page))}

    assert ownership.owners_at(places.values()) == alone
    assert len(alone) == 9
    assert ownership.owners_at([]) == {}


def test_two_queries_whatever_the_number_of_places(claimed, django_assert_num_queries):
    hosts = [f"h{number}.acme.com" for number in range(100)]
    hosts += [f"u{number}.github.io" for number in range(100)]
    places = [place for host in hosts if (place := ownership.place(f"https://{host}/"))]

    with django_assert_num_queries(2):
        assert len(ownership.owners_at(places)) == 100


def test_no_query_has_more_parameters_than_sqlite_takes(claimed):
    places = [ownership.place(f"https://docs.h{number}.dev/") for number in range(6000)]

    with CaptureQueriesContext(connection) as queries:
        ownership.owners_at([place for place in places if place])

    assert len(queries) > 1
    assert all(each["sql"].count(",") < 32_766 / 2 for each in queries)
