"""Secrets that a reporter pasted by mistake, taken out of a text before anything is stored."""

import re
from functools import partial

# Every pattern takes linear time: no try reads further than a bounded length past the place where
# the next one can begin. Hence START, the possessive repetitions and the upper bounds.
START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"  # also after an escaped line end, as in quoted JSON
PEM_GAP = r"(?:\s|\\+[nrt]|[\"',>|+])"  # between lines, quoted or pasted from source code too
PEM_CHUNK = r"[A-Za-z0-9+/]{20,}+={0,2}"
PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{PEM_GAP}*+[A-Za-z-]{{1,20}}: [^\n\\]{{0,100}}){{0,5}}+"  # Proc-Type, DEK-Info, Version
    rf"{PEM_GAP}*+{PEM_CHUNK}"
    r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"|(?:{PEM_GAP}++{PEM_CHUNK})*+(?:{PEM_GAP}++[A-Za-z0-9+/]{{1,19}}={{0,2}}\Z)?)"  # no end
)
AWS_ASSIGNED = (
    r"(?i:secret[ _-]?(?:access[ _-]?)?key)(?: \[None\])?[\s\"'\\:=>]{1,16}"  # `aws configure`
    r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)

# (kind, pattern): where a pattern has a group, only that is the secret.
KINDS = [
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("private key", PEM),
        ("AWS key", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
        ("Azure key", r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})"),
        ("Google key", r"AIza[A-Za-z0-9_-]{35,}"),
        ("GitHub token", r"gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9]{20,}[A-Za-z0-9_]*"),
        ("GitLab token", r"glpat-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+)*"),
        ("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("Stripe key", r"[rs]k_live_[A-Za-z0-9]{10,}"),
        ("Anthropic key", START + r"sk-ant-[A-Za-z0-9_-]{20,}"),
        ("OpenAI key", START + r"sk-(?:(?:admin|proj)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})"),
        ("npm token", r"npm_[A-Za-z0-9]{30,}"),
        ("PyPI token", r"pypi-[A-Za-z0-9]{16}[A-Za-z0-9_-]{16,}"),
        ("JWT", START + r"eyJ[A-Za-z0-9_-]{8,}+\.e[w-z][A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]*"),
        ("AWS key", AWS_ASSIGNED),
        ("Hub token", START + r"hub_[A-Za-z0-9_-]{30,}"),
        ("password", r"://[^\x00-\x20/?#@:\"'`<>{}\[\]]*+:([^\x00-\x20/?#\"'`<>{}\[\]]+)@"),
    )
]

# Documentation is full of these, and they are nobody's secret.
PLACEHOLDER = re.compile(
    r"(?i:example|placeholder|redacted|your[_-]|x{6})"  # AKIA…EXAMPLE, ghp_xxxxxx…
    r"|^(?i:password|passwd|[*.x…•]+)$"  # https://user:password@host
    r"|^(?:\$\w+|%\w+%|%s)$"  # https://$USER:$PASSWORD@host
)
WORDS = re.compile(r"[a-z]{1,15}(?:[_-][a-z]{1,15})+|[A-Z]{1,15}(?:[_-][A-Z]{1,15})+")
LONGEST_PLACEHOLDER = 200  # in a long key such letters may stand by chance


def remove(text: str) -> tuple[str, list[str]]:
    """`text` with each secret replaced by `[removed: <kind>]`, and the kinds found, each once.

    Well-known placeholders are kept, so that a report can quote the documentation. Of a password
    in a URL or a key in an assignment only the secret itself goes. 64 KiB take well under 100 ms,
    whatever is in them.
    """
    found: dict[str, None] = {}
    for kind, pattern in KINDS:
        cleaned = pattern.sub(partial(_replacement, kind), text)
        if cleaned != text:
            found[kind] = None
        text = cleaned
    return text, list(found)


def _replacement(kind: str, match: re.Match[str]) -> str:
    secret = match.lastindex or 0
    if _is_placeholder(match[0], match[secret]):
        return match[0]
    start, end = (position - match.start() for position in match.span(secret))
    return f"{match[0][:start]}[removed: {kind}]{match[0][end:]}"


def _is_placeholder(whole: str, secret: str) -> bool:
    """Whether this stands for a secret. A token of words does; a password of words may be one."""
    if len(whole) > LONGEST_PLACEHOLDER:
        return False
    return bool(PLACEHOLDER.search(secret) or WORDS.fullmatch(whole))
