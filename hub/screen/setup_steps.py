"""The four steps from the first sign-in to the first issue."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from django.conf import settings
from django.db.models import F
from django.urls import reverse

from core import counting
from core.prepared import PreparedStatement
from integrations.models import Delivery, Integration
from integrations.ownership import site_claims
from orgs.models import Organization

COUNTS = PreparedStatement(
    "How many domains are proved, and which is the first? How many sites are live? How many of both "
    "accept reports, and how many have lapsed, or will?",
    """
    SELECT d.live, d.first, s.live, d.heard + s.heard, d.lapsed + s.lapsed FROM (
    SELECT count(verified_at) AS live, min(CASE WHEN verified_at IS NOT NULL THEN name END) AS first,
    count(CASE WHEN verified_at IS NOT NULL AND opted_out_at IS NULL THEN 1 END) AS heard,
    count(coalesce(lapsed_at, lapses_at)) AS lapsed FROM orgs_domain WHERE organization_id = %s) AS d, (
    SELECT count(*) - count(lapsed_at) AS live,
    count(CASE WHEN lapsed_at IS NULL AND opted_out_at IS NULL THEN 1 END) AS heard,
    count(lapsed_at) AS lapsed FROM orgs_site WHERE organization_id = %s) AS s
    """,
)


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


class Press(NamedTuple):
    """A button that does a step: the name of the URL that it posts to, its words, and what it sends."""

    page: str
    words: str
    fields: Mapping[str, str] = {}

    @property
    def url(self) -> str:
        """The URL that it posts to."""
        return reverse(self.page)


class Step(NamedTuple):
    """One step. `press` does it at once, where there is nothing to fill in; `url` is where it is done."""

    name: str
    page: str  # the name of its URL
    state: StepState
    hint: str
    press: Press | None = None
    claim_id: str = ""  # the claim that it waits for
    is_next: bool = False

    @property
    def url(self) -> str:
        """The page with its form, or of what it waits for."""
        if self.claim_id:
            return reverse("settings-claim", args=[self.claim_id])
        return reverse(self.page)


class Claims(NamedTuple):
    """What the claims of an organization come to."""

    live: int  # how many count now
    first: str  # one of them: pages that readers see come before a repository's files
    files_of: str  # the repository, where its files are all that is claimed
    unproved: str  # a domain that waits for its DNS record, and its id
    unproved_id: str
    is_heard: bool  # whether one has not opted out
    has_lapsed: bool  # whether one does not count any more, or soon will not

    @classmethod
    def of(cls, organization: Organization) -> "Claims":
        """In one to three queries, however many there are."""
        [row] = COUNTS.rows(organization.pk, organization.pk)
        proved, first, live_sites, heard, lapsed = row
        site = None
        if not proved:
            live = organization.sites.filter(lapsed_at=None)
            pages_first = F("repository_id").asc(nulls_first=True)
            site = live.order_by(pages_first, "host", "path").first()
        has_pages = bool(proved or (site and not site.is_repository))
        waiting = None
        if not has_pages:
            waiting = organization.domains.filter(verified_at=None).order_by("name").first()
        return cls(
            live=proved + live_sites,
            first=first or str(site or ""),
            files_of=site.repository if site and not has_pages else "",
            unproved=str(waiting or ""),
            unproved_id=waiting.pk if waiting else "",
            is_heard=bool(heard),
            has_lapsed=bool(lapsed),
        )


def has_sent(integration: Integration | None) -> bool:
    """Whether one of its reports became an issue."""
    if integration is None:
        return False
    return counting.are_any(integration.deliveries.in_state(Delivery.Status.SENT))


def set_up(integration: Integration | None, claims: Claims, *, has_sent: bool) -> list[Step]:
    """The steps of an organization and how far they are; the first that can be done is the next."""
    configured = integration is not None and integration.repository_id is not None
    test = _test(integration, claims, can_start=configured and claims.is_heard, has_sent=has_sent)
    steps = [
        _install(integration),
        _choose(integration),
        _claim(claims, integration, has_tried=has_sent),
        test,
    ]
    following = next((each for each in steps if each.state is StepState.TO_DO), None)
    return [each._replace(is_next=each is following) for each in steps]


def progress(to_do: Sequence[Step], *, receives: bool) -> str:
    """Which step comes next, or is waited for, and how many are left, as two sentences.

    `receives`: whether some pages are claimed already, so that reports about them arrive.
    """
    undone = [each for each in to_do if each.state is not StepState.DONE]
    following = next((each for each in undone if each.is_next), undone[0] if undone else to_do[-1])
    left = len(undone)
    number = ("No", "One", "Two", "Three", "Four")[left]
    words = f"{number} short step{'' if left == 1 else 's'}"
    until = "left" if receives else "until reports arrive as issues"
    return f"Step {to_do.index(following) + 1} of {len(to_do)}. {words} {until}."


def _install(integration: Integration | None) -> Step:
    task = "Install the app", "settings-integration"
    if integration is None:
        press = Press("settings-install", "Install the app")
        return Step(*task, StepState.TO_DO, "It opens the issues and can do nothing else.", press)
    return Step(*task, StepState.DONE, f"On {integration.installation.account}.")


def _choose(integration: Integration | None) -> Step:
    task = "Choose the repository", "settings-integration"
    if integration is None:
        return Step(*task, StepState.CANNOT_START, "Install the app first.")
    if integration.repository_id is None:
        return Step(*task, StepState.TO_DO, "Issues are opened there, from your template.")
    return Step(*task, StepState.DONE, f"Issues go to {integration.repository}.")


def _claim(claims: Claims, integration: Integration | None, *, has_tried: bool) -> Step:
    """Files of a repository alone are enough for whoever has seen an issue of theirs."""
    task = "Prove which pages are yours", "settings-new-claim"
    if claims.live and not claims.files_of:
        more = f" and {claims.live - 1} more" if claims.live > 1 else ""
        return Step(task[0], "settings-claims", StepState.DONE, f"{claims.first}{more}.")
    if claims.unproved:
        return Step(
            *task,
            StepState.WAITING,
            f"For the DNS record of {claims.unproved}.",
            claim_id=claims.unproved_id,
        )
    if claims.files_of and has_tried:
        hint = f"Only the files of {claims.files_of}, no site or domain."
        return Step(*task, StepState.DONE, hint)
    if integration is None or integration.repository_id is None:
        hint = "By a DNS record, or by the repository that publishes them."
        return Step(*task, StepState.TO_DO, hint)
    site = site_of(integration)
    publisher, so_far = integration.repository, ""
    if claims.files_of:
        publisher, so_far = "it", f"So far only the files of {claims.files_of} are yours. "
    if not integration.has_pages:
        hint = (
            f"{so_far}GitHub Pages publishes nothing from {integration.repository}. Claim a domain."
        )
        return Step(*task, StepState.TO_DO, hint)
    if why := site_claims.why_it_proves_nothing(integration):
        return Step(*task, StepState.TO_DO, f"{so_far}By a DNS record. {why}")
    hint = f"{so_far}If {publisher} publishes {site}, claim it. Or claim another address."
    press = Press("settings-new-claim", f"Claim {site}", {"address": site})
    return Step(*task, StepState.TO_DO, hint, press)


def files_of(integration: Integration) -> str:
    """The address of the repository itself, whose claim covers its files."""
    return f"{settings.HUB_GITHUB_URL}/{integration.repository}/"


def site_of(integration: Integration) -> str:
    """Where the repository publishes its static site, if it does."""
    owner, name = integration.repo_owner.lower(), integration.repo_name
    host = f"{owner}.{settings.HUB_PAGES_HOST}"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def _test(
    integration: Integration | None, claims: Claims, *, can_start: bool, has_sent: bool
) -> Step:
    task = "Send a test report", "settings-test"
    if has_sent:
        return Step(*task, StepState.DONE, "Reports arrive as issues.")
    if not can_start:
        has_only_opted_out = claims.live and not claims.is_heard
        needed = (
            "Your claims have opted out of reports. It needs one that accepts them."
            if has_only_opted_out
            else "It needs a repository and a claim."
        )
        return Step(*task, StepState.CANNOT_START, needed)
    where = integration.repository if integration else ""
    hint = f"A test report opens a real issue in {where}. Close it when you have seen it."
    press = Press("settings-test", "Send a test report")
    return Step(*task, StepState.TO_DO, hint, press)
