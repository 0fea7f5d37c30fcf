"""Secrets stop a report: the same patterns in both clients, the same kinds as in the Hub."""

import json

from reports import secrets as hub_secrets
from tests.clients.conftest import CONTRACT, Sdk
from tests.reports.secret_texts import divided, ordinary, real_looking

SHARED = json.loads((CONTRACT / "secrets.json").read_text())
KINDS = SHARED["kinds"]


def test_every_secret_of_the_list_is_found(sdk: Sdk):
    texts = [("".join(parts), entry["kind"]) for entry in KINDS for parts in entry["finds"]]

    outcomes = sdk.do(*({"do": "find_secrets", "text": {"a/b": text}} for text, _ in texts))

    assert outcomes == [{"result": [{"field": "/a~1b", "kind": kind}]} for _, kind in texts]


def test_nothing_that_stands_in_a_secret_hides_it(sdk: Sdk):
    texts = ["".join(hidden["finds"]) for hidden in SHARED["hidden"]]

    outcomes = sdk.do(*({"do": "find_secrets", "text": text} for text in texts))

    found = {"result": [{"field": "", "kind": "GitHub token"}]}
    assert dict(zip(texts, outcomes, strict=True)) == dict.fromkeys(texts, found)


def test_nor_does_white_space_that_a_title_makes_one_space_of(sdk: Sdk):
    texts = [("".join(broken["finds"]), broken["kind"]) for broken in SHARED["broken"]]

    outcomes = sdk.do(*({"do": "find_secrets", "text": text} for text, _ in texts))

    assert outcomes == [{"result": [{"field": "", "kind": kind}]} for _, kind in texts]


def test_real_looking_secrets_are_missed_in_less_than_one_of_fifty_texts(sdk: Sdk):
    pasted = [*real_looking(), *divided()]

    outcomes = sdk.do(*({"do": "find_secrets", "text": each.text} for each in pasted))

    missed = [each for each, got in zip(pasted, outcomes, strict=True) if not got["result"]]
    assert len(missed) < len(pasted) / 50, missed


def test_less_than_one_of_two_hundred_ordinary_reports_is_stopped(sdk: Sdk):
    reports = ordinary()

    outcomes = sdk.do(*({"do": "find_secrets", "text": text} for text in reports))

    stopped = [text for text, got in zip(reports, outcomes, strict=True) if got["result"]]
    assert len(stopped) < len(reports) / 200, stopped


def test_what_two_families_find_has_the_kind_of_the_first(sdk: Sdk):
    token = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    texts = [f"Authorization: Bearer {token}", f"x {token} and client_secret: {token[4:][::-1]}"]
    outcomes = sdk.do(*({"do": "find_secrets", "text": text} for text in texts))

    found = [[each["kind"] for each in outcome["result"]] for outcome in outcomes]
    assert found == [["GitHub token"], ["GitHub token", "secret"]]


def test_what_only_resembles_a_secret_is_not_found(sdk: Sdk):
    texts = ["".join(parts) for entry in KINDS for parts in entry["ignores"]]

    outcomes = sdk.do(*({"do": "find_secrets", "text": text} for text in texts))

    assert dict(zip(texts, outcomes, strict=True)) == {text: {"result": []} for text in texts}


def test_a_password_is_as_long_as_it_has_characters(sdk: Sdk):
    key = "\U0001f511"
    texts = [
        part.format(key * many)
        for part in ("Server=db;Uid=a;Password={};", "https://acme.com/?password={}&a")
        for many in (3, 4, 60, 100)
    ]

    outcomes = sdk.do(*({"do": "find_secrets", "text": text} for text in texts))

    found = [[each["kind"] for each in outcome["result"]] for outcome in outcomes]
    assert found == [[], *[["password"]] * 3] * 2


def test_the_hub_removes_the_same_kinds():
    for entry in KINDS:
        for parts in entry["finds"]:
            assert hub_secrets.remove("".join(parts))[1] == [entry["kind"]], parts
        for parts in entry["ignores"]:
            assert hub_secrets.remove("".join(parts))[1] == [], parts


def test_the_longest_report_is_searched_in_no_time(sdk: Sdk):
    starts = [
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "eyJaaaaaaaa.",
        "://a:",
        "secret key:",
        "sk-",
        "a",
        "://a:b/",
        "://a:b@",
        "Authorization: Bearer a",
        "&token=",
        ";password=a",
        "SG.aaaaaaaaaaaaaaaaa.",
        "token:",
        "token:a1B",
        "api_key=",
        "secret,",
        "password:a1B",
        "--a-token ",
        "machine a login a password ",
        "curl -u a:",
        "\\",
        "aaaaaaaa\n",
        "a[0m",
        "&#",
        "\x1b]",
        "\u0301\u0316",
    ]
    outcomes = sdk.do(
        *({"do": "find_secrets", "text": start * (65536 // len(start))} for start in starts)
    )

    assert len(outcomes) == len(starts)  # or `do` would have given it up
