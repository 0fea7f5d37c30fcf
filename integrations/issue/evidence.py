"""A report's evidence, a list of `{kind, text}`, as one Markdown text."""

import re
from collections.abc import Mapping, Sequence

from integrations.issue.safe_text import clean

LABELS = {  # in the order in which they are read
    "attempted_action": "Ran",
    "expected": "Expected",
    "observed": "Observed",
    "error_message": "Exact error",
    "code_snippet": "Code",
    "quote": "Quote",
}
ALWAYS_CODE = {"error_message", "code_snippet"}

_LIKE_CODE = re.compile(r"\n|[{}<>;=$\\|]|\w\(")


def evidence_text(items: Sequence[Mapping[str, str]]) -> str:
    """A labelled section for each item, without empty ones. Not yet safe: it is still reported text.

    Text with several lines, or that looks like code, becomes a code block that nothing inside can close.
    """
    order = list(LABELS)
    cleaned = ((item["kind"], clean(item["text"]).strip()) for item in items)
    kept = sorted(((k, text) for k, text in cleaned if text), key=lambda item: order.index(item[0]))
    return "\n\n".join(_section(kind, text) for kind, text in kept)


def _section(kind: str, text: str) -> str:
    label = f"**{LABELS[kind]}:**"
    if kind == "quote":
        return f"{label}\n\n" + "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    if kind in ALWAYS_CODE or _LIKE_CODE.search(text):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        return f"{label}\n\n{fence}\n{text}\n{fence}"
    return f"{label} {text}"
