"""How the questions are asked."""

import threading

from hub.setup.findings import Level, Question, ask_all, ok


def test_the_findings_come_in_order():
    asked = [Question("first", lambda: [ok("1")]), Question("second", lambda: iter([ok("2")]))]

    assert [(each.about, found) for each, found in ask_all(asked)] == [
        ("first", [ok("1")]),
        ("second", [ok("2")]),
    ]


def test_one_that_hangs_keeps_no_other_from_being_answered():
    end = threading.Event()

    def hang():
        end.wait(60)
        yield ok("late")

    asked = [Question("hangs", hang, seconds=0.05), Question("answers", lambda: [ok("at once")])]
    (_, [late]), (_, answered) = ask_all(asked)
    end.set()

    assert late.level == Level.PROBLEM
    assert late.text.startswith("There was no answer within 0.05 seconds.")
    assert answered == [ok("at once")]


def test_a_question_that_fails_says_so():
    def fail():
        yield ok("this was fine")
        raise LookupError("a bug")

    [(_, found)] = ask_all([Question("fails", fail)])

    assert [each.level for each in found] == [Level.PROBLEM]
    assert found[0].text == "This could not be checked: LookupError: a bug."
