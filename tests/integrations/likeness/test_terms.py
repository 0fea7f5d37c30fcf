"""What a report is compared by."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from integrations.likeness import terms as module
from integrations.likeness.terms import Terms, terms_of

WRITTEN = [  # a summary, terms that it has, terms that it does not have
    (
        "use `--retain-all 5` here",
        {"`--retain-all", "retain", "#5"},
        {"us", "here", "--retain-all"},
    ),
    ("use --keep-last here", {"`--keep-last"}, set()),
    ("`retain.days` of the job", {"`retain.days", "retain", "job"}, {"#retain"}),
    ("snake_case and camelCase", {"`snake_case", "`camelcase", "snak", "camel"}, set()),
    ("call close() first", {"`close", "clos"}, set()),
    ("Renaming and renamed and renames", set(), {"renam"}),  # as every other report about a page
    ("retries retried retry", {"retr"}, {"retries"}),
    ("expired expires expiry expiration", {"expir"}, {"expired"}),
    ("authentication, authenticated", {"authentic"}, set()),
    ("max and maximum", {"maximum"}, {"max"}),
    ("5 GB, 5GB and 5.0", {"#5"}, {"#5.0", "5gb"}),
    ("v2.3 or 1,000", {"#2.3", "#1000"}, set()),
    ("12,345,678 or 12,345,67", {"#12345678", "#12", "#345", "#67"}, {"#34567"}),
    ("1234,567,890 or 1,222,333x", {"#1234", "#567", "#222"}, {"#567890", "#222333"}),
    ("The page is wrong, see the docs", set(), {"page", "wrong", "doc"}),
    ("キャッシュの上限サイズ", {"キャッシュ", "サイズ", "+上限"}, {"+キャ", "+です"}),
    ("分片大小", {"+分片", "+片大", "+大小"}, {"+分"}),
    ("Größenbeschränkung für Übertragungen", {"grössenbeschränk", "übertragun"}, {"für"}),
    ("ｆｕｌｌ ｗｉｄｔｈ", {"width"}, {"ｗｉｄｔｈ"}),
    ("zero\u200bwidth\u00ad marks", {"zerowidth"}, {"zero"}),
    ("раssword in Cyrillic letters", {"password"}, {"раssword"}),
    ("пароли", {"парол"}, {"napoл"}),
    ("L’utilisateur n’est pas averti", {"utilisateur", "avert"}, {"est", "l'utilisateur"}),
    ("it’s “color picking hints”", {"color", "pick"}, {"it"}),
    ("see https://x.example/a_b?c=1", {"`https://x.example/a_b?c"}, set()),
]


@pytest.mark.parametrize(("summary", "has", "lacks"), WRITTEN, ids=[text for text, *_ in WRITTEN])
def test_a_text_has_terms(summary, has, lacks):
    found = terms_of(summary).summary

    assert has <= found
    assert not lacks & found


def test_the_pages_own_name_is_none():
    found = terms_of("`acme` backups: restoring", page_url="https://docs.acme.example/backup#x")

    assert found.summary == {"restor"}


def test_an_address_that_is_none_has_no_words():
    assert terms_of("restoring", page_url="https://[").summary == {"restor"}


def test_terms_of_the_summary_are_kept_apart():
    found = terms_of(
        "alpha", "beta", [{"kind": "quote", "text": "gamma"}], "delta", "https://docs.acme.example/"
    )

    assert found.summary == {"alpha"}
    assert found.others == {"beta", "gamma", "delta"}


@pytest.mark.parametrize(
    "details",
    [
        "Quota is 5. By the way, restoring fails. Region is fixed.",
        "Quota is 5.\nRestoring fails, I reported it separately.\nRegion is fixed.",
        "Quota is 5. Übrigens: restoring. Region is fixed.",
        "Quota is 5。ちなみに restoring。Region is fixed.",
    ],
)
def test_what_a_report_says_by_the_way_is_left_out(details):
    found = terms_of("x", details).others

    assert {"quota", "region"} <= found
    assert "restor" not in found


def test_only_error_messages_are_error_messages():
    pieces = [
        {"kind": "observed", "text": "quota exceeded"},
        {"kind": "error_message", "text": "error 17: unknown flag --keep"},
    ]

    assert terms_of("x", evidence=pieces).errors == ({"unknown", "flag", "`--keep"},)


NAMED = [
    ("In step 3 and step 12", {"step=3", "step=12"}),
    ("steps 4 and 6", {"step=4", "step=6"}),
    ("The third step", {"step=3"}),
    ("step three", {"step=3"}),
    ("Schritt 4, étape 5, paso 6", {"step=4", "step=5", "step=6"}),
    ("第三步", {"step=3"}),
    ("手順 2", {"step=2"}),
    ("listing 2-3", {"listing=2-3"}),
    ("the second code example", {"example=2"}),
    ("chapter 7", {"section=7"}),
    ("the maximum", {"max"}),
    ("上限", {"max"}),
    ("reads and writes", {"read", "write"}),
    ("on Windows", {"windows"}),
    ("Node.js", {"node"}),
]


@pytest.mark.parametrize(("summary", "names"), NAMED)
def test_a_summary_names_things(summary, names):
    found = terms_of(summary).named

    assert names <= found | {name.partition("=")[2] for name in found}


def test_what_is_only_mentioned_is_marked():
    assert "?" in {name[0] for name in terms_of("x", "It is the maximum on Windows.").aside}


@pytest.mark.parametrize("summary", [text for text, *_ in WRITTEN])
def test_terms_are_the_same_after_json(summary):
    found = terms_of(summary, summary, [{"kind": "error_message", "text": summary}])

    assert Terms.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_terms_of_another_rule_are_made_anew():
    stored = terms_of("restoring").as_json() | {"rule": 0}

    with pytest.raises(ValueError, match="Make them anew"):
        Terms.from_json(stored)


@given(text=st.text(max_size=300))
def test_any_text_has_short_terms_that_json_keeps(text):
    found = terms_of(text, text, [{"kind": "error_message", "text": text}], text, text)

    words = [
        *found.all,
        *found.line,
        *found.named,
        *found.aside,
        *(w for e in found.errors for w in e),
    ]
    assert all(len(word) <= 60 and word.split() == [word] for word in words)
    assert Terms.from_json(json.loads(json.dumps(found.as_json()).encode())) == found


@pytest.mark.parametrize(
    "unit",
    ["word{} ", "`code_{}` ", "--flag{}=value{} ", "最{}大 ", "a\u0301\u0316{}", "ﷺ{}", "step {} "],
)
def test_a_large_report_has_few_terms(unit):
    text = "".join(unit.replace("{}", str(n)) for n in range(8000))
    pieces = [{"kind": "error_message", "text": text[:4000]}] * 50

    found = terms_of(text, text, pieces, text, "https://acme.example/" + text)

    assert len(found.all) <= module.MOST_TERMS
    assert len(json.dumps(found.as_json(), ensure_ascii=False)) < 20_000


def test_code_is_kept_where_not_all_can_be():
    words = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(500))

    assert "`--keep-last" in terms_of("x", f"{words} --keep-last").others


@pytest.mark.slow
def test_it_needs_no_django():
    code = "import sys, integrations.likeness.scoring; sys.exit('django' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
