"""What is stored of a form that somebody opened before somebody else saved the same settings."""

import pytest

from core import as_shown


@pytest.mark.parametrize(
    ("shown", "stored", "wanted", "settled"),
    [
        ("a", "a", "a", "a"),
        ("a", "a", "b", "b"),
        ("a", "b", "a", "b"),
        ("a", "b", "b", "b"),
        (["a"], ["a", "b"], ["a"], ["a", "b"]),
        ("", "b", "", "b"),
        (False, True, False, True),
    ],
)
def test_what_was_left_stays_as_it_is_stored(shown, stored, wanted, settled):
    marks = as_shown.marks({"x": shown})

    assert as_shown.settle({"x": wanted}, {"x": stored}, marks) == {"x": settled}


def test_what_both_have_changed_is_refused_by_its_name():
    marks = as_shown.marks({"x": "a", "y": "a"})

    with pytest.raises(as_shown.ChangedMeanwhile) as refused:
        as_shown.settle({"x": "b", "y": "a"}, {"x": "c", "y": "c"}, marks)

    assert refused.value.names == ["x"]


@pytest.mark.parametrize("stored", [{"x": "c"}, {}])
def test_without_a_mark_or_a_stored_value_what_is_wanted_is_taken(stored):
    marks = {} if stored else as_shown.marks({"x": "a"})

    assert as_shown.settle({"x": "b"}, stored, marks) == {"x": "b"}


@pytest.mark.parametrize("mark", ["", "None", "a", "x" * 10_000, "\0", "\ud800"])
def test_a_mark_that_no_page_has_changes_nothing_of_what_is_stored(mark):
    with pytest.raises(as_shown.ChangedMeanwhile):
        as_shown.settle({"x": "b"}, {"x": "c"}, {"shown-x": mark})


def test_a_mark_is_of_one_name_and_short():
    [mark] = as_shown.marks({"x": "a" * 20_000}).values()

    assert len(mark) == 32
    assert mark not in as_shown.marks({"y": "a" * 20_000}).values()


def test_a_mark_is_known_while_the_key_is_replaced(settings):
    marks = as_shown.marks({"x": "a"})
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another one"

    assert as_shown.is_left("x", "a", marks)


def test_of_the_fields_of_a_form_only_the_marks_are_taken():
    assert as_shown.sent({"shown-x": "1", "shown": "2", "x": "3"}) == {"shown-x": "1"}
