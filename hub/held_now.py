"""How much is held and discarded, and for whom GitHub accepts nothing: for operators, however much there is."""

from typing import Any, NamedTuple

from django.db import connection

from core import counting
from integrations.models import Delivery, Integration

LOOKED_AT = 5000  # integrations, each once for every cause that it holds something for
COUNTED = 50  # integrations that GitHub accepts nothing for; the others are only mentioned
SHOWN = 3
Cause = Delivery.Cause
FIRST = """
    SELECT id FROM integrations_delivery WHERE status = 'held'
    ORDER BY integration_id, held_for, id LIMIT 1 -- in the order of an index that has only what is held
"""
NEXT = """
    SELECT id FROM integrations_delivery
    WHERE status = 'held' AND (integration_id, held_for) > (walk.integration, walk.cause)
    ORDER BY integration_id, held_for, id LIMIT 1
"""
UP_TO = """(SELECT COUNT(*) FROM (
    SELECT 1 FROM integrations_delivery d WHERE d.status = 'held'
    AND d.integration_id = walk.integration AND d.held_for = walk.cause
    ORDER BY d.held_for, d.id LIMIT %(beyond)s
) AS looked_at)"""
COUNTS = ", ".join(f"CAST(0 AS bigint) AS of_{cause.value}" for cause in Cause)
ADDED = ", ".join(
    f"CASE WHEN cause = '{each.value}' AND of_{each.value} <= %(most)s THEN of_{each.value} + {UP_TO} "
    f"ELSE of_{each.value} END"
    for each in Cause
)
COLUMNS = ", ".join(f"of_{cause.value}" for cause in Cause)
WALK = f"""WITH RECURSIVE walk(steps, integration, cause, {COLUMNS}) AS (
    SELECT 0, f.integration_id, f.held_for, {COUNTS}
    FROM (SELECT 1) AS one LEFT JOIN integrations_delivery f ON f.id = ({FIRST})
    UNION ALL
    SELECT steps + 1, n.integration_id, n.held_for, {ADDED}
    FROM walk LEFT JOIN integrations_delivery n ON n.id = ({NEXT})
    WHERE walk.integration IS NOT NULL AND steps <= %(looked_at)s
)
SELECT steps, integration, cause, {COLUMNS} FROM walk"""  # noqa: S608  (no values of others)


class Held(NamedTuple):
    """How much is held, by cause: what is over `counting.MOST` is only counted until then.

    `is_all`: whether all integrations were looked at. `refused`: those for which GitHub accepts nothing.
    """

    of: dict[str, int]
    is_all: bool
    refused: list[int]


def now() -> dict[str, Any]:
    """The numbers, and the integrations for which most is held."""
    found = by_cause()
    discarded = found.of[Cause.DISCARDED]
    stopped = Integration.objects.filter(pk__in=found.refused[: counting.MOST]).exclude(problem="")
    known = list(stopped.order_by("pk").values_list("pk", flat=True))
    first = _most_held(known[:COUNTED])
    shown = Integration.objects.select_related("organization").in_bulk([pk for pk, _ in first])
    others = len(known) - len(first)
    return {
        "held": _in_words(sum(found.of.values()) - discarded, found.is_all),
        "discarded": _in_words(discarded, found.is_all),
        "refused": [(shown[pk], counting.in_words(count)) for pk, count in first if pk in shown],
        "refused_more": counting.or_more(others, len(found.refused)) if others else "",
    }


def _in_words(count: int, is_all: bool) -> str:
    """All, "more than" so many, or so many "or more" if there are integrations that were not looked at."""
    return counting.in_words(count) if is_all or count > counting.MOST else f"{count:,} or more"


def _most_held(integrations: list[int]) -> list[tuple[int, int]]:
    held = Delivery.objects.held(Cause.INTEGRATION).order_by("held_for")
    if not integrations:
        return []
    counts = counting.each_up_to_most(
        **{str(pk): held.filter(integration=pk) for pk in integrations}
    )
    ordered = sorted(counts.items(), key=lambda each: -each[1])
    return [(int(pk), count) for pk, count in ordered[:SHOWN]]


def by_cause() -> Held:
    """How much is held for each cause.

    Raw SQL, since it jumps in the index from one integration and cause to the next, at most `LOOKED_AT`
    times, and counts no further than `counting.MOST` and one, however much each of them has.
    """
    limits = {"most": counting.MOST, "beyond": counting.MOST + 1, "looked_at": LOOKED_AT}
    with connection.cursor() as cursor:
        cursor.execute(WALK, limits)
        rows = cursor.fetchall()
    counts = [max(column) for column in list(zip(*rows, strict=True))[3:]]
    refused = [integration for _, integration, cause, *_ in rows if cause == Cause.INTEGRATION]
    is_all = any(integration is None for _, integration, *_ in rows)
    return Held(dict(zip(Cause, counts, strict=True)), is_all, refused)
