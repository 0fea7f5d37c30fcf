"""The board, the alerts and the page about them name the metrics that there are, and no others."""

import json
import re
from pathlib import Path

import pytest
import yaml

from core.watching import metrics
from hub import figures
from hub.docs import markdown
from tests.docs import tables
from tests.rooms import ROOT

BOARD = ROOT / "deploy/grafana/docs-feedback-hub.json"
RULES = ROOT / "deploy/prometheus/hub.rules.yml"
PAGE = ROOT / "docs/v0/how-to/watch-a-hub.md"
NAME = re.compile(r"\bhub_\w+")
HISTOGRAM = re.compile(r"_(bucket|sum|count)$")


def named_in(path: Path) -> set[str]:
    """The metrics that a file names."""
    names = set(NAME.findall(path.read_text()))
    return {name if name in known() else HISTOGRAM.sub("", name) for name in names}


def known() -> set[str]:
    return {each.name for each in metrics.every()} | set(figures.MEANINGS)


def labels() -> dict[str, set[str]]:
    """The labels of each metric."""
    of = {each.name: {each.label} - {""} for each in metrics.every()}
    return of | {name: set(figures.LABELS.get(name, ())) for name in figures.MEANINGS}


def rules() -> list[dict]:
    [group] = yaml.safe_load(RULES.read_text())["groups"]
    return group["rules"]


def test_the_page_has_every_metric_with_its_labels():
    rows = tables.rows("../how-to/watch-a-hub", "metric", "labels", "meaning")

    assert {tables.codes(name)[0]: set(tables.codes(cell)) for name, cell, _ in rows} == labels()


def test_the_page_names_no_other():
    assert named_in(PAGE) == known()


def test_the_board_shows_every_metric_and_no_other():
    assert named_in(BOARD) == known()


def test_the_board_is_one_that_grafana_reads():
    board = json.loads(BOARD.read_text())
    panels = [each for each in board["panels"] if each["type"] != "row"]

    assert len({each["id"] for each in board["panels"]}) == len(board["panels"])
    assert all(each["targets"] for each in panels)
    assert all(each["gridPos"]["x"] + each["gridPos"]["w"] <= 24 for each in panels)


def test_the_alerts_name_metrics_that_there_are():
    assert named_in(RULES) <= known()
    assert len(rules()) == 5


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_each_alert_leads_to_the_section_that_says_what_to_do(rule):
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    text = PAGE.read_text()
    [section] = [
        part for part in text.split("\n## ") if markdown.anchor(part.partition("\n")[0]) == anchor
    ]

    assert page == "https://hub.example.com/v0/how-to/watch-a-hub/"
    assert f"`{rule['alert']}`:" in section
