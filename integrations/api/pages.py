"""`GET /v1/pages?url=`: what is known of a page, for agents that ask before they follow it."""

import hashlib
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from core.cors import AnyOrigin
from integrations.answers import known
from orgs.api.request_body import InvalidRequest
from reports import admission, canonical

LONGEST = 2048  # characters of an address, as in a report
CACHED = {"Cache-Control": "public, max-age=60"}


class Pages(AnyOrigin):
    """The open known problems of a page, at most 50, where its owner shows them."""

    def get(self, request: Request) -> Response:
        admission.count_question(request)
        url = _url(request.query_params.get("url", ""))
        try:
            problems = [each._asdict() for each in known.of_page(url)]
        except known.NotShown:
            raise known.NotShown(headers=CACHED) from None
        return _unless_known(request, {"url": url, "problems": problems})


def _url(text: str) -> str:
    """The canonical URL. Raises `InvalidRequest`."""
    try:
        if len(text) > LONGEST:
            raise canonical.InvalidURL(f"Must be at most {LONGEST} characters.")
        return canonical.url(text)
    except canonical.InvalidURL as error:
        raise InvalidRequest(details=[{"path": "query:url", "message": str(error)}]) from None


def _unless_known(request: Request, data: dict[str, Any]) -> Response:
    """The data; 304 if the caller has it already."""
    written = json.dumps(data, cls=DjangoJSONEncoder)
    tag = f'"{hashlib.sha256(written.encode()).hexdigest()[:32]}"'
    headers = {**CACHED, "ETag": tag}
    kept = {
        each.removeprefix("W/") for each in parse_etags(request.headers.get("If-None-Match", ""))
    }
    if kept & {tag, "*"}:
        return Response(status=304, headers=headers)
    return Response(data, headers=headers)
