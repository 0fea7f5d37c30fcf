"""Asking GitHub about every installation, for webhooks that never came."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import cast

from django.db import connection, transaction

from integrations import following, github_api
from integrations.asking import DEADLINE
from integrations.models import Installation, Integration

log = logging.getLogger(__name__)

EVERY = timedelta(hours=1)
BATCH = 50


def reconcile(on_progress: Callable[[], None] = lambda: None) -> Counter[str]:
    """Bring every installation and integration up to date; how many `asked` and `unanswered`."""
    outcomes: Counter[str] = Counter()
    for installation in Installation.objects.in_use():
        outcomes["asked" if _reconcile(installation) else "unanswered"] += 1
        on_progress()
    return outcomes


def reconcile_due(go_on: Callable[[], bool] = lambda: True) -> None:
    """Some of those that were not asked about for an hour; no more once GitHub gives no answer."""
    for installation in Installation.objects.to_be_asked_about(EVERY)[:BATCH]:
        if not go_on() or not _reconcile(installation):
            return


def _reconcile(installation: Installation) -> bool:
    """Whether GitHub answered."""
    installation.ask_about_later()
    try:
        _ask_about(installation)
    except github_api.GitHubError as error:
        log.warning("GitHub did not tell about the installation %s: %s", installation, error)
        return False
    return True


def _ask_about(installation: Installation) -> None:
    facts = github_api.installation(installation.github_id, deadline=_deadline())
    with transaction.atomic():
        following.installation_is(installation, facts)
    if facts is None or facts.is_suspended:
        return
    for integration in Integration.objects.configured().filter(installation=installation):
        _reconcile_repository(integration, may_write=facts.may_write_issues)


def _reconcile_repository(integration: Integration, *, may_write: bool) -> None:
    asked_about = cast(int, integration.repository_id)
    facts = github_api.repository(
        integration.installation.github_id, asked_about, deadline=_deadline()
    )
    with transaction.atomic():
        unmoved = Integration.objects.select_for_update().filter(repository_id=asked_about)
        if now := unmoved.filter(pk=integration.pk).first():  # nobody chose another one meanwhile
            if facts is None:
                following.repository_is_out_of_reach(now)
            elif following.repository_is(now, facts) and may_write:
                following.takes_issues_again(now)


def _deadline() -> float:
    """For one question; no connection to the database is held meanwhile."""
    connection.close()
    return time.monotonic() + DEADLINE
