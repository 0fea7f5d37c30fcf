"""What a later version of the API may not take away: callers of an earlier one go on without a change.

Requests may become wider, and answers may get more: fields, statuses, error codes, values.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
WORDS = {
    "description",
    "summary",
    "examples",
    "externalDocs",
    "info",
    "tags",
    "servers",
}  # for people
NAMES = {"properties", "schemas", "headers"}  # what is in them is named by us
LIMITS: dict[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("maxLength", "maxItems", "maximum"), operator.ge),
    **dict.fromkeys(("minLength", "minItems", "minimum"), operator.le),
    **dict.fromkeys(("pattern", "format"), operator.eq),
}


def bare(document: Any, *, names: bool = False) -> Any:
    """The same, without the words for people."""
    if isinstance(document, list):
        return [bare(each) for each in document]
    if not isinstance(document, dict):
        return document
    kept = {name: part for name, part in document.items() if names or name not in WORDS}
    return {name: bare(part, names=name in NAMES and not names) for name, part in kept.items()}


def broken(then: Document, now: Document) -> list[str]:
    """What was promised `then` and does not hold `now`."""
    return [each for path in then["paths"] for each in _of_path(path, then, now)]


def _of_path(path: str, then: Document, now: Document) -> Iterator[str]:
    there = now["paths"].get(path, {})
    for method, operation in then["paths"][path].items():
        call = f"{method.upper()} {path}"
        if method not in there:
            yield f"{call} is gone"
        else:
            yield from _of_call(call, _whole(operation, then), _whole(there[method], now))


def _whole(part: Any, document: Document) -> Any:
    """With what it refers to in the place of the references."""
    if isinstance(part, list):
        return [_whole(each, document) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        *_, kind, name = part["$ref"].split("/")
        return _whole(document["components"][kind][name], document)
    return {name: _whole(each, document) for name, each in part.items()}


def _of_call(call: str, then: Document, now: Document) -> Iterator[str]:
    for scope in _scopes(now) - _scopes(then):
        yield f"{call} needs {scope}"
    yield from _of_parameters(call, then, now)
    if body := now.get("requestBody"):
        before = then.get("requestBody", {})
        if body.get("required") and not before.get("required"):
            yield f"{call} needs a body"
        yield from _narrower(f"{call} body", _schema(before), _schema(body))
    for status, answer in then["responses"].items():
        where = f"{call} {status}"
        if status not in now["responses"]:
            yield f"{where} is gone"
            continue
        there = now["responses"][status]
        for name in answer.get("headers", {}).keys() - there.get("headers", {}).keys():
            yield f"{where} has no header {name}"
        yield from _poorer(where, _schema(answer), _schema(there))


def _scopes(operation: Document) -> set[str]:
    return {
        scope or name
        for each in operation["security"]
        for name, scopes in each.items()
        for scope in scopes or [""]
    }


def _of_parameters(call: str, then: Document, now: Document) -> Iterator[str]:
    before, after = (
        {(each["in"], each["name"]): each for each in operation.get("parameters", [])}
        for operation in (then, now)
    )
    for key, parameter in after.items():
        if parameter.get("required") and not before.get(key, {}).get("required"):
            yield f"{call} needs {key[1]}"
    for key, parameter in before.items():
        if key not in after:
            yield f"{call} takes no {key[1]}"
        else:
            yield from _narrower(f"{call} {key[1]}", parameter["schema"], after[key]["schema"])


def _schema(holder: Document) -> Document:
    """Its JSON, all parts of it together."""
    schema = holder.get("content", {}).get("application/json", {}).get("schema", {})
    return _merged(schema)


def _merged(schema: Document) -> Document:
    """With the parts of `allOf`, and those of `anyOf`, in one."""
    made = {name: part for name, part in schema.items() if name not in ("allOf", "anyOf")}
    for part in (*schema.get("allOf", []), *schema.get("anyOf", [])):
        for name, value in _merged(part).items():
            made[name] = _both(made[name], value) if name in made else value
    return made


def _both(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return one | {
            name: _both(one.get(name, {}), part) if isinstance(part, dict) else part
            for name, part in other.items()
        }
    return [*_listed(one), *_listed(other)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _narrower(where: str, then: Document, now: Document) -> Iterator[str]:
    """What a request could have, and cannot any more."""
    yield from _fewer_values(where, then, now)
    if "type" in now and (lost := _types(then) - _types(now)):
        yield f"{where} takes no {', '.join(sorted(lost))}"
    for name in set(now.get("required", [])) - set(then.get("required", [])):
        yield f"{where} needs {name}"
    for name, is_wider in LIMITS.items():
        if name in now and not (name in then and is_wider(now[name], then[name])):
            yield f"{where} has another {name}"
    for name, before, after in _parts(where, then, now):
        yield from [f"{name} is gone"] if after is None else _narrower(name, before, after)


def _poorer(where: str, then: Document, now: Document) -> Iterator[str]:
    """What an answer had, and has no more."""
    yield from _fewer_values(where, then, now)
    if new := _types(now) - _types(then):
        yield f"{where} may be {', '.join(sorted(new))}"
    for name in set(then.get("required", [])) - set(now.get("required", [])):
        yield f"{where} may be without {name}"
    for name, before, after in _parts(where, then, now):
        yield from [f"{name} is gone"] if after is None else _poorer(name, before, after)


def _fewer_values(where: str, then: Document, now: Document) -> Iterator[str]:
    before, after = (
        each.get("enum", [each["const"]] if "const" in each else []) for each in (then, now)
    )
    if after:
        yield from (f"{where} is never {value}" for value in before if value not in after)


def _types(schema: Document) -> set[str]:
    return set(_listed(schema.get("type", [])))


def _parts(
    where: str, then: Document, now: Document
) -> Iterator[tuple[str, Document, Document | None]]:
    """The fields and items of then, each with what it is now; None for what is gone."""
    for name, part in then.get("properties", {}).items():
        there = now.get("properties", {}).get(name)
        yield f"{where} {name}", _merged(part), None if there is None else _merged(there)
    if "items" in then:
        there = now.get("items")
        yield f"{where}[]", _merged(then["items"]), None if there is None else _merged(there)
