"""The report: its parts and its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Iterator, Literal, Mapping, Optional, Sequence, Tuple, get_args

from .contract import message, table
from .errors import PayloadTooLarge
from .shape import checked

PROTOCOL_VERSION = "0"

Kind = Literal["broken", "incorrect", "outdated", "missing", "unclear", "other"]
KINDS: Tuple[Kind, ...] = get_args(Kind)

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """One report that a page is broken, incorrect, outdated, missing, unclear, or other.

    `doc_url` is a public https URL or a path in your repository; `agent` the name of the reporter;
    `evidence` a list of `{"kind": "observed", "text": …}` (kinds: error_message, attempted_action,
    expected, observed, code_snippet, quote); `submitted_at` an RFC 3339 time.
    """

    doc_url: str
    summary: str
    kind: Kind
    agent: str
    details: Optional[str] = None
    suggested_fix: Optional[str] = None
    evidence: Optional[Sequence[Mapping[str, str]]] = None
    agent_version: Optional[str] = None
    agent_vendor: Optional[str] = None
    task_summary: Optional[str] = None
    submitted_at: Optional[str] = None
    locale: Optional[str] = None

    @classmethod
    def create(
        cls,
        *,
        doc_url: str,
        summary: str,
        kind: Kind,
        agent: str,
        details: Optional[str] = None,
        suggested_fix: Optional[str] = None,
        evidence: Optional[Sequence[Mapping[str, str]]] = None,
        agent_version: Optional[str] = None,
        agent_vendor: Optional[str] = None,
        task_summary: Optional[str] = None,
        submitted_at: Optional[str] = None,
        locale: Optional[str] = None,
    ) -> Report:
        """A complete report. Raises ValidationError."""
        report = cls(
            doc_url=doc_url,
            summary=summary,
            kind=kind,
            agent=agent,
            details=details,
            suggested_fix=suggested_fix,
            evidence=evidence,
            agent_version=agent_version,
            agent_vendor=agent_vendor,
            task_summary=task_summary,
            submitted_at=submitted_at,
            locale=locale,
        )
        checked(report.body())
        return report

    def body(self) -> Dict[str, Any]:
        """The JSON to send; what is absent is left out, never null."""
        task_context = _present({"task_summary": self.task_summary})
        return _present(
            {
                "protocol_version": PROTOCOL_VERSION,
                "doc_url": self.doc_url,
                "agent": _present(
                    {
                        "name": self.agent,
                        "version": self.agent_version,
                        "vendor": self.agent_vendor,
                    }
                ),
                "report": _present(
                    {
                        "kind": self.kind,
                        "summary": self.summary,
                        "details": self.details,
                        "evidence": self.evidence,
                        "suggested_fix": self.suggested_fix,
                    }
                ),
                "task_context": task_context or None,
                "submitted_at": self.submitted_at,
                "locale": self.locale,
            }
        )


def encode(body: Body) -> bytes:
    """The bytes to send, of a body that was checked. Raises PayloadTooLarge."""
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    most = table("report.json")["max_bytes"]
    if len(data) > most:
        raise PayloadTooLarge(
            "payload_too_large", message("too_large", max_bytes=most), fields={"max_bytes": most}
        )
    return data


def texts(value: Any, pointer: str = "") -> Iterator[Tuple[str, str]]:
    """Every string in a JSON value, with its JSON Pointer (RFC 6901); keys count with their object."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield pointer, str(key)
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from texts(item, f"{pointer}/{step}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from texts(item, f"{pointer}/{index}")


def _present(fields: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
