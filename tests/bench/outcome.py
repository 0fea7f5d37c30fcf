"""What a run found, as text, JSON and SVG."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench import chart, figures, tables
from tests.bench.chart import Bar
from tests.bench.figures import Goal, Sample

CHARTS = {"rate": "requests per second", "cpu_each": "milliseconds of CPU per request"}


class Outcome(NamedTuple):
    """The rounds of one command, its goals, and sentences for its reader; `more` only goes to the JSON."""

    name: str
    samples: list[Sample]
    goals: list[Goal]
    notes: list[str]
    more: dict[str, Any] = {}

    def text(self) -> str:
        """The tables."""
        parts = [f"{self.name}\n", tables.measured(self.samples), *self.notes]
        if self.goals:
            parts += ["", tables.goals(self.goals)]
        return "\n".join(parts)

    def write(self, folder: Path) -> list[Path]:
        """One JSON file and a chart for each figure, in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        data = folder / f"{self.name}.json"
        data.write_text(json.dumps(self._data(), indent=1) + "\n", encoding="utf-8")
        written = [data]
        for figure, unit in CHARTS.items():
            path = folder / f"{self.name}-{figure.partition('_')[0]}.svg"
            path.write_text(chart.drawn(self.name, unit, self._bars(figure)), encoding="utf-8")
            written.append(path)
        return written

    def _bars(self, figure: str) -> list[Bar]:
        bars = []
        for thing in figures.things(self.samples):
            rounds = figures.of(self.samples, thing)
            value = figures.range_of(getattr(each, figure) for each in rounds).median
            bars.append(Bar(f"{thing.what}, c = {thing.connections}: {thing.server}", value))
        return bars

    def _data(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "noise": figures.noise(self.samples),
            "notes": self.notes,
            "goals": [
                {**goal._asdict(), "value": goal.value, "met": goal.is_met} for goal in self.goals
            ],
            "samples": [_flat(each) for each in self.samples],
            **self.more,
        }


def _flat(sample: Sample) -> dict[str, Any]:
    figures = {**sample._asdict(), "rate": sample.rate, "cpu_each": sample.cpu_each}
    return {**sample.thing._asdict(), **{k: v for k, v in figures.items() if k != "thing"}}
