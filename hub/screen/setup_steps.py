"""The four steps from the first sign-in to the first issue."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from django.db.models import Count, Min, Q

from integrations.models import Delivery, Integration
from orgs.models import Organization


class StepState(Enum):
    """The state of a step: a word, and its color."""

    DONE = "Done", "good"
    WAITING = "Waiting", "wait"
    TO_DO = "To do", "todo"
    CANNOT_START = "Cannot start yet", "off"

    @property
    def word(self) -> str:
        """The word that is shown."""
        return self.value[0]

    @property
    def shape(self) -> str:
        """The CSS class that colors it."""
        return self.value[1]


class Step(NamedTuple):
    """One step."""

    name: str
    page: str  # the name of its URL
    state: StepState
    hint: str


class Claims(NamedTuple):
    """What the claims of an organization come to."""

    live: int  # how many count now
    first: str  # one of them
    unproved: str  # a domain that waits for its DNS record
    is_heard: bool  # whether one has not opted out

    @classmethod
    def of(cls, organization: Organization) -> "Claims":
        """In three queries, however many there are."""
        proved, heard = Q(verified_at__isnull=False), Q(opted_out_at=None)
        domains = organization.domains.aggregate(
            live=Count("pk", filter=proved),
            first=Min("name", filter=proved),
            unproved=Min("name", filter=~proved),
            heard=Count("pk", filter=proved & heard),
        )
        live = organization.sites.filter(lapsed_at=None).order_by("host", "path")
        sites = live.aggregate(live=Count("pk"), heard=Count("pk", filter=heard))
        site = "" if domains["live"] else live.first()
        return cls(
            live=domains["live"] + sites["live"],
            first=domains["first"] or str(site or ""),
            unproved=domains["unproved"] or "",
            is_heard=bool(domains["heard"] + sites["heard"]),
        )


def set_up(integration: Integration | None, claims: Claims) -> list[Step]:
    """The steps of an organization and how far they are."""
    configured = integration is not None and integration.repository_id is not None
    return [
        _install(integration),
        _choose(integration),
        _claim(claims),
        _test(integration, can_start=configured and claims.is_heard),
    ]


def progress(to_do: Sequence[Step]) -> str:
    """Which step comes next, and how many are left, as two sentences."""
    left = sum(each.state is not StepState.DONE for each in to_do)
    number = ("No", "One", "Two", "Three", "Four")[left]
    words = f"{number} short step{'' if left == 1 else 's'}"
    return f"Step {len(to_do) - left + 1} of {len(to_do)}. {words} until reports arrive as issues."


def _install(integration: Integration | None) -> Step:
    task = "Install the app", "settings-integration"
    if integration is None:
        return Step(*task, StepState.TO_DO, "It opens the issues and can do nothing else.")
    return Step(*task, StepState.DONE, f"On {integration.installation.account}.")


def _choose(integration: Integration | None) -> Step:
    task = "Choose the repository", "settings-integration"
    if integration is None:
        return Step(*task, StepState.CANNOT_START, "Install the app first.")
    if integration.repository_id is None:
        return Step(*task, StepState.TO_DO, "Issues are opened there, from your template.")
    return Step(*task, StepState.DONE, f"Issues go to {integration.repository}.")


def _claim(claims: Claims) -> Step:
    task = "Prove which pages are yours", "settings-claims"
    if claims.live:
        more = f" and {claims.live - 1} more" if claims.live > 1 else ""
        return Step(*task, StepState.DONE, f"{claims.first}{more}.")
    if claims.unproved:
        return Step(*task, StepState.WAITING, f"For the DNS record of {claims.unproved}.")
    return Step(
        *task, StepState.TO_DO, "By a DNS record, or by the repository that publishes them."
    )


def _test(integration: Integration | None, *, can_start: bool) -> Step:
    task = "Send a test report", "settings-test"
    if integration and integration.deliveries.in_state(Delivery.Status.SENT).only("pk").first():
        return Step(*task, StepState.DONE, "Reports arrive as issues.")
    if not can_start:
        return Step(
            *task,
            StepState.CANNOT_START,
            "It needs a repository, and a claim that has not opted out.",
        )
    return Step(*task, StepState.TO_DO, "See one become an issue.")
