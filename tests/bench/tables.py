"""Plain-text tables."""

from collections.abc import Iterable, Sequence

from tests.bench import figures
from tests.bench.figures import Goal, Range, Sample

HEAD = (
    *("what", "c", "server", "rate/s", "(least–most)", "CPU ms", "(least–most)"),
    *("DB ms", "p50 ms", "p99 ms"),
)
GOALS = ("contract", "seen", "(least–most)", "must be", "aim", "")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; numbers to the right, words to the left."""
    every = [list(head), *map(list, rows)]
    columns = [_column(cells) for cells in zip(*every, strict=True)]
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def _column(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    if all(cell[:1].isdigit() for cell in cells[1:]):
        return [cell.rjust(width) for cell in cells]
    return [cell.ljust(width) for cell in cells]


def measured(samples: Sequence[Sample]) -> str:
    """All things, with the medians of their rounds."""
    rows = []
    for thing in figures.things(samples):
        rounds = figures.of(samples, thing)
        seen = {
            name: figures.range_of(getattr(each, name) for each in rounds)
            for name in ("rate", "cpu_each", "database_cpu_each", "p50", "p99")
        }
        rows.append(
            [
                *(thing.what, str(thing.connections), thing.server),
                *_ranged(seen["rate"], 0),
                *_ranged(seen["cpu_each"], 2),
                *(f"{seen[name].median:.2f}" for name in ("database_cpu_each", "p50", "p99")),
            ]
        )
    return table(HEAD, rows)


def goals(every: Iterable[Goal]) -> str:
    """The contract beside what was seen."""
    rows = []
    for goal in every:
        sign = "≤" if goal.at_most else "≥"
        median, apart = _ranged(figures.range_of(goal.ratios), 2)
        verdict = "met" if goal.is_met else "MISSED"
        rows.append([goal.name, median, apart, f"{sign} {goal.bound:g}", f"{goal.aim:g}", verdict])
    return table(GOALS, rows)


def _ranged(seen: Range, digits: int) -> tuple[str, str]:
    return f"{seen.median:.{digits}f}", f"({seen.least:.{digits}f}–{seen.most:.{digits}f})"
