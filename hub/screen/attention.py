"""What needs a member's attention: one line for each, the most severe first, with the button that ends it."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.messages.constants import ERROR
from django.contrib.messages.storage.base import Message
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from core import counting
from core.times import in_words
from hub.screen import news
from hub.screen.lately import Stopped
from hub.screen.setup_steps import Claims
from integrations.delivery.backlog import Backlog, reports_do
from integrations.issue import plain_html, template_limits
from integrations.models import Integration
from integrations.setup import mentions
from orgs.models import Domain, Organization, PersonalToken, Site, User

LAPSED = 10  # claims that are named
TOKENS, SOON = 3, timedelta(days=7)
BAD, WAIT, NEW = "bad", "wait", ""
ORDER = [BAD, WAIT, NEW]


class Line(NamedTuple):
    """A line: how bad it is, what is the case, more about it, and a button, a link unless it `acts`.

    `about`: words that bad news about the same has, too.
    """

    tone: str
    title: str
    more: str = ""
    button: str = ""
    url: str = ""
    acts: bool = False
    at: datetime | None = None
    about: str = ""


def lines(
    organization: Organization,
    user: User,
    integration: Integration | None,
    *,
    claims: Claims,
    stopped: Stopped,
    waiting: Backlog | None,
    not_shown: str,
) -> list[Line]:
    """All of them, in a few queries; at most some of a kind."""
    found = [
        *(_of_integration(integration, stopped) if integration else []),
        *(_of_claims(organization, integration) if claims.has_lapsed else []),
        *_of_reports(integration, stopped, not_shown),
        *_of_backlog(waiting),
        *_of_tokens(user),
        *_news(organization),
    ]
    return sorted(found, key=lambda each: ORDER.index(each.tone))


def unsaid(left: Iterable[Message], shown: Iterable[Line]) -> list[Message]:
    """The messages without the bad news, left at the sign-in, that one of the lines says, too."""
    said = [each.about for each in shown if each.about]
    return [each for each in left if not _is_said(each, said)]


def _is_said(message: Message, said: list[str]) -> bool:
    return message.level == ERROR and any(about in str(message) for about in said)


def _of_integration(mine: Integration, stopped: Stopped) -> Iterator[Line]:
    waiting = reports_do(stopped.held, "waits", "wait") if stopped.held else ""
    page = reverse("settings-integration")
    if mine.words_of_hold:
        yield Line(WAIT, "On hold.", mine.words_of_hold)
    if mine.paused_at:
        since = f"{date_format(mine.paused_at, 'j F Y, H:i')} UTC"
        more = f"{waiting or 'Reports that arrive wait'} until you resume."
        yield Line(WAIT, f"Paused since {since}.", more, "Resume", reverse("settings-resume"), True)
    elif mine.obstacle:
        more = f"{mine.obstacle} {waiting + '.' if waiting else ''}".strip()
        button, url = "Try again", reverse("settings-try-again")
        if mine.is_uninstalled():
            button, url = "Install it again", reverse("settings-install")
        yield Line(BAD, "Nothing is being sent.", more, button, url, True, about=mine.obstacle)
    elif mine.rights_absences:
        title = f"No member of your organization has push access to {mine.repository} any more."
        more = "If this lasts for a day, nothing is sent until somebody has."
        yield Line(WAIT, title, more, "See members", reverse("account"))
    if mine.not_applied:
        title = "Issues lack what you chose for them."
        yield Line(WAIT, title, mine.not_applied_words, "Change it", f"{page}#labels")
    if odd := plain_html.odd_in_template(mine.issue_template):
        title = "Your template has HTML that may not be in it."
        more = f"Until you change it, all that you wrote is plain text in your issues. {plain_html.words(odd)}"
        yield Line(WAIT, title, more, "Edit it", f"{page}#edit")
    elif broken := mentions.not_allowed(mine):
        title = "Your template addresses others than your organization may."
        yield Line(WAIT, title, broken, "Edit it", f"{page}#edit")
    if problem := template_limits.problem(mine.issue_template):
        more = f"Part of it is left out of the issues. {problem}"
        yield Line(WAIT, "Your template is too large.", more, "Edit it", f"{page}#edit")


def _of_claims(organization: Organization, mine: Integration | None) -> Iterator[Line]:
    """The earliest claims first, so that whoever makes many and lets them lapse hides none of those."""
    domains = organization.domains.filter(lapsed_at__isnull=False).order_by("created_at", "name")
    sites = _lapsed_sites(organization, mine).order_by("pk")
    found: list[Domain | Site] = [*domains[: LAPSED + 1], *sites[: LAPSED + 1]]
    lapsed = sorted(found, key=lambda each: each.pk[:10])  # the time of a ULID
    for claim in lapsed[:LAPSED]:
        more = "You do not receive reports about it."
        page = reverse("settings-claim", args=[claim.pk])
        yield Line(
            BAD,
            f"The claim of {claim} has lapsed.",
            more,
            "Prove it again",
            page,
            about=f"claim of {claim} ",
        )
    if lapsed[LAPSED:]:
        page = reverse("settings-claims")
        yield Line(BAD, "More claims have lapsed.", "", "Show the claims", page)
    lapsing = organization.domains.filter(verified_at__isnull=False, lapses_at__isnull=False)
    soon = list(lapsing.order_by("created_at", "name")[: LAPSED + 1])
    for claim in soon[:LAPSED]:
        more = f"The claim lapses on {date_format(claim.lapses_at or '', 'j F')}."
        page = reverse("settings-claim", args=[claim.pk])
        yield Line(
            WAIT,
            f"The DNS record of {claim} is gone.",
            more,
            "Put it back",
            page,
            about=f"claim of {claim} ",
        )
    if soon[LAPSED:]:
        page = reverse("settings-claims")
        yield Line(WAIT, "More DNS records are gone.", "", "Show the claims", page)


def _lapsed_sites(organization: Organization, mine: Integration | None) -> QuerySet[Site]:
    """Those that were lost; not the files of a repository that was given up for another one."""
    lapsed = organization.sites.filter(lapsed_at__isnull=False)
    if mine is None or mine.repository_id is None:
        return lapsed
    return lapsed.filter(Q(repository_id=None) | Q(repository_id=mine.repository_id))


def _of_reports(mine: Integration | None, stopped: Stopped, not_shown: str) -> Iterator[Line]:
    page = reverse("settings-reports")
    if stopped.failed:
        title = f"{reports_do(stopped.failed, 'failed', 'failed')}."
        more = "GitHub refused it, or a day of tries failed. Open it to see why."
        if stopped.failed > 1:
            more = "GitHub refused them, or a day of tries failed. Open them to see why."
        yield Line(BAD, title, more, _show(stopped.failed), f"{page}?status=failed")
    if stopped.held and not (mine and mine.obstacle):
        title = f"{reports_do(stopped.held, 'is held', 'are held')}."
        more = f"Open {'it' if stopped.held == 1 else 'them'} to see why."
        yield Line(WAIT, title, more, _show(stopped.held), f"{page}?status=held")
    if not_shown:
        page = reverse("settings-integration")
        yield Line(WAIT, "Reports are not shown.", not_shown, "See the integration", page)


def _of_backlog(waiting: Backlog | None) -> Iterator[Line]:
    """What waits for GitHub's limit or for late work; its usual turn is no reason to act."""
    if waiting and waiting.needs_attention:
        page = f"{reverse('settings-reports')}?status=pending"
        yield Line(WAIT, waiting.sentence, waiting.when, _show(waiting.waiting), page)


def _of_tokens(user: User) -> Iterator[Line]:
    now = timezone.now()
    soon = {"token__expires_at__gt": now, "token__expires_at__lte": now + SOON}
    found = PersonalToken.objects.filter(token__user=user, **soon).select_related("token")
    for each in found.order_by("token__expires_at")[:TOKENS]:
        used = each.last_used_at
        more = f"Last used {in_words(used, now)}." if used else "It was never used."
        title = f"The token {each.name} expires {in_words(each.token.expires_at, now)}."
        yield Line(NEW, title, more, "Make another", reverse("tokens"))


def _news(organization: Organization) -> Iterator[Line]:
    for each in news.latest(organization):
        yield Line(NEW, "", each.text, at=each.at)


def _show(count: int) -> str:
    return "Show it" if count == 1 else f"Show the {counting.in_short(count)}"
