import json
from xml.etree import ElementTree

import pytest

from tests.bench import chart, figures, tables
from tests.bench.chart import Bar
from tests.bench.figures import Goal, Sample, Thing
from tests.bench.outcome import Outcome

HUB, PEER = Thing("hub", "new", 8), Thing("peer", "new", 8)


def sample(thing: Thing, number: int, requests: int, *, cpu: float = 1.0, others: float = 0.0):
    """One round of one second."""
    return Sample(thing, number, requests, 1.0, cpu, 0.5, others, 2.0, 9.0)


def rounds(thing: Thing, *rates: int, **more: float) -> list[Sample]:
    return [sample(thing, number, rate, **more) for number, rate in enumerate(rates, 1)]


def test_a_round_says_what_each_request_cost():
    seen = Sample(HUB, 1, 200, 4.0, 1.0, 0.5, 0.0, 2.0, 9.0)

    assert (seen.rate, seen.cpu_each, seen.database_cpu_each) == (50.0, 5.0, 2.5)


def test_a_range_has_the_median_of_the_rounds():
    seen = figures.range_of([30.0, 10.0, 20.0])

    assert seen == (20.0, 10.0, 30.0)
    assert seen.width == 1.0


@pytest.mark.parametrize(
    ("values", "percent", "expected"), [([7.0], 99, 7.0), ([*range(1, 102)], 99, 100)]
)
def test_a_percentile(values, percent, expected):
    assert figures.percentile(values, percent) == expected


def test_ratios_are_taken_round_by_round():
    samples = [*rounds(PEER, 100, 10, 50), *rounds(HUB, 50, 5, 100)]

    assert figures.ratios(samples, HUB, PEER) == [0.5, 0.5, 2.0]


def test_a_round_that_only_one_of_them_has_is_left_out():
    samples = [*rounds(PEER, 100), *rounds(HUB, 50, 60)]

    assert figures.ratios(samples, HUB, PEER) == [0.5]
    assert figures.ratios(samples, HUB, Thing("nobody", "new", 8)) == []


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal("rate", [0.5, 0.6, 9.0], 0.60, 1.0), True),
        (Goal("rate", [0.5, 0.59, 9.0], 0.60, 1.0), False),
        (Goal("CPU", [2.5, 2.5, 9.0], 2.5, 1.3, at_most=True), True),
        (Goal("CPU", [2.6, 2.6, 0.1], 2.5, 1.3, at_most=True), False),
    ],
)
def test_the_median_has_to_be_within_the_bound(goal, met):
    assert goal.is_met is met


def test_a_quiet_machine_tells():
    assert figures.noise([*rounds(HUB, 100, 110, 105), *rounds(PEER, 50, 51, 52)]) == ""


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ([], "fewer than 3 rounds"),
        (rounds(HUB, 100, 100), "fewer than 3 rounds"),
        (rounds(HUB, 100, 100, 100, others=0.2), "Other processes used 20%"),
        (rounds(HUB, 100, 150, 100), "differ by 50%"),
    ],
)
def test_a_noisy_machine_does_not(samples, why):
    assert why in figures.noise(samples)


def test_a_table_has_words_to_the_left_and_numbers_to_the_right():
    drawn = tables.table(("what", "rate"), [("new", "5"), ("duplicate", "1500")])

    assert drawn.splitlines() == [
        "what       rate",
        "new           5",
        "duplicate  1500",
    ]


def test_the_text_has_figures_and_the_contract_beside_them():
    samples = [*rounds(PEER, 100, 100, 120), *rounds(HUB, 50, 60, 50)]
    goal = Goal("new against the peer", figures.ratios(samples, HUB, PEER), 0.6, 1.0)

    text = Outcome("intake", samples, [goal], ["Something to know."]).text()
    words = [" ".join(line.split()) for line in text.splitlines()]

    assert "new 8 hub 50 (50–60) 20.00 (16.67–20.00) 10.00 2.00 9.00" in words
    assert "new against the peer 0.50 (0.42–0.60) ≥ 0.6 1 MISSED" in words
    assert "Something to know." in words


def test_what_is_written_can_be_read_again(tmp_path):
    goal = Goal("new against the peer", [0.5], 0.6, 1.0)
    outcome = Outcome("intake", rounds(HUB, 50), [goal], [], {"lists": [1]})

    paths = outcome.write(tmp_path / "out")

    read = json.loads(paths[0].read_text())
    assert (read["lists"], read["goals"][0]["met"], read["samples"][0]["rate"]) == ([1], False, 50)
    assert [path.name for path in paths] == ["intake.json", "intake-rate.svg", "intake-cpu.svg"]


def test_the_longest_bar_is_the_largest_figure():
    svg = ElementTree.fromstring(chart.drawn("a & b", "ms", [Bar("<hub>", 1.0), Bar("peer", 4.0)]))

    widths = [int(each.attrib["width"]) for each in svg.iter("{http://www.w3.org/2000/svg}rect")]
    assert widths[1] == 4 * widths[0]
