"""What the person is shown: the whole report as it will be sent, and other ways to send it."""

import json
import shlex
import shutil
import sys
from typing import Any, NamedTuple
from urllib.parse import quote

from docfeedback import Draft, ValidationError, discovery, settings
from docfeedback.address import FORBIDDEN
from mcp_types import ElicitRequest, ElicitRequestFormParams

SHOWN_AS_THEY_ARE = " \\\n"
FORM = {
    "type": "object",
    "properties": {
        "send": {
            "type": "boolean",
            "title": "Send this report",
            "description": "Without a yes nothing is sent.",
        }
    },
    "required": ["send"],
}
FLAGS = {
    "/doc_url": "--doc-url",
    "/agent/name": "--agent",
    "/report/kind": "--kind",
    "/report/summary": "--summary",
    "/report/details": "--details",
    "/report/suggested_fix": "--suggested-fix",
}


class Question(NamedTuple):
    """A report that waits for a yes. `hub`: where it would go, without `/v1/reports`."""

    draft: Draft
    hub: str

    def message(self) -> str:
        """What the person reads; the report stands in a code block, as JSON."""
        return (
            f"Send this report to {self.hub}? It may become a public issue. "
            f"This is all that is sent:\n\n```json\n{shown(self.draft.data)}\n```"
        )

    def request(self) -> ElicitRequest:
        """The form for the person."""
        form = ElicitRequestFormParams(message=self.message(), requested_schema=FORM)
        return ElicitRequest(params=form)

    def command(self) -> str:
        """A command line that sends the same report."""
        words = [*_program(), "report"]
        if self.draft.hub_url is not None:
            words += ["--hub-url", self.draft.hub_url]
        flags = _flags(self.draft.body)
        if flags is not None:
            return shlex.join([*words, *flags])
        data = shlex.join(["printf", "%s", visible(self.draft.data.decode())])
        return f"{data} | {shlex.join([*words, '--file', '-'])}"

    def link(self) -> str:
        """The Hub's form for people, with the page filled in."""
        return f"{self.hub}/report/?doc_url={quote(self.draft.body['doc_url'], safe='')}"


def about(draft: Draft, *, seconds: float) -> Question:
    """Asks the page's host, where it has to. OptedOut, or ValidationError where no Hub is known."""
    page = draft.page
    listing = discovery.look_up(page, seconds=seconds, allow_private=False) if page else {}
    if page is not None:
        discovery.refuse_opted_out(page, listing)
    if draft.hub_url is not None:
        return Question(draft, draft.hub_url)
    url = page and discovery.endpoint(page, listing, allow_private=False)
    if not url:
        raise ValidationError.of("no_hub_url", path=settings.config_path())
    return Question(draft, url.removesuffix(settings.REPORTS))


def shown(data: bytes) -> str:
    """The JSON in `data`, indented, for a person to read."""
    return visible(json.dumps(json.loads(data), ensure_ascii=False, indent=2))


def visible(text: str) -> str:
    """The same JSON; characters that nobody can see (or that hide others) as escapes."""
    return "".join(c if _is_visible(c) else json.dumps(c)[1:-1] for c in text)


def _is_visible(character: str) -> bool:
    if character in SHOWN_AS_THEY_ARE:
        return True
    return character.isprintable() and not FORBIDDEN.fullmatch(character)


def _program() -> list[str]:
    """The command line of the package that is installed here, which may be on nobody's path."""
    return ["docfeedback"] if shutil.which("docfeedback") else [sys.executable, "-m", "docfeedback"]


def _flags(body: Any) -> list[str] | None:
    """The report as flags of the command line, or None where those cannot say it in plain sight."""
    words: list[str] = []
    for pointer, value in _leaves(body):
        if pointer == "/protocol_version":
            continue
        if pointer not in FLAGS or value == "-" or visible(value) != value:
            return None
        words.append(f"{FLAGS[pointer]}={value}")
    return words


def _leaves(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [(pointer, value)]
    return [leaf for name, item in value.items() for leaf in _leaves(item, f"{pointer}/{name}")]
