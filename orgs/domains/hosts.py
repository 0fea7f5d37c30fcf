"""Host names: one spelling for each, and which of them an organization may claim.

A URL may name any host (`normalize`); a claim needs a name that its owner can prove in the public
DNS and does not share (`claimable_domain`).

    NotClaimable
    ├── InvalidDomain   not a name in the public DNS, or one that nobody may claim
    ├── PublicSuffix    shared by many owners, such as co.uk
    └── UseSiteClaim    <user>.<pages host>, whose owner has no DNS to prove it with
"""

import re
from datetime import date
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from ipaddress import IPv6Address

import idna
import publicsuffix2

from core.errors import ApiError

MAX_NAME = 253  # RFC 1035, without the trailing dot
MAX_DOMAIN = MAX_NAME - len("_hub-challenge.")  # the name of the DNS record has to fit as well
REMEMBERED = 1024  # names, of which it is known what was registered
MAX_REGISTRABLE_LABELS = 16  # twice what the longest public suffix needs

URL_LABEL = re.compile(r"[a-z0-9_-]{1,63}")  # the underscore is seen in the wild
DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
IPV4_END = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")  # WHATWG URL: "ends in a number"

AROUND_A_NAME = re.compile(  # a URL, or a name with a port or a path
    r"([a-z]+://)?(?P<name>[a-z0-9.-]+)(:[0-9]*)?([/?#].*)?",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)

LIST_DATE = re.compile(r"^// VERSION: (\d{4}-\d\d-\d\d)", re.MULTILINE)
HEAD_OF_LIST = 2000  # characters in which the list says of which day it is

NEVER_PUBLIC = ("internal", "local", "localhost", "onion", "test")  # `onion` is in the list
GITHUB = (
    "ghcr.io",
    "ghe.com",
    "github.app",
    "github.blog",
    "github.com",
    "github.dev",
    "githubapp.com",
    "githubassets.com",
    "githubpreview.dev",
    "githubstatus.com",
    "githubusercontent.com",
)


class InvalidHost(ValueError):
    """Not a host name in any spelling."""

    def __init__(self) -> None:
        super().__init__(
            "Check the host name: letters, digits, hyphens and dots, such as docs.example.com."
        )


class NotClaimable(ApiError):
    """A reason why a name cannot be claimed, in one or two sentences."""


class InvalidDomain(NotClaimable):
    """400: not a name in the public DNS, or one that nobody may claim."""

    status_code = 400
    default_code = "invalid_domain"


class Garbled(InvalidDomain):
    """400: not a host name in any spelling."""


class PublicSuffix(NotClaimable):
    """422: a name such as co.uk, below which many owners have domains."""

    status_code = 422
    default_code = "public_suffix"


class UseSiteClaim(NotClaimable):
    """422: a static site of the code host, to be proved by its repository."""

    status_code = 422
    default_code = "use_site_claim"


def normalize(host: str) -> str:
    """The one spelling of a URL's host: lower case, punycode, no trailing dot.

    IDNA 2008 after the mapping of UTS 46, non-transitional. IP addresses, single labels and
    underscores are kept. Idempotent. Raises `InvalidHost`.
    """
    if host.startswith("["):
        return _bracketed(host.lower())
    try:
        mapped = idna.uts46_remap(host, std3_rules=False)
        name = ".".join(_label(label) for label in mapped.removesuffix(".").split("."))
    except UnicodeError:
        raise InvalidHost from None
    if len(name) > MAX_NAME:
        raise InvalidHost
    return name


_setting = cache(normalize)  # a host of the settings


def claimable_domain(text: str, *, pages_host: str, code_host: str) -> str:
    """The normalized name in `text`, if an organization may claim it. Raises `NotClaimable`.

    `pages_host` and `code_host` are host names, such as github.io and github.com.
    """
    try:
        name = _dns_name(text)
    except Garbled:
        if named := _named_in(text):
            _check_named(named, pages_host=pages_host, code_host=code_host)
        raise
    pages_host = _setting(pages_host)
    if name == pages_host:
        raise PublicSuffix(_shared(name, f"https://you.{name}/repo/"))
    if is_user_site(name, pages_host=pages_host):
        user = name.removesuffix(f".{pages_host}").rpartition(".")[2]
        raise UseSiteClaim(
            f"`{name}` is a site on {pages_host}, where you cannot add DNS records. "
            f"Claim the address of the site, for example https://{user}.{pages_host}/repo/."
        )
    if _is_one_of(name, NEVER_PUBLIC):
        raise InvalidDomain(_private(name))
    suffix = _public_suffix(name)
    if suffix is None:
        raise InvalidDomain(_private(name))
    if suffix == name:
        raise PublicSuffix(_shared(name, f"you.{name}"))
    if _is_one_of(name, (*GITHUB, _setting(code_host))):
        raise InvalidDomain(
            f"`{name}` belongs to the code host, so nobody can claim it. Claim your own address, for "
            "example docs.example.com. A repository is claimed as a site."
        )
    return name


def _check_named(name: str, *, pages_host: str, code_host: str) -> None:
    """Refuse an address by what is wrong with the name in it, since that is what would be given next."""
    try:
        claimable_domain(name, pages_host=pages_host, code_host=code_host)
    except NotClaimable as refusal:
        raise InvalidDomain(str(refusal.detail)) from None


def is_user_site(host: str, *, pages_host: str) -> bool:
    """Whether normalized `host` is below the pages host: `<user>.<pages host>`."""
    return host.endswith(f".{_setting(pages_host)}")


def is_of_pages_host(host: str, *, pages_host: str) -> bool:
    """Whether normalized `host` is the pages host, or a user's site below it."""
    return host == _setting(pages_host) or is_user_site(host, pages_host=pages_host)


def is_registrable(name: str, *, pages_host: str) -> bool:
    """Whether normalized `name` is a public suffix plus one label; the pages host is a suffix."""
    pages_host = _setting(pages_host)
    if name == pages_host:
        return False
    parent = name.partition(".")[2]
    return parent in (pages_host, _public_suffix(name))


@lru_cache(REMEMBERED)
def registrable(name: str, *, pages_host: str) -> str:
    """The part of normalized `name` that somebody registered: a public suffix plus one label.

    The name itself if no public suffix is above it, as for an IP address or `localhost`.
    """
    return next(
        (each for each in [name, *parents(name)] if is_registrable(each, pages_host=pages_host)),
        name,
    )


def parents(name: str) -> list[str]:
    """The names above `name`, nearest first, without single labels.

    If a name has very many labels, only the upper ones, which are all that can be registrable.

    >>> parents("guide.docs.acme.com")
    ['docs.acme.com', 'acme.com']
    """
    labels = name.split(".")
    first = max(1, len(labels) - MAX_REGISTRABLE_LABELS)
    return [".".join(labels[i:]) for i in range(first, len(labels) - 1)]


def _label(label: str) -> str:
    if not label.isascii():
        return idna.alabel(label).decode()
    if not URL_LABEL.fullmatch(label):
        raise InvalidHost
    return label


def _bracketed(host: str) -> str:
    """An IPv6 address in brackets, as it is written, without its zone."""
    try:
        address = IPv6Address(host[1:-1])
    except ValueError:
        raise InvalidHost from None
    if address.scope_id or not host.endswith("]"):
        raise InvalidHost
    return host


def _dns_name(text: str) -> str:
    """The normalized name in `text`, if it is valid in the DNS."""
    try:
        name = normalize(text)
    except InvalidHost:
        raise Garbled(_garbled(text)) from None
    if IPV4_END.fullmatch(name) or name.startswith("["):
        raise InvalidDomain(
            "An IP address cannot be claimed. Claim a name, for example docs.example.com."
        )
    if not _is_in_dns(name):
        raise Garbled(_garbled(text))
    return name


def _is_in_dns(name: str) -> bool:
    return len(name) <= MAX_DOMAIN and all(map(_is_dns_label, name.split(".")))


def _is_dns_label(label: str) -> bool:
    if not label.startswith("xn--"):
        return bool(DNS_LABEL.fullmatch(label))
    try:
        return bool(idna.ulabel(label))
    except UnicodeError:
        return False


def _is_one_of(name: str, names: tuple[str, ...]) -> bool:
    """Whether `name` is one of `names`, or below one of them."""
    return f".{name}".endswith(tuple(f".{other}" for other in names))


def _public_suffix(name: str) -> str | None:
    """The public suffix of normalized `name`, private ones included; None if no rule applies.

    `get_tld` also returns names that merely lie between two rules (amazonaws.com, render.com), so
    every result is checked against the rules. The parent of a wildcard counts as one.
    """
    suffixes, rules = _list()
    suffix = suffixes.get_tld(name, strict=True)
    while suffix and rules.isdisjoint({suffix, f"*.{suffix}", f"*.{suffix.partition('.')[2]}"}):
        suffix = suffixes.get_tld(suffix.partition(".")[2], strict=True)
    return suffix


def prepare() -> None:
    """Load the list of public suffixes, which takes about 50 ms and some megabytes, before it is needed."""
    _list()


def list_date() -> date | None:
    """The day of the list of public suffixes; None if it does not say."""
    found = LIST_DATE.search(_list_path().read_text("utf-8")[:HEAD_OF_LIST])
    return date.fromisoformat(found[1]) if found else None


def _list_path() -> Traversable:
    return resources.files("publicsuffixlist") / "public_suffix_list.dat"


@cache
def _list() -> tuple[publicsuffix2.PublicSuffixList, frozenset[str]]:
    """publicsuffix2 with publicsuffixlist's list, because its own is from 2019."""
    suffixes = publicsuffix2.PublicSuffixList(
        _list_path().read_text("utf-8").splitlines(), idna=True
    )
    return suffixes, frozenset(suffixes.tlds)


def _shared(name: str, example: str) -> str:
    return (
        f"`{name}` is shared by many owners, so nobody can claim all of it. "
        f"Claim your own address, for example {example}."
    )


def _private(name: str) -> str:
    return (
        f"`{name}` is not a name in the public DNS, so its owner cannot be verified. "
        "Claim a public address, for example docs.example.com."
    )


def _named_in(text: str) -> str:
    """The host name in a text that is an address with more to it; empty if there is none."""
    address = AROUND_A_NAME.fullmatch(text)
    name = address["name"].lower() if address else ""
    return name if name != text.lower() and "." in name and _is_in_dns(name) else ""


def _garbled(text: str) -> str:
    """What is wrong with a text that is no name; the name in it, if it is an address with more to it."""
    name = _named_in(text)
    if not name:
        return "This is not a host name. Give a name such as docs.example.com."
    return f"This is not a host name. Give `{name}`: a claim of it covers all its pages, on every port."
