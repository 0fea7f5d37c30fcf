"""The report: its parts, its JSON, and the check of required fields (the Hub checks the rest)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from .contract import message
from .errors import PayloadTooLarge, ValidationError
from .visible import is_blank

PROTOCOL_VERSION = "0"
KINDS = ("broken", "incorrect", "outdated", "missing", "unclear", "other")
MAX_BYTES = 64 * 1024
MAX_DEPTH = 20

REQUIRED: Tuple[Tuple[str, Tuple[str, ...]], ...] = (
    ("/protocol_version", (PROTOCOL_VERSION,)),
    ("/doc_url", ()),
    ("/agent/name", ()),
    ("/report/kind", KINDS),
    ("/report/summary", ()),
)

Body = Mapping[str, Any]
Fault = Dict[str, str]


@dataclass(frozen=True)
class Report:
    """One report that a page is broken, incorrect, outdated, missing, unclear, or other.

    `doc_url` is a public https URL or a path in your repository; `agent` the name of the reporter;
    `evidence` a list of `{"kind": "observed", "text": …}` (kinds: error_message, attempted_action,
    expected, observed, code_snippet, quote); `submitted_at` an RFC 3339 time.
    """

    doc_url: str
    summary: str
    kind: str
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
        kind: str,
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
        check(report.body())
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
                        "evidence": _plain(self.evidence),
                        "suggested_fix": self.suggested_fix,
                    }
                ),
                "task_context": task_context or None,
                "submitted_at": self.submitted_at,
                "locale": self.locale,
            }
        )


def check(body: Any) -> None:
    """Raise ValidationError with every fault unless the required fields are valid."""
    if not isinstance(body, Mapping):
        raise _invalid([_fault("", "not_an_object")])
    faults = [
        _fault(pointer, code)
        for pointer, choices in REQUIRED
        if (code := _wrong(body, pointer, choices))
    ]
    faults += _faults_of_evidence(body)
    if faults:
        raise _invalid(faults)


def encode(body: Body) -> bytes:
    """The bytes to send. Raises ValidationError or PayloadTooLarge."""
    for pointer, text in texts(body):
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise _invalid([_fault(pointer, "half_a_character")])
    try:
        text = json.dumps(dict(body), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        raise ValidationError.of("not_json_value") from None
    data = text.encode()
    if len(data) > MAX_BYTES:
        raise PayloadTooLarge(
            "payload_too_large",
            message("too_large", max_bytes=MAX_BYTES),
            fields={"max_bytes": MAX_BYTES},
        )
    return data


def texts(value: Any, pointer: str = "", depth: int = 0) -> Iterator[Tuple[str, str]]:
    """Every string in a JSON value, with its JSON Pointer (RFC 6901); keys count with their object."""
    if depth > MAX_DEPTH:
        raise ValidationError.of("too_deep")
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield pointer, str(key)
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from texts(item, f"{pointer}/{step}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from texts(item, f"{pointer}/{index}", depth + 1)


def _wrong(body: Body, pointer: str, choices: Sequence[str]) -> Optional[str]:
    """The code of the problem with a required string, or None."""
    value: Any = body
    for step in pointer.split("/")[1:]:
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        return "field_required"
    if not isinstance(value, str) or is_blank(value):
        return "not_a_text"
    if choices and value not in choices:
        return "version_not_0" if choices == (PROTOCOL_VERSION,) else "not_a_kind"
    return None


def _faults_of_evidence(body: Body) -> List[Fault]:
    report = body.get("report")
    evidence = report.get("evidence") if isinstance(report, Mapping) else None
    if evidence is None:
        return []
    if not isinstance(evidence, (list, tuple)):
        return [_fault("/report/evidence", "not_a_list")]
    return [
        _fault(f"/report/evidence/{index}", "not_an_object")
        for index, item in enumerate(evidence)
        if not isinstance(item, Mapping)
    ]


def _plain(evidence: Any) -> Any:
    """Evidence as JSON types; other values stay, so that `check` can name them."""
    if not isinstance(evidence, (list, tuple)):
        return evidence
    return [dict(item) if isinstance(item, Mapping) else item for item in evidence]


def _fault(pointer: str, code: str) -> Fault:
    return {"path": pointer, "message": message(code)}


def _invalid(faults: List[Fault]) -> ValidationError:
    return ValidationError("invalid_report", message("invalid_report"), fields={"details": faults})


def _present(fields: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
