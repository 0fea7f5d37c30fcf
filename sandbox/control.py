"""The sandbox's own API, which GitHub does not have: faults, and the state as JSON."""

from dataclasses import asdict
from typing import Any

from . import github_json
from .calls import Call
from .messages import ApiError, Response, json_response


def arm_fault(call: Call) -> Response:
    """`{"kind": "hang", "seconds": 30, "created": true, "method": …, "path": …, "times": …}`"""
    if not call.request.headers.get("Content-Type", "").startswith("application/json"):
        raise ApiError(415, "Send JSON, and say so in Content-Type.")
    details: dict[str, Any] = call.request.json_object()
    try:
        call.host.fail(details.pop("kind", ""), **details)
    except (TypeError, ValueError) as error:
        raise ApiError(422, str(error)) from None
    return json_response(call.host.faults.waiting(), status=201)


def clear_faults(call: Call) -> Response:
    """`DELETE /_sandbox/faults`"""
    call.host.faults.clear()
    return Response(204)


def show_state(call: Call) -> Response:
    """`GET /_sandbox/state`: repositories with their issues, requests and faults."""
    host = call.host
    repositories = [
        github_json.repository(host, repository)
        | {"issues": [github_json.issue(host, each) for each in host.issues(repository)]}
        for repository in host.repositories.values()
    ]
    return json_response(
        {
            "app": github_json.app(host),
            "installations": [
                github_json.installation(host, each) for each in host.installations.values()
            ],
            "repositories": repositories,
            "faults": host.faults.waiting(),
            "requests": [asdict(each) for each in host.requests],
        }
    )
