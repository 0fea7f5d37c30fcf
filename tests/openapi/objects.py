"""The objects of the document, and their fields, as tables of the page."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from hub.docs import markdown
from tests.openapi.words import below

NAMES = {"date-time": "time", "date": "day", "uri": "URL"}  # of what a text holds
LIMITS = {"maxLength": "at most {} characters", "maxItems": "at most {} items"}

Document = dict[str, Any]


def of_body(made: Document, body: Document) -> str:
    """All fields of a body, those of objects in it by their paths."""
    schemas = made["components"]["schemas"]
    every = below(schemas, schemas[name_of(json_of(body)["schema"])])
    return table(
        ("field of the body", "value", "meaning"),
        (_row(path, value(field), field, required) for path, field, required in every),
    )


def of_answers(made: Document) -> Iterator[str]:
    """Every object in the answers, with its own fields."""
    schemas = made["components"]["schemas"]
    for name in _answered(made):
        required = schemas[name].get("required", ())
        rows = (
            _row(field, _linked(made, each), each, field in required)
            for field, each in schemas[name]["properties"].items()
        )
        yield f"### {name}\n\n{schemas[name]['description']}\n\n"
        yield table(("field", "value", "meaning"), rows)


def anchor(made: Document, name: str) -> str:
    """Where an object is described; a chapter of the page may have its name, too."""
    taken = any(tag["name"] == name for tag in made["tags"])
    return markdown.anchor(name) + ("-1" if taken else "")


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines) + "\n"


def json_of(body: Document) -> Document:
    """The content of a body or an answer."""
    return body["content"]["application/json"]


def name_of(schema: Document) -> str:
    """The name of the object that a schema refers to."""
    return schema["$ref"].rpartition("/")[2]


def _answered(made: Document) -> list[str]:
    """The objects that answers have, each before those in it."""
    waiting = [
        name_of(json_of(answer)["schema"])
        for path in made["paths"].values()
        for operation in path.values()
        for status, answer in operation["responses"].items()
        if status < "300" and "content" in answer
    ]
    found: list[str] = []
    for name in (waiting := [*waiting, "Error"]):
        if name not in found:
            found.append(name)
            waiting += _inside(made["components"]["schemas"][name]["properties"])
    return found


def _inside(schema: Any) -> Iterator[str]:
    """The names of the objects that a schema refers to."""
    if isinstance(schema, list):
        schema = dict(enumerate(schema))
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield name_of(schema)
        for each in schema.values():
            yield from _inside(each)


def _row(name: str, value: str, field: Document, required: bool) -> tuple[str, ...]:
    said = value if required else f"{value}, optional"
    return f"`{name}`", said, field.get("description", "")


def _linked(made: Document, schema: Document) -> str:
    """What a value looks like, with links to the objects in it."""
    if "anyOf" in schema:
        return " or ".join(_linked(made, each) for each in schema["anyOf"])
    if "$ref" in schema:
        return f"[{name_of(schema)}](#{anchor(made, name_of(schema))})"
    if "items" in schema:
        return f"{value(schema)}, each {_linked(made, schema['items'])}"
    return value(schema)


def value(schema: Document) -> str:
    """What a value looks like, in a few words."""
    if "anyOf" in schema:
        return " or ".join(value(each) for each in schema["anyOf"])
    if "$ref" in schema:
        return "object"
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return ", ".join("null" if each is None else f"`{json.dumps(each)}`" for each in values)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    named = NAMES.get(schema.get("format", ""))
    said = " or ".join(kind if kind == "null" else named or kind for kind in kinds)
    limits = [words.format(schema[key]) for key, words in LIMITS.items() if key in schema]
    return ", ".join([said, *limits])


def _cell(text: str) -> str:
    """A text in one line; the items of a list become sentences."""
    lines = (line.removeprefix("- ") for line in text.replace("|", "\\|").splitlines())
    return " ".join(" ".join(lines).split())
