"""The way of a report, from who sends it to its issue: who does what, in order."""

from typing import NamedTuple

from tests.pictures import svg

LANES = ["reporter", "hub/server", "reports", "integrations", "GitHub"]
LANE, ROW, MARGIN, TOP = 240, 56, 100, 40  # pixels


class Step(NamedTuple):
    """One arrow, or work within a lane; `where` is the module that does it."""

    begin: str
    end: str
    words: str
    where: str = ""
    is_answer: bool = False


STEPS = [
    Step("reporter", "hub/server", "POST /v1/reports"),
    Step("hub/server", "reports", "the whole request, in a thread", "hub/server/bridge.py"),
    Step(
        "reports",
        "reports",
        "sent too much? format valid?",
        "reports/admission.py, reports/shape.py",
    ),
    Step("reports", "reports", "whose page? all limits", "orgs/ownership.py, reports/admission.py"),
    Step(
        "reports",
        "reports",
        "secrets removed; a duplicate?",
        "reports/screening.py, reports/repeats.py",
    ),
    Step("reports", "integrations", "stored: post_save", "integrations/receivers.py"),
    Step("integrations", "integrations", "gets its delivery", "integrations/models/delivery.py"),
    Step("integrations", "integrations", "its turn? taken once", "integrations/delivery/pacing.py"),
    Step(
        "integrations",
        "integrations",
        "page still theirs? made safe",
        "integrations/delivery/forwarding.py, integrations/issue/rendering.py",
    ),
    Step("integrations", "GitHub", "POST the issue", "integrations/github_api/issues.py"),
    Step("GitHub", "integrations", "its number, or an error", is_answer=True),
    Step("integrations", "integrations", "result saved", "integrations/models/delivery.py"),
    Step(
        "reports",
        "reporter",
        "201 with its id: now; with a queue, as soon as it is stored",
        is_answer=True,
    ),
    Step(
        "integrations",
        "GitHub",
        "looked for, sent again",
        "integrations/delivery/turns.py, integrations/delivery/retries.py",
    ),
    Step(
        "GitHub",
        "integrations",
        "webhook: closed, renamed",
        "integrations/github_sync/webhooks.py",
    ),
]


def drawn() -> str:
    """The picture as SVG, from top to bottom in the order of time."""
    bottom = TOP + ROW * (len(STEPS) + 1) + 20
    lanes = [_lane(name, _x(name), bottom) for name in LANES]
    steps = [shape for n, step in enumerate(STEPS, 1) for shape in _step(step, TOP + ROW * n)]
    width = 2 * MARGIN + LANE * (len(LANES) - 1) + 60
    return svg.picture(width, bottom + 10, "The way of a report", [*lanes, *steps])


def _x(lane: str) -> int:
    return MARGIN + LANE * LANES.index(lane)


def _lane(name: str, x: int, bottom: int) -> str:
    head = svg.box(x - 75, 15, 150, 32, name)
    return "\n".join([svg.line(f"M{x} 47V{bottom}", "lane"), head])


def _step(step: Step, y: int) -> list[str]:
    begin, end = _x(step.begin), _x(step.end)
    files = step.where.split(", ") if step.where else []
    if begin == end:
        dot = svg.line(f"M{begin} {y - 12}h16v16h-12")
        words = [svg.text(begin + 24, y - 4, step.words)]
        return [dot, *words, *_files(begin + 24, y + 10, files)]
    away = 4 if begin < end else -4
    arrow = svg.line(f"M{begin + away} {y}H{end - away}", "back" if step.is_answer else "")
    left = min(begin, end) + 16
    return [arrow, svg.text(left, y - 7, step.words), *_files(left, y + 14, files)]


def _files(x: int, y: int, files: list[str]) -> list[str]:
    return [svg.text(x, y + 13 * n, file, "says") for n, file in enumerate(files)]
