"""The report that is shown and tried: on the landing page, on `/connect/`, and in the demo."""

import json
import shlex
from typing import Any

from django.conf import settings

PAGE = "https://docs.example.com/install"  # nobody's
REPORT = {
    "kind": "outdated",
    "summary": "The install command names a package that is gone",
    "details": "The page says `npm install acme-cli`. The package is called `@acme/cli` now.",
    "suggested_fix": "Write `npm install @acme/cli`.",
}


def site() -> str:
    """The site of the demo, without a slash at its end, where somebody receives reports; else empty.

    It is below a pages host that is nobody's (RFC 2606), as only `script/demo` sets it.
    """
    host = str(settings.HUB_PAGES_HOST)
    return f"https://acme.{host}/docs" if host.endswith(".example") else ""


def report(doc_url: str = PAGE, agent: str = "my-agent") -> dict[str, Any]:
    """The whole report, about this page."""
    return {
        "protocol_version": "0",
        "doc_url": doc_url,
        "agent": {"name": agent},
        "report": dict(REPORT),
    }


def curl(hub_url: str) -> str:
    """The command that sends it to this Hub."""
    body = json.dumps(report(), indent=2)
    return (
        f"curl -i {hub_url}/v1/reports \\\n"
        f"  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(body)}"
    )
