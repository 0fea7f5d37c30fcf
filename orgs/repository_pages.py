"""The pages of a repository on the code host: which of them a URL names.

GitHub serves the same repository at `https://github.com/acme/docs`, below it (`blob`, `tree`, `raw`,
`wiki`), and at a host for files as they are: `raw.githubusercontent.com`, on Enterprise `raw.<host>` or
`<host>/raw/`. What a browser and GitHub could read in different ways is nobody's page.
"""

import re
from functools import cache
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from orgs.domains import hosts

OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
NOT_A_NAME = re.compile(r"\.{1,2}|.*\.(?:git|wiki)", re.ASCII | re.IGNORECASE)
MISLEADING = re.compile(
    r"//|/\.{1,2}(?:/|\Z)|%(?:[01][0-9A-F]|2F|5C|7F)|[^!-~]|\\", re.ASCII | re.IGNORECASE
)
PLACE = re.compile(  # a URL, for a browser or git; a host and a path; or what git says: host:path
    r"(?:(?:https?|git|ssh|git\+ssh)://)?(?:[^@/?#]*@)?(?P<host>[^@:/?#]+)(?::[0-9]+)?[:/]*"
    r"(?P<path>[^?#]*).*",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
GIT = re.compile(r"\.git\Z", re.ASCII | re.IGNORECASE)
README = re.compile(r"readme(?:\.(?:adoc|markdown|md|org|rst|txt))?", re.ASCII | re.IGNORECASE)
DEFAULT_BRANCHES = ("HEAD", "main", "master")

PUBLIC_HOST = "github.com"
PUBLIC_RAW = ("raw.githubusercontent.com", "raw.github.com")
NO_OWNER = re.compile(  # names that no account has, since GitHub's own pages are there
    "about|account|apps|codespaces|collections|contact|customer-stories|dashboard|discussions|enterprises?"
    "|events|explore|features|issues|join|log(?:in|out)|marketplace|new|notifications|organizations|orgs"
    "|pricing|pulls|search|security|sessions|settings|site|sponsors|stars|topics|trending|users|watching",
    re.ASCII | re.IGNORECASE,
)
NO_OWNER_OF_ENTERPRISE = re.compile(  # the same where its subdomains are not isolated
    "api|assets|avatars|codeload|gist(?:-assets|-raw)?|media|notebooks|pages|raw|render|reply|setup"
    "|stafftools|uploads|viewscreen",
    re.ASCII | re.IGNORECASE,
)


class CodeHost(NamedTuple):
    """The code host: its URL without a path, its name, and its port (None: the scheme's own).

    `names` are the hosts that show repositories, `raw_names` those that have their files as they are.
    """

    url: str
    host: str
    port: int | None
    names: tuple[str, ...]
    raw_names: tuple[str, ...]

    @property
    def is_public(self) -> bool:
        """Whether it is github.com."""
        return self.host == PUBLIC_HOST


class RepositoryPage(NamedTuple):
    """A page of a repository. `kind` is `root`, `blob`, `tree`, `raw` or `wiki`.

    `ref` and `path` are as the URL has them; of a wiki, `path` is its page.
    """

    code_host: CodeHost
    owner: str
    name: str
    kind: str = "root"
    ref: str = ""
    path: str = ""

    @property
    def claim_path(self) -> str:
        """The path of a claim of its repository."""
        return claim_path(f"{self.owner}/{self.name}")

    @property
    def canonical(self) -> str:
        """The one URL of all that show the same; the branches `main`, `master` and HEAD count as one."""
        repository = self.code_host.url + self.claim_path.removesuffix("/")
        if self.kind == "wiki":
            return f"{repository}/wiki" + (
                "" if self.path.lower() in ("", "home") else f"/{self.path}"
            )
        ref = "HEAD" if self.ref in DEFAULT_BRANCHES else self.ref
        if self.kind == "root" or (ref == "HEAD" and self._is_shown_at_the_root()):
            return repository
        kind = "tree" if self.kind == "tree" else "blob"
        return "/".join(filter(None, (repository, kind, ref, self.path)))

    def _is_shown_at_the_root(self) -> bool:
        return not self.path if self.kind == "tree" else bool(README.fullmatch(self.path))


def claim_path(repository: str) -> str:
    """The path of a claim of a repository, given as `owner/name`: `/owner/name/` in lower case."""
    return f"/{repository}/".lower()


@cache
def code_host_at(url: str) -> CodeHost:
    """The parts of the code host's URL, a setting."""
    parts = urlsplit(url)
    host, port = _normalized(parts.hostname or ""), _port(parts)
    bare = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{bare}" + (f":{port}" if port else "")
    if host == PUBLIC_HOST:
        return CodeHost(url, host, port, (host, f"www.{host}"), PUBLIC_RAW)
    return CodeHost(url, host, port, (host,), (f"raw.{host}",))


def read(url: str, *, code_host: str) -> RepositoryPage | None:
    """The page of a repository that `url` names, a canonical URL; None for anything else.

    `code_host` is its URL, such as https://github.com.
    """
    there = code_host_at(code_host)
    if there.host not in url and PUBLIC_RAW[0] not in url:  # as almost always
        return None
    parts = urlsplit(url)
    host, path = parts.hostname, parts.path.removesuffix("/")
    if host not in there.names and host not in there.raw_names:
        return None
    if _port(parts) != there.port or MISLEADING.search(path):
        return None
    segments = path.split("/")[1:]
    is_raw = host in there.raw_names
    if not is_raw and segments[:1] == ["raw"] and not there.is_public:
        is_raw, segments = True, segments[1:]
    if len(segments) < 2 or not _is_repository(there, *segments[:2]):
        return None
    return _page(RepositoryPage(there, *segments[:2]), ["raw"] * is_raw + segments[2:])


def mentioned(text: str, *, code_host: str) -> str | None:
    """The repository that any URL names, as `owner/name`, for words: also of an issue, or to clone it.

    Empty if it names none, and None if it is not on the code host.
    """
    there, found = code_host_at(code_host), PLACE.fullmatch(text)
    host = _normalized(found["host"]) if found else ""
    hosts_of_it = (*there.names, *there.raw_names, f"ssh.{there.host}")
    if not found or not (host in hosts_of_it or host.endswith(f".{there.host}")):
        return None
    segments = list(filter(None, found["path"].split("/"))) if host in hosts_of_it else []
    if not there.is_public and segments[:1] == ["raw"]:
        del segments[0]
    owner, name = (*segments, "", "")[:2]
    name = GIT.sub("", name)
    return f"{owner}/{name}" if _is_repository(there, owner, name) else ""


def _normalized(host: str) -> str:
    try:
        return hosts.normalize(host)
    except hosts.InvalidHost:
        return host.lower()


def _port(parts: SplitResult) -> int | None:
    own = {"http": 80, "https": 443}.get(parts.scheme)
    return None if parts.port == own else parts.port


def _is_repository(there: CodeHost, owner: str, name: str) -> bool:
    return bool(
        OWNER.fullmatch(owner)
        and not NO_OWNER.fullmatch(owner)
        and (there.is_public or not NO_OWNER_OF_ENTERPRISE.fullmatch(owner))
        and NAME.fullmatch(name)
        and not NOT_A_NAME.fullmatch(name)
    )


def _page(root: RepositoryPage, below: list[str]) -> RepositoryPage | None:
    """The page of this repository at the path `below` it; None if that is no page of its content."""
    match below:
        case []:
            return root
        case ["wiki", *page] if not any(each.startswith("_") for each in page):
            return root._replace(kind="wiki", path="/".join(page))
        case ["blob" | "raw" | "tree" as kind, *place] if place:
            ref, *path = _without_prefix(place)
            if path or kind == "tree":
                return root._replace(kind=kind, ref=ref, path="/".join(path))
    return None


def _without_prefix(place: list[str]) -> list[str]:
    """Branch or tag, and path. A tag that is called as a default branch keeps its prefix."""
    match place:
        case ["refs", "heads", ref, *_] if ref != "refs":
            return place[2:]
        case ["refs", "tags", ref, *_] if ref not in ("refs", *DEFAULT_BRANCHES):
            return place[2:]
    return place
