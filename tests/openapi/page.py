"""The document as a page of the reference: each call with its parameters, body, answers and an example."""

import json
from collections.abc import Iterator
from typing import Any

from hub.docs import markdown
from hub.docs.library import HUB
from tests.openapi import describing, objects

TITLE = """\
# OpenAPI

You will know every call, field and answer of the API, as [/openapi.json]({hub}/openapi.json) describes them for \
programs.

This page is made from that description, an OpenAPI 3.1 document: give it to a program that makes clients, tests or \
mock servers. `script/openapi` makes both from the code and from the reference, and a test compares them. \
[Reports API](reports-api.md) and [Maintainer API](maintainer-api.md) say more about each call, \
[Errors](errors.md) what to do about each code, and [Limits](limits.md) which rates and sizes there are.

"""
Document = dict[str, Any]


def text() -> str:
    """The page as Markdown."""
    made = describing.document()
    common = _common(made)
    parts = [TITLE.format(hub=HUB), made["info"]["description"], "\n\n", *_of_every_call(common)]
    parts.insert(3, _every_call(made))
    for tag in made["tags"]:
        parts.append(f"## {tag['name']}\n\n")
        for path, operations in made["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation["tags"]:
                    parts += _call(made, f"{method.upper()} {path}", operation, common)
    parts.append("## Answers\n\nThe objects in the answers.\n\n")
    parts += objects.of_answers(made)
    return "".join(parts).rstrip() + "\n"


def _every_call(made: Document) -> str:
    """A table that leads to each call."""
    rows = (
        (f"[`{call}`](#{markdown.anchor(call)})", operation["summary"])
        for path, operations in made["paths"].items()
        for call, operation in (
            (f"{method.upper()} {path}", operations[method]) for method in operations
        )
    )
    return f"## All calls\n\n{objects.table(('call', 'what it does'), rows)}"


def _common(made: Document) -> dict[str, dict[str, str]]:
    """The errors of every call, of every call with a token and of every call with a body: status by code."""
    every = [operation for path in made["paths"].values() for operation in path.values()]
    found: dict[str, dict[str, str]] = {}
    known: set[tuple[str, str]] = set()
    for kind, calls in {
        "every call": every,
        "with a token": [each for each in every if each.get("security")],
        "with a body": [each for each in every if each.get("requestBody")],
    }.items():
        shared = set.intersection(*({*_codes(made, each)} for each in calls)) - known
        found[kind] = {code: status for status, code in sorted(shared)}
        known |= shared
    return found


def _codes(made: Document, operation: Document) -> Iterator[tuple[str, str]]:
    """The status and code of each error that a call may answer."""
    for status, answer in operation["responses"].items():
        if status >= "400":
            schema = objects.json_of(_whole(made, answer))["schema"]
            yield from (
                (status, code) for code in schema["allOf"][1]["properties"]["error"]["enum"]
            )


def _of_every_call(common: dict[str, dict[str, str]]) -> Iterator[str]:
    yield "## Errors of all calls\n\nWhat these calls may answer besides what stands with each.\n\n"
    rows = [
        (kind, code, status) for kind, codes in common.items() for code, status in codes.items()
    ]
    yield objects.table(
        ("status", "code", "calls"),
        ((f"`{status}`", f"`{code}`", kind) for kind, code, status in rows),
    )


def _call(
    made: Document, call: str, operation: Document, common: dict[str, dict[str, str]]
) -> Iterator[str]:
    yield f"### `{call}`\n\n{operation['summary']}. {operation['description']}\n\n"
    yield f"{_needs(operation)} {_more(operation)}\n\n"
    if operation.get("parameters"):
        rows = (
            (f"`{each['name']}`", each["in"], objects.value(each["schema"]), each["description"])
            for each in operation["parameters"]
        )
        yield objects.table(("parameter", "in", "value", "meaning"), rows)
    if body := operation.get("requestBody"):
        yield objects.of_body(made, body)
    of_all = {code for codes in common.values() for code in codes}
    yield objects.table(("status", "answer"), _answers(made, operation, of_all))
    yield _example(operation)


def _needs(operation: Document) -> str:
    for each in operation.get("security", []):
        return f"Needs a token with the scope `{each['token'][0]}`."
    return "For everybody, without a token."


def _more(operation: Document) -> str:
    rates = "; ".join(
        f"{each['name']}, `{each['rate']}`" for each in operation.get("x-rate-limits", [])
    )
    page, _, anchor = operation["externalDocs"]["url"].rpartition("/reference/")[2].partition("/#")
    said = f"Rates: {rates}. " if rates else ""
    return f"{said}In generated clients: `{operation['operationId']}`. [More about it]({page}.md#{anchor})"


def _answers(made: Document, operation: Document, of_all: set[str]) -> Iterator[tuple[str, str]]:
    for status, answer in operation["responses"].items():
        if status >= "400":
            own = [code for at, code in _codes(made, operation) if at == status]
            codes = [f"`{code}`" for code in own if code not in of_all]
            if codes:
                yield f"`{status}`", f"[Error](#error): {', '.join(codes)}"
        elif "content" in answer:
            name = objects.name_of(objects.json_of(answer)["schema"])
            yield f"`{status}`", f"[{name}](#{objects.anchor(made, name)}): {answer['description']}"
        else:
            yield f"`{status}`", "no body"


def _whole(made: Document, answer: Document) -> Document:
    """An answer of a call, also one that several calls share."""
    if "$ref" in answer:
        return made["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return answer


def _example(operation: Document) -> str:
    blocks = []
    if body := operation.get("requestBody"):
        blocks.append(("Request", objects.json_of(body)))
    blocks += [
        (status, objects.json_of(answer))
        for status, answer in operation["responses"].items()
        if status < "300" and "content" in answer
    ]
    shown = [
        (tab, each["examples"]["Example"]["value"]) for tab, each in blocks if "examples" in each
    ][:2]
    return "".join(
        f"```json tab={tab}\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```\n\n"
        for tab, value in shown
    )
