"""A person can see all that is sent, and nothing that is not."""

import json
from typing import Any

import pytest
from docfeedback import visible

from reports.cleaning import BLANKS, clean
from tests.clients.mcp_desk import (
    BODY,
    NO,
    PROTOCOLS,
    REPORT,
    Desk,
    Person,
    as_shown,
    at_desk,
    hub_takes_reports,
    legible,
    schemas,
)

_hub = pytest.fixture(autouse=True)(hub_takes_reports)
desk = pytest.fixture(params=PROTOCOLS)(at_desk)

NOBODY_SEES = "\u2800\ufffc\U0001d159\U00016fe4\U00013441\U00013442\u3164\u200b\u202e\xa0\u3000\U000e0041\x1b\xad"
TEXTS = [
    "",
    "short",
    "one\ntwo\n\n\nthree\n",
    "\n" * 8000,
    "\n \n" * 3000,
    " " * 8000,
    "x" + " " * 300 + "and this is behind it",
    "x" * 8000,
    "a few words " * 600,
    "   four    spaces     five",
    "\u2800" * 3000,
    "\U0001d159" * 2000,
    '"quotes", \\ and \\n and \\\\\n' * 100,
    '",\n"agent": "x",' * 50,
    "```\n```json\n```",
    "ünï " * 700,
    "\t\r\n" * 500,
    "Z" + "\u0308" * 450,
    ("Z" + "\U0001e8d0" * 20) * 100,
]
MARKS = "\u0308\u0489\u20dd\u0e31\u0302\U0001e8d0"  # of each kind, also those that nothing is composed with


def _body(text: str) -> dict[str, Any]:
    evidence = [{"kind": "quote", "text": text}] * 2
    report = {"kind": "other", "summary": "x", "details": text, "evidence": evidence}
    return {**BODY, "report": report}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_shown_is_what_is_sent_in_short_lines(text: str):
    shown = legible.shown(_body(text))

    assert as_shown(f"```json\n{shown}\n```") == _body(text)
    assert max(len(line) for line in shown.split("\n")) <= 100
    assert not any(line.startswith("```") for line in shown.split("\n"))
    assert not set(NOBODY_SEES) & set(shown)


def test_a_text_keeps_its_lines():
    shown = legible.shown({"details": "Do this:\n\n    make install\n\nand wait."})

    assert shown.split("\n") == [
        "{",
        '  "details":',
        r'    "Do this:\n\n"',
        r'    "    make install\n\n"',
        '    "and wait."',
        "}",
    ]


def test_what_the_hub_takes_for_nothing_a_person_is_not_asked_to_see():
    nothing = [c for c in map(chr, range(0x110000)) if not clean(c).strip() and c != " "]

    assert not [c for c in nothing if visible.can_be_seen(c)]
    assert {*BLANKS, *visible.BLANK} <= {*nothing}


@pytest.mark.parametrize("many", [" ", "\n", "\n ", "\u2800", "\t"])
def test_emptiness_takes_no_more_room_than_what_is_behind_it(many: str):
    shown = legible.shown({"details": many * 1000 + "behind it"})

    assert len(shown.split("\n")) <= 80
    assert "     " not in shown.replace('\n    "', "")


@pytest.mark.parametrize("character", NOBODY_SEES)
def test_what_nobody_sees_is_an_escape(character: str):
    assert visible.escaped(f"a{character}b") == f"a{json.dumps(character)[1:-1]}b"
    assert legible.hides({"x": [f"a{character}b"]})
    assert legible.line(f"a{character}b", 10) in ("ab", "a b")


@pytest.mark.parametrize("mark", MARKS)
def test_marks_that_would_stack_over_other_lines_are_escapes(mark: str):
    escape = json.dumps(mark)[1:-1]

    assert visible.escaped(f"a{mark * 8}") == f"a{mark * 8}"
    assert visible.escaped(f"a{mark * 450}b{mark}") == f"a{mark * 8}{escape * 442}b{mark}"
    assert legible.hides({"x": [f"a{mark * 9}"]})
    assert not legible.hides({"x": [f"a{mark * 8}b{mark * 8}"]})
    assert legible.line(f"a{mark * 50}b", 20) == f"a{mark * 8}b"


@pytest.mark.parametrize("text", ["a", " a", "\u0308"], ids=["letters", "spaces", "marks"])
def test_a_long_text_from_outside_is_cut_before_it_is_read(
    text: str, monkeypatch: pytest.MonkeyPatch
):
    read: list[int] = []
    looked_at = visible.looked_at
    monkeypatch.setattr(legible, "looked_at", lambda it: read.append(len(it)) or looked_at(it))

    lines = [legible.line(text * number, 200) for number in (1000, 8000)]

    assert read == [800, 800]
    assert [line[-1] for line in lines] == ["…", "…"]


def test_marks_cover_nothing_of_a_question(desk: Desk):
    person = Person([NO])
    report = {"kind": "other", "summary": "Z" + "\u0308" * 450}

    desk.call({**REPORT, "report": report}, person=person)

    assert person.saw[0].count("\u0308") == 8
    assert "that hide others" in person.saw[0]
    assert person.reports[0]["report"] == report


def test_what_everybody_sees_is_shown_as_it_is():
    text = 'Müller, 日本語, שלום, 😀, "x" \\ and    four'

    assert visible.escaped(text) == text
    assert not legible.hides({"x": f"{text}\r\n\t      "})


def test_the_lines_of_a_question_are_short(desk: Desk):
    person = Person([NO])
    report = {"kind": "other", "summary": "s" * 500, "details": "word " * 1600}

    desk.call({**REPORT, "doc_url": f"docs/{'x' * 2000}", "report": report}, person=person)

    assert max(len(line) for line in person.saw[0].split("\n")) <= 200
    assert person.reports[0]["report"] == report


def test_a_person_is_told_that_something_is_hidden(desk: Desk):
    person = Person([NO])
    report = {"kind": "other", "summary": "Press\u202e the\u2800button"}

    desk.call(REPORT, {**REPORT, "doc_url": "docs/x.md", "report": report}, person=person)

    assert ["invisible characters" in text for text in person.saw] == [False, True]


def test_a_draft_that_nobody_was_asked_about_is_shown_the_same_way(desk: Desk):
    hidden = {"kind": "other", "summary": "Press\u202e the\u2800button"}

    plain, odd = desk.results(REPORT, {**REPORT, "report": hidden})

    assert [as_shown(result.content[2].text) for result in (plain, odd)] == [
        BODY,
        {**BODY, "report": hidden},
    ]
    assert ["invisible characters" in result.content[0].text for result in (plain, odd)] == [
        False,
        True,
    ]
    for content in odd.content:
        assert not {"\u202e", "\u2800"} & set(content.text)


def test_an_answer_is_not_many_copies_of_the_draft(desk: Desk):
    report = {"kind": "other", "summary": "x", "details": "word " * 1000}

    (result,) = desk.results({**REPORT, "report": report})

    texts = [content.text for content in result.content]
    assert [text.count("word") for text in texts] == [0, 0, 1000, 0]
    assert {"draft", "command"} & set(json.loads(texts[1])) == set()
    assert result.structured_content["draft"]["report"] == report
    assert len(result.structured_content["command"]) > 6000


def test_a_short_command_is_text_too(desk: Desk):
    (result,) = desk.results(REPORT)

    assert result.structured_content["command"] in result.content[3].text


def test_the_model_is_told_not_to_send_the_draft_itself(desk: Desk):
    (outcome,) = desk.call(REPORT)

    assert "Do not run the command" in outcome["message"]
    assert "never run it" in schemas.OUTCOME["properties"]["command"]["description"]
