"""The four steps from the first sign-in to the first issue."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from integrations.models import Delivery, Integration
from orgs.models import Domain, Site


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


def set_up(
    integration: Integration | None,
    domains: Sequence[Domain],
    *,
    sites: Sequence[Site],
    deliveries: dict[str, int],
) -> list[Step]:
    """The steps of an organization and how far they are; `deliveries` is how many by status."""
    configured = integration is not None and integration.repository_id is not None
    live: list[Domain | Site] = [
        *(each for each in domains if each.verified_at),
        *(each for each in sites if not each.lapsed_at),
    ]
    heard = any(not each.opted_out_at for each in live)
    return [
        _install(integration),
        _choose(integration),
        _claim(domains, live),
        _test(deliveries, can_start=configured and heard),
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


def _claim(domains: Sequence[Domain], live: Sequence[Domain | Site]) -> Step:
    task = "Prove which pages are yours", "settings-claims"
    if live:
        more = f" and {len(live) - 1} more" if len(live) > 1 else ""
        return Step(*task, StepState.DONE, f"{live[0]}{more}.")
    if domains:
        return Step(*task, StepState.WAITING, f"For the DNS record of {domains[0].name}.")
    return Step(
        *task, StepState.TO_DO, "By a DNS record, or by the repository that publishes them."
    )


def _test(deliveries: dict[str, int], *, can_start: bool) -> Step:
    task = "Send a test report", "settings-test"
    if deliveries.get(Delivery.Status.SENT):
        return Step(*task, StepState.DONE, "Reports arrive as issues.")
    if not can_start:
        return Step(
            *task,
            StepState.CANNOT_START,
            "It needs a repository, and a claim that has not opted out.",
        )
    return Step(*task, StepState.TO_DO, "See one become an issue.")
