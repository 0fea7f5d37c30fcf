"""Asks GitHub about every installation, in case webhooks were missed."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from enum import Enum
from itertools import chain, zip_longest
from typing import cast

from django.db import InterfaceError, OperationalError, close_old_connections, transaction

from integrations import github_api
from integrations.github_api.asking import DEADLINE, deadline
from integrations.github_sync import applying, missed_issues, visibility
from integrations.models import Installation, Integration, News, Webhook
from integrations.ownership import push_access

log = logging.getLogger(__name__)

EVERY = timedelta(hours=1)
AFTER_AN_ERROR = timedelta(minutes=1)  # of the database
BATCH = 50
LONGEST = 5  # seconds, for one installation, however many organizations have it
AWAY = 2  # unanswered installations in a row, or repositories of one: GitHub is unreachable for all


class Coverage(Enum):
    """How much of what was asked GitHub has answered."""

    ALL = "all"
    SOME = "some"
    NONE = "none"  # it could not be reached


class Bookmark:
    """What a call has left over: which integrations of an installation, by its id, and which issues of a repository."""

    def __init__(self) -> None:
        self.left: dict[int, list[int]] = {}
        self.issues: missed_issues.Rests = {}

    def take(self, installation: Installation) -> list[int]:
        """Those that are in turn now: what was left over, and all if it is to be asked about anew."""
        mine = Integration.objects.configured().filter(installation=installation).order_by("pk")
        every, left = list(mine.values_list("pk", flat=True)), self.left.pop(installation.pk, [])
        in_turn = [each for each in left if each in every]
        if in_turn and installation.asked_about_at is not None:
            return in_turn
        return in_turn + [each for each in every if each not in in_turn]


def reconcile(on_progress: Callable[[], None] = lambda: None) -> Counter[str]:
    """Bring every installation and integration up to date; returns how many `asked` and `unanswered`.

    Installations that GitHub rate-limits are skipped.
    """
    outcomes: Counter[str] = Counter()
    for installation in Installation.objects.in_use():
        asked = not installation.is_left_alone() and _reconcile(installation) is Coverage.ALL
        outcomes["asked" if asked else "unanswered"] += 1
        on_progress()
    return outcomes


def reconcile_due(
    go_on: Callable[[], bool] = lambda: True, bookmark: Bookmark | None = None
) -> None:
    """Update some of those not asked about for an hour; stops once GitHub is unreachable.

    Neither an error with one of them nor webhooks about many others delay the rest. An installation that many
    organizations have is gone on with at the next call with this bookmark.
    """
    unreached, here = 0, bookmark or Bookmark()  # in a row
    for installation in _next():
        if not go_on() or unreached == AWAY:
            return
        if installation.is_left_alone():  # since the round began
            continue
        is_away = _reconcile(installation, _for_one(go_on), here) is Coverage.NONE
        unreached = unreached + 1 if is_away else 0


def _next() -> list[Installation]:
    """At most `BATCH`: in turn one to be asked about soon and the longest overdue, while there are both."""
    soon = list(Installation.objects.to_be_asked_about_soon()[:BATCH])
    overdue = list(Installation.objects.to_be_asked_about(EVERY)[:BATCH])
    in_turn = chain.from_iterable(zip_longest(soon, overdue))
    return [each for each in in_turn if each][:BATCH]


def _for_one(go_on: Callable[[], bool]) -> Callable[[], bool]:
    """Whether to go on with one installation: for `LONGEST`, so that one is not all that a call asks about."""
    until = time.monotonic() + LONGEST
    return lambda: go_on() and time.monotonic() < until


def _reconcile(
    installation: Installation,
    go_on: Callable[[], bool] = lambda: True,
    bookmark: Bookmark | None = None,
) -> Coverage:
    try:
        installation.ask_about_later()
        is_all = _ask_about(installation, go_on, bookmark or Bookmark())
        return Coverage.ALL if is_all else Coverage.SOME
    except github_api.GitHubError as error:
        _note(installation, error)
        away = isinstance(error, github_api.Unreachable)
        return (
            Coverage.NONE if away and not isinstance(error, github_api.Limited) else Coverage.SOME
        )
    except Exception as error:  # one installation must not end the round
        log.exception("The installation %s could not be updated", installation)
        if isinstance(error, OperationalError | InterfaceError):  # others may be here to stay
            close_old_connections()
            with suppress(OperationalError, InterfaceError):  # it is asked about in an hour
                installation.ask_about_again(ago=EVERY - AFTER_AN_ERROR)
        return Coverage.SOME


def _ask_about(installation: Installation, go_on: Callable[[], bool], here: Bookmark) -> bool:
    """Whether GitHub answered all questions."""
    news, known = News(installation.github_id), Webhook.objects.newest()
    facts = github_api.installation(installation.github_id, deadline=deadline(DEADLINE))
    with transaction.atomic():
        now = Installation.objects.select_for_update(no_key=True).get(pk=installation.pk)
        if Webhook.objects.have_told(news, since=known):
            now.ask_about_soon()  # the answer may be older than that webhook, and is not saved
        else:
            applying.apply_installation(now, facts)
    if facts is None or facts.is_suspended:
        return True
    return _ask_about_repositories(installation, facts.may_write_issues, go_on, here)


def _ask_about_repositories(
    installation: Installation, may_write: bool, go_on: Callable[[], bool], here: Bookmark
) -> bool:
    """Whether GitHub answered about all that are in turn. Ends after `AWAY` repositories without an answer.

    The next call goes on after those, so that neither they nor their number keep others from being asked about.
    """
    left = here.left[installation.pk] = here.take(installation)
    answered: list[bool] = []
    errors: list[github_api.GitHubError] = []
    while left and len(errors) < AWAY:
        if answered and not go_on():
            installation.ask_about_again(ago=EVERY)
            return False
        integration = Integration.objects.configured().filter(pk=left.pop(0)).first()
        if integration is None or integration.installation_id != installation.pk:  # it has moved
            continue
        try:
            answered.append(_reconcile_integration(integration, here, may_write=may_write))
        except (github_api.Limited, github_api.Suspended):  # so it is for all of them
            raise
        except github_api.GitHubError as error:
            errors.append(error)
    if errors and not answered:
        raise errors[-1]
    for each in errors:
        _note(installation, each)
    return all(answered) and not errors


def _reconcile_integration(integration: Integration, here: Bookmark, *, may_write: bool) -> bool:
    """Whether GitHub answered all about it, and about its issues."""
    reached = _reconcile_repository(integration, may_write=may_write)
    if reached is None:
        return True
    looks = [_look_at_rights(integration, reached)]
    if may_write and reached.repository.has_issues:
        looks.append(_look_at_issues(integration, here))
    return all(looks)


def _look_at_issues(integration: Integration, here: Bookmark) -> bool:
    """Whether GitHub answered all. If it does not, the others are still asked about."""
    try:
        missed_issues.look(integration, here.issues)
    except (github_api.Limited, github_api.Suspended):
        raise
    except github_api.GitHubError as error:
        _note(integration.installation, error)
        return False
    return True


def _reconcile_repository(
    integration: Integration, *, may_write: bool
) -> github_api.Reached | None:
    """The repository, if the installation can access it. It is asked about again if a webhook comes in meanwhile."""
    asked_about = cast(int, integration.repository_id)
    news = News(integration.installation.github_id, asked_about)
    known = Webhook.objects.newest()
    reached = github_api.reached(
        integration.installation.github_id, asked_about, deadline=deadline(DEADLINE)
    )
    with transaction.atomic():
        this = Integration.objects.filter(pk=integration.pk, repository_id=asked_about)
        now = this.select_for_update(no_key=True).first()
        if now is None:  # another one was chosen in the meantime
            return reached
        if Webhook.objects.have_told(news, since=known):
            integration.installation.ask_about_soon()  # as above
        elif reached is None:
            applying.mark_out_of_reach(now)
            visibility.hide([asked_about], installation_id=integration.installation.github_id)
        else:
            _follow(now, reached.repository, may_write=may_write)
    return reached


def _follow(
    integration: Integration, facts: github_api.RepositoryFacts, *, may_write: bool
) -> None:
    if applying.apply_repository(integration, facts) and may_write:
        applying.mark_taking_issues(integration)
    visibility.apply(facts, installation_id=integration.installation.github_id)


def _look_at_rights(integration: Integration, reached: github_api.Reached) -> bool:
    """Whether GitHub answered. If it does not answer about one, the others are still asked about."""
    try:
        push_access.look(integration, reached)
        if integration.rights_lost_at:
            with transaction.atomic():
                applying.rights_stay_lost(integration)
    except github_api.Limited:
        raise
    except github_api.GitHubError as error:
        _note(integration.installation, error)
        return False
    return True


def _note(installation: Installation, error: github_api.GitHubError) -> None:
    if isinstance(error, github_api.Limited):
        installation.leave_alone_for(error.wait)
    log.warning("GitHub did not answer about the installation %s: %s", installation, error)
