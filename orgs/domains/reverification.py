"""Checks the DNS records of verified claims again."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import islice

from django.db import Error, transaction

from core import batches, connections
from orgs.domains.claiming import drop_expired
from orgs.domains.diagnosis import Finding, look
from orgs.domains.turns import BATCH, in_turn
from orgs.domains.verification import Gone, VerifiedElsewhere, record
from orgs.models import Domain
from orgs.models.domain import DomainQuerySet

log = logging.getLogger(__name__)

Look = tuple[Domain, Finding]

AT_ONCE = 50  # names whose DNS is being asked
FRESH = timedelta(minutes=10)  # what was taken this lately is not taken again


def due() -> DomainQuerySet:
    """The claims whose next check is due: about a day after the last one, sooner after a failed one."""
    return Domain.objects.due()


def maintain(go_on: Callable[[], bool] = lambda: True) -> Counter[str]:
    """The periodic work on claims: remove expired ones, check those that are due."""
    drop_expired(go_on)
    return _checked(_taken(_due_in_turn(), FRESH), _recorded, go_on=go_on)


def run(
    among: DomainQuerySet,
    *,
    dry_run: bool = False,
    fresh: timedelta = FRESH,
    on_progress: Callable[[], None] = lambda: None,
    go_on: Callable[[], bool] = lambda: True,
) -> Counter[str]:
    """Check the record of each claim once; returns how many had each outcome, in words.

    Each claim is taken by a conditional UPDATE, so two runs at once do not check it twice. The DNS is
    asked in threads that use no database, for at most about 8 seconds a name. With `dry_run` nothing
    is written. No more checks are started once `go_on` returns False.
    """
    if dry_run:
        return _checked(_untouched(_in_order(among)), _seen, on_progress, go_on)
    return _checked(_taken(_in_order(among), fresh), _recorded, on_progress, go_on)


def _checked(
    waiting: Iterator[Domain],
    conclude: Callable[[list[Look]], list[str]],
    on_progress: Callable[[], None] = lambda: None,
    go_on: Callable[[], bool] = lambda: True,
) -> Counter[str]:
    """Look at each claim, several at a time, and conclude from what was found; counts the outcomes."""
    outcomes: Counter[str] = Counter()
    asked: dict[Future[Finding], Domain] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while True:
            for domain in islice(waiting, 2 * AT_ONCE - len(asked) if go_on() else 0):
                asked[pool.submit(_look, domain)] = domain
            if not asked:
                return outcomes
            connections.give_back()  # hold no connection while waiting for the DNS
            done = wait(asked, return_when=FIRST_COMPLETED).done
            looks = [(asked.pop(each), each.result()) for each in done]
            outcomes.update(conclude(looks))
            for _ in looks:
                on_progress()


def _in_order(claims: DomainQuerySet) -> Iterator[list[str]]:
    """The ids of all these claims, `BATCH` at a time."""
    ids = claims.order_by("pk").values_list("pk", flat=True)
    batch = list(ids[:BATCH])
    while batch:
        yield batch
        batch = list(ids.filter(pk__gt=batch[-1])[:BATCH])


def _due_in_turn() -> Iterator[list[str]]:
    return in_turn(due().untaken(FRESH), "look_due_at")


def _untouched(ids: Iterator[list[str]]) -> Iterator[Domain]:
    for batch in ids:
        yield from Domain.objects.filter(pk__in=batch).order_by("pk")


def _taken(ids: Iterator[list[str]], fresh: timedelta) -> Iterator[Domain]:
    """The claims that no other run has taken lately; this run takes them."""
    for batch in ids:
        with transaction.atomic():  # rows are locked in the order of their ids, as `record` does
            mine = [pk for pk in sorted(batch) if Domain.objects.take(pk, fresh=fresh)]
        yield from Domain.objects.filter(pk__in=mine).order_by("pk")


def _look(domain: Domain) -> Finding:
    """What the DNS says of it; the resolver alone if that can only confirm. It takes no name from anybody."""
    try:
        return look(domain, direct=domain.is_in_doubt)._replace(by_zone=False)
    except Exception:  # one name must not end the run
        log.exception("The DNS check of %s failed", domain.name)
        return Finding(None, "")


def _seen(looks: list[Look]) -> list[str]:
    return [_in_words(domain, finding) for domain, finding in looks]


def _recorded(looks: list[Look]) -> list[str]:
    """Save what was found, most of it in one UPDATE, and rest after each other; the outcome of each claim, in words."""
    found = [domain for domain, finding in looks if _in_words(domain, finding) == "confirmed"]
    confirmed = [domain for domain in found if not domain.is_below_unknown]
    changed = [each for each in looks if each[0] not in confirmed]
    outcomes = _saved(confirmed, partial(_confirm, confirmed))

    def one_by_one() -> Iterator[int]:
        for domain, finding in changed:
            outcomes.extend(_saved([domain], partial(_outcome, domain, finding)))
            yield 1

    sum(batches.at_leisure(lambda: True, one_by_one()))
    return outcomes


def _saved(domains: list[Domain], save: Callable[[], str]) -> list[str]:
    """The outcome of each, which `save` returns. What the database does not save is checked again soon."""
    try:
        return [save()] * len(domains)
    except Error:  # such as a lock that another one holds must not end the run
        log.exception("A DNS check of %s could not be saved", ", ".join(map(str, domains)))
        with suppress(Error):  # they are checked a day later
            Domain.objects.filter(pk__in=[each.pk for each in domains]).check_soon()
        return ["not saved"] * len(domains)


def _confirm(domains: list[Domain]) -> str:
    Domain.objects.confirm(domains)
    return "confirmed"


def _outcome(domain: Domain, finding: Finding) -> str:
    try:
        now = record(domain, finding)
    except Gone:
        return "deleted in the meantime"
    except VerifiedElsewhere:
        return "owned by another organization"
    lapsed = domain.verified_at and not now.verified_at
    return "lapsed" if lapsed else _in_words(domain, finding)


def _in_words(domain: Domain, finding: Finding) -> str:
    if finding.proven is None:
        return "without an answer"
    if domain.record_value not in finding.proven:
        return "without a record"
    return "confirmed" if domain.verified_at else "verified again"
