"""Makes a reporter's text harmless: readable as before, with no working mention, link, HTML or command.

GitHub decodes entities and backslashes before it looks for mentions, mail replies and bots read the
raw text, and normalizing to NFKC turns look-alikes into the real characters. So nothing is escaped
here. `clean` leaves only what is visible, in one spelling, and `neutralize` puts a zero-width space
(U+200B) wherever something would act on what remains.
"""

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote, urlsplit, urlunsplit

from integrations.issue.tables import DELIMITERS
from orgs import repository_pages
from orgs.domains import hosts
from reports import canonical
from reports.cleaning import clean

ZWSP = "\u200b"
DEEPEST = 10  # quotes and lists in one another in one line, or as many times two blanks

_HERE, _AFTER = ZWSP, r"\g<0>" + ZWSP
_LINE = r"^(?:[^\S\n]|[>*+-]|\d+[.)）])*"  # from the start of a line to its text
KEYWORD = r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|duplicate of)"
TEX = r"(?:href|url|html|class|style|cssid|require|unicode|csname)"  # links, or loads more TeX


def _in_sixes(run: re.Match[str]) -> str:
    return ZWSP.join(re.findall(".{1,6}", run[0]))


Rules = Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]
FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE
# so deep in the margin that what follows may be out of sight
_NESTED = rf"^(?: {{2}}|\t|[ \t]?(?:>|[*+-][ \t]|\d{{1,9}}[.)][ \t])){{{DEEPEST}}}"
NESTED = re.compile(_NESTED, FLAGS)
_RULES: Rules = [
    (re.compile(pattern, FLAGS), replacement)
    for pattern, replacement in (
        (r"(?<=[@#])", _HERE),  # mentions, references, headings, mail addresses
        (r"(?<=&)(?=[#a-z]|\Z)", _HERE),  # entities, which would spell any of these
        (r"(?<![a-z0-9])gh(?:sa)?(?=\\*-|\Z)", _AFTER),  # GH-1, GHSA-…
        (r"(?<=<)(?=\S|\Z)", _HERE),  # HTML, comments and <links>
        (r"(?<=--)(?=[!！]?>)", _HERE),  # the end of a comment
        (r"(?<=\bhub)(?=[:：])", _HERE),  # the Hub's marker, in a comment of the template
        (r"(?<=[:：])(?=[/\\]|\Z)", _HERE),  # URLs
        (r"(?<=www)(?=\\*[.…]|\Z)", _HERE),  # NFKC makes three dots of the ellipsis
        (r"(?<=!)(?=\[)|(?<=\[)", _HERE),  # links, images, footnotes, tasks, alerts
        (r"\A(?=\])|(?<=\])(?=[(（\[:：\\\u3200-\u3243]|\Z)", _HERE),  # the last range: (…)
        (r"(?<=``)(?=`)|(?<=~~)(?=~)", _HERE),  # code fences
        (_LINE + "/", _AFTER),  # bot commands
        (r"(?<![a-z0-9])[0-9a-f]{7,40}(?![a-z0-9])", _in_sixes),  # commits
        (r"(?:\A|(?<=[^\n]\n))[ \t>]*(?==+[ \t]*$|-+[ \t]*$)", _AFTER),  # setext headings
        (KEYWORD + r"(?=[:：]?\s*\Z)", _AFTER),  # the template may go on with a #1 of its own
        (r"(?=\$)|(?<=\$)", _HERE),  # formulas, in which TeX hides what it likes
        (r"\\(?=" + TEX + r"|\Z)", _AFTER),
        (_NESTED, _AFTER),
    )
]
_NO_TABLES: Rules = [(re.compile(DELIMITERS, FLAGS), _AFTER)]
# a zero-width space only stands next to these, in words of letters, or once in a line: one, or one on each side
ARMED = "@#&<>:[]!`~/\\-=|.$$"

_IN_URL = "%/?=&+,:._~-"
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_COMMIT = re.compile(r"[0-9a-f]{7,64}", re.ASCII | re.IGNORECASE)
_DOTS = re.compile(
    r"/(?:\.|%2e){1,2}(?:/|\Z)", re.ASCII | re.IGNORECASE
)  # before `//` is escaped: `..` goes back over it
_LIVE_IN_URL = re.compile(r"(?<=/)/|(?<=\bgh)-(?=\d)|~(?=~)|[.,:?_~]\Z", re.ASCII | re.IGNORECASE)


def neutralize(text: str) -> str:
    """`clean(text)` with U+200B wherever GitHub, a mail reply or a bot would act on it.

    Idempotent; without the U+200B it is `clean(text)`. Takes time linear in the text's length.
    """
    return inert(clean(text))


def inert(cleaned: str) -> str:
    """`neutralize` for a text that is already clean."""
    return without_tables(inert_with_tables(cleaned))


def inert_with_tables(cleaned: str) -> str:
    """As `inert`, but tables are kept. The caller limits their size."""
    return applied(_RULES, cleaned)


def without_tables(text: str) -> str:
    """`text` changed so that no line makes a table."""
    return applied(_NO_TABLES, text)


def applied(rules: Rules, text: str) -> str:
    """`text` after all rules, applied in order."""
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def safe_url(url: str, *, code_host: str = "github.com", repository: str = "") -> str | None:
    """An http(s) URL, still clickable, written so that it stays one word and ends where it ends.

    The host is in punycode, and whatever means something to Markdown, HTML or a bot is percent-encoded.
    None for anything else, for URLs with user info, and for pages of the code host (github.com too),
    because a link to them would notify them of this issue; except for files of `repository`, the URL of
    that which the issue is in.
    """
    if repository and (file := _file_of(repository, url.strip())):
        return file
    try:
        parts = urlsplit(url.strip())
        host = hosts.normalize(parts.hostname or "")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or re.search(r"[@\\\[]", parts.netloc):
        return None
    if f".{host}".endswith((".github.com", f".{code_host}")) or re.search(r"\bgh-\d", host):
        return None
    path = canonical.resolved(parts.path) if _DOTS.search(parts.path) else parts.path
    path, query, fragment = _encoded(path), _encoded(parts.query), _fragment(parts.fragment)
    return urlunsplit((parts.scheme, host + port, path or "/", query, fragment))


def _file_of(repository: str, url: str) -> str | None:
    """The URL of a file of this repository, written anew; None if `url` is that of anything else.

    Also of a file as it was in a commit: GitHub puts its lines into the issue.
    """
    parts = urlsplit(repository)
    code_host = f"{parts.scheme}://{parts.netloc}"
    try:
        address = canonical.as_written(url).url
    except canonical.InvalidURL:
        return None
    page = repository_pages.read(address, code_host=code_host) if "://" in address else None
    if not page or page.kind != "blob" or page.claim_path != f"{parts.path}/".lower():
        return None
    if _COMMIT.fullmatch(page.ref):
        return None
    path = _encoded(f"{parts.path}/blob/{page.ref}/{page.path}")
    return urlunsplit((parts.scheme, parts.netloc, path, "", _fragment(urlsplit(url).fragment)))


def _fragment(text: str) -> str:
    """A fragment that does not read as issue #123."""
    text = _encoded(text)
    return f"%{ord(text[0]):X}{text[1:]}" if text[:1].isdigit() else text


def _encoded(part: str) -> str:
    part = quote(_STRAY_PERCENT.sub("%25", part), safe=_IN_URL, errors="ignore")
    return _LIVE_IN_URL.sub(lambda live: f"%{ord(live[0]):X}", part)
