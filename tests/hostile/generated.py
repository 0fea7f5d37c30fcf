"""What hypothesis writes into the fields of JSON bodies, forms and queries."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote_from_bytes

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Document = dict[str, Any]
Place = tuple[str | int, ...]

WORST = ["a\0b", "\ud800", "", 10**400, [], {}]  # tried in every place
TEXTS = [
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\ud800",
        "\udc00\ud800",
        "\u202e",
        "\ufeff",
        "\u0301" * 40,
        "\U0010ffff",
    ),
    *(
        "\r\n",
        "\u2028",
        "\x7f",
        "\x1b[31m",
        "<script>",
        "{{ x }}",
        "%s%n",
        "' OR 1=1 --",
        "../../x",
    ),
    *("a" * 64, "a" * 255, "a" * 501, "a" * 2049, "a" * 8001, "ﷺ" * 1000, "\0" * 300, "é" * 5000),
    *(
        "-1",
        "0",
        "00",
        "1e400",
        "NaN",
        "9" * 20,
        "9" * 5000,
        "٣",
        "2147483648",
        "9223372036854775808",
    ),
    *("01J9ZK3V5T8Q2M4N6P7R8S9T0V", "81J9ZK3V5T8Q2M4N6P7R8S9T0V", "01j9zk3v5t8q2m4n6p7r8s9t0v"),
    *("01J9ZK3V5T8Q2M4N6P7R8S9TIV", "01J9ZK3V5T8Q2M4N6P7R8S9T0V\n", "０" * 26, "0" * 27),
    *(
        "0000-00-00",
        "0000-01-01",
        "0001-01-01",
        "9999-12-31",
        "10000-01-01",
        "2026-02-30",
        "2026-1-1",
    ),
    *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59", "2026-01-31T24:00:00Z"),
    *(
        "http://",
        "https://",
        "//",
        "https:///x",
        "https://[::1",
        "https://[::1]:99999/",
        "http://a:b@c/",
    ),
    *("https://docs.acme0.com/%zz%ff%00", "https://docs.acme0.com:0/", "https://docs.acme0.com:x/"),
    *(
        "https://xn--/",
        "https://xn--a/",
        "https://a..b/",
        "https://" + "a." * 200 + "com/",
        "/" * 2048,
    ),
    *(
        "https://docs.acme0.com/" + "%E2%80%8B" * 200,
        "https://DOCS.ACME0.COM./../..",
        "javascript:x",
    ),
    *(
        "docs.acme0.com",
        "xn--",
        "ß.com",
        "ａ.com",
        "\u00ad.com",
        "*.acme0.com",
        "localhost",
        "0x7f.1",
    ),
    *("acme0.github.io", "https://acme0.github.io/docs/", "https://github.com/acme0/docs/issues/1"),
    *(
        "https://github.com/acme0/docs/issues/99999999999999999999",
        "https://github.com/" + "a/" * 900,
    ),
]
NUMBERS = [0, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**400, -0.0, 1e308, 5e-324, 0.1]
NUMBERS += [float("inf"), float("-inf"), float("nan")]
ANY_CHARACTER = st.characters(exclude_categories=())  # halves of pairs, too

texts = st.one_of(st.sampled_from(TEXTS), st.text(ANY_CHARACTER, max_size=30))
leaves = st.one_of(texts, st.sampled_from(NUMBERS), st.integers(), st.booleans(), st.none())
values = st.one_of(
    leaves,
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=6,
    ),
    st.lists(texts, min_size=101, max_size=101),
)


def worst_bodies(document: Document, example: Any, schema: Document) -> list[bytes]:
    """An example with each of the worst values in each of its places, or of those the schema allows."""
    places = _all_places(document, example, schema)
    return [_written(_with(example, place, worst)) for place in places for worst in WORST]


def bodies(document: Document, example: Any, schema: Document) -> SearchStrategy[bytes]:
    """JSON bodies: an example, with one to three of these places hostile."""
    places = _all_places(document, example, schema)
    change = st.tuples(st.sampled_from(places), values | st.just(DELETED))

    def changed(changes: list[tuple[Place, Any]], *, escaped: bool) -> bytes:
        body = example
        for place, value in changes:
            body = _with(body, place, value)
        return _written(body, escaped=escaped)

    changes = st.lists(change, min_size=1, max_size=3)
    return st.builds(lambda c, e: changed(c, escaped=e), changes, st.booleans())


def _all_places(document: Document, example: Any, schema: Document) -> list[Place]:
    return sorted({*_places(document, schema), *_places_in(example)}, key=repr)


def _written(body: Any, *, escaped: bool = True) -> bytes:
    return json.dumps(body, ensure_ascii=escaped).encode("utf-8", "surrogatepass")


DELETED = object()


def _places(document: Document, schema: Document, above: Place = ()) -> Iterator[Place]:
    """Where a body of this schema has a value; the body itself first."""
    yield above
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for each in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from _places(document, each, above)
    for name, part in schema.get("properties", {}).items():
        yield from _places(document, part, (*above, name))
    if "items" in schema:
        yield from _places(document, schema["items"], (*above, 0))


def _places_in(value: Any, above: Place = ()) -> Iterator[Place]:
    yield above
    steps = value.items() if isinstance(value, dict) else ()
    for name, part in steps:
        yield from _places_in(part, (*above, name))


def _with(body: Any, place: Place, value: Any) -> Any:
    """The body with another value there; objects and arrays that lead there are made."""
    if not place:
        return {} if value is DELETED else value
    step, rest = place[0], place[1:]
    if isinstance(step, int):
        return [_with(body[0] if isinstance(body, list) and body else None, rest, value)]
    known = dict(body) if isinstance(body, dict) else {}
    if not rest and value is DELETED:
        known.pop(step, None)
        return known
    return known | {step: _with(known.get(step), rest, value)}


def worst_fields(names: dict[str, list[str]]) -> list[bytes]:
    """Forms or queries, written out, with NUL in one field."""
    usual = {name: given[0] for name, given in names.items()}
    return [_form({**usual, name: "a\0b"}.items()) for name in names]


def fields(names: dict[str, list[str]]) -> SearchStrategy[bytes]:
    """Forms or queries, written out: of each field what it offers, of some of them something hostile."""
    usual = st.fixed_dictionaries({name: st.sampled_from(given) for name, given in names.items()})
    hostile = st.lists(st.tuples(st.sampled_from([*sorted(names), "unknown"]), texts), max_size=3)

    def written(fields: dict[str, str], more: list[tuple[str, str]], *, instead: bool) -> bytes:
        kept = {k: v for k, v in fields.items() if not instead or k not in dict(more)}
        return _form([*kept.items(), *more])

    return st.builds(lambda f, m, i: written(f, m, instead=i), usual, hostile, st.booleans())


def _form(pairs: Iterable[tuple[str, str]]) -> bytes:
    return "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in pairs).encode()


def _quoted(text: str) -> str:
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"))


def try_out(strategy: SearchStrategy[bytes], number: int, use: Callable[[bytes], None]) -> None:
    """Use so many of what it generates: the same each time, and what fails as small as it can be."""
    chosen = settings(
        max_examples=number,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )

    @chosen
    @given(strategy)
    def used(content: bytes) -> None:
        use(content)

    used()
