"""The verdict on a run: as a table for people, as JSON for programs, and as an exit status."""

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from tests.chaos.memory import MIB, Grown
from tests.chaos.oracle import DOUBLED, LOST, STUCK, UNEXPLAINED, Finding

SHOWN = 20  # findings on the terminal; all of them are in the JSON


@dataclass
class Verdict:
    """What a run has shown, and how it is repeated."""

    database: str
    seed: int
    minutes: float
    answers: dict[str, int] = field(default_factory=dict)
    accepted: int = 0
    reports: int = 0
    issues: int = 0
    comments: int = 0
    alerts: int = 0
    deliveries: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    injected: dict[str, int] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    memory: Grown | None = None
    findings: list[Finding] = field(default_factory=list)
    command: str = ""  # that repeats it

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each kind."""
        found = Counter(each.kind for each in self.findings)
        return {kind: found[kind] for kind in (LOST, DOUBLED, STUCK, UNEXPLAINED)}

    @property
    def is_good(self) -> bool:
        """Something was accepted, nothing lost, doubled, stuck or unexplained, and memory is flat."""
        flat = self.memory is None or self.memory.is_flat
        return bool(self.accepted) and not self.findings and flat

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        memory = self.memory._asdict() | {"is_flat": self.memory.is_flat} if self.memory else None
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        return known | {
            "memory": memory,
            "findings": [each._asdict() for each in self.findings],
            "counts": self.counts,
            "is_good": self.is_good,
        }

    def text(self) -> str:
        """The table."""
        rows = [
            ("database, seed, minutes", f"{self.database}, {self.seed}, {self.minutes:g}"),
            ("answers by status", _listed(self.answers)),
            ("accepted", f"{self.accepted}, as {self.reports} reports"),
            ("issues", str(self.issues)),
            ("comments", str(self.comments)),
            ("alerts", str(self.alerts)),
            ("deliveries", _listed(self.deliveries)),
            *((f"  {name}", str(number)) for name, number in sorted(self.reasons.items())),
            ("faults injected", f"{sum(self.injected.values())} of {len(self.injected)} kinds"),
            *((f"  {name}", str(number)) for name, number in sorted(self.injected.items())),
            ("faults without a target", str(sum(self.missed.values()))),
            *((f"left out: {name}", why) for name, why in sorted(self.left_out.items())),
            ("memory", _memory(self.memory)),
            *((kind.upper(), str(number)) for kind, number in self.counts.items()),
        ]
        wide = max(len(name) for name, _ in rows)
        lines = [f"{name:{wide}}  {value}" for name, value in rows]
        lines += [f"  {each.kind}: {each.id} {each.what}" for each in self.findings[:SHOWN]]
        if len(self.findings) > SHOWN:
            lines.append(f"  and {len(self.findings) - SHOWN} more")
        return "\n".join(lines)


def _listed(counted: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counted.items())) or "none"


def _memory(grown: Grown | None) -> str:
    if grown is None:
        return "too short a run to tell"
    said = "flat" if grown.is_flat else "NOT FLAT"
    return (
        f"{said}: {grown.middle / MIB:.0f} MiB, then {grown.last / MIB:.0f} MiB in {grown.most_at_once} "
        f"processes; {grown.processes - grown.most_at_once} were started again"
    )
