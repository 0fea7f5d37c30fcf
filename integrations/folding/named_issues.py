"""Finds the report whose issue a member names by its address."""

import re

from django.conf import settings

from core.errors import ApiError
from integrations.folding import verdicts
from integrations.models import Delivery

ISSUE = re.compile(r"/([\w.-]{1,100}/[\w.-]{1,100})/issues/([0-9]{1,15})/?(?:[?#].*)?", re.ASCII)
LONGEST = 500  # characters of an address
OWN = "That is the issue of this report itself. Name the issue of another one."


class CannotJoin(ApiError):
    """409: the report cannot be named the same as what this issue is about."""

    status_code = 409
    default_code = "cannot_join"


def lead_at(address: str, report: Delivery) -> Delivery:
    """The lead that others join where its issue is named, for this report. Raises `CannotJoin` with the reason.

    Its integration has a repository. It may be about another page: that two pages have one problem is for a
    person to say.
    """
    repository, number = _read(address)
    mine = report.integration
    opened = Delivery.objects.filter(integration=mine, repository_id=mine.repository_id)
    found = opened.filter(issue_number=number, report__withheld_for=None)
    named = found.select_related("integration", "report").first()
    names = {mine.repository.lower(), *([named.repository.lower()] if named else [])}
    if repository.lower() not in names:
        raise CannotJoin(f"Name an issue in {mine.repository}, where your issues go now.")
    if named is None:
        raise CannotJoin(
            f"The Hub has opened no issue #{number} in {mine.repository} for a report. "
            "Name one that it has opened."
        )
    if not Delivery.objects.leads().filter(pk=named.pk).exists():
        raise CannotJoin(
            f"The issue #{number} was deleted or transferred on GitHub. Name another one."
        )
    return _not_itself(report, named)


def _not_itself(report: Delivery, named: Delivery) -> Delivery:
    if named.pk == report.pk:
        raise CannotJoin(OWN)
    lead = verdicts.lead_for(named)
    if lead.pk == report.pk:
        raise CannotJoin(
            f"Somebody has said that #{named.issue_number} is the same as this one, "
            f"so reports like it join #{report.issue_number} already."
        )
    return lead


def _read(address: str) -> tuple[str, int]:
    """The repository as `owner/name`, and the number."""
    base, text = settings.HUB_GITHUB_URL, address.strip()
    is_there = len(text) <= LONGEST and text[: len(base)].lower() == base.lower()
    found = ISSUE.fullmatch(text[len(base) :]) if is_there else None
    if found is None:
        raise CannotJoin(f"Name the issue by its address, such as {base}/acme/docs/issues/12.")
    return found[1], int(found[2])
