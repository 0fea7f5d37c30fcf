"""The accept and reject tables of `reports.secrets`; the secrets are put together here."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reports import canonical, secrets
from reports.cleaning import clean
from reports.contract import SECRETS
from reports.plain import Places, in_one_line, places, places_in_one_line, plain
from reports.screening import SecretNotice, page

ALNUM = "a1B2c3D4e5F6g7H8i9J0" * 4
PEM_LINE = "MII" + ALNUM[:59] + "+/"


def _pem(*lines, label="PRIVATE KEY"):
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


TOKENS = [
    ("AWS key", "AKIA" + "Q3EGTJ5ZK7W2XN4P"),
    ("AWS key", "ASIA" + "Q3EGTJ5ZK7W2XN4P"),
    ("Google key", "AIza" + ALNUM[:33] + "-_"),
    ("GitHub token", "ghp_" + ALNUM[:36]),
    ("GitHub token", "gho_" + "a" * 36),
    ("GitHub token", "ghu_" + ALNUM[:36]),
    ("GitHub token", "ghs_" + ALNUM[:36]),
    ("GitHub token", "ghr_" + ALNUM[:76]),
    ("GitHub token", "github_pat_" + ALNUM[:22] + "_" + ALNUM[:59]),
    ("GitLab token", "glpat-" + "x-Y1_" + ALNUM[:15]),
    ("GitLab token", "glpat-" + ALNUM[:27] + ".01.0w1abcdef"),
    ("Slack token", "xoxb-" + "123456789012-1234567890123-" + ALNUM[:24]),
    ("Slack token", "xoxp-" + "123456789012-" + ALNUM[:24]),
    ("Stripe key", "sk_live_" + ALNUM[:24]),
    ("Stripe key", "rk_live_" + ALNUM[:24]),
    ("Anthropic key", "sk-ant-" + "api03-" + ALNUM[:40] + "-_AA"),
    ("OpenAI key", "sk-" + ALNUM[:48]),
    ("OpenAI key", "sk-proj-" + ALNUM[:40] + "-_x"),
    ("npm token", "npm_" + ALNUM[:36]),
    ("PyPI token", "pypi-" + "AgEIcHlwaS5vcmcC" + ALNUM + "-_"),
    ("JWT", "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxIn0" + "." + ALNUM[:43]),
    ("JWT", "eyJ" + "hbGciOiJub25lIn0" + ".ewog" + "InN1YiI6IjEifQ" + "."),
    ("Hub token", "hub_" + ALNUM[:43]),
    ("private key", _pem(PEM_LINE, PEM_LINE, "Qw==")),
    ("private key", _pem(PEM_LINE, label="RSA PRIVATE KEY")),
    ("private key", _pem(PEM_LINE, label="OPENSSH PRIVATE KEY")),
    ("private key", _pem("Version: 1", "", PEM_LINE, "=Ab1c", label="PGP PRIVATE KEY BLOCK")),
    ("private key", _pem("Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A1B", "", PEM_LINE)),
    ("private key", _pem(PEM_LINE, PEM_LINE).replace("\n", "\r\n")),
    ("private key", _pem(PEM_LINE, PEM_LINE).replace("\n", "\\n")),
    ("private key", _pem(PEM_LINE, PEM_LINE).replace("\n", "\n> ")),
    ("private key", _pem(PEM_LINE, PEM_LINE).replace("\n", '\\n" +\n    "')),
]


@pytest.mark.parametrize(("kind", "secret"), TOKENS)
@pytest.mark.parametrize(
    "around",
    ["{}", "Use {} here.", '{{"key": "{}"}}', "KEY={}\n", "line\\n{}\\nline", "({})", "`{}`"],
)
def test_a_secret_is_removed_and_its_kind_named(kind, secret, around):
    text, kinds = secrets.remove(around.format(secret))

    assert text == around.format(f"[removed: {kind}]")
    assert kinds == [kind]


@pytest.mark.parametrize(
    ("text", "expected", "kind"),
    [
        ("https://alice:{}@acme.com/x", "https://alice:[removed: password]@acme.com/x", "password"),
        ("redis://:{}@cache:6379/0", "redis://:[removed: password]@cache:6379/0", "password"),
        ("AccountKey={};End=1", "AccountKey=[removed: Azure key];End=1", "Azure key"),
        ("SharedAccessKey={}", "SharedAccessKey=[removed: Azure key]", "Azure key"),
        ("aws_secret_access_key = {}\n", "aws_secret_access_key = [removed: AWS key]\n", "AWS key"),
        ('"SecretAccessKey": "{}"', '"SecretAccessKey": "[removed: AWS key]"', "AWS key"),
        (
            "AWS Secret Access Key [None]: {}",
            "AWS Secret Access Key [None]: [removed: AWS key]",
            "AWS key",
        ),
    ],
)
def test_only_the_secret_itself_goes_from_a_url_or_an_assignment(text, expected, kind):
    secret = ("a1B2+/" * 7)[:40] if kind != "password" else "hunter2"

    assert secrets.remove(text.replace("{}", secret)) == (expected, [kind])


@pytest.mark.parametrize(
    "password", ["p@ss:word", "pass", "correct-horse-battery", "%2Fx%40", "$ecret!"]
)
def test_a_password_reaches_to_the_last_at_sign(password):
    text, kinds = secrets.remove(f"Run git clone https://alice:{password}@acme.com/docs and wait.")

    assert text == "Run git clone https://alice:[removed: password]@acme.com/docs and wait."
    assert kinds == ["password"]


def test_a_private_key_without_its_end_is_removed_and_the_sentence_after_it_is_kept():
    key = _pem(PEM_LINE, PEM_LINE).partition("\n-----END")[0]

    text, kinds = secrets.remove(f"My key:\n{key}\nThen the page says to press Save.")

    assert text == "My key:\n[removed: private key]\nThen the page says to press Save."
    assert kinds == ["private key"]


def test_a_private_key_that_was_cut_off_is_removed_to_the_last_character():
    key = _pem(PEM_LINE, PEM_LINE, PEM_LINE[:7]).partition("\n-----END")[0]

    assert secrets.remove(key) == ("[removed: private key]", ["private key"])


KEY = _pem(*(ALNUM[at : at + 20] * 3 + "b+/4" for at in range(12)), "Qw==").split("\n")
IN_LINES = {
    "a diff that takes it out": "-{}",
    "a diff that adds it": "+{}",
    "cat -n": "{n:6}\t{}",
    "bat": "{n:4} │ {}",
    "grep -rn": "deploy/key.pem:{n}:{}",
    "a comment": "# {}",
    "a comment in JavaScript": "// {}",
    "a block of comments": " * {}",
    "a list": "- {}",
    "code": "`{}`",
    "a table": "| {n} | {} |",
    "docker compose logs": "app-1  2026-01-01 10:00:00 {}",
    "a log in JSON": '{{"time": "2026-01-01T10:00:00Z", "level": "info", "logger": "deploy", "msg": "{}"}}',
    "PHP": "'{}\\n' .",
    "Python": "b'{}\\n'",
}
JOINED = ["<br>", "</p><p>", "%0A", ";", "\\\n", " ", "\n\n"]
SHAPES = {
    by: "\n".join(line.format(each, n=n) for n, each in enumerate(KEY, 1))
    for by, line in IN_LINES.items()
} | {by: by.join(KEY) for by in JOINED}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_what_stands_around_its_lines_hides_no_line_of_a_private_key(shape):
    """The attack: a `-` before each line, as in `git diff`, and the whole key was in the issue."""
    text, kinds = secrets.remove(f"I ran this:\n\n{shape}\n\nThen it says: no such key.")

    assert kinds == ["private key"]
    assert not [line for line in KEY if line in text]
    assert text.startswith("I ran this:\n\n")
    assert text.endswith("Then it says: no such key.")


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_nor_of_one_that_is_cut_off(shape):
    """The attack: of twelve lines, those with a log's time before them were published."""
    cut = shape[: shape.index(KEY[9])]

    text, kinds = secrets.remove(f"I ran this:\n\n{cut}\n\nThen it says: InvalidKeySpecException.")

    assert kinds == ["private key"]
    assert not [line for line in KEY[1:] if line in text]
    assert text.endswith("Then it says: InvalidKeySpecException.")


def test_nor_a_line_that_reads_like_a_path():
    line = "a1B2/docs/guides/tls/keys/" + "c3D4" * 8

    assert secrets.remove("\n".join([*KEY[:3], line])) == (
        "[removed: private key]",
        ["private key"],
    )


def test_a_path_behind_a_private_key_that_is_cut_off_is_kept():
    """An ordinary report: the words up to the path were gone, too."""
    words = "\nThe loader fails with java/security/spec/PKCS8EncodedKeySpec not found."

    assert secrets.remove("\n".join(KEY[:5]) + words) == (
        f"[removed: private key]{words}",
        ["private key"],
    )


def test_nor_of_one_that_goes_on_in_a_log():
    log = "\n[12:00] ".join(KEY[3:9])

    text, _ = secrets.remove("\n".join([*KEY[:3], f"[12:00] {log}"]))

    assert text == "[removed: private key]"


def test_nor_where_the_path_before_each_line_reads_like_a_placeholder():
    key = [KEY[0], KEY[1][:40], KEY[-1]]

    text, _ = secrets.remove("\n".join(f"examples/key.pem:{line}" for line in key))

    assert text == "examples/key.pem:[removed: private key]"


def test_between_the_ends_of_a_private_key_everything_goes():
    between = "Comment: of alice and bob\n" * 30

    assert secrets.remove(_pem(between, PEM_LINE, "-----", "to be renewed", "a" * 12)) == (
        "[removed: private key]",
        ["private key"],
    )


def test_a_certificate_behind_a_key_without_its_end_is_kept():
    key, certificate = "\n".join(KEY[:5]), _pem(PEM_LINE, label="CERTIFICATE")

    text, _ = secrets.remove(f"{key}\n{certificate}")

    assert text == f"[removed: private key]\n{certificate}"


def test_a_secret_key_goes_from_the_file_of_the_console_too():
    key = ("a1B2+/" * 7)[:40]

    text, _ = secrets.remove(f"Access key ID,Secret access key\nAKIA{'Q3EGTJ5ZK7W2XN4P'},{key}\n")

    assert text == "Access key ID,Secret access key\n[removed: AWS key],[removed: AWS key]\n"


def test_a_long_key_is_removed_even_where_it_looks_like_a_placeholder():
    key = _pem("Comment: example", "", PEM_LINE, PEM_LINE, PEM_LINE, label="PGP PRIVATE KEY BLOCK")

    assert secrets.remove(key) == ("[removed: private key]", ["private key"])


def test_each_kind_is_named_once_and_what_stands_between_is_kept():
    text = " and ".join(secret for _, secret in TOKENS)

    cleaned, kinds = secrets.remove(f"{text} and {text}")

    assert cleaned.split(" and ") == [f"[removed: {kind}]" for kind, _ in TOKENS] * 2
    assert sorted(kinds) == sorted({kind for kind, _ in TOKENS})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The link to the install guide is broken: it answers 404.",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
        "the secret key is 40 characters long",
        "SECRET_KEY = " + ALNUM[:50],
        "AIza...",
        "ghp_xxxxxxxxxxxxxxxxxxxx",
        "ghp_" + "x" * 36,
        "github_pat_<your token>",
        "github_pat_token_for_documentation_builds",
        "glpat-your-access-token-here",
        "xoxb-your-token",
        "xoxb-not-a-real-token-of-any-kind",
        "xoxb-xxxxxxxxxxxx-xxxxxxxxxxxx",
        "sk_live_...",
        "sk_live_yourkeyhere",
        "sk_test_" + ALNUM[:24],
        "sk-ant-...",
        "sk-ant-api03-your-key-here-and-nothing-else",
        "sk-proj-your-project-key-goes-here",
        "class=sk-folding-cube-animation-wrapper",
        "docs/task-proj-" + ALNUM[:24],
        "disk-" + ALNUM[:40],
        "npm_config_registry",
        "pypi-publish-action-for-trusted-publishers-in-your-pipeline",
        "eyJhbGciOiJIUzI1NiJ9...",
        "eyJhbGciOiJIUzI1NiJ9.<payload>.<signature>",
        "hub_issue_rate_limit_per_installation",
        "github_" + ALNUM[:40],
        "_hub-challenge.acme.com hub-verify=" + ALNUM[:32],
        "https://user:password@host/path",
        "https://user:***@host/path",
        "https://user:…@host/path",
        "https://<user>:<password>@host/path",
        "https://${USER}:${PASSWORD}@host/path",
        "https://$USER:$PASSWORD@host/path",
        "https://%s:%s@host/path",
        "https://docs.acme.com:8443/@alice",
        "ssh://git@acme.com:22/docs.git",
        "git@github.com:acme/docs.git",
        "http://localhost:3000 by alice@acme.com",
        "The file has to begin with -----BEGIN PRIVATE KEY----- and a line end.",
        _pem("..."),
        _pem("<the contents of your key>"),
        "-----BEGIN PRIVATE KEY----- is refused by /usr/local/lib/python3/site-packages/acme",
        (
            "The key file begins with `-----BEGIN RSA PRIVATE KEY-----`. Since release 4 it fails with\n"
            "java/security/spec/PKCS8EncodedKeySpec not found.\n\nTo reproduce: set `tls.key`, restart. See\n"
            "https://docs.acme.com/Guides/TLS/ServerCertificates, a 404, and\n"
            "com/AcmeCorp/DocsSite/Loaders2/PKCS8KeyLoader."
        ),
        _pem(PEM_LINE, label="CERTIFICATE"),
        _pem(PEM_LINE, label="PUBLIC KEY"),
    ],
)
def test_placeholders_and_plain_text_are_kept(text):
    assert secrets.remove(text) == (text, [])


@pytest.mark.parametrize("hidden", SECRETS["hidden"], ids=lambda hidden: hidden["by"])
@pytest.mark.parametrize("around", ["{}", "É: `{}` and\n{}\nthen «that» and a\\_b."])
def test_nothing_that_stands_in_a_secret_hides_it(hidden, around):
    text, kinds = secrets.remove(around.replace("{}", "".join(hidden["finds"])))

    assert kinds == ["GitHub token"]
    assert "ABC0123456789" not in text
    assert around.partition("{}")[0].strip("`") in text


LISTED = [("".join(parts), entry["kind"]) for entry in SECRETS["kinds"] for parts in entry["finds"]]


@pytest.mark.parametrize("white", ["\n", "\r\n", "\t", "\u2028", "\n\n", "\n  "])
def test_white_space_that_a_title_makes_one_space_of_hides_no_secret(white):
    """The attack: `;\\nPwd=` was no password, until the summary was made one line for the title."""
    sent = [
        secret[:at] + white + secret[after:]
        for secret, _ in LISTED
        for at in range(len(secret) + 1)
        for after in {at, at + secret[at : at + 1].isspace()}
    ]

    left = {text: in_one_line(clean(secrets.remove(text)[0])) for text in sent}

    assert not {text: title for text, title in left.items() if secrets.found_in(title)}


@pytest.mark.parametrize("broken", SECRETS["broken"], ids=lambda broken: broken["kind"])
def test_a_secret_that_white_space_breaks_is_removed_and_the_rest_keeps_its_lines(broken):
    secret = "".join(broken["finds"])

    text, kinds = secrets.remove(f"Line 1\n\n  Line 2:\n{secret}\nLine 4\n")

    assert kinds == [broken["kind"]]
    assert broken["finds"][-1] not in text
    assert text.startswith("Line 1\n\n  Line 2:\n")
    assert text.endswith(f"[removed: {broken['kind']}]\nLine 4\n")


def test_what_is_escaped_and_broken_goes_alone():
    text = "It says:\n\nServer=db;\n\n&#80;wd&#61;k9Zebra\n\nand fails."

    assert secrets.remove(text) == (
        "It says:\n\nServer=db;\n\n&#80;wd&#61;[removed: password]\n\nand fails.",
        ["password"],
    )


def test_only_a_text_that_may_break_a_secret_is_read_in_one_line(monkeypatch):
    read: list[str] = []
    monkeypatch.setattr(secrets, "in_one_line", lambda text: read.append(text) or in_one_line(text))

    secrets.remove("The command fails:\n\n```\n$ acme deploy --to <region>\n```\n\nWhy?\n" * 20)
    secrets.remove("The password is refused.")

    assert read == ["The password is refused."]


def test_every_kind_that_white_space_can_break_is_read_in_one_line():
    """A pattern that takes white space in a way that is not seen there would be left out."""
    spaced = {family.pattern for _, family in secrets.SPACED}

    for family in secrets.FAMILIES:
        assert (family.pattern in spaced) == (
            r"\s" in family.pattern.pattern or " " in family.pattern.pattern
        )
    assert not [sign for sign, _ in secrets.SIGNED if any(map(str.isspace, sign))]


def test_a_text_is_cleaned_only_where_that_brings_a_secret_out():
    token = "ghp_\u200b" + ALNUM[:36]

    assert secrets.remove("Ｆｕｌｌ\u200b wide") == ("Ｆｕｌｌ\u200b wide", [])
    assert secrets.remove(f"Ｆｕｌｌ\u200b {token} a\\_b") == (
        clean("Ｆｕｌｌ [removed: GitHub token] a\\_b"),
        ["GitHub token"],
    )


def test_a_secret_behind_something_unseen_begins_a_word():
    token = "sk-" + ALNUM[:48]

    assert secrets.remove(f"x\u200b{token}") == ("x\u200b[removed: OpenAI key]", ["OpenAI key"])


DIVIDERS = [
    "\u200b",
    "\x1b[m",
    "\\_",
    "&#95;",
    "%5F",
    "＿",
    "é",
    "\u0301",
    "**",
    "\n",
    "\r\n",
    "漢",
    "ﷺ",
]


def spans(at: Places) -> list[tuple[int, int]]:
    """The part of the text that each character of the reading comes from."""
    return [at.span(each, each + 1) for each in range(len(at.first))]


@given(
    st.lists(st.sampled_from([*DIVIDERS, "ghp_", "a1B2" * 9]) | st.text(max_size=3)).map("".join)
)
def test_every_character_of_the_reading_has_its_place_in_the_text(text):
    cleaned = clean(text)

    at = spans(places(cleaned))

    assert len(at) == len(plain(cleaned))
    assert at == sorted(at)
    assert all(0 <= start < end <= len(cleaned) for start, end in at)


@given(st.lists(st.sampled_from(["\n", "  ", "\t", "a"]) | st.text(max_size=3)).map("".join))
def test_every_character_of_a_line_has_its_place_in_the_text(text):
    line, at = in_one_line(text), spans(places_in_one_line(text))

    assert [text[start:end] for start, end in at if text[start:end].strip()] == list(
        "".join(line.split())
    )
    assert len(at) == len(line)
    assert at == sorted(at)


@given(
    st.lists(st.sampled_from([*DIVIDERS, *(secret for _, secret in TOKENS)]) | st.text(max_size=3))
)
def test_cleaning_what_is_left_brings_nothing_out(parts):
    left, _ = secrets.remove("".join(parts))

    assert secrets.remove(left) == (left, [])
    assert secrets.remove(clean(left)) == (clean(left), [])


@given(
    st.lists(st.sampled_from([secret for _, secret in TOKENS]) | st.text(max_size=5)).map("".join)
)
def test_nothing_more_is_removed_from_a_result(text):
    cleaned, _ = secrets.remove(text)

    assert secrets.remove(cleaned) == (cleaned, [])


LOOKED_AT = st.lists(
    st.sampled_from([*DIVIDERS, "a1B2" * 9, "ghp", "_", "\\", "`", "^", "> ", "&#112;wd = "])
    | st.text(max_size=3)
).map("".join)


@given(st.lists(LOOKED_AT, max_size=3))
@example(["a password is"])
@example(["Ｆｕｌｌ\u200b wide"])
@example(["&#103;hp_" + ALNUM[:36]])
@example(["begins with ghp", "_" + ALNUM[:36]])
@example(["a1B2a1B2a1B2\\", "a1B2"])
def test_a_look_at_all_texts_finds_what_a_look_at_each_does(texts):
    with pytest.MonkeyPatch.context() as thorough:
        thorough.setattr(secrets, "none_in", lambda *texts: False)
        removed = [secrets.remove(text) for text in texts]

    assert secrets.none_in(*texts) == all(secrets.none_in(text) for text in texts)
    assert not secrets.none_in(*texts) or removed == [(text, []) for text in texts]


def test_a_text_that_shows_ever_more_keys_is_replaced_as_a_whole():
    keys = "-----BEGIN PRIVATE KEY-----V: " * 140 + f"\n{PEM_LINE}{'.' * 200}" * 140

    assert secrets.remove(keys) == ("[removed: private key]", ["private key"])


def test_a_text_that_loses_something_at_each_look_is_looked_at_a_few_times(monkeypatch):
    """An attack: the texts of one report cost 0.3 s, and 40 of them at once kept others waiting for seconds."""
    halves = "\x1b[31m".join(
        [f"ghp\\_{ALNUM[:36]} ", f"glptt-{ALNUM[:20]} &#65;", "hvs.", "token="]
    )
    looks: list[str] = []
    found_in = secrets.found_in
    monkeypatch.setattr(secrets, "found_in", lambda text: looks.append(text) or found_in(text))

    keys = "-----BEGIN PRIVATE KEY-----V: " * 40 + f"\n{PEM_LINE}{'.' * 200}" * 40
    secrets.remove(keys + halves * 40)

    assert 2 <= len(looks) <= 14


@pytest.mark.parametrize("token", ["ghp\u200b_", "ghp_\x1b[m"])
def test_what_shows_once_it_is_cleaned_ends_where_its_line_ends(token):
    text = f"{token}{ALNUM[:36]}\nThen run it"

    assert secrets.remove(text) == ("[removed: GitHub token]\nThen run it", ["GitHub token"])


@pytest.mark.parametrize("family", secrets.FAMILIES, ids=lambda family: family.kind)
def test_no_pattern_begins_with_a_look_behind(family):
    """The text is searched for the letters that a pattern begins with; a look behind is tried at each place."""
    assert not family.pattern.pattern.startswith(("(?<", "(?:(?<"))


@pytest.mark.parametrize(
    "family", [each for each in secrets.FAMILIES if each.long], ids=lambda family: family.kind
)
def test_what_is_looked_for_in_long_words_only_is_never_shorter(family):
    shortest, _ = re._parser.parse(family.pattern.pattern).getwidth()

    assert shortest >= secrets.LONG
    assert family not in {each for _, each in secrets.SPACED}


def test_what_shows_only_when_something_hidden_has_gone_is_removed_at_once():
    hidden = "ghp\\_" + ALNUM[:36] * 4
    text = f"-----BEGIN PRIVATE KEY-----Version: {hidden}\n{PEM_LINE}"

    left, _ = secrets.remove(text)

    assert secrets.remove(left) == (left, [])


def test_an_address_without_its_password_holds_no_password():
    first: list[SecretNotice] = []
    again: list[SecretNotice] = []

    left = page(canonical.address("https://acme.com/login?user=alice&password=k9Zebra1"), first)

    assert first == [("/doc_url", "password")]
    assert page(canonical.address(left["doc_url"]), again) == left
    assert not again


def test_an_address_is_kept_without_a_fragment_that_has_a_token():
    notices: list[SecretNotice] = []

    left = page(canonical.address(f"https://acme.com/back#access_token={ALNUM[:40]}&a=b"), notices)

    assert notices == [("/doc_url", "access token")]
    assert left["doc_url"] == "https://acme.com/back"


AWS_KEY = "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.mark.parametrize(
    "address",
    [
        f"https://acme.com/aws_secret_access_key={AWS_KEY}/",
        f"https://acme.com/aws_secret_access_key={AWS_KEY}//",
        f"https://acme.com/aws%5Fsecret_access_key={AWS_KEY}/#top",
        f"https://acme.com/aws_secret_access_key={AWS_KEY}/.",
    ],
)
def test_what_is_a_secret_only_in_the_canonical_address_is_removed_from_both(address):
    """The attack: with a slash after it, it is none, and the canonical address loses the slash."""
    notices: list[SecretNotice] = []

    left = page(canonical.address(address), notices)

    assert notices == [("/doc_url", "AWS key")]
    assert set(left.values()) == {
        "https://acme.com/aws_secret_access_key=%5Bremoved:%20AWS%20key%5D"
    }
