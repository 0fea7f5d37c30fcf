"""The reference in docs/v0 names what the clients have, and nothing else."""

import ast
import dataclasses
import inspect
import re
from datetime import timedelta
from typing import Any

import docfeedback
import pytest
from docfeedback import (
    cli,
    commands,
    discovery,
    document,
    errors,
    git,
    hub,
    init,
    settings,
    threads,
    web,
)
from docfeedback.contract import table, text

from tests.clients.conftest import CLIENTS
from tests.docs import tables
from tests.docs.written import span

SOURCES = sorted((CLIENTS / "python" / "src").rglob("*.py"))
TYPES = (CLIENTS / "node" / "index.d.ts").read_text()
DEFAULTS = {None: "none", False: "`False`"}


def test_every_command_and_its_flags_are_in_tables():
    known = table("commands.json")
    rows = tables.rows("command-line", "command", "argument")

    named = {tables.codes(name)[0]: tables.codes(argument) for name, argument, _ in rows}
    assert named == {
        name: [each["argument"]] if each["argument"] else []
        for name, each in known["commands"].items()
    }
    assert set(named) == set(commands.COMMANDS)
    for name, each in known["commands"].items():
        if each["flags"]:
            assert flags(f"flag of `{name}`") == each["flags"]
    general = {"--help": None, "--version": None}  # which the table of commands does not have
    assert flags("flag of every command") == {**known["common"], **general}


def test_the_required_flags_are_marked():
    rows = tables.rows("command-line", "flag of `report`")

    marked = [tables.codes(name)[0] for name, _, meaning in rows if meaning.endswith("Required")]
    assert sorted(marked) == sorted(commands.REQUIRED)


def test_every_error_code_of_the_clients_is_in_the_table():
    named = tables.column("command-line", "code", "exit")

    assert named == sorted(_codes())


def test_every_variable_is_in_the_table():
    named = set(tables.column("command-line", "variable"))

    proxies = {"https_proxy", "http_proxy", "no_proxy"}
    assert named == proxies | _read_from_environment("docfeedback")


def test_what_the_clients_read_of_a_hosts_file_is_in_the_table():
    rows = tables.rows("protocol", "field", "type", "what our clients do with it")

    read = {tables.codes(name)[0] for name, _, does in rows if does != "not read"}
    assert read == set(re.findall(r'listing\.get\("(\w+)"\)', inspect.getsource(discovery)))


def test_every_exit_status_is_in_the_table():
    known = [cli.DONE, cli.FAILED, cli.NOTHING_SENT, cli.INTERRUPTED]

    assert tables.column("command-line", "exit status") == [str(status) for status in known]
    exits = {int(status) for _, status, _ in tables.rows("command-line", "code", "exit")}
    assert exits == set(known) - {cli.DONE}


def test_the_fields_of_the_configuration_file_are_in_the_table():
    read = re.findall(r'(?:found|config\(\))\.get\("(\w+)"', inspect.getsource(settings))

    named = tables.column("command-line", "field of the configuration file")
    assert set(named) == {*read}


@pytest.mark.parametrize("page", ["python", "node"])
def test_every_attribute_of_an_error_is_in_the_table(page):
    kinds = [kind for kind in vars(errors).values() if _is_error(kind)]
    own = {
        name for kind in kinds for name, each in vars(kind).items() if isinstance(each, property)
    }
    spelled = {name if page == "python" else _camel(name) for name in own}
    said = "str(error)" if page == "python" else "message"

    named = set(tables.column(page, "attribute of an error"))
    assert named == spelled | {"code", "status", "fields", said}


def test_what_init_can_answer_is_named():
    (line,) = re.findall(r"and `result` \((.*?)\)", _page("command-line"))

    said = {name.removeprefix("block_") for name in table("messages.json") if _is_of_init(name)}
    assert set(tables.codes(line)) == said


@pytest.mark.parametrize("name", ["first-party", "consumer"])
def test_the_blocks_are_shown_word_for_word(name):
    block = text(f"blocks/{name}.md").replace("{hub_url}", "https://hub.example.com").rstrip("\n")
    markers = [f"<!-- docfeedback:{each} -->" for each in (f"begin {name} v0", f"end {name}")]

    assert f"\n{markers[0]}\n{block}\n{markers[1]}\n" in _page("instruction-blocks")
    rows = tables.rows("instruction-blocks", "block")
    assert markers in [[tables.codes(cell)[0] for cell in (begin, end)] for *_, begin, end in rows]


def test_the_files_of_the_blocks_are_named():
    (row, other, *_) = tables.rows("instruction-blocks", "command", "file")

    assert tables.codes(row[1])[: len(init.CANDIDATES)] == list(init.CANDIDATES)
    assert tables.codes(other[1]) == [init.GLOBAL]


def test_everything_in_the_python_package_is_named():
    text = _page("python")
    create = inspect.signature(docfeedback.Report.create).parameters
    given = inspect.signature(docfeedback.Client).parameters

    assert [
        name for name in docfeedback.__all__ if f"`{name}" not in text.replace("docfeedback.", "")
    ] == []
    assert tables.column("python", "field of a report") == list(create)
    assert {
        tables.codes(name)[0]: default for name, default, _ in tables.rows("python", "argument")
    } == {name: DEFAULTS.get(each.default, f"`{each.default}`") for name, each in given.items()}
    assert [_call(each) for each in tables.column("python", "method of `Client`")] == _methods(
        docfeedback.Client
    )
    for kind in (docfeedback.SentReport, docfeedback.Receipt):
        fields = [field.name for field in dataclasses.fields(kind)]
        assert tables.column("python", f"field of `{kind.__name__}`") == fields
    assert tables.column("python", "field of `Draft`") == list(docfeedback.Draft._fields)


def test_everything_in_the_node_package_is_named():
    exported = re.findall(
        r"\b[A-Z]\w+\b|buildReport", (CLIENTS / "node/src/index.js").read_text().partition("*/")[2]
    )

    assert [
        name
        for name in exported
        if f"`{name}" not in _page("node") and f" {name}(" not in _page("node")
    ] == []
    assert tables.column("node", "field of a report") == _interface("ReportFields")
    assert tables.column("node", "option") == _interface("ClientOptions")
    for name in ("SentReport", "Receipt", "Draft"):
        assert tables.column("node", f"field of `{name}`") == _interface(name)
    methods = re.findall(r"^  (\w+)\(.*\): ", _declared("class Client"), re.MULTILINE)
    assert [_call(each) for each in tables.column("node", "method of `Client`")] == methods


@pytest.mark.parametrize("page", ["python", "node"])
def test_every_error_class_is_in_the_table(page):
    kinds = [name for name in docfeedback.__all__ if _is_error(getattr(docfeedback, name))]

    rows = tables.rows(page, "error", "when")
    assert sorted(tables.codes(name)[0] for name, _ in rows) == sorted(kinds)
    named = {
        int(code): tables.codes(name)[0]
        for name, when in rows
        for code in tables.codes(when)
        if code.isdecimal()
    }
    assert named == {status: kind.__name__ for status, kind in errors._BY_STATUS.items()}


def test_the_numbers_of_the_clients():
    named = {name: value for name, value, *_ in tables.rows("limits", "client")}

    assert named == {
        "a whole call or command": f"{settings.DEFAULT_TIMEOUT:.0f} seconds",
        "of it, for `/.well-known/docs-feedback.json` of the page's host": (
            f"at most {discovery.SHARE_OF_TIME * 100:.0f} %"
        ),
        "that file": f"{discovery.MAX_BYTES} bytes",
        "it is kept": span(timedelta(seconds=discovery.FRESH_SECONDS)),
        "calls of the Node client at once that may look a name up": _in_node(
            "client", "MOST_CALLS"
        ),
        "git, for each question about a repository": (
            f"{git.SECONDS} seconds, {git.MAX_BYTES} bytes"
        ),
        "memory of git, on Linux": f"{int(git.LIMITED.split()[2]) >> 10} MiB",
        "processor time of a git, also of one that is left behind": f"{git.LIMITED.split()[6]} seconds",
        "calls of the Python client's `AsyncClient` at once, in one event loop": (
            f"{threads.MOST_CALLS}"
        ),
        "address that takes reports about a page, as its host names it": (
            f"{settings.LONGEST_ENDPOINT} characters"
        ),
        "calls of the MCP server that wait for a form, up to protocol 2025-11-25": (
            f"{_in_consent('MOST_OPEN')}"
        ),
        "a question of the MCP server stands in the way of others": span(
            timedelta(seconds=_in_consent("OPEN_SECONDS"))
        ),
        "an answer to it counts": span(timedelta(seconds=_in_consent("FORGOTTEN_SECONDS"))),
        "redirects when fetching it": f"{discovery.MAX_REDIRECTS}, to public https addresses",
        "response of a Hub": f"{web.MAX_ANSWER} bytes",
        "report": f"{table('report.json')['max_bytes']} bytes",
        "nesting of a report, and of JSON from outside": f"{document.MAX_DEPTH}",
        "retries": (
            f"1, after {hub.PAUSE_SECONDS} seconds, on a lost or refused connection, "
            "`502`, `503` and `504`; after `429` and `503` as many seconds as `Retry-After` says, "
            "if that is within the time"
        ),
        "longest time that can be given to a call of the libraries": span(
            timedelta(seconds=settings.MAX_TIMEOUT)
        ),
        "idempotency key": "1 to 128 printable ASCII characters without spaces",
    }
    assert hub.AGAIN_STATUSES == (502, 503, 504)
    assert hub.WAIT_STATUSES == (429, 503)
    key = table("report.json")["body"]["properties"]["idempotency_key"]
    assert (key["minLength"], key["maxLength"], key["pattern"]) == (1, 128, r"^[\x21-\x7e]+$")


def test_the_endings_of_private_names_are_listed():
    (row,) = [row for row in tables.rows("command-line", "check") if "localhost" in row[0]]

    endings = {code[1:] for code in tables.codes(row[0]) if code.startswith(".")}
    assert endings == set(table("addresses.json")["private_suffixes"])


def flags(header: str) -> dict[str, str | None]:
    """The flags in the table with this header, and what each takes."""
    rows = tables.rows("command-line", header)
    return {tables.codes(name)[0]: next(iter(tables.codes(value)), None) for name, value, _ in rows}


def _in_node(module: str, name: str) -> str:
    """A constant of the Node client."""
    text = (CLIENTS / "node" / "src" / f"{module}.js").read_text()
    return text.split(f"const {name} = ")[1].split(";")[0]


def _in_consent(name: str) -> int:
    """A constant of the MCP server, also where its SDK is missing."""
    text = (CLIENTS / "mcp/src/docfeedback_mcp/consent.py").read_text()
    return int(text.split(f"\n{name} = ")[1].split()[0])


def _page(name: str) -> str:
    return tables.page(name).read_text()


def _codes() -> set[str]:
    """Every code that the Python client gives an error of its own."""
    kinds = {name for name in vars(errors) if _is_error(getattr(errors, name))}
    raised = {
        call.args[0].value
        for path in SOURCES
        if "docfeedback_mcp" not in str(path)
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and _name(call) in {*kinds, "of", "_error", "_unusable", "NoDocument"}
        if call.args and isinstance(call.args[0], ast.Constant)
    }
    return raised | {"absent", "edited", "other_hub", "outdated"}


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _is_error(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, docfeedback.DocFeedbackError)


def _read_from_environment(package: str) -> set[str]:
    folder = next(path for path in CLIENTS.glob("*/src/*") if path.name == package)
    code = "".join(path.read_text() for path in folder.rglob("*.py"))
    return set(re.findall(r'(?:environ\.get|_folder)\(\s*"([A-Z_]+)"', code))


def _is_of_init(name: str) -> bool:
    return name.startswith("block_") and name != "block_twice"


def _call(shown: str) -> str:
    return shown.partition("(")[0]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(each.title() for each in rest)


def _methods(kind: type) -> list[str]:
    return [
        name for name, each in vars(kind).items() if inspect.isfunction(each) and name[0] != "_"
    ]


def _declared(name: str) -> str:
    """The declaration of a class or an interface in the types of the Node package."""
    found = re.search(rf"{name}\b[^{{]*\{{(.*?)^\}}", TYPES, re.MULTILINE | re.DOTALL)
    assert found, name
    return found[1]


def _interface(name: str) -> list[str]:
    return re.findall(r"^  (\w+)\??: ", _declared(f"interface {name}"), re.MULTILINE)
