"""Asks GitHub about every installation, in case webhooks were missed."""

import logging
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
from integrations.github_sync import applying, visibility
from integrations.models import Installation, Integration, News, Webhook
from integrations.ownership import push_access

log = logging.getLogger(__name__)

EVERY = timedelta(hours=1)
AFTER_AN_ERROR = timedelta(minutes=1)  # of the database
BATCH = 50
AWAY = 2  # unanswered installations in a row, or repositories of one: GitHub is unreachable for all


class Coverage(Enum):
    """How much of what was asked GitHub has answered."""

    ALL = "all"
    SOME = "some"
    NONE = "none"  # it could not be reached


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


def reconcile_due(go_on: Callable[[], bool] = lambda: True) -> None:
    """Update some of those not asked about for an hour; stops once GitHub is unreachable.

    Neither an error with one of them nor webhooks about many others delay the rest.
    """
    unreached = 0  # in a row
    for installation in _next():
        if not go_on() or unreached == AWAY:
            return
        unreached = unreached + 1 if _reconcile(installation) is Coverage.NONE else 0


def _next() -> list[Installation]:
    """At most `BATCH`: in turn one to be asked about soon and the longest overdue, while there are both."""
    soon = list(Installation.objects.to_be_asked_about_soon()[:BATCH])
    overdue = list(Installation.objects.to_be_asked_about(EVERY)[:BATCH])
    in_turn = chain.from_iterable(zip_longest(soon, overdue))
    return [each for each in in_turn if each][:BATCH]


def _reconcile(installation: Installation) -> Coverage:
    try:
        installation.ask_about_later()
        return Coverage.ALL if _ask_about(installation) else Coverage.SOME
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


def _ask_about(installation: Installation) -> bool:
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
    reached, error = _reconcile_repositories(installation, may_write=facts.may_write_issues)
    looked = [_look_at_rights(each, found) for each, found in reached if found]
    if error and not reached:
        raise error
    if error:
        _note(installation, error)
    return error is None and all(looked)


def _reconcile_repositories(
    installation: Installation, *, may_write: bool
) -> tuple[list[tuple[Integration, github_api.Reached | None]], github_api.GitHubError | None]:
    """Those of its integrations that GitHub has answered about, with what it said; and its last error, if any.

    Ends after `AWAY` of them without an answer. In random order, so that these keep none of the others from being
    asked about for ever.
    """
    reached, errors = [], []
    configured = Integration.objects.configured().filter(installation=installation)
    for each in configured.order_by("?"):
        try:
            reached.append((each, _reconcile_repository(each, may_write=may_write)))
        except (github_api.Limited, github_api.Suspended):  # so it is for all of them
            raise
        except github_api.GitHubError as error:
            errors.append(error)
            if len(errors) == AWAY:
                break
    return reached, errors[-1] if errors else None


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
