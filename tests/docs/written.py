"""How the pages write what the code has: the fields of a JSON Schema, and times."""

from datetime import timedelta


def fields(schema: dict) -> dict[str, tuple[str, str]]:
    """Whether each field of a JSON Schema is required, and its limit as the page writes it."""
    return dict(_fields_of(schema, "", schema.get("$defs", {})))


def _fields_of(schema, path, parts):
    for name, given in schema.get("properties", {}).items():
        required = "yes" if name in schema.get("required", []) else "no"
        yield from _field(given, f"{path}{name}", required, parts)


def _field(given, path, required, parts):
    shape = next((each for each in given.get("anyOf", []) if each.get("type") != "null"), given)
    shape = parts[shape["$ref"].rpartition("/")[2]] if "$ref" in shape else shape
    yield path, (required, _limit(shape))
    yield from _fields_of(shape, f"{path}.", parts)
    if items := shape.get("items"):
        item = parts[items["$ref"].rpartition("/")[2]] if "$ref" in items else items
        if "properties" in item:
            yield from _fields_of(item, f"{path}[].", parts)
        else:
            yield f"{path}[]", ("no", _limit(item))


def _limit(shape: dict) -> str:
    match shape:
        case {"const": value}:
            return f'`"{value}"`'
        case {"enum": [value]}:
            return f"`{value}`"
        case {"enum": values}:
            return ", ".join(f"`{each}`" for each in values)
        case {"properties": _}:
            return "an object"
        case {"maxItems": most}:
            return f"at most {most} items"
        case {"minLength": least, "maxLength": most}:
            return f"{least} to {most} characters"
        case {"maxLength": most}:
            return f"at most {most} characters"
    raise AssertionError(f"How is {shape} written?")


def span(time: timedelta) -> str:
    """A time in the largest unit of which it has several; an hour is one."""
    seconds = int(time.total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        number, rest = divmod(seconds, length)
        if not rest and (number > 1 or unit == "hour"):
            return f"{number} {unit}{'s' * (number > 1)}"
    raise AssertionError(f"How is {time} written?")
