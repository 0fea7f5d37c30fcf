"""Two reports that contradict each other are never about one problem, however much they have in common."""

import pytest

from integrations.likeness.terms import Terms, terms_of
from integrations.likeness.vetoes import veto


def terms(text: str) -> Terms:
    """Of `summary | details | error message`."""
    summary, details, error, *_ = [*text.split("|"), "", ""]
    return terms_of(summary, details, [{"kind": "error_message", "text": error}] if error else [])


CONTRADICT = {
    "steps": ("Step 3 hangs", "Step 5 hangs"),
    "steps in words": ("The third step hangs", "In step five nothing happens"),
    "steps in details": ("Import hangs | In step 3 it waits", "Import hangs | In step 5 it waits"),
    "steps in two languages": ("Schritt 3 hängt", "Step 4 hangs"),
    "steps in Chinese": ("第三步卡住", "第四步卡住"),
    "sections": ("Section 2.1 contradicts the table", "The table is right, section 2.4 isn't"),
    "listings": ("Listing 2-3 is old", "I can't compile listing 2-7"),
    "platforms": ("Installer fails on Windows", "On macOS the installer fails"),
    "languages": ("Import missing in the Python code", "Java code: import missing"),
    "tabs in details": ("No import | In the Go tab", "No import | In the Ruby tab"),
    "siblings": ("The minimum isn't stated", "Nothing on the maximum"),
    "siblings as abbreviations": ("`max_size` is ignored", "`min_size` is ignored"),
    "siblings in other forms": ("Unlimited reads aren't", "Writing isn't unlimited"),
    "siblings in Japanese": ("最小サイズ不明", "最大サイズ不明"),
    "client and server": ("Client certificate expired", "Server certificate expired"),
    "code": ("`--keep` is unknown", "`--drop` is unknown"),
    "code in prose": ("retain_days is ignored", "the key retain_hours is ignored"),
    "code of one, other code in the other": (
        "`retain_days` has no effect",
        "A setting has no effect | I set `retain_hours`.",
    ),
    "code in details": ("It has no effect | `retain_days`", "It has no effect | `retain_hours`"),
    "code with the same beginning": ("`--force` warns", "`--force-all` warns and `--all` does not"),
    "numbers": ("Limit is 60", "Limit is 90"),
    "numbers in words of time": ("Deleted after 7 days", "Kept for 30 days"),
    "errors": ("Import fails || quota exceeded", "Import fails || disk is full"),
    "errors about other names": (
        "Deploy fails || runtime snake37 is unsupported",
        "Deploy fails || runtime gem27 is unsupported",
    ),
    "one sentence": ("No section about backups", "No section about restoring"),
    "one sentence with another thing": ("Keys fail in the tree", "Keys fail in the list"),
    "one sentence in Japanese": ("課金の説明がありません", "認証の説明がありません"),
    "one sentence in German": ("Bild der Rechnung fehlt", "Bild der Mahnung fehlt"),
}


@pytest.mark.parametrize("pair", CONTRADICT.values(), ids=CONTRADICT)
def test_contradicting_reports_are_told_apart(pair):
    one, other = map(terms, pair)

    assert veto(one, other)
    assert veto(other, one)


AGREE = {
    "no step in one": ("Step 3 hangs", "Import hangs"),
    "one step among several": (
        "Step 3 hangs",
        "Import hangs | Steps 1 and 4 went well, step 3 hangs.",
    ),
    "the sender's platform": ("Import hangs | On Debian 13", "Import hangs | Fedora 40"),
    "versions of the sender": ("Import hangs | CLI 8.0.3", "Import hangs | CLI 8.2.0"),
    "numbers in logs": ("Import hangs || pid 4711 locked", "Import hangs || pid 9 locked"),
    "a number in one": ("Limit is 60, page says 90", "Wrong limit"),
    "one number of both": ("Limit is 60, page says 90", "Up to 60 only"),
    "siblings that both have": (
        "Stale lock stays | `unlock` removes it",
        "Nothing on `unlock` | A lock stays.",
    ),
    "old and new name": ("`--keep` is unknown | Use `--retain`", "`--retain` instead of `--keep`"),
    "one error, more of it": (
        "Import fails || quota exceeded",
        "Quota || fatal: quota exceeded (17)",
    ),
    "an error in one": ("Import fails || quota exceeded", "Import fails"),
    "other words": ("Import stops half way", "The import doesn't come to its end"),
    "the same words": ("Import hangs", "Import hangs"),
    "a word more": ("Import hangs", "Import hangs for ever on Sundays"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("pair", AGREE.values(), ids=AGREE)
def test_reports_that_do_not_contradict_each_other_may_be_one_problem(pair):
    one, other = map(terms, pair)

    assert veto(one, other) is None
    assert veto(other, one) is None
