"""Text made harmless by itself; what the place around it adds is tested with the template."""

import unicodedata

import pytest
from hypothesis import given, settings

from integrations.issue.safe_text import ZWSP, clean, neutralize, safe_url
from tests.integrations.issue import hostile
from tests.integrations.issue.liveness import live

FUZZ = settings(max_examples=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("a\tb", "a\tb"),
        ("\x1b[1;31mred\x1b[0m \x9b2Jx \x1b(B", "red x "),
        ("a\x1b]0;title\x07b \x1b]8;;https://x\x1b\\link", "ab link"),
        ("\x1b]not closed\nx", "not closed\nx"),
        ("\x1b\x1b[0m[0m", "[0m"),
        ("a\x00\x08\x7f\x9fb", "ab"),
        ("\u202eevil\u202c \u2067x\u2069", "evil x"),
        ("a\u00ad\u034f\u200b\u200e\u2060\ufeff\u180e\u115f\u3164\uffa0b", "ab"),
        ("\U000e0041\U000e0042", ""),
        ("a\ud800b\udc00", "ab"),
        ("e\u0301 A\u030a", "é Å"),
        ("＠＃＜＞／［］｀～－１Ａ", "@#<>/[]`~-1A"),
        ("你好，世界！（是：否；？）", "你好，世界！（是：否；？）"),
        ("\ufe6b\ufe5f \u212a \u037e \u1fef", "@# K ; `"),
        ("a\u00a0b\u3000c\u2800d\u1680e", "a b c d e"),
        ("a\U0001d159b\U00016fe4c\U00013441d\U00013442e", "a b c d e"),
        ("x² … ™ 5º ½", "x² … ™ 5º ½"),
        ("👩\u200d💻 ⚠\ufe0f می\u200cروم", "👩\u200d💻 ⚠\ufe0f می\u200cروم"),
        ("G\u200dH a\ufe0f é\u200d\u200dé \u200c", "GH a éé "),
        ("＠\u200dé", "@é"),
        ("a" + "\u0316" * 50, "a" + "\u0316" * 8),
    ],
)
def test_only_what_can_be_seen_is_left_and_in_one_spelling(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@octocat", "@|octocat"),
        ("a@@b", "a@|@|b"),
        ("C# #12", "C#| #|12"),
        ("&#64; &commat; a & b", "&|#|64; &|commat; a & b"),
        ("GH-1 gh\\-2 (gh--3 high-4 GHSA-x", "GH|-1 gh|\\-2 (gh|--3 high-4 GHSA|-x"),
        ("a < b <b> </b> <!-- <?", "a < b <|b> <|/b> <|!-- <|?"),
        ("--> --!>", "--|> --|!>"),
        ("hub:01H", "hub|:01H"),
        ("https://x http:\\/ a: b 10:30", "https:|//x http:|\\/ a: b 10:30"),
        ("www.x WWW\\.x www", "www|.x WWW|\\.x www|"),
        ("www…x.example www\\…", "www|…x.example www|\\…"),
        ("[x](y) ![z][w]: [ ]", "[|x]|(y) !|[|z]|[|w]|: [| ]|"),
        (
            "https：／／x [x]（y） [z]：a hub：1 --！>",
            "https：|//x [|x]|（y） [|z]|：a hub|：1 --|！>",
        ),
        ("Fixes：", "Fixes：|"),
        ("[x]㈀ a[0] = 1", "[|x]|㈀ a[|0] = 1"),
        ("] x", "|] x"),
        ("`a` ``b`` ```` ~~c~~ ~~~", "`a` ``b`` ``|`|` ~~c~~ ~~|~"),
        ("/close\n  /a\n> - /b\n1. /c", "/|close\n  /|a\n> - /|b\n1. /|c"),
        ("and/or 1/2 //x", "and/or 1/2 //x"),
        ("a5c3785 _a5c3785_", "a5c378|5 _a5c378|5_"),
        ("0123456789abcdef", "012345|6789ab|cdef"),
        ("feedback abcdef " + "0" * 41, "feedback abcdef " + "0" * 41),
        ("a\n===\nb\n  --  \n> c\n> -", "a\n|===\nb\n  |--  \n> c\n> |-"),
        ("a\n\n---\n\nb", "a\n\n---\n\nb"),
        ("---\na", "|---\na"),
        ("It closes", "It closes|"),
        ("Duplicate of: \n", "Duplicate of|: \n"),
        ("fixes it", "fixes it"),
        ("$x % y$ \\$a$.", "|$|x % y|$| \\|$|a|$|."),
        ("$$\n\\phantom{x}\n$$", "|$|$|\n\\phantom{x}\n|$|$|"),
        ("$`x`$ costs $5 at $HOME", "|$|`x`|$| costs |$|5 at |$|HOME"),
        (">" * 12 + " x", ">" * 10 + "|>> x"),
        ("> - 1. " * 4 + "x", "> - 1. > - 1. > - 1. >| - 1. x"),
        ("> " * 10 + "/x\n" + "- " * 9 + "x", "> " * 9 + ">| /|x\n" + "- " * 9 + "x"),
        ("--------------", "|--------------"),
        ("  " * 11 + "- x\n" + "\t" * 9 + "- - x", "  " * 10 + "|  - x\n" + "\t" * 9 + "- |- x"),
        ("\\href{x} C:\\users \\", "\\|href{x} C:|\\users \\|"),
        ("*a* _b_ ~c~\n\n- d\n1. e\n> f", "*a* _b_ ~c~\n\n- d\n1. e\n> f"),
    ],
)
def test_a_zero_width_space_goes_where_something_would_act(text, expected):
    assert neutralize(text).replace(ZWSP, "|") == expected


@given(hostile.text)
@FUZZ
def test_taking_the_zero_width_spaces_out_gives_the_cleaned_text_back(text):
    safe = neutralize(text)

    assert safe.replace(ZWSP, "") == clean(text)
    assert neutralize(safe) == safe
    assert clean(clean(text)) == clean(text)
    assert unicodedata.is_normalized("NFC", clean(text))


def _is_kept_although_readers_may_spell_it_in_ascii(character: str) -> bool:
    spelled = unicodedata.normalize("NFKC", character)
    return (
        spelled != character
        and any(c.isascii() and not c.isspace() for c in spelled)
        and clean(character) == character
    )


KEPT = [*filter(_is_kept_although_readers_may_spell_it_in_ascii, map(chr, range(0x80, 0x110000)))]
BESIDE = (  # each with something missing, which a character might be for those that normalize
    *("www{}evil.example", "www{0}{0}evil.example", "www\\{}evil.example", "www.evil{}example"),
    *("{}www.evil.example", "ww{}.evil.example", "http{}//evil.example", "http:{}/evil.example"),
    *("http:/{}evil.example", "http{}evil.example", "mailto{}a@evil.example", "a{}evil.example"),
    *("x{}octocat", "{}octocat", "@{}octocat", "{}@octocat", "#{}", "{}#1", "o/r{}1", "o{}r#1"),
    *("GH{}1", "GH-{}", "gh{0}{0}1", "fixes{} #1", "fixes {}1", "fixes{}", "{}close", "{}/close"),
    *("[x]{}https://evil.example)", "[x]{}y)", "[x{}(y)", "[x](y{}", "[x]{} y", "!{}x](y)"),
    *("<{}b>", "{}b>", "<b{}", "<!{}-- hub: 1 -->", "&{}64;", "&#64{}", "&amp{}", "``{}\nx\n``{}"),
    *("hub{}01H", "a\n{}", "a\n{0}{0}{0}", "a{}b\n-{}-", "${}a$", "{}a{}", "\\{}href{{x}}"),
)


def test_there_are_characters_that_only_readers_spell_in_ascii():
    assert len(KEPT) > 150
    assert {*"…（）：！㈀"} <= {*KEPT}


@pytest.mark.parametrize("character", KEPT)
def test_nothing_acts_when_a_reader_spells_a_character_in_ascii(character):
    text = "\n\n".join(each.format(character, character) for each in BESIDE)

    assert not live(neutralize(text))


@given(hostile.text)
@FUZZ
def test_nothing_acts_in_a_text_that_stands_alone(text):
    assert not live(neutralize(text))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.example.com", "https://docs.example.com/"),
        ("HTTP://Docs.Example.com:8080/a/?b=c&d#e", "http://docs.example.com:8080/a/?b=c&d#e"),
        ("https://bücher.example/größe", "https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe"),
        ("https://x.example/a](https://evil", "https://x.example/a%5D%28https:/%2Fevil"),
        ("https://x.example/`@octocat`", "https://x.example/%60%40octocat%60"),
        ("https://x.example/a b\"c'd<e>", "https://x.example/a%20b%22c%27d%3Ce%3E"),
        ("https://x.example/*a*_b_", "https://x.example/%2Aa%2A_b%5F"),
        ("https://x.example/a.", "https://x.example/a%2E"),
        ("https://x.example/?a&amp;b", "https://x.example/?a&amp%3Bb"),
        ("https://x.example/#123", "https://x.example/#%3123"),
        ("https://x.example/#a#1", "https://x.example/#a%231"),
        ("https://x.example/gh-1/high-1", "https://x.example/gh%2D1/high-1"),
        ("https://x.example/a%20b%zz%", "https://x.example/a%20b%25zz%25"),
        ("https://x.example/~user/~~~", "https://x.example/~user/%7E%7E%7E"),
        ("https://x.example/\ud800\u202e", "https://x.example/%E2%80%AE"),
        ("http://localhost:8000/r/01H/", "http://localhost:8000/r/01H/"),
        ("https://x.example/other//../../docs/install", "https://x.example/docs/install"),
        ("https://x.example/a//%2E%2e/%2e/b", "https://x.example/a/b"),
        ("https://x.example/a//b/", "https://x.example/a/%2Fb/"),
    ],
)
def test_the_address_of_a_page_stays_clickable_and_is_one_word(url, expected):
    assert safe_url(url) == expected
    assert safe_url(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "docs/install.md",
        "//x.example/",
        "javascript:alert(1)",
        "ftp://x.example/",
        "https://",
        "https://a b/",
        "https://user@x.example/",
        "https://x.example:99999/",
        "https://x.example\\@evil.example/",
        "https://[::1]/",
        "https://github.com/o/r/issues/1",
        "https://redirect.GitHub.com./o/r/pull/1",
        "https://gh-1.example/",
    ],
)
def test_what_is_no_page_on_the_web_is_no_link(text):
    assert safe_url(text) is None
