"""Which of the issues of a page a new report is about."""

import pytest

from integrations.likeness.choosing import (
    MOST_COMPARED,
    MOST_LEADS,
    MOST_MEMBERS,
    MOST_TRIED,
    Candidate,
    nearest,
)
from integrations.likeness.comparing import is_vacuous
from integrations.likeness.terms import Terms, terms_of

URL = "https://docs.acme.example/cli/backup"


def terms(summary: str, details: str = "", error: str = "") -> Terms:
    evidence = [{"kind": "error_message", "text": error}] if error else []
    return terms_of(summary, details, evidence, page_url=URL)


REMOVED = terms("`--keep-last` is refused: unknown flag", error="error: unknown flag: --keep-last")
AGAIN = terms("The flag --keep-last was removed", "I got `unknown flag: --keep-last`.")
ENCRYPTION = terms("Nothing is said about encryption of archives")


def test_a_report_joins_the_issue_that_it_has_rare_terms_in_common_with():
    match = nearest(AGAIN, [Candidate(1, ENCRYPTION), Candidate(2, REMOVED)])

    assert match
    assert (match.id, match.is_same) == (2, True)


def test_it_says_why():
    match = nearest(AGAIN, [Candidate(1, REMOVED)])

    assert match
    assert match.terms == ("--keep-last", "flag", "unknown")
    assert match.words == "same page; --keep-last, “flag” and “unknown” in common"


def test_words_are_shown_as_they_were_written():
    new = terms("Encryption: archives aren't encrypted by `backupCreate()`")

    match = nearest(
        new, [Candidate(1, terms("backupCreate() writes unencrypted archives, encrypt them"))]
    )

    assert match
    assert match.terms[0] == "backupCreate"
    assert "archives" in match.terms


def test_a_report_with_less_in_common_is_a_hint():
    lead = terms("Restoring: cron jobs aren't stopped")

    match = nearest(terms("Restoring and cron: which user?"), [Candidate(1, lead)])
    apart = nearest(terms("Restoring by cron needs a mailbox"), [Candidate(1, lead)])

    assert match
    assert match.is_same
    assert apart
    assert not apart.is_same


def test_a_report_about_something_else_matches_nothing():
    assert nearest(ENCRYPTION, [Candidate(1, REMOVED)]) is None


def test_a_page_without_issues_matches_nothing():
    assert nearest(AGAIN, []) is None


def test_the_nearest_is_chosen():
    some = terms("`--keep-last` is unknown to the scheduler")

    match = nearest(AGAIN, [Candidate(1, some), Candidate(2, REMOVED), Candidate(3, ENCRYPTION)])

    assert match
    assert match.id == 2


@pytest.mark.parametrize(
    "summary",
    ["docs unclear", "", "bad page", "please improve", "404", "???", "説明が不明", "文档错误"],
)
def test_a_vacuous_report_joins_nothing_and_attracts_nothing(summary):
    vacuous = terms(summary)

    assert is_vacuous(vacuous)
    assert nearest(vacuous, [Candidate(1, REMOVED), Candidate(2, terms(summary))]) is None
    assert nearest(REMOVED, [Candidate(1, vacuous)]) is None


def test_a_report_that_contradicts_a_member_stays_out():
    member = terms("--keep-last is an unknown flag in step 2")
    new = terms("Unknown flag --keep-last in step 4")

    assert nearest(new, [Candidate(1, REMOVED)])
    assert nearest(new, [Candidate(1, REMOVED, lambda: [AGAIN, member])]) is None


def test_a_report_nearer_to_one_that_was_split_off_stays_out():
    split = terms("The flag --keep-last was removed: cron mail", "unknown flag: --keep-last")
    new = terms("Flag --keep-last removed, cron sends mail", "unknown flag: --keep-last")

    assert nearest(new, [Candidate(1, REMOVED)])
    assert nearest(new, [Candidate(1, REMOVED, split_off=lambda: [split])]) is None
    assert nearest(AGAIN, [Candidate(1, REMOVED, split_off=lambda: [ENCRYPTION])])


def test_a_lead_that_contradicts_makes_room_for_the_next():
    other = terms("`--keep-last`: unknown flag in step 2, use `--retain`")
    new = terms("`--keep-last`: unknown flag in step 4, use `--retain`")

    match = nearest(new, [Candidate(1, other), Candidate(2, REMOVED)])

    assert match
    assert match.id == 2


NAMES = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "flint",
    "grove",
    "hazel",
    "iris",
    "jade",
    "kelp",
]


def test_members_are_read_for_the_nearest_only():
    asked = []

    def members(number):
        asked.append(number)
        return [terms("unknown flag --keep-last in step 9")]

    near = [terms(f"--keep-last: unknown flag, refused since {name} arrived") for name in NAMES]
    leads = [Candidate(n, each, lambda n=n: members(n)) for n, each in enumerate(near)]
    far = [Candidate(n, ENCRYPTION, lambda n=n: members(n)) for n in range(50, 150)]

    assert nearest(terms("--keep-last in step 1: unknown flag"), far + leads) is None
    assert len(asked) == MOST_TRIED
    assert max(asked) < len(NAMES)


def test_so_many_members_are_compared_in_all():
    asked = []

    def members():
        asked.append(1)
        return [terms("unknown flag --keep-last in step 9")] * 10 * MOST_MEMBERS

    near = [terms(f"--keep-last: unknown flag, refused since {name} arrived") for name in NAMES]
    leads = [Candidate(n, each, members) for n, each in enumerate(near)]

    assert nearest(terms("--keep-last in step 1: unknown flag"), leads) is None
    assert len(asked) == MOST_COMPARED / MOST_MEMBERS


def test_a_term_that_all_issues_of_the_page_have_tells_nothing():
    new = terms("Flag --keep-last and archives")
    rare = [Candidate(1, terms("--keep-last: archives"))]
    common = [Candidate(n, terms(f"--keep-last: archives of word{n}x")) for n in range(2, 60)]

    assert nearest(new, rare)
    match = nearest(new, rare + common)
    assert match is None or not match.is_same


def test_at_most_200_issues_are_looked_at():
    leads = [Candidate(n, ENCRYPTION) for n in range(MOST_LEADS)]

    assert nearest(AGAIN, [*leads, Candidate(MOST_LEADS, REMOVED)]) is None


def test_an_identical_report_is_the_same_in_any_language():
    for summary in [
        "Значение по умолчанию для таймаута неверно указано",
        "El tiempo de espera predeterminado del servidor no coincide",
        "기본 제한 시간이 실제와 다르게 표시됩니다",
        "既定のタイムアウト時間が実際の動作と異なる",
        "默认超时时间与实际行为不符",
    ]:
        match = nearest(terms(summary), [Candidate(1, terms(summary))])

        assert match, summary
        assert match.is_same, summary


@pytest.mark.parametrize("place", ["summary", "details"])
def test_a_report_with_all_words_of_its_page_attracts_nothing(place):
    said = (
        "restoring encryption archives rotation keys cron mailbox schedule bucket region quota retention"
        " snapshot volume replica incremental checksum compression bandwidth throttle proxy certificate"
        " expiry prune lock unlock repository password prompt keychain agent daemon systemd timer log"
        " journal color progress bar verbose quiet output json table filter glob exclude include symlink"
    )
    every = " ".join(f"{said} {said[::-1]}".split())
    summary = every[:500] if place == "summary" else "Restoring archives"
    greedy = terms(summary, "" if place == "summary" else f"{every} {every.upper()[::3]}")

    for new in [
        ENCRYPTION,
        terms("Rotation of keys by cron"),
        terms("Quota of a bucket in a region"),
    ]:
        match = nearest(new, [Candidate(1, greedy)])
        assert match is None or not match.is_same


def test_one_thing_in_common_is_not_enough():
    match = nearest(terms("`--keep-last`?"), [Candidate(1, REMOVED)])

    assert match is None or not match.is_same
