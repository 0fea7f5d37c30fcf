"""Which repository's page a URL is, for matching, as one canonical URL, and as a claim's address."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from core.errors import ApiError
from integrations.models import Installation, Integration
from integrations.ownership import site_claims
from orgs import ownership, repository_pages
from orgs.models import Site
from reports import canonical
from tests import build
from tests.orgs import repository_urls as urls

GITHUB, ENTERPRISE = "https://github.com", "https://git.acme.com"
FUZZ = hypothesis(max_examples=500)

PAGES = [
    *((GITHUB, *line) for line in urls.lines(urls.PAGES, urls.OF_GITHUB)),
    *(
        (ENTERPRISE, *line)
        for line in urls.lines(urls.PAGES, urls.OF_ENTERPRISE, host="git.acme.com")
    ),
]
NOBODYS = [
    *((GITHUB, line[0]) for line in urls.lines(urls.NOBODYS, urls.NOBODYS_OF_GITHUB)),
    *(
        (ENTERPRISE, line[0])
        for line in urls.lines(urls.NOBODYS, urls.NOBODYS_OF_ENTERPRISE, host="git.acme.com")
    ),
]
NO_ADDRESS = [line[0] for line in urls.lines(urls.NO_ADDRESS)]


def repository_of(url: str, code_host: str = GITHUB) -> str:
    page = repository_pages.read(url, code_host=code_host)
    return page.claim_path if page else ""


def test_the_tables_are_long_enough():
    assert len(PAGES) + len(NOBODYS) + len(NO_ADDRESS) > 400
    assert len({line[:2] for line in (*PAGES, *NOBODYS)}) == len(PAGES) + len(NOBODYS)


@pytest.mark.parametrize(("code_host", "url", "expected"), PAGES)
def test_a_page_has_one_canonical_url(code_host, url, expected, settings):
    settings.HUB_GITHUB_URL = code_host
    root = f"{code_host}/acme/docs"

    found = canonical.address(url)

    assert found.text == url
    assert found.url == (root if expected == "." else f"{root}/{expected}")
    assert found.host == urlsplit(code_host).hostname
    assert canonical.url(found.url) == found.url
    assert repository_of(found.url, code_host) == "/acme/docs/"
    written = canonical.as_written(url).url  # as it is stored of before there were claims
    assert repository_of(written, code_host) == "/acme/docs/"


@pytest.mark.parametrize(("code_host", "url"), NOBODYS)
def test_what_is_no_page_of_the_repository_is_never_taken_for_one(code_host, url, settings):
    settings.HUB_GITHUB_URL = code_host

    found = canonical.url(url)

    assert repository_of(found, code_host) != "/acme/docs/"
    assert repository_of(canonical.as_written(url).url, code_host) != "/acme/docs/"
    assert canonical.url(found) == found


@pytest.mark.parametrize("url", NO_ADDRESS)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(canonical.InvalidURL):
        canonical.url(url)


@pytest.mark.django_db
def test_the_owner_of_each_page_is_who_has_claimed_the_repository(settings):
    owner = build.organization()
    for host in ("github.com", "git.acme.com"):
        claimed(owner, host)
    build.domain(build.organization("other"), "acme.com")

    for code_host in {each[0] for each in (*PAGES, *NOBODYS)}:
        settings.HUB_GITHUB_URL = code_host
        for url in (url for there, url, _ in PAGES if there == code_host):
            assert ownership.owner_of(canonical.url(url)) == owner.pk, url
        for url in (url for there, url in NOBODYS if there == code_host):
            assert ownership.owner_of(canonical.url(url)) != owner.pk, url


def claimed(owner, host: str = "github.com") -> Site:
    site = build.site(owner, host, "/acme/docs/")
    Site.objects.filter(pk=site.pk).update(repository_id=2001)
    return site


@pytest.mark.django_db
def test_one_statement_finds_the_owner(django_assert_num_queries):
    claimed(build.organization())

    with django_assert_num_queries(1):
        assert ownership.owner_of("https://github.com/acme/docs/blob/HEAD/a.md")
    with django_assert_num_queries(0):
        assert ownership.owner_of("https://github.com/acme/docs/issues/1") is None


@pytest.mark.django_db
def test_many_pages_of_the_code_host_read_only_the_claims_of_their_repositories():
    for number in range(20):
        site = build.site(build.organization(), "github.com", f"/acme/docs{number}/")
        Site.objects.filter(pk=site.pk).update(repository_id=number + 1)
    pages = [ownership.place(f"https://github.com/acme/docs{n}/wiki") for n in (3, 4)]

    found = ownership.claims_at(filter(None, pages))

    assert {claim.path for claim in found.values()} == {"/acme/docs3/", "/acme/docs4/"}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/docs/blob/HEAD/a.md", "github.com/acme/docs"),
        ("https://github.com/acme/docs", "github.com/acme/docs"),
        ("https://github.com/acme/docs/issues/1", "github.com"),
        ("https://github.com/", "github.com"),
        ("https://alice.github.io/docs/", "alice.github.io"),
        ("https://a.docs.acme.com/x", "acme.com"),
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://[::1]/", "::1"),
        ("docs/install.md", None),
    ],
)
def test_strangers_repositories_share_no_name(url, name):
    assert ownership.shared_name(canonical.url(url)) == name


@pytest.mark.parametrize(
    "code_host",
    ["http://[::1]:8080", "http://localhost:8080", "https://GIT.acme.com:443", "http://a..b"],
)
def test_any_code_host_that_can_be_set_shows_its_repositories(code_host, settings):
    settings.HUB_GITHUB_URL = code_host

    assert canonical.url("https://docs.acme.com/x") == "https://docs.acme.com/x"
    if ".." not in code_host:
        assert repository_of(canonical.url(f"{code_host}/acme/docs/"), code_host) == "/acme/docs/"


SEGMENTS = """
acme Docs docs docs-fork evil blob tree raw wiki main HEAD refs heads tags a.md README.md . .. %2e %2E%2e %2F %2f..
docs.git docs;x %00 issues 1 é % %25 Home _edit ~ @ + docs.
"""
HOSTS = """
github.com GitHub.com www.github.com raw.githubusercontent.com github.com. github.com:443 gist.github.com
evil.example github。com
"""
SEGMENT = st.sampled_from(["", *SEGMENTS.split()]) | st.text(max_size=3)
URL = st.builds(
    "{}://{}/{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(HOSTS.split()),
    st.lists(SEGMENT, max_size=9).map("/".join),
    st.sampled_from(["", "?a=1", "#x"]),
)


@given(URL)
@FUZZ
def test_a_canonical_url_is_a_page_of_the_same_repository_and_its_own_canonical_url(url):
    try:
        written = canonical.as_written(url).url
    except canonical.InvalidURL:
        return
    found = canonical.url(url)

    assert canonical.url(found) == found
    assert canonical.url(written) == found
    assert repository_of(found) == repository_of(written)


@given(URL)
@FUZZ
def test_a_match_is_with_the_repository_that_a_browser_would_open(url):
    """Dot segments resolved as browsers do, and nothing else decoded: its first two names are the match."""
    try:
        found = repository_of(canonical.url(url))
    except canonical.InvalidURL:
        return
    if found:
        assert opened(url) == found


def opened(url: str) -> str:
    """The first two names of the path that a browser asks for."""
    path = urlsplit(url).path.replace("%2E", "%2e").replace("%2e", ".")
    parts = urlsplit(urljoin("https://x.example/", path.replace("//", "/\0/"))).path.split("/")
    return "/{}/{}/".format(*parts[1:3]).lower()


REPOSITORY = "https://github.com/acme/docs/"
CLAIMS = [
    ("https://github.com/acme/docs/", ""),
    ("https://github.com/acme/docs", ""),
    ("http://github.com/acme/docs", ""),
    ("https://www.github.com/acme/docs", ""),
    ("https://GitHub.com/Acme/Docs/", ""),
    ("https://github.com/acme/docs#readme", ""),
    ("https://github.com./acme/docs", ""),
    ("https://github.com/x/../acme/docs", ""),
    ("https://github.com/acme/docs?utm_source=x", ""),
    ("https://github.com/acme/docs?tab=readme-ov-file", REPOSITORY),
    ("https://github.com/acme/docs/blob/main/README.md", REPOSITORY),
    ("https://github.com/acme/docs/tree/main", REPOSITORY),
    ("https://github.com/acme/docs/tree/main/docs", REPOSITORY),
    ("https://github.com/acme/docs/wiki", REPOSITORY),
    ("https://github.com/acme/docs/issues/1", REPOSITORY),
    ("https://github.com/acme/docs/settings", REPOSITORY),
    ("https://github.com/acme/docs.git", REPOSITORY),
    ("https://github.com/acme/docs.git/", REPOSITORY),
    ("https://github.com//acme/docs", REPOSITORY),
    ("https://github.com:8443/acme/docs", REPOSITORY),
    ("https://alice@github.com/acme/docs", REPOSITORY),
    ("https://alice:secret@github.com/acme/docs.git", REPOSITORY),
    ("git@github.com:acme/docs.git", REPOSITORY),
    ("git@github.com:/acme/docs", REPOSITORY),
    ("ssh://git@github.com/acme/docs.git", REPOSITORY),
    ("ssh://git@ssh.github.com:443/acme/docs.git", REPOSITORY),
    ("git://github.com/acme/docs.git", REPOSITORY),
    ("git+ssh://git@github.com/acme/docs.git", REPOSITORY),
    ("github.com/acme/docs", REPOSITORY),
    ("raw.githubusercontent.com/acme/docs/main/a.md", REPOSITORY),
    ("https://raw.githubusercontent.com/acme/docs/main/a.md", REPOSITORY),
    ("https://raw.githubusercontent.com/acme/docs", REPOSITORY),
    ("https://github.com", "you/repo"),
    ("https://github.com/", "you/repo"),
    ("https://github.com/acme", "you/repo"),
    ("https://github.com/orgs/acme", "you/repo"),
    ("https://github.com/acme%2Fdocs", "you/repo"),
    ("https://github.com/acme/docs;x", "you/repo"),
    ("https://github.com/acme/docs/../..", "you/repo"),
    ("https://gist.github.com/acme/docs", "you/repo"),
    ("https://api.github.com/repos/acme/docs", "you/repo"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("url", "hint"), CLAIMS)
def test_a_repository_is_claimed_by_its_own_address_only(url, hint):
    owner = configured()

    if not hint:
        assert site_claims.claim_site(owner, url)[0].url == REPOSITORY
        return
    with pytest.raises(site_claims.InvalidSite) as refused:
        site_claims.claim_site(owner, url)
    assert hint in str(refused.value)
    assert "secret" not in str(refused.value)
    assert not Site.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "url",
    [
        "https://github.com.evil.example/acme/docs",
        "https://evilgithub.com/acme/docs",
        "https://git.acme.com/acme/docs",
        "git@gitlab.com:acme/docs.git",
        "docs/install.md",
        "",
        "@:/",
        "https://[/acme/docs",
    ],
)
def test_what_is_not_on_the_code_host_is_no_repository(url):
    with pytest.raises((site_claims.InvalidSite, site_claims.UseDomainClaim)) as refused:
        site_claims.claim_site(configured(), url)
    assert "Repositories" not in str(refused.value)


@pytest.mark.django_db
def test_a_site_is_claimed_though_the_pages_host_is_below_the_code_host(settings):
    settings.HUB_GITHUB_URL = "https://git.acme.com"
    settings.HUB_PAGES_HOST = "pages.git.acme.com"
    owner = configured()

    site = site_claims.claim_site(owner, "https://acme.pages.git.acme.com/docs/")[0]

    assert (site.url, site.is_repository) == ("https://acme.pages.git.acme.com/docs/", False)
    with pytest.raises(site_claims.SharedHost):
        site_claims.claim_site(owner, "https://pages.git.acme.com/docs/")
    with pytest.raises(site_claims.InvalidSite, match="Nobody can claim that page"):
        site_claims.claim_site(owner, "https://gist.git.acme.com/docs/")


def configured():
    """An organization whose issues go to acme/docs; GitHub is not asked about it."""
    owner = build.organization()
    installation = Installation.objects.create(github_id=3001, account="acme")
    Integration.objects.create(
        organization=owner,
        installation=installation,
        repository_id=2001,
        repo_owner="acme",
        repo_name="docs",
    )
    return owner


@given(URL | st.text(max_size=40))
@FUZZ
def test_any_text_is_a_claimable_address_or_refused(text):
    try:
        where = site_claims.address(text)
    except ApiError:
        return
    assert where.path.startswith("/")
    assert not where.is_repository or repository_of(canonical.url(text)) == where.path.lower()
