"""Every regular expression of the project, and texts on which a careless one takes very long."""

import ast
import functools
import importlib
import inspect
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from operator import or_
from pathlib import Path
from re import _compiler, _parser
from re import _constants as sre
from typing import Any, NamedTuple

from django import forms

from reports import contract

ROOT = Path(__file__).resolve().parent.parent
ROOMS = [
    "core",
    "orgs",
    "reports",
    "integrations",
    "hub",
    "sandbox",
    "clients/python/src",
    "clients/mcp/src",
]
MODULES = sorted(path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py"))
METHODS = ["search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"]
WHOLE = {"match", "fullmatch"}  # begin in one place; all others try every place
BOTH = frozenset({"every", "one"})
ENDINGS = ["", "\0\n x"]  # what no repetition before it goes on into
ORDINARY = "y"  # which `.` goes on into
BEGINNINGS = 8  # of one pattern
FRAGMENTS = 6  # of one pattern, large and small ones each

JAVASCRIPT = re.compile(  # a literal, which follows a sign and not a value
    r"(?:(?<=[=,?:&|] )|(?<=[(\[!]))/(?P<pattern>(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?P<flags>[a-z]*)"
)
FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL}

Attempt = Callable[[str], object]


class Found(NamedTuple):
    """A pattern, where it is, and whether it is tried in every place of a text, in one, or both."""

    where: str
    pattern: re.Pattern[str]
    ways: frozenset[str]

    def attempts(self) -> list[Attempt]:
        every = [lambda text: self.pattern.sub("", text)]
        return every * ("every" in self.ways) + [self.pattern.fullmatch] * ("one" in self.ways)


class Pump(NamedTuple):
    unit: str
    ending: str
    beginning: str = ""

    def of(self, length: int) -> str:
        """At least one unit; not much more than so many characters."""
        return self.beginning + self.unit * max(1, length // len(self.unit)) + self.ending


def patterns() -> list[Found]:
    """All that are compiled in a module, in its tables, classes and forms, or written in a call."""
    sys.path += [str(ROOT / room) for room in ROOMS if room.endswith("src")]
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in MODULES}
    everywhere = _ways("".join(sources.values()))
    found = []
    for path, source in sources.items():
        inside = [(f"{path}: {name}", name, each) for name, each in _compiled(module(path))]
        inside += [(f"{path}: {each.pattern}", "", each) for each in _written(source)]
        used = everywhere | _ways(source)
        found += [Found(where, each, used.get(name, BOTH)) for where, name, each in inside]
    report = (ROOT / "clients/contract/report.json").read_text(encoding="utf-8")
    found += [
        Found("report.json", re.compile(json.loads(each)), frozenset({"one"}))
        for each in re.findall(r'"pattern": (".*?")', report)
    ]
    shared = [contract.whole(each["pattern"]) for each in contract.SECRETS["kinds"]]
    found += [Found("secrets.json", re.compile(each), BOTH) for each in shared]
    found += _in_javascript()
    return list({(each.pattern, each.ways): each for each in found}.values())


def _in_javascript() -> Iterator[Found]:
    """The literals in the Node package, tried as Python would; the others are made of what Python has, too."""
    for path in sorted((ROOT / "clients/node").glob("*/*.js")):
        for literal in JAVASCRIPT.finditer(path.read_text(encoding="utf-8")):
            flags = [FLAGS[each] for each in literal["flags"] if each in FLAGS]
            pattern = re.compile(_as_python(literal["pattern"]), functools.reduce(or_, flags, 0))
            yield Found(f"{path.relative_to(ROOT)}: {literal[0]}", pattern, frozenset({"every"}))


def _as_python(pattern: str) -> str:
    """The same in the words of `re`, where a property such as `\\p{L}` is some letter."""
    end = re.sub(r"(\[(?:\\.|[^\]\\])*\]|\\.)|\$", lambda found: found[1] or r"\Z", pattern)
    wide = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: f"\\U{found[1]:0>8}", end)
    return re.sub(r"\\p\{\w+\}", "a", wide)


def _ways(source: str) -> dict[str, frozenset[str]]:
    """How each name is used as a pattern."""
    uses: dict[str, set[str]] = {}
    for name, method in re.findall(rf"\b(\w+)\.({'|'.join(METHODS)})\b", source):
        uses.setdefault(name, set()).add("one" if method in WHOLE else "every")
    return {name: frozenset(ways) for name, ways in uses.items()}


def module(path: Path) -> Any:
    """The module of a file; None for one that would run."""
    room = next(each for each in ROOMS if path.is_relative_to(each))
    inside = path.relative_to(room) if room.endswith("src") else path
    name = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
    return None if name.endswith("__main__") else importlib.import_module(name)


def _compiled(module: Any) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns of a module, each with the name that it is used by."""
    seen: set[int] = set()

    def inside(name: str, value: Any) -> Iterator[tuple[str, re.Pattern[str]]]:
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, re.Pattern):
            yield name, value
        elif isinstance(value, dict):
            for each in itertools.chain(value, value.values()):
                yield from inside("", each)
        elif isinstance(value, list | tuple | set | frozenset):
            for each in value:
                yield from inside("", each)
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            for key, each in list(vars(value).items()):
                yield from inside(key, each)
            if issubclass(value, forms.BaseForm):
                yield from inside("", value.base_fields)
        elif isinstance(value, forms.Field):
            yield from inside("", [getattr(each, "regex", None) for each in value.validators])

    for name, value in list(vars(module).items()) if module else []:
        yield from inside(name, value)


def _written(source: str) -> Iterator[re.Pattern[str]]:
    """Those that stand in a call, such as `re.split("[?#]", url)`, flags left out."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=method), args=[first, *_]):
                if method in METHODS and isinstance(first, ast.Constant):
                    yield re.compile(first.value)


def unnamed(source: str) -> list[str]:
    """The calls of a module's functions that make a pattern of something that is not written there."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        ast.unparse(each)
        for each in calls
        if isinstance(each.func, ast.Attribute)
        and ast.unparse(each.func) in {f"re.{method}" for method in METHODS}
        and not isinstance(each.args[0], ast.Constant)
    ]


def pumps(pattern: re.Pattern[str]) -> list[Pump]:
    """Repetitions of what the pattern matches a part of, in pairs, with and without an end.

    And alone behind what the pattern begins with, for repetitions in its middle; and of what it begins with, from
    each of which it may read on to the end.
    """
    parts = _fragments(pattern)
    pairs = [first + second for first, second in itertools.product(parts, repeat=2)]
    units = dict.fromkeys([*parts, *pairs])
    units |= dict.fromkeys(_beginnings(pattern))
    found = [Pump(unit, ending) for unit, ending in itertools.product(units, ENDINGS)]
    inside = itertools.product(parts, [*ENDINGS, ORDINARY], _beginnings(pattern))
    return found + [Pump(*each) for each in inside]


def _beginnings(pattern: re.Pattern[str]) -> list[str]:
    """What the pattern matches up to each of its parts, such as a word, and all of it."""
    tree = list(_parser.parse(pattern.pattern, pattern.flags))
    ends = [
        length
        for length in range(1, len(tree) + 1)
        if length == len(tree) or tree[length][0] is not sre.LITERAL
    ]
    found = (_sample(tree[:length], 1) for length in ends)
    return list(dict.fromkeys(filter(None, found)))[:BEGINNINGS]


def _fragments(pattern: re.Pattern[str]) -> list[str]:
    """Short texts that the pattern or a part of it matches, some large and some small; never empty."""
    parts = list(_parts(_parser.parse(pattern.pattern, pattern.flags)))
    samples = (_sample(part, repeats) for repeats in (1, 2) for part in parts)
    found = sorted(filter(None, dict.fromkeys(samples)), key=len)
    return found[:FRAGMENTS] + found[FRAGMENTS:][-FRAGMENTS:] or ["a"]


def _parts(tree: Any) -> Iterator[Any]:
    """What is repeated, chosen from or looked for in a parsed pattern, then all of it."""
    for operation, argument in tree:
        match operation, argument:
            case ((sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT), (_, _, inner)):
                yield from _parts(inner)
            case (sre.SUBPATTERN, (*_, inner)) | (sre.ASSERT, (_, inner)):
                yield from _parts(inner)
            case sre.ATOMIC_GROUP, inner:
                yield from _parts(inner)
            case sre.BRANCH, (_, choices):
                yield from itertools.chain.from_iterable(map(_parts, choices))
            case sre.IN, choices:
                yield from ([(sre.IN, [each])] for each in choices if each[0] is not sre.NEGATE)
    yield tree


def classes(pattern: re.Pattern[str]) -> Iterator[list[Any]]:
    """The items of each class of characters, with which a character is compared one by one; a table is one."""
    for part in _parts(_parser.parse(pattern.pattern, pattern.flags)):
        for operation, argument in part:
            if operation is sre.IN:
                yield _compiler._optimize_charset(argument)[0]  # type: ignore[attr-defined]


def _sample(tree: Any, repeats: int) -> str:
    return "".join(_one(operation, argument, repeats) for operation, argument in tree)


def _one(operation: Any, argument: Any, repeats: int) -> str:
    """A text that one node of a parsed pattern matches, what it repeats `repeats` times."""
    match operation, argument:
        case sre.LITERAL, code:
            return chr(code)
        case sre.NOT_LITERAL | sre.ANY, _:
            return "a"
        case ((sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT), (least, most, inner)):
            return _sample(inner, repeats) * min(max(least, repeats), most)
        case (sre.SUBPATTERN, (*_, inner)) | (sre.ATOMIC_GROUP, inner):
            return _sample(inner, repeats)
        case sre.BRANCH, (_, choices):
            return _sample(choices[0], repeats)
        case sre.IN, choices:
            return _member(choices)
    return ""


def _member(choices: Any) -> str:
    """A character of a set, such as `[^a-z]`."""
    match choices[0]:
        case sre.LITERAL, code:
            return chr(code)
        case sre.RANGE, (first, _):
            return chr(first)
        case sre.CATEGORY, category:
            return CATEGORIES.get(category, "!")
    tree = _parser.SubPattern(_parser.State(), [(sre.IN, choices)])
    return next(filter(_compiler.compile(tree).match, TRIED))


CATEGORIES = {sre.CATEGORY_DIGIT: "0", sre.CATEGORY_SPACE: " ", sre.CATEGORY_WORD: "a"}
TRIED = ["a", "0", " ", "-", "\u3042", "\0"]
