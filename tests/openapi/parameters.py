"""Parameters and headers of the calls; what each means is in the reference."""

import re
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from pydantic import TypeAdapter

from core.cors import HEADERS as CORS
from core.ids import ULID_FORM
from integrations.api import pages, report_filters, report_list
from reports import shape, views
from reports.models import Report
from tests.openapi import reference
from tests.openapi.calls import CALLS
from tests.openapi.reference import MAINTAINERS, REPORTS

ID = {"type": "string", "pattern": f"^{ULID_FORM.pattern}$"}
DAY = {"type": "string", "format": "date"}
FILTERS: dict[str, dict[str, Any]] = {
    "status": {"type": "string", "enum": report_filters.STATUSES},
    "kind": {"type": "string", "enum": Report.Kind.values},
    "q": {"type": "string", "maxLength": report_filters.LONGEST_ADDRESS},
    "page": {"type": "string", "maxLength": report_filters.LONGEST_ADDRESS},
    "agent": {"type": "string", "maxLength": report_filters.LONGEST_SEARCH},
    "claim": {"type": "string", "maxLength": report_filters.LONGEST_ADDRESS},
    "since": DAY,
    "until": DAY,
    "cursor": {
        "type": "string",
        "pattern": f"^{re.sub(r'[?]P<[a-z]+>', '', report_list.CURSOR.pattern)}$",
    },
}
IN_PATHS = {
    "GET /v1/reports/<id>": ("report_id", ID, "The id of a report."),
    "/sites/<id>": ("site_id", ID, "The id of a site."),
    "/reports/<id>": ("report_id", ID, "The id of a report."),
    "/domains/<domain>": ("domain", {"type": "string"}, "The domain, in any spelling."),
}
RETRY_AFTER = "For how many seconds to wait."
CHALLENGE = "What is wrong with the token (RFC 6750)."


def of(call: str) -> list[OpenApiParameter]:
    """What varies in the address and the headers of a request."""
    found = [
        _parameter(name, "path", schema, said, required=True)
        for part, (name, schema, said) in IN_PATHS.items()
        if part in call
    ]
    if call == "GET /v1/orgs/me/reports":
        said = reference.meanings(MAINTAINERS, "parameter", "meaning")
        days = said["since"]
        found += [
            _parameter(name, "query", FILTERS[name], said.get(name, days)) for name in FILTERS
        ]
    if call == "GET /v1/pages":
        said = reference.meanings(REPORTS, "parameter of a page", "required", "limit", "meaning")
        address = {"type": "string", "maxLength": pages.LONGEST}
        found.append(_parameter("url", "query", address, said["url"], required=True))
    if call == "GET /v1/integrations/github/repositories":
        found.append(
            _parameter(
                "page",
                "query",
                {"type": "integer", "minimum": 1},
                "The `next_page` of the page before.",
            )
        )
    if call == "POST /v1/reports":
        said = reference.meanings(REPORTS, "header", "required", "meaning")
        version = {"type": "string", "enum": ["0"]}
        found += [
            _parameter(name, "header", schema, said[name])
            for name, schema in {
                "Idempotency-Key": TypeAdapter(shape.Key).json_schema(),
                views.VERSION_HEADER: version,
            }.items()
        ]
    return found


def headers(call: str) -> list[OpenApiParameter]:
    """What the headers of the answers say."""
    statuses = {reference.errors()[code][0] for code in reference.codes(call)}
    waits = sorted(statuses & {429, 503})
    seconds = {"type": "integer", "minimum": 1}
    found = [_answered("Retry-After", waits, seconds, RETRY_AFTER)]
    if reference.is_public(call):
        origin = {"type": "string", "const": CORS["Access-Control-Allow-Origin"]}
        found.append(
            _answered(
                "Access-Control-Allow-Origin",
                list(CALLS[call].answers),
                origin,
                "Scripts of any origin may read it.",
            )
        )
    else:
        kept = {"type": "string", "const": "no-store"}
        found += [
            _answered("WWW-Authenticate", [401], {"type": "string"}, CHALLENGE),
            _answered("WWW-Authenticate", [403], {"type": "string"}, CHALLENGE, required=False),
            _answered(
                "Cache-Control", list(CALLS[call].answers), kept, "No answer is to be cached."
            ),
        ]
    return found


def _parameter(
    name: str, place: str, schema: dict[str, Any], said: str, *, required: bool = False
) -> OpenApiParameter:
    return OpenApiParameter(name, schema, place, required=required, description=said)


def _answered(
    name: str, statuses: list[int], schema: dict[str, Any], said: str, *, required: bool = True
) -> OpenApiParameter:
    return OpenApiParameter(
        name, schema, "header", response=statuses, required=required, description=said
    )
