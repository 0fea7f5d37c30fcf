"""The words of the document: from the tables of the reference, where it has them."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from hub.docs.library import HUB
from tests.docs import tables
from tests.openapi import reference
from tests.openapi.calls import CALLS
from tests.openapi.reference import MAINTAINERS, REPORTS

ABOUT = f"""\
Takes reports about problems in documentation pages, and opens an issue where the maintainers of the page \
work. Sending a report, looking up its receipt and asking what is known of a page are for everybody; all \
other calls act on the \
organization of the token's owner.

Every address that answers `GET` answers `HEAD`, too. Any other method is answered with `405` \
`method_not_allowed`, and `Allow` lists the methods that there are. Scripts of any origin may make the three \
calls for everybody: these answer `OPTIONS`, and every answer to the Hub's own `Host` has \
`Access-Control-Allow-Origin: *`.

Unknown fields in a body are refused; unknown parameters of an address are ignored, \
and an empty one counts as absent. Ignore fields of an \
answer that you do not know: later versions may have more. Rates are those of a Hub with default settings; \
`Retry-After` says what holds for you. Every answer has `X-Request-Id`, by which the operator of the Hub \
finds the request in the log.

`info.version` is the release of the Hub that is described, and changes with each release. `v1`, in the \
addresses, is the version of the calls: there is no other, and within it nothing is taken away. \
`v0`, in the addresses of the docs, is theirs, and `protocol_version` `"0"` is that of the Docs Feedback \
Protocol. [What changes when]({HUB}/v0/explanation/versioning/).

Not described here are `/.well-known/docs-feedback.json`, which the Docs Feedback Protocol describes, and \
the addresses to which GitHub sends webhooks and browsers."""
TOKENS = """\
A personal token (it begins with `hub_`), which you create at `/settings/tokens/`, or an access token of \
OAuth's device flow (RFC 8628). Its scopes are `orgs:read` and `orgs:write`; neither includes the other."""

ANSWERS = "field", "type"
BODY = "body", "required"
FIELDS = [  # a component, and the tables with what its fields mean
    ("ReportBody", REPORTS, ("field", "required", "limit")),
    ("Receipt", REPORTS, ("field", "type")),
    ("Sent", REPORTS, ("field", "type")),
    ("TestReportSent", REPORTS, ("field", "type")),
    ("KnownProblems", REPORTS, ("field of a page",)),
    ("Organization", MAINTAINERS, ("field", "type")),
    ("Domain", MAINTAINERS, ("field of a domain",)),
    ("DomainClaim", MAINTAINERS, ("field of a domain",)),
    ("CheckedDomain", MAINTAINERS, ("field of a domain",)),
    ("Site", MAINTAINERS, ("field of a site",)),
    ("Installation", MAINTAINERS, ("field of an installation",)),
    ("Repository", MAINTAINERS, ("field of a repository",)),
    ("ListedReport", MAINTAINERS, ("field of a listed report",)),
    ("WholeReport", MAINTAINERS, ("field of a listed report",)),
    ("WholeReport", MAINTAINERS, ("field of one report",)),
    ("ReportAfterwards", MAINTAINERS, ("field of a listed report",)),
    ("ReportAfterwards", MAINTAINERS, ("field of one report",)),
    ("ActedOn", MAINTAINERS, ("field of the answer",)),
    *((name, MAINTAINERS, ("body", "required")) for name in (
        "ConfigureBody", "ChoicesBody", "DomainBody", "OptOutBody", "SiteBody", "AnswerBody", "Chosen",
        "Split", "Named",
    )),
]  # fmt: skip
VALUES = [  # a field, the table with what each of its values means, and what comes before that
    ("Receipt", "status", REPORTS, "`status`"),
    ("DeliveryOfReport", "status", MAINTAINERS, "status"),
    ("DeliveryOfReport", "held_for", MAINTAINERS, "cause", "held until "),
    ("Wait", "cause", MAINTAINERS, "cause in `waits_for`"),
    ("Try", "outcome", MAINTAINERS, "outcome"),
]

Schemas = dict[str, dict[str, Any]]


def of_call(call: str) -> str:
    """What a call does, who may make it, and how often."""
    said = [reference.description(call)]
    if not reference.is_public(call) and (who := reference.who(call)) != "members":
        said.append(f"For {who}.")
    return "\n\n".join(filter(None, said))


def of_answer(model: type[BaseModel] | None, status: int) -> str:
    """What an answer is: the sentence of its model."""
    if status == 304:
        return "You have it already: its `ETag` is in `If-None-Match`. There is no body."
    if model is None:
        return "Done. There is no body."
    return str(model.__doc__)


def fill_in(schemas: Schemas) -> None:
    """Give each field its meaning, and leave out what says nothing."""
    for name, schema in schemas.items():
        schemas[name] = _plain(schema)
    for name, page, header in FIELDS:
        said = reference.meanings(page, *header)
        for path, field, _ in below(schemas, schemas[name]):
            if path in said:
                field.setdefault("description", said[path])
    for row in tables.rows("errors", "code", "field", "meaning"):
        field = schemas["Error"]["properties"][tables.codes(row[1])[0]]
        field.setdefault("description", reference.sentence(row[2]))
    schemas["Error"]["properties"]["error"]["examples"] = sorted(
        {code for call in CALLS for code in reference.codes(call)}
    )
    for name, field, page, header, *before in VALUES:
        said = reference.meanings(page, header, before="".join(before))
        _list_values(schemas[name]["properties"][field], said)


def _plain(schema: Any) -> Any:
    """Without titles and null defaults; a value or null as a list of types."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: _plain(field) for name, field in value.items()}
        if key == "properties"
        else _plain(value)
        for key, value in schema.items()
        if not (key == "title" or (key == "default" and value is None))
    }
    match kept.get("anyOf"):
        case [{"type": str(kind)} as one, {"type": "null"}] if "const" not in one:
            del kept["anyOf"]
            kept = one | {"type": [kind, "null"]} | kept
            if "enum" in kept:
                kept["enum"] = [*kept["enum"], None]
    return kept


def below(
    schemas: Schemas, schema: dict[str, Any], prefix: str = ""
) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Every field below a schema: its path, such as `delivery.status` or `evidence[].kind`, and if it is required."""
    for name, field in schema.get("properties", {}).items():
        yield f"{prefix}{name}", field, name in schema.get("required", ())
        yield from _inside(schemas, field, f"{prefix}{name}")


def _inside(
    schemas: Schemas, field: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any], bool]]:
    for each in [field, *field.get("anyOf", [])]:
        if "$ref" in each:
            yield from below(schemas, schemas[each["$ref"].rpartition("/")[2]], f"{path}.")
        if isinstance(each.get("items"), dict):
            if "$ref" not in each["items"]:
                yield f"{path}[]", each["items"], True
            yield from _inside(schemas, each["items"], f"{path}[]")


def _list_values(field: dict[str, Any], meanings: dict[str, str]) -> None:
    said = field.get("description", "")
    lines = [f"- `{value}`: {meanings[value]}" for value in field["enum"] if value in meanings]
    field["description"] = "\n".join(
        ["" if said.startswith("See ") else f"{said}\n", *lines]
    ).strip()
