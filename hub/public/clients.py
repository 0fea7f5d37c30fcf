"""What to set up so that an agent, a program or a person can report to this Hub."""

import json
import shlex
from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

from hub.docs.code import colored
from hub.public import sample

SERVER = "docfeedback"
VARIABLE = "DOCFEEDBACK_HUB_URL"


class Place(NamedTuple):
    """This Hub's address, and the folder on a person's computer in which the client is installed."""

    hub: str
    home: str

    @property
    def folder(self) -> str:
        """Where the virtual environment is."""
        return f"{self.home.rstrip('/')}/docfeedback"


class Block(NamedTuple):
    """A text to copy: what to do with it, and the name of its file where it is one."""

    intro: str
    text: str
    language: str
    file: str = ""

    @property
    def colored(self) -> SafeString:
        """The text as HTML."""
        return mark_safe(colored(self.text, self.language))  # noqa: S308  (it escapes)


class Client(NamedTuple):
    """One way to report; `asks_for_home` where the blocks name a folder."""

    title: str
    blocks: Callable[[Place], list[Block]]
    asks_for_home: bool = True


def _installed(place: Place, *packages: str) -> Block:
    folder = shlex.quote(place.folder)
    sources = " ".join(f"./clients/{each}" for each in packages)
    return Block(
        "In a copy of the Hub’s source code, install the packages. They are not published yet: do not "
        "install docfeedback or docfeedback-mcp by name, since a name may belong to anybody.",
        f"python3 -m venv {folder}\n{folder}/bin/pip install {sources}",
        "sh",
    )


def _program(place: Place) -> str:
    return f"{place.folder}/bin/docfeedback-mcp"


def _by_command(words: list[str], scope: list[str]) -> Callable[[Place], list[Block]]:
    """A client that writes its configuration itself."""

    def blocks(place: Place) -> list[Block]:
        variable = f"{VARIABLE}={place.hub}"
        command = [*words, "--env", variable, *scope, SERVER, "--", _program(place)]
        return [
            _installed(place, "python", "mcp"),
            Block("Then add the server.", shlex.join(command), "sh"),
        ]

    return blocks


def _by_json(
    file: str, where: str, key: str = "mcpServers", **more: str
) -> Callable[[Place], list[Block]]:
    """A client that reads JSON."""

    def blocks(place: Place) -> list[Block]:
        server = {**more, "command": _program(place), "args": [], "env": {VARIABLE: place.hub}}
        text = json.dumps({key: {SERVER: server}}, indent=2, ensure_ascii=False)
        return [
            _installed(place, "python", "mcp"),
            Block(where, text, "json", file),
        ]

    return blocks


def _codex(place: Place) -> list[Block]:
    command, hub = (json.dumps(text, ensure_ascii=False) for text in (_program(place), place.hub))
    text = f"[mcp_servers.{SERVER}]\ncommand = {command}\nargs = []\nenv = {{ {VARIABLE} = {hub} }}"
    first, second = _by_command(["codex", "mcp", "add"], [])(place)
    return [
        first,
        Block("Then put this into ~/.codex/config.toml.", text, "toml", "config.toml"),
        second._replace(intro="Or have Codex write that."),
    ]


def _command_line(place: Place) -> list[Block]:
    program = f"{shlex.quote(place.folder)}/bin/docfeedback"
    hub = f"--hub-url {shlex.quote(place.hub)}"
    return [
        _installed(place, "python"),
        Block(
            "Then report a page. --dry-run shows the report and sends nothing.",
            f"{program} report {hub} \\\n"
            f"  --doc-url {sample.PAGE} --kind {sample.REPORT['kind']} --agent my-agent \\\n"
            f"  --summary {shlex.quote(sample.REPORT['summary'])}",
            "sh",
        ),
        Block(
            "In a repository of docs, tell its agents how to report: this writes a block into AGENTS.md.",
            f"{program} init {hub}",
            "sh",
        ),
        Block(
            "Teach an agent that does not support MCP to report other people’s docs: this writes a block "
            "into ~/.claude/CLAUDE.md, or into the file that --file names. The agent needs "
            f"{place.folder}/bin on its PATH.",
            f"{program} init --global {hub}",
            "sh",
        ),
    ]


def _python(place: Place) -> list[Block]:
    return [
        _installed(place, "python"),
        Block(
            "Then, in your program:",
            "from docfeedback import Client, Report\n\n"
            f"client = Client(hub_url={place.hub!r})\n"
            "report = Report.create(\n"
            f'    doc_url="{sample.PAGE}",\n'
            f'    kind="{sample.REPORT["kind"]}",\n'
            '    agent="my-program",\n'
            f'    summary="{sample.REPORT["summary"]}",\n'
            ")\n"
            "print(client.send(report).receipt_url)",
            "python",
        ),
    ]


def _node(place: Place) -> list[Block]:
    return [
        Block(
            "In your project, install the package from a copy of the Hub’s source code. It is not published "
            "yet: do not install docfeedback by name, since a name may belong to anybody.",
            "npm install ../docs-feedback-hub/clients/node",
            "sh",
        ),
        Block(
            "Then, in a module of yours:",
            'import { Client, buildReport } from "docfeedback";\n\n'
            f"const client = new Client({{ hubUrl: {json.dumps(place.hub)} }});\n"
            "const report = buildReport({\n"
            f'  docUrl: "{sample.PAGE}",\n'
            f'  kind: "{sample.REPORT["kind"]}",\n'
            '  agent: "my-program",\n'
            f'  summary: "{sample.REPORT["summary"]}",\n'
            "});\n"
            "console.log((await client.send(report)).receiptUrl);",
            "js",
        ),
    ]


def _actions(place: Place) -> list[Block]:
    body = json.dumps(
        {
            "protocol_version": "0",
            "doc_url": sample.PAGE,
            "agent": {"name": "link-checker"},
            "report": {"kind": "broken", "summary": "A link on this page does not work"},
        }
    )
    return [
        Block(
            "A step for GitHub Actions. It needs nothing but curl. Sent again within "
            f"{settings.HUB_DEDUP_DAYS} days, the report is counted, and opens no second issue.",
            "- name: Report a docs page that is broken\n"
            "  if: failure()\n"
            "  env:\n"
            f"    {VARIABLE}: {json.dumps(place.hub)}\n"
            f"    REPORT: >-\n      {body}\n"
            "  run: |\n"
            f'    curl --fail-with-body --silent --show-error "${VARIABLE}/v1/reports" \\\n'
            "      --header 'Content-Type: application/json' --data \"$REPORT\"",
            "yaml",
        )
    ]


CLIENTS = {
    "claude-code": Client(
        "Claude Code", _by_command(["claude", "mcp", "add"], ["--scope", "user"])
    ),
    "cursor": Client(
        "Cursor",
        _by_json(
            "mcp.json", "Then put this into ~/.cursor/mcp.json, or .cursor/mcp.json of one project."
        ),
    ),
    "vscode": Client(
        "VS Code",
        _by_json(
            "mcp.json",
            "Then put this into .vscode/mcp.json, or into the file that MCP: Open User Configuration opens.",
            "servers",
            type="stdio",
        ),
    ),
    "codex": Client("Codex", _codex),
    "gemini": Client(
        "Gemini CLI", _by_json("settings.json", "Then put this into ~/.gemini/settings.json.")
    ),
    "mcp": Client(
        "Any MCP client",
        _by_json(
            "mcp.json",
            "Then start this server over stdio. Many clients read their configuration in this form.",
        ),
    ),
    "command-line": Client("Command line", _command_line),
    "python": Client("Python", _python),
    "node": Client("Node", _node, asks_for_home=False),
    "ci": Client("CI", _actions, asks_for_home=False),
}
