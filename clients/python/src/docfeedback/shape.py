"""What a Hub accepts: a report against the table `contract/report.json`, with all its faults at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, Callable, Dict, List, Mapping, Optional, Pattern
from unicodedata import category

from .contract import message, table
from .errors import ValidationError
from .spelling import meant
from .visible import is_blank

KEY_HEADER = "header:Idempotency-Key"
LONGEST_NAME = 100  # of an unknown field, in a fault
TIME = re.compile(  # with the hours, since Python 3.14 takes 24:00
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]((?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
HIDDEN = ("Cc", "Cf", "Co", "Zl", "Zp", "Zs")  # not Cn: the Hub may know a newer Unicode

Spec = Mapping[str, Any]
Fault = Dict[str, str]


def checked(body: Any, key: Any = None) -> Dict[str, Any]:
    """A copy of the report in plain types, its fields in the order of the table.

    Raises ValidationError with its faults and that of the key.
    """
    faults: List[Fault] = []
    try:
        copy = _read(body, table("report.json")["body"], "", faults)
        if key is not None and _fault_of_text(key, _key()) is not None:
            faults.append(fault(KEY_HEADER, "not_a_key"))
    except Exception:  # by a mapping or a sequence of the caller's own
        raise ValidationError.of("not_json_value") from None
    if faults:
        details = faults[: table("report.json")["max_faults"]]
        raise ValidationError(
            "invalid_report", message("invalid_report"), fields={"details": details}
        )
    result: Dict[str, Any] = copy
    return result


def fault(pointer: str, code: str, hint: str = "", **values: object) -> Fault:
    """One fault: its place, and its message in `messages.json`."""
    return {"path": pointer, "message": message(code, **values) + hint}


def _key() -> Spec:
    spec: Spec = table("report.json")["body"]["properties"]["idempotency_key"]
    return spec


def _read(value: Any, spec: Spec, pointer: str, faults: List[Fault]) -> Any:
    return _READERS[spec["type"]](value, spec, pointer, faults)


def _read_object(value: Any, spec: Spec, pointer: str, faults: List[Fault]) -> Any:
    if not isinstance(value, Mapping):
        faults.append(fault(pointer, "not_an_object"))
        return None
    copy = {}
    properties = spec["properties"]
    for name in properties:
        if name in value:
            copy[name] = _read_field(value[name], spec, name, pointer, faults)
        elif name in spec["required"]:
            faults.append(fault(f"{pointer}/{name}", "field_required"))
    unknown = (name for name in value if not (isinstance(name, str) and name in properties))
    most = table("report.json")["max_faults"]
    faults += [unknown_field(name, properties, pointer) for name in islice(unknown, most)]
    return copy


def _read_field(value: Any, spec: Spec, name: str, pointer: str, faults: List[Fault]) -> Any:
    """null in an optional field counts as absent."""
    if value is None and name not in spec["required"]:
        return None
    return _read(value, spec["properties"][name], f"{pointer}/{name}", faults)


def _read_list(value: Any, spec: Spec, pointer: str, faults: List[Fault]) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes, bytearray)):
        faults.append(fault(pointer, "not_a_list"))
        return None
    items = list(islice(value, spec["maxItems"] + 1))
    if len(items) > spec["maxItems"]:
        faults.append(fault(pointer, "list_too_long", most=spec["maxItems"]))
        return None
    return [
        _read(item, spec["items"], f"{pointer}/{place}", faults) for place, item in enumerate(items)
    ]


def _read_text(value: Any, spec: Spec, pointer: str, faults: List[Fault]) -> Any:
    plain = _plain(value)
    found = _fault_of_text(plain, spec)
    if found is not None:
        faults.append({"path": pointer, "message": found})
    return plain


_READERS: Dict[str, Callable[[Any, Spec, str, List[Fault]], Any]] = {
    "object": _read_object,
    "array": _read_list,
    "string": _read_text,
}


def _plain(value: Any) -> Any:
    """A string without what a subclass of `str` may say of itself."""
    return str.__str__(value) if isinstance(value, str) else value


def _fault_of_text(text: Any, spec: Spec) -> Optional[str]:
    """What is wrong with a text, or None; its length is counted in code points."""
    choices = spec.get("enum")
    if not isinstance(text, str):
        return _not_one_of(text, choices) if choices else message("not_a_text")
    if len(text) < spec.get("minLength", 0):
        return message("text_empty")
    if len(text) > spec.get("maxLength", len(text)):
        return message("text_too_long", most=spec["maxLength"])
    if has_half_a_character(text):
        return message("half_a_character")
    if choices:
        return None if text in choices else _not_one_of(text, choices)
    if "pattern" in spec:
        matches = _compiled(spec["pattern"]).fullmatch(text)
        return None if matches else message("no_match", pattern=spec["pattern"])
    if "\0" in text:
        return message("has_nul")
    code = _FORMATS[spec["format"]](text) if "format" in spec else None
    return code and message(code)


@lru_cache(maxsize=None)
def _compiled(of_the_table: str) -> Pattern[str]:
    return re.compile(of_the_table)


def _not_one_of(value: Any, choices: Sequence[str]) -> str:
    *first, last = (f"'{each}'" for each in choices)
    values = f"{', '.join(first)} or {last}" if first else last
    hint = meant(value, choices) if isinstance(value, str) else ""
    return message("not_one_of", values=values) + hint


def unknown_field(name: Any, known: Mapping[str, Any], pointer: str) -> Fault:
    """The fault of a field that no report has, at its object if its name is none."""
    if not isinstance(name, str):
        return fault(pointer, "not_json_value")
    plain = _plain(name)
    if has_half_a_character(plain):
        return fault(pointer, "half_a_character")
    shown = plain if len(plain) <= LONGEST_NAME else f"{plain[:LONGEST_NAME]}…"
    step = shown.replace("~", "~0").replace("/", "~1")
    return fault(f"{pointer}/{step}", "unknown_field", meant(plain, known) or _elsewhere(plain))


def _elsewhere(name: str) -> str:
    """Where a field with this name belongs, such as `summary` in `report`."""
    for parent, spec in table("report.json")["body"]["properties"].items():
        if name in spec.get("properties", {}):
            return message("did_you_mean", name=f"/{parent}/{name}")
    return ""


def has_half_a_character(text: str) -> bool:
    """Whether it has half of a surrogate pair, which UTF-8 has no bytes for."""
    return not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text)


def _address(text: str) -> Optional[str]:
    """Only whether there is one: `address.check` judges it, and names the host."""
    if not text:
        return "not_an_address"
    return "only_a_fragment" if text.startswith("#") else None


def _line(text: str) -> Optional[str]:
    return "not_a_line" if is_blank(text) else None


def _name(text: str) -> Optional[str]:
    hidden = any(category(each) in HIDDEN and each != " " for each in text)
    return "not_a_name" if hidden or is_blank(text) else None


def _time(text: str) -> Optional[str]:
    parts = TIME.fullmatch(text)
    try:
        if parts and datetime.fromisoformat(f"{parts[1]}T{parts[2]}"):
            return None
    except ValueError:
        pass  # no such day, or hour
    return "not_a_time"


_FORMATS: Dict[str, Callable[[str], Optional[str]]] = {
    "address": _address,
    "line": _line,
    "name": _name,
    "date-time": _time,
}
