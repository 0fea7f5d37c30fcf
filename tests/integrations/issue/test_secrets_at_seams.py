"""What two reported texts may make together, in any template; no database is needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations_with_replacement

import pytest

from integrations.issue import secrets_at_seams
from integrations.issue.rendering import DEFAULT_TEMPLATE, render_issue, shown
from integrations.issue.secrets_at_seams import without_secrets_at_seams
from reports import secrets
from reports.contract import SECRETS
from reports.screening import SecretNotice

HALVES = "ghp_" + "a1B2c3D4e5", "F6g7H8i9J0" * 3
FAMILIES = [
    pytest.param("".join(finds), id=f"{entry['kind']} {number}")
    for entry in SECRETS["kinds"]
    for number, finds in enumerate(entry["finds"])
]
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n"
END = "\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize("length", [30, 5_000])
def test_long_texts_are_cut_where_they_meet(length):
    words = "word " * (length // 5)
    fields = {
        "summary": "s",
        "details": f"{words}{HALVES[0]}",
        "suggested_fix": f"{HALVES[1]} {words}",
    }
    notices: list[SecretNotice] = []

    cut = without_secrets_at_seams("{details}{suggested_fix}", fields, notices)

    assert cut["details"] == f"{words}[removed: GitHub token]"
    assert cut["suggested_fix"] == f"[removed: GitHub token] {words}".strip()
    assert notices == [
        ("/report/details", "GitHub token"),
        ("/report/suggested_fix", "GitHub token"),
    ]


@pytest.mark.parametrize(
    ("summary", "details"),
    [
        ("Authorization: Bearer", " aB3dE5fG7hJ9kL1mN3pQ5rS7"),
        ("Send Authorization: ", "Bearer aB3dE5fG7hJ9kL1mN3pQ5rS7"),
        ("-----BEGIN RSA PRIVATE", " KEY-----\nMIIEowIBAAKCAQEAqweqweqweqweqwe"),
    ],
)
@pytest.mark.parametrize("template", [DEFAULT_TEMPLATE, "{summary}\n{details}"])
def test_what_two_texts_make_across_the_end_of_a_line_is_cut(template, summary, details):
    fields = {"summary": summary, "details": details, "report_kind": "other"}
    notices: list[SecretNotice] = []

    cut = without_secrets_at_seams(template, fields, notices)

    _, body = render_issue(template, cut)
    assert secrets.remove(body) == (body, [])
    assert "/report/details" in [notice.field for notice in notices]


def test_what_meets_nothing_stays_as_it_was_sent():
    fields = {"summary": "Ａ \u200b b", "details": "c\u00ad\r\nd", "report_kind": "other"}

    assert without_secrets_at_seams(DEFAULT_TEMPLATE, fields, []) == fields


def test_a_report_that_ends_a_key_of_the_template_again_and_again_is_cut_and_noted_once():
    notices: list[SecretNotice] = []
    fields = {"summary": "Broken", "details": END * 300}

    with searching() as searched:
        cut = without_secrets_at_seams(f"{KEY}{{summary}}{{details}}", fields, notices)

    assert cut == {"summary": "[removed: private key]", "details": "[removed: private key]"}
    assert [notice.field for notice in notices] == ["/report/summary", "/report/details"]
    assert len(searched) <= 2 * (secrets_at_seams.LOOKS + len(fields))


@pytest.mark.parametrize("text", FAMILIES)
def test_two_texts_make_no_secret_whatever_parts_of_it_the_template_has(text):
    [found, *_] = secrets.found_in(text) or secrets.concealed_in(text)
    before, secret, after = _split(text, *found.shape)
    length = len(secret)
    places = sorted({0, 1, length // 4, length // 2, 3 * length // 4, length - 1, length})
    for a, b, c, d in combinations_with_replacement(places, 4):
        fields = {"summary": secret[a:b], "details": secret[c:d]}
        template = f"{before}{secret[:a]}{{summary}}{secret[b:c]}{{details}}{secret[d:]}{after}"
        if a == b or c == d or any(secrets.remove(each)[1] for each in fields.values()):
            continue
        notices: list[SecretNotice] = []
        more: list[SecretNotice] = []

        cut = without_secrets_at_seams(template, fields, notices)

        assert without_secrets_at_seams(template, cut, more) == cut
        assert not more
        assert len(set(notices)) == len(notices)
        if (a, d) == (0, length) and not b <= found.start - len(before) < c:
            filled = template
            for name in cut:
                filled = filled.replace(f"{{{name}}}", shown(name, cut[name]))
            assert secrets.remove(filled) == (filled, [])


@pytest.mark.parametrize("between", ["", "ab" * 300, "ab" * 900])
def test_only_what_is_near_a_place_where_two_texts_meet_is_searched(between):
    long = between.join(["{details}", "{suggested_fix}", "{evidence}"] * 4)
    fields = dict.fromkeys(["details", "suggested_fix", "evidence"], "some words " * 7_000)

    with searching() as searched:
        without_secrets_at_seams(long, fields, [])

    assert sum(searched) <= 2 * 11 * 3 * secrets_at_seams.REACH


def test_a_key_that_goes_on_behind_what_is_searched_is_removed_to_its_end():
    lines = "\n".join(["a1B2c3D4" * 8] * 50)
    fields = {"summary": KEY.splitlines()[0], "details": f"{lines}{END}"}

    cut = without_secrets_at_seams("{summary}\n{details}", fields, [])

    assert cut == {"summary": "[removed: private key]", "details": "[removed: private key]"}


@pytest.mark.parametrize("shift", range(0, 260, 20))
def test_a_key_in_a_log_that_goes_on_behind_what_is_searched_is_removed_to_its_end(shift):
    log = " ".join(["a log"] * 30)
    lines = "\n".join([f"{log}: {'a1B2c3D4' * 8}"] * 50)
    fields = {"summary": KEY.splitlines()[0], "details": f"{'.' * shift}{lines}"}

    cut = without_secrets_at_seams("{summary}\n{details}", fields, [])

    assert "a1B2c3D4" not in cut["details"]


@contextmanager
def searching() -> Iterator[list[int]]:
    """How many characters each search looked at."""
    searched: list[int] = []
    found_in = secrets.found_in

    def counted(text: str) -> list[secrets.Secret]:
        searched.append(len(text))
        return found_in(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "found_in", counted)
        yield searched


def _split(text: str, start: int, end: int) -> tuple[str, str, str]:
    return text[:start], text[start:end], text[end:]
