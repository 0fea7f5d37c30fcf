"""The states of a delivery: which it can be in, and who moves it from one to another."""

from typing import NamedTuple

from tests.pictures import svg

WIDTH, HEIGHT = 250, 66  # pixels
BOXES = {  # where, and what it means
    "pending": (40, 70, ["waits for its turn,", "or for its next try"]),
    "sending": (440, 70, ["one process has it,", "as long as its lease lasts"]),
    "sent": (840, 70, ["its issue exists", "(perhaps found later)"]),
    "folded": (1190, 70, ["it is in the issue", "of its lead"]),
    "held": (440, 270, ["stopped for one cause,", "until that is gone"]),
    "failed": (840, 270, ["refused, given up after", "24 hours, or erased"]),
}


class Move(NamedTuple):
    """From one status to another: by what methods of a delivery or its queryset, and in words.

    `path` and `at` are the arrow and the place of the words; without them it is not drawn.
    """

    begin: str
    end: str
    by: set[str]
    words: tuple[str, ...] = ()
    path: str = ""
    at: tuple[int, int] = (0, 0)
    anchor: str = "start"


MOVES = [
    Move(
        "",
        "pending",
        {"create_for"},
        ("a report matches a claim",),
        "M150 20V68",
        (160, 40),
    ),
    Move(
        "",
        "held",
        {"create_for"},
        ("the integration is stopped",),
        "M520 390V338",
        (530, 365),
    ),
    Move(
        "pending",
        "sending",
        {"take"},
        ("a process takes it",),
        "M292 93H438",
        (365, 86),
        "middle",
    ),
    Move("sending", "sending", {"take"}),
    Move(
        "sending",
        "pending",
        {
            "wait",
            "wait_before_sending",
            "postpone",
            "reconcile_later",
            "recheck_later",
            "look_there",
            "record_internal_error",
            "forget_text",
        },
        ("no answer, a limit,", "or an error of ours"),
        "M438 115H292",
        (365, 130),
        "middle",
    ),
    Move(
        "sending",
        "sent",
        {"succeed"},
        ("issue created",),
        "M692 103H838",
        (765, 96),
        "middle",
    ),
    Move(
        "sending",
        "held",
        {"hold", "hold_before_sending"},
        ("stopped before", "or by GitHub"),
        "M565 138V268",
        (575, 200),
    ),
    Move(
        "sending",
        "failed",
        {
            "fail",
            "end_erased",
            "postpone",
            "reconcile_later",
            "record_internal_error",
            "forget_text",
        },
        ("GitHub refuses it, or", "24 hours of tries failed"),
        "M692 128 L880 268",
        (832, 195),
    ),
    Move(
        "pending",
        "held",
        {"hold", "hold_stopped", "discard"},
        ("a cause begins,", "or Discard"),
        "M230 138 L438 285",
        (350, 195),
    ),
    Move(
        "held",
        "pending",
        {"release", "requeue", "restore"},
        ("cause gone, Try again,", "or Restore"),
        "M438 318 L150 138",
        (205, 262),
    ),
    Move(
        "failed",
        "held",
        {"discard"},
        ("Discard",),
        "M838 303H692",
        (765, 320),
        "middle",
    ),
    Move(
        "failed",
        "pending",
        {"requeue"},
        ("Try again",),
        "M965 338V420H80V138",
        (300, 412),
        "middle",
    ),
    Move(
        "sending",
        "folded",
        {"fold"},
        ("it is like a report that has an issue", "(until then it waits, if that is being opened)"),
        "M565 68V28H1315V68",
        (600, 20),
    ),
    Move(
        "folded",
        "pending",
        {"unfold"},
        ("Not the same, or Discard", "and Restore"),
        "M1315 138V450H60V138",
        (1090, 436),
    ),
    # A member says that they are the same.
    Move("pending", "folded", {"fold_under"}),
    Move("held", "folded", {"fold_under"}),
    Move("failed", "folded", {"fold_under"}),
    # An erased text ends what has not been sent; the answer to a POST counts, however late it comes.
    Move("pending", "failed", {"forget_text"}),
    Move("held", "failed", {"forget_text"}),
    Move("pending", "sent", {"succeed"}),
    Move("held", "sent", {"succeed"}),
    Move("failed", "sent", {"succeed"}),
    Move("folded", "sent", {"succeed"}),
]


def drawn() -> str:
    """The picture as SVG, of the moves that have a path."""
    arrows = [shape for move in MOVES if move.path for shape in _arrow(move)]
    boxes = [svg.box(x, y, WIDTH, HEIGHT, name, says) for name, (x, y, says) in BOXES.items()]
    return svg.picture(1480, 470, "The states of a delivery", [*arrows, *boxes])


def _arrow(move: Move) -> list[str]:
    x, y = move.at
    words = [
        svg.text(x, y + 14 * n, each, "says", anchor=move.anchor)
        for n, each in enumerate(move.words)
    ]
    return [svg.line(move.path), *words]
