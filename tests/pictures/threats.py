"""Who meets a Hub, at which door, and what crosses there: the picture of the threat model."""

from tests.pictures import svg

WIDTH, HEIGHT, ROW = 196, 66, 80  # pixels
LEFT, MIDDLE, RIGHT, TOP = 12, 268, 524, 52
EDGE = 20  # between the dashed line and the boxes
PEOPLE = {  # by row: who, and what they bring
    0: ("Stranger", ["words, floods, secrets"]),
    1: ("Agent", ["what a page has told it"]),
    2: ("Member, once or now", ["rights that end"]),
    3: ("Owner next door", ["a claim of what is not theirs"]),
    4: ("Operator", ["trusted with everything"]),
    5: ("Holder of a copy", ["of the database or a backup"]),
}
DOORS = {
    0: ("Reports", ["sizes, rates,", "secrets removed"]),
    1: ("Settings and API", ["sign-in, tokens,", "claims that are proved"]),
    2: ("Issues", ["nothing in them is live,", "each is written once"]),
    3: ("Webhooks", ["signed, and each", "acted on once"]),
    4: ("Questions", ["deadlines, sizes,", "public hosts only"]),
    5: ("Database", ["texts without secrets,", "tokens as hashes"]),
}
OUTSIDE = {
    0: ("Client", ["believes no Hub", "more than it must"]),
    2: ("Repository", ["people, mail, bots, agents"]),
    3: ("GitHub", ["away, slow, or wrong"]),
    4: ("Hosts of a claim", ["name servers, web servers:", "they hang, flood and lie"]),
}
INWARD = [(0, 0), (1, 0), (2, 1), (3, 1), (4, 5), (5, 5)]  # from a person to a door
OUTWARD = [(0, 0), (2, 2), (4, 3), (4, 4)]  # from a door to the outside
BACK = [(3, 3)]  # from the outside to a door


def drawn() -> str:
    """The picture as SVG; the dashed line is around what a Hub itself has in its hands."""
    bottom = TOP + ROW * max(DOORS) + HEIGHT + 16
    edge = svg.line(
        f"M{MIDDLE - EDGE} 14H{MIDDLE + WIDTH + EDGE}V{bottom}H{MIDDLE - EDGE}Z", "lane"
    )
    heads = [
        svg.text(LEFT, 38, "Who comes", "name"),
        svg.text(MIDDLE, 38, "A Hub", "name"),
        svg.text(RIGHT, 38, "What it meets", "name"),
    ]
    boxes = [
        svg.box(x, _y(row), WIDTH, HEIGHT, *said)
        for x, column in ((LEFT, PEOPLE), (MIDDLE, DOORS), (RIGHT, OUTSIDE))
        for row, said in column.items()
    ]
    lines = [
        *(_arrow(LEFT + WIDTH, begin, MIDDLE, end) for begin, end in INWARD),
        *(_arrow(MIDDLE + WIDTH, begin, RIGHT, end) for begin, end in OUTWARD),
        *(_arrow(RIGHT, begin, MIDDLE + WIDTH, end) for begin, end in BACK),
    ]
    width = RIGHT + WIDTH + LEFT
    return svg.picture(
        width, bottom + 10, "Who meets a Hub, and where", [edge, *heads, *lines, *boxes]
    )


def _y(row: int) -> int:
    return TOP + ROW * row


def _arrow(x1: int, begin: int, x2: int, end: int) -> str:
    """From the side of a box to the side of another, straight or by one step."""
    y1, y2 = (_y(row) + HEIGHT // 2 for row in (begin, end))
    lower = 12 if y1 > y2 else -12 if y1 < y2 else 0
    turn = (x1 + x2) // 2
    return svg.line(f"M{x1} {y1}H{turn}V{y2 + lower}H{x2}")
