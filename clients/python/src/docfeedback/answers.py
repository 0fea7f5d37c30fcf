"""What a Hub answers, in the types of the library; what is of a wrong type counts as absent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Dict, List, Optional

from . import hub, settings
from .document import an_object, objects, text, whole, yes_or_no
from .visible import is_blank


@dataclass(frozen=True)
class KnownIssue:
    """The issue of a problem that was known before, which everybody may see. `state`: open or closed."""

    url: str
    state: str


@dataclass(frozen=True)
class OwnerAnswer:
    """What the page's owner says to those who report the problem: their words, to be quoted."""

    text: str
    link: Optional[str] = None


@dataclass(frozen=True)
class SentReport:
    """The Hub's response. `notices`: what it removed, `[{"field": <JSON Pointer>, "kind": …}]`.

    `status` is that of a receipt; `claimed`: whether an organization receives reports about the page;
    `known_issue`: the issue, if the problem was known before; `answer`: what the page's owner says to it.
    """

    id: str
    is_duplicate: bool
    received_at: Optional[str] = None
    protocol_version: Optional[str] = None
    server_capabilities: List[str] = field(default_factory=list)
    receipt_url: Optional[str] = None
    notices: List[Dict[str, str]] = field(default_factory=list)
    status: Optional[str] = None
    claimed: Optional[bool] = None
    issue_url: Optional[str] = None
    known_issue: Optional[KnownIssue] = None
    answer: Optional[OwnerAnswer] = None


@dataclass(frozen=True)
class Receipt:
    """The status of a report: received, forwarding or forwarded."""

    id: str
    status: str
    received_at: Optional[str] = None
    times_reported: Optional[int] = None
    issue_url: Optional[str] = None
    issue_state: Optional[str] = None
    known_issue: Optional[KnownIssue] = None
    answer: Optional[OwnerAnswer] = None


def sent_report(answer: hub.Answered) -> SentReport:
    """What the Hub answers to a report."""
    body = answer.body
    is_duplicate = yes_or_no(body.get("is_duplicate"))
    return SentReport(
        id=body["id"],
        is_duplicate=answer.status == 200 if is_duplicate is None else is_duplicate,
        received_at=text(body.get("received_at")),
        protocol_version=text(body.get("protocol_version")),
        server_capabilities=_strings(body.get("server_capabilities")),
        receipt_url=text(body.get("receipt_url")),
        notices=objects(body.get("notices"), "field", "kind"),
        status=text(body.get("status")),
        claimed=yes_or_no(body.get("claimed")),
        issue_url=settings.link(body.get("issue_url")),
        known_issue=_known_issue(body.get("known_issue")),
        answer=owner_answer(body.get("answer")),
    )


def _strings(found: Any) -> List[str]:
    return [it for it in found if isinstance(it, str)] if isinstance(found, list) else []


def receipt(answer: hub.Answered) -> Receipt:
    """What it answers about one."""
    body = answer.body
    return Receipt(
        id=body["id"],
        status=text(body.get("status")) or "received",
        received_at=text(body.get("received_at")),
        times_reported=whole(body.get("times_reported")),
        issue_url=settings.link(body.get("issue_url")),
        issue_state=text(body.get("issue_state")),
        known_issue=_known_issue(body.get("known_issue")),
        answer=owner_answer(body.get("answer")),
    )


def owner_answer(value: Any) -> Optional[OwnerAnswer]:
    """The answer in a response, if it has one that says something."""
    found = an_object(value, "text")
    if found is None or is_blank(found["text"]):
        return None
    return OwnerAnswer(found["text"], settings.link(found.get("link")))


def as_json(answer: Optional[OwnerAnswer]) -> Optional[Dict[str, Any]]:
    """The answer for programs."""
    return None if answer is None else asdict(answer)


def _known_issue(value: Any) -> Optional[KnownIssue]:
    found = an_object(value, "url", "state")
    url = settings.link(found["url"]) if found else None
    return KnownIssue(url, found["state"]) if found and url else None


def organization(body: Dict[str, Any]) -> Dict[str, Any]:
    """The response, without claims and the like that lack required fields."""
    integration = an_object(body.get("integration"), "provider", "status")
    return {
        **body,
        "name": text(body.get("name")),
        "caller": an_object(body.get("caller"), "login"),
        "integration": integration
        and {
            **integration,
            **{
                name: text(integration.get(name)) for name in ("repo_owner", "repo_name", "problem")
            },
        },
        "domains": [
            {**domain, "dns_record": an_object(domain.get("dns_record"), "name", "value")}
            for domain in objects(body.get("domains"), "domain", "status")
        ],
        "sites": objects(body.get("sites"), "url", "status"),
    }
