"""What is missed, and what is taken for a secret and is none: in two sets of texts."""

from reports import secrets
from tests.reports.secret_texts import FAMILIES, ordinary, real_looking


def test_a_secret_is_missed_in_less_than_one_of_fifty_texts():
    pasted = real_looking()

    missed = [each for each in pasted if each.core in secrets.remove(each.text)[0]]

    assert len(pasted) == 400
    assert {each.family for each in pasted} == FAMILIES
    assert len(missed) < len(pasted) / 50, missed


def test_less_than_one_of_two_hundred_ordinary_reports_seems_to_hold_a_secret():
    reports = ordinary()

    alarms = [text for text in reports if secrets.remove(text) != (text, [])]

    assert len(set(reports)) == 800
    assert len(alarms) < len(reports) / 200, alarms
