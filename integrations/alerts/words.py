"""What an alert's issue says: what happened, since when, what to do, and how to get no more of them."""

from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from core import counting
from integrations.alerts import causes
from integrations.delivery import catching_up
from integrations.delivery.forwarding import marker
from integrations.issue.rendering import inert_title, shown
from integrations.issue.safe_text import neutralize
from integrations.models import Alert, Integration
from integrations.models.integration import NO_RIGHTS
from orgs.models import Domain, Organization
from orgs.models.domain import GRACE

LONGEST = 100  # characters of the name of an organization


class Words(NamedTuple):
    """The parts of an issue. `over`: when the Hub closes it."""

    title: str
    happened: str
    to_do: str
    over: str


def issue(alert: Alert) -> tuple[str, str] | None:
    """Title and body, with the Hub's footer and marker; None if the cause is gone."""
    words = _of(alert)
    if words is None:
        return None
    how_to_stop = (
        "Docs Feedback Hub opens one issue for each such event. To get none, choose *Show it only in the Hub* "
        f"on the page [Integration]({_page('integration')})."
    )
    paragraphs = [
        words.happened,
        f"**What to do:** {words.to_do}",
        f"The Hub closes this issue when {words.over}.",
        "---",
        how_to_stop,
        marker(alert.pk),
    ]
    return inert_title(words.title), "\n\n".join(paragraphs)


def at_sign_in(organization: Organization) -> list[str]:
    """What a member is told first, since no issue says it."""
    stopped, domains = causes.untold(organization)
    said = [f"{headline(each)}." for each in domains]
    if stopped:
        why = stopped.problem or NO_RIGHTS
        said.insert(0, f"Nothing is being sent to {stopped.repository}. {why}")
    return said


def _of(alert: Alert) -> Words | None:
    if alert.cause == Alert.Cause.RIGHTS:
        return _rights(alert.integration)
    domain = alert.integration.organization.domains.filter(name=alert.subject).first()
    if domain and alert.cause == Alert.Cause.LAPSING:
        return _lapsing(domain)
    return _lapsed(domain) if domain else None


def headline(domain: Domain) -> str:
    """What is wrong with the claim, in a sentence without its full stop; empty if nothing is."""
    if domain.lapses_at:
        return f"Your claim of {domain.name} lapses on {domain.lapses_at:%-d %B %Y}"
    return f"Your claim of {domain.name} has lapsed" if domain.lapsed_at else ""


def _lapsing(domain: Domain) -> Words | None:
    if not (domain.lapses_at and domain.absent_since):
        return None
    return Words(
        headline(domain),
        f"The DNS record that proves your claim of {_code(domain.name)} has been missing since "
        f"{_when(domain.absent_since)}. If it is not back by **{_when(domain.lapses_at)}**, the claim "
        "lapses: you receive no more reports about its pages, and those that wait are held.",
        _publish(domain),
        "the record is back, or the claim has lapsed",
    )


def _lapsed(domain: Domain) -> Words | None:
    if not (domain.lapsed_at and domain.expires_at):
        return None
    return Words(
        headline(domain),
        f"Your claim of {_code(domain.name)} lapsed on {_when(domain.lapsed_at)}, because its DNS record "
        "is gone. You receive no more reports about its pages, and those that waited are held.",
        f"{_publish(domain)} The Hub looks for it until {_when(domain.expires_at)}; after that the "
        "claim is removed.",
        "the record is back, or the claim is removed",
    )


def _rights(integration: Integration) -> Words | None:
    if not integration.rights_lost_at:
        return None
    held = catching_up.expected_held(integration)
    waiting = f" ({counting.in_words(held)} now)" if held else ""
    return Words(
        "Reports about your docs are no longer sent to this repository",
        f"No member of the organization {_inert(integration.organization.name)} on the Hub has push access to "
        f"this repository any more. Since {_when(integration.rights_lost_at)}, its reports are held{waiting} "
        f"instead of sent here. After {GRACE.days} days, its claims of the sites that this repository publishes "
        "lapse. Reports of other organizations go on.",
        "give a member push access again, or let somebody who has it join your organization. "
        f"The Hub looks once an hour; *Try again* on the page [Integration]({_page('integration')}) "
        "is faster.",
        "a member has push access",
    )


def _publish(domain: Domain) -> str:
    return (
        f"publish this TXT record again.\n\n```\nname:  {domain.record_name}\n"
        f"value: {domain.record_value}\n```\n\n"
        f"[The page of the claim]({_page(f'claims/{domain.pk}')}) shows what the DNS answers."
    )


def _code(name: str) -> str:
    return f"`{neutralize(name)}`"


def _inert(name: str) -> str:
    """The name of an organization, which a member has chosen, in one line."""
    return inert_title(shown("summary", name), limit=LONGEST)


def _when(time: datetime) -> str:
    return f"{time:%-d %B %Y, %H:%M} UTC"


def _page(path: str) -> str:
    return f"{settings.HUB_BASE_URL}/settings/{path}/"
