"""Sends what hypothesis fills in: every JSON body, every query of a call, every form and every list."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from hypothesis.strategies import SearchStrategy

from hub.docs import for_agents
from tests.hostile import generated, pages
from tests.hostile.doors import FORM, JSON, Who, credentials
from tests.hostile.letter import Letter
from tests.hostile.sweep import Sweep
from tests.hostile.tenants import Tenant


class Blank(NamedTuple):
    """What is to be filled in, how, and the request that it then is."""

    name: str
    kind: str
    worst: list[bytes]
    contents: SearchStrategy[bytes]
    letter: Callable[[Tenant, bytes], Letter]


def fill_in(sweep: Sweep, number: int, *, operators: bool = True) -> None:
    """Each of them with the worst in every place, then so many times; with the pages of operators or without."""
    for blank in [*calls(), *lists_and_forms(sweep, operators=operators)]:
        for content in blank.worst:
            if problem := _problem(sweep, blank, content):
                sweep.wrong.append(f"{blank.name}: {problem}")
        try:
            generated.try_out(blank.contents, number, partial(_try, sweep, blank))
        except Exception as error:  # what hypothesis raises of all that it found
            sweep.wrong.append(f"{blank.name}: {error}")


def _try(sweep: Sweep, blank: Blank, content: bytes) -> None:
    problem = _problem(sweep, blank, content)
    assert not problem, problem


def _problem(sweep: Sweep, blank: Blank, content: bytes) -> str:
    letter = blank.letter(sweep.tenant(), content)
    problem = sweep.problem(blank.kind, letter.written())
    return problem and f"{problem}: {letter.target[:300]!r} {letter.body[:1000]!r}"


def calls() -> Iterator[Blank]:
    """Of the description: the bodies and the queries of all calls."""
    document = json.loads(for_agents.openapi("https://hub.example"))
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield from _of_a_call(document, method.upper(), path, operation)


def _of_a_call(
    document: dict[str, Any], method: str, path: str, operation: dict[str, Any]
) -> Iterator[Blank]:
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]["application/json"]
        example = next(iter(content["examples"].values()))["value"]
        of = (document, example, content["schema"])
        worst, contents = generated.worst_bodies(*of), generated.bodies(*of)
        yield Blank(
            f"{method} {path}", "bodies of calls", worst, contents, _with_body(method, path)
        )
    parameters = [each for each in operation.get("parameters", []) if each["in"] == "query"]
    if parameters:
        offered = {each["name"]: _offered(each["schema"]) for each in parameters}
        worst, contents = generated.worst_fields(offered), generated.fields(offered)
        sent = _with_query(method, path)
        yield Blank(f"{method} {path}?", "queries of calls", worst, contents, sent)


def _offered(schema: dict[str, Any]) -> list[str]:
    return ["", *(str(each) for each in schema.get("enum", ["1", "2026-01-31"]))]


def _with_body(method: str, path: str) -> Callable[[Tenant, bytes], Letter]:
    def letter(tenant: Tenant, body: bytes) -> Letter:
        known = credentials(Who.PROGRAM, tenant, body)
        return Letter(method.encode(), _filled(path, tenant), known, JSON, body)

    return letter


def _with_query(method: str, path: str) -> Callable[[Tenant, bytes], Letter]:
    def letter(tenant: Tenant, query: bytes) -> Letter:
        known = credentials(Who.PROGRAM, tenant, b"")
        return Letter(method.encode(), _filled(path, tenant), known, b"", query=query)

    return letter


def _filled(path: str, tenant: Tenant) -> bytes:
    return re.sub(r"{(\w+)}", lambda variable: tenant.ids[variable[1]], path).encode()


def lists_and_forms(sweep: Sweep, *, operators: bool) -> Iterator[Blank]:
    """Of the pages, as one of the organizations sees them; each later one has ids of its own."""
    shown = sweep.tenants[0]
    for form in pages.forms(sweep.hubs[0].url, shown, operators=operators):
        kind = "forms" if form.method == "POST" else "queries of pages"
        worst, contents = generated.worst_fields(form.fields), generated.fields(form.fields)
        yield Blank(str(form), kind, worst, contents, _sending(form, shown))


def _sending(form: pages.Form, shown: Tenant) -> Callable[[Tenant, bytes], Letter]:
    def letter(tenant: Tenant, fields: bytes) -> Letter:
        path = form.path
        for name, value in shown.ids.items():
            if len(value) == 26:  # an id that no other text contains
                path = path.replace(value, tenant.ids[name])
        known = credentials(form.who, tenant, fields)
        if form.method == "POST":
            return Letter(b"POST", path.encode(), known, FORM, fields)
        return Letter(b"GET", path.encode(), known, b"", query=fields)

    return letter
