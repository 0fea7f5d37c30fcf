"""What the page of a domain shows: the record to publish, and what the DNS answered last."""

from typing import Any, NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest

from core.errors import ApiError
from hub.screen.access import MemberRequest
from orgs.domains import hosts, values, verification
from orgs.domains.diagnosis import Finding
from orgs.domains.providers import Entry
from orgs.models import Domain

ANSWER = "dns-answer"  # in the session: the id of a claim, and what the DNS answered


class Compared(NamedTuple):
    """A value in two parts: how it begins like the other one, and the rest."""

    same: str
    rest: str


def check(request: MemberRequest, domain: Domain) -> None:
    """Ask the DNS, and keep the answer for the next page."""
    try:
        finding = verification.check(domain, by=request.membership).finding
        answer = _kept(finding)
    except ApiError as error:
        answer = {"title": "Not checked", "hint": str(error.detail)}
    except (verification.Gone, Domain.DoesNotExist):
        raise Http404 from None
    request.session[ANSWER] = {domain.id: answer}


def shown(request: HttpRequest, domain: Domain) -> dict[str, Any]:
    """The record, and the last answer; what was said about a verified claim is said once."""
    recall = request.session.pop if domain.verified_at else request.session.get
    answer = recall(ANSWER, {}).get(domain.id) or {}
    entry = Entry(*answer["entry"]) if answer.get("entry") else None
    return {
        "title": answer.get("title", ""),
        "hint": answer.get("hint", ""),
        "asked": answer.get("asked", []),
        "entry": entry,
        "short_name": entry.name if entry else _short_name(domain),
        "zone": hosts.registrable(domain.name, pages_host=settings.HUB_PAGES_HOST),
        **_compared(answer.get("others", []), domain.record_value),
    }


def _kept(finding: Finding) -> dict[str, Any]:
    """What the session keeps of a finding; the lengths are bounded there."""
    return {
        "title": finding.title,
        "hint": finding.hint or "The record was found.",
        "others": list(finding.others),
        "asked": [list(each) for each in finding.asked],
        "entry": list(finding.entry) if finding.entry else None,
    }


def _compared(others: list[str], wanted: str) -> dict[str, Any]:
    """The wanted value and the most similar one, each in two parts, and the other values."""
    if not others:
        return {}
    at = values.same(others[0], wanted)
    return {
        "wanted": Compared(wanted[:at], wanted[at:]),
        "found": Compared(others[0][:at], others[0][at:]),
        "also_there": others[1:],
    }


def _short_name(domain: Domain) -> str:
    """The name of the record without the registrable name."""
    zone = hosts.registrable(domain.name, pages_host=settings.HUB_PAGES_HOST)
    return domain.record_name.removesuffix(f".{zone}")
