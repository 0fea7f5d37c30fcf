"""The table of attacks is complete, and what it shows was seen of the attacks that there are."""

import subprocess
import sys
from collections import Counter

import pytest

from tests.abuse import table
from tests.abuse.table import Attack
from tests.abuse.world import Fell, stands_if
from tests.hub_process import ROOT

WHO = {
    table.STRANGER,
    table.READER,
    table.MEMBER,
    table.OTHER,
    table.FORMER,
    table.SITE,
    table.NAME_SERVER,
    table.WEB_SERVER,
    table.HUB,
    table.NOBODY,
}


def test_each_attack_says_who_makes_it_what_they_want_and_what_they_try():
    attacks = table.every_attack()

    assert len(attacks) >= 60
    assert {each.who for each in attacks} == WHO
    assert not [each.name for each in attacks if not each.wants or not each.tries.endswith(".")]


def test_no_two_attacks_have_one_name_and_none_has_that_of_a_subject():
    attacks = table.every_attack()

    names = Counter([*{each.subject for each in attacks}, *(each.name for each in attacks)])

    assert max(names.values()) == 1


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_what_the_docs_show_was_seen_of_the_attacks_that_there_are(database):
    seen = table.seen()[database]

    assert seen.keys() == {each.name for each in table.every_attack()}
    assert not [name for name, each in seen.items() if not each["stands"] or not each["figures"]]


def test_a_subject_stands_for_its_attacks():
    chosen = table.chosen(["webhooks", "mentions"])

    assert {each.name for each in chosen} == {
        "forged_webhooks",
        "replayed_webhooks",
        "flood_of_forged_webhooks",
        "webhooks_that_strangers_have_github_send",
        "a_repository_that_is_public_for_a_moment",
        "a_repository_that_becomes_private_while_github_answers",
        "a_repository_that_becomes_private_out_of_sight",
        "mentions",
    }


def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"There is no attack nonsense\. There are .*mentions"):
        table.chosen(["nonsense", "mentions"])


def test_a_run_of_one_attack_leaves_what_was_seen_of_the_others(tmp_path):
    path = tmp_path / "seen.json"
    table.note(path, "sqlite", {"a": {"stands": True, "figures": "1"}})
    table.note(path, "postgresql", {"a": {"stands": True, "figures": "2"}})
    table.note(path, "sqlite", {"b": {"stands": False, "figures": "3"}})

    figures = {
        on: {n: e["figures"] for n, e in found.items()} for on, found in table.seen(path).items()
    }

    assert figures == {"sqlite": {"a": "1", "b": "3"}, "postgresql": {"a": "2"}}


def test_what_was_seen_is_no_markup_of_the_docs():
    one = Attack("words", "a_name", "a stranger", "act", "Tries <b> | \\.", lambda _: "")

    line = table.as_markdown(
        [one], {"sqlite": {"a_name": {"figures": "0 `x` <img>"}}}
    ).splitlines()[-1]

    assert line == (r"- **a name**: a stranger, to act. Tries \<b\> \| \\. *Seen:* 0 \`x\` \<img\>")


def test_the_docs_show_what_was_seen_last():
    page = (ROOT / "docs/v0/security/attacks.md").read_text(encoding="utf-8")

    assert page.endswith(table.as_markdown(table.every_attack(), table.seen()) + "\n")


def test_an_attack_that_did_what_it_came_for_has_the_figures():
    assert stands_if(True, "0 of 3") == "0 of 3"
    with pytest.raises(Fell, match="2 of 3"):
        stands_if(False, "2 of 3")


@pytest.mark.slow
def test_a_command_that_is_not_understood_ends_with_2_and_makes_no_attack():
    ended = [
        subprocess.run(
            [sys.executable, "-m", "tests.abuse", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        for arguments in (["nonsense"], ["--nonsense"], ["--list", "webhooks"])
    ]

    assert [each.returncode for each in ended] == [2, 2, 0]
    assert "There is no attack nonsense" in ended[0].stderr
    assert "forged_webhooks" in ended[2].stdout
