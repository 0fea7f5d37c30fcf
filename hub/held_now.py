"""How much is held and discarded, and for whom GitHub accepts nothing: for operators, however much there is."""

from typing import Any

from django.db import connection

from core import counting
from integrations.models import Delivery, Integration

LOOKED_AT = 5000  # integrations
COUNTED = 50  # integrations that GitHub accepts nothing for; the others are only mentioned
SHOWN = 3
Cause = Delivery.Cause
# by name, so that the index leaves out the discarded ones
KEPT = sorted({*Cause} - {Cause.DISCARDED})
NEXT = """(
    SELECT integration_id FROM integrations_delivery WHERE status = 'held' AND integration_id >= {}
    ORDER BY integration_id, held_for, id LIMIT 1 -- in the order of an index that has only what is held
)"""
MINE = "FROM integrations_delivery d WHERE d.status = 'held' AND d.integration_id = walk.id AND "
UP_TO = "(SELECT COUNT(*) FROM (SELECT 1 {} LIMIT %(beyond)s) AS looked_at)"
DISCARDED = UP_TO.format(f"{MINE} d.held_for = 'discarded' ORDER BY d.held_for, d.id")
OTHERS = UP_TO.format(f"{MINE} d.held_for IN ({', '.join(map(repr, map(str, KEPT)))})")
WALK = f"""WITH RECURSIVE walk(steps, id, held, discarded, refused) AS (
    SELECT 0, {NEXT.format(0)}, CAST(0 AS bigint), CAST(0 AS bigint), CAST(NULL AS bigint)
    UNION ALL
    SELECT steps + 1, {NEXT.format("walk.id + 1")},
        CASE WHEN held > %(most)s THEN held ELSE held + {OTHERS} END,
        CASE WHEN discarded > %(most)s THEN discarded ELSE discarded + {DISCARDED} END,
        CASE WHEN EXISTS (SELECT 1 {MINE} d.held_for = 'integration') THEN id END
    FROM walk WHERE id IS NOT NULL AND steps <= %(looked_at)s
)
SELECT steps, held, discarded, refused FROM walk"""  # noqa: S608  (no values of others)


def now() -> dict[str, Any]:
    """The numbers, and the integrations for which most is held."""
    steps, held, discarded, refused = _walked()
    stopped = Integration.objects.filter(pk__in=refused[: counting.MOST]).exclude(problem="")
    known = list(stopped.order_by("pk").values_list("pk", flat=True))
    first = _most_held(known[:COUNTED])
    shown = Integration.objects.select_related("organization").in_bulk([pk for pk, _ in first])
    others = len(known) - len(first)
    return {
        "held": _in_words(held, steps),
        "discarded": _in_words(discarded, steps),
        "refused": [(shown[pk], counting.in_words(count)) for pk, count in first if pk in shown],
        "refused_more": counting.or_more(others, len(refused)) if others else "",
    }


def _in_words(count: int, steps: int) -> str:
    """All, "more than" so many, or so many "or more" if there are integrations that were not looked at."""
    is_all = steps <= LOOKED_AT
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


def _walked() -> tuple[int, int, int, list[int]]:
    """How many integrations were looked at, what they hold and have discarded, and which GitHub refuses.

    Raw SQL, since it jumps from one integration to the next in the index, at most `LOOKED_AT` times, and
    counts no further than `counting.MOST` and one, however much each of them has.
    """
    limits = {"most": counting.MOST, "beyond": counting.MOST + 1, "looked_at": LOOKED_AT}
    with connection.cursor() as cursor:
        cursor.execute(WALK, limits)
        rows = cursor.fetchall()
    steps, held, discarded = (max(column) for column in list(zip(*rows, strict=True))[:3])
    return steps, held, discarded, [refused for *_, refused in rows if refused]
