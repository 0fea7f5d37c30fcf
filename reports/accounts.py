"""Further accounts: duplicates of a report in other words. Keeps the first and the latest of them."""

import hashlib
import json
from datetime import datetime
from typing import Any

from django.db.models import F
from django.utils.crypto import salted_hmac

from core import rates
from reports.models import Account, Report

MOST = 20
BYTES = 64 * 1024
FIRST, SHORT = 10, BYTES // 20  # the first short ones stay; all others make room for newer ones
SHORTER = 8 * 1024  # bytes of shorter ones that make room for a longer one; larger ones all do
OF_ONE_SOURCE = "3/day"  # for one report, so that no single source can fill it or push others out
# Of one source for all reports: each of them is counted by itself, for a day.
OF_ALL = "1000/day"


def may_add(report: Report, said: Account, source: str) -> bool:
    """Count one more account from this source; False if it has sent too many about this report.

    Call it outside a transaction, because it may ask Redis. True if the source is not known.
    """
    if not source or report.accounts.filter(words_hash=_sha256(said.words)).exists():
        return True
    try:
        rates.check_all(
            rates.Limit(OF_ALL, ("accounts", source)),
            rates.Limit(OF_ONE_SOURCE, ("accounts", report.pk, source)),
        )
    except rates.RateLimited:
        return False
    return True


def keep(report: Report, said: Account, now: datetime, *, may_add: bool) -> None:
    """Keep a duplicate's words, once, with its report; the caller saves the report's counters.

    The caller has locked the report's row. Spam that came first cannot keep a real account out, because
    later and longer ones make room for it; spam that comes later never replaces the first ones, and few
    that are shorter than itself.
    """
    kept = list(report.accounts.only("report", "size", "words_hash"))
    said.words_hash = _sha256(said.words)
    if known := next((each for each in kept if each.words_hash == said.words_hash), None):
        again = {"times_received": F("times_received") + 1, "last_received_at": now}
        Account.objects.filter(pk=known.pk).update(**again)
        return
    said.size = len(_as_json([*said.words, said.task_context]))
    leaving = _to_make_room(kept, said.size) if may_add else None
    if leaving is None:
        report.accounts_not_kept += 1
        return
    if leaving:
        Account.objects.filter(pk__in=[each.pk for each in leaving]).delete()
    said.report, said.received_at, said.last_received_at = report, now, now
    said.save(force_insert=True)
    report.accounts_not_kept += len(leaving)
    report.further_accounts = len(kept) - len(leaving) + 1


def mark(report: Report) -> str:
    """Which accounts members are shown: another text once there is a newer one. A mere repeat leaves it as it is."""
    newest = report.accounts.readable().order_by("-pk").values_list("pk", flat=True).first()
    shown = f"{report.pk}/{newest or ''}"
    return salted_hmac("accounts", shown, algorithm="sha256").hexdigest()[:32]


def _to_make_room(kept: list[Account], size: int) -> list[Account] | None:
    """Which accounts to delete for one of `size` bytes, oldest first; None if it is too large."""
    staying = [each.pk for each in kept if each.size <= SHORT][:FIRST]
    free = BYTES - size - sum(each.size for each in kept)
    shorter = SHORTER
    leaving: list[Account] = []
    for each in kept:
        if free >= 0 and len(kept) - len(leaving) < MOST:
            break
        is_short = each.size < min(size, SHORTER)
        if each.pk in staying or (is_short and each.size > shorter):
            continue
        if is_short:
            shorter -= each.size
        leaving.append(each)
        free += each.size
    return leaving if free >= 0 and len(kept) - len(leaving) < MOST else None


def _sha256(words: list[Any]) -> str:
    return hashlib.sha256(_as_json(words)).hexdigest()


def _as_json(words: list[Any]) -> bytes:
    return json.dumps(words, ensure_ascii=False, sort_keys=True).encode()
