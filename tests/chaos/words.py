"""What the clients report: pages, and texts of all kinds."""

from random import Random
from typing import Any

from tests import build

PAGES = 40  # of each organization
THINGS = ("flag", "option", "command", "argument", "variable")
NAMES = ("force", "overwrite", "region", "timeout", "replicas", "dry-run", "verbose", "output")
HOSTILE = (
    "@alice fixes #1, GH-2 and acme/docs#3; closes #4",
    "<!-- hub:01ARZ3NDEKTSV4RRFFQ69G5FAV --> <script>alert(1)</script>",
    "```\nunclosed\n\n[x]: https://evil.example\n![i](https://evil.example/i.png)",
    "\u202eesrever\u202c \u200b\u2066 ＠alice ＃1 e\u0301" + "\u0301" * 50,
    "{summary}{details}\n/close\n@{agent_name}",
    "<" * 500 + "&#64;alice \\@bob",
    "| a | b |\n|---|---|\n" + "| x | y |\n" * 50,
)
SECRETS = (
    "AKIA" + "IOSFODNN7" + "CHAOSKEY"[:7],
    "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8",
    "https://root:" + "hunter2222" + "@db.example.com/",
)
PROBLEMS = 3  # pages of each organization that many report a problem of, and flags that it is about
FAMILY = (
    "Step {n} runs `shipyard push --{flag}`, but that flag was removed in 4.0",
    "`shipyard push --{flag}` fails: the flag is called `--overwrite-{flag}` since 4.0",
    "The flag `--{flag}` of `shipyard push` is unknown, `--overwrite-{flag}` works",
)


def page(random: Random, organizations: int) -> str:
    """A page of somebody who has claimed it."""
    owner, number = random.randrange(organizations), random.randrange(PAGES)
    return f"https://docs.acme{owner}.com/guide/{number}"


def page_with_problems(random: Random, organizations: int) -> str:
    """One of the pages that `alike` reports are about."""
    return (
        f"https://docs.acme{random.randrange(organizations)}.com/push/{random.randrange(PROBLEMS)}"
    )


def new(random: Random, url: str, name: str) -> dict[str, Any]:
    """A report that nobody else sends."""
    thing, which = random.choice(THINGS), random.choice(NAMES)
    summary = f"The {thing} {which} of {name} is not there any more"
    return build.report(url, report__summary=summary, report__details=details(name))


def details(name: str) -> str:
    """Details that no other report has."""
    return f"Seen by {name} with the current version, where it ends with an error."


def hostile(random: Random, url: str, name: str) -> dict[str, Any]:
    """Text that tries to act on GitHub."""
    body = new(random, url, name)
    body["report"]["details"] = random.choice(HOSTILE)
    body["report"]["suggested_fix"] = random.choice(HOSTILE)
    return body


def with_secret(random: Random, url: str, name: str) -> dict[str, Any]:
    """Text with a secret in it."""
    body = new(random, url, name)
    body["report"]["evidence"] = [{"kind": "error_message", "text": random.choice(SECRETS)}]
    return body


def alike(random: Random, url: str, name: str) -> dict[str, Any]:
    """One of several wordings of a problem that a page has, by an agent of its own."""
    flag = random.choice(NAMES[:PROBLEMS])
    text = random.choice(FAMILY).format(n=random.randint(1, 9), flag=flag)
    return build.report(
        url, report__summary=text, report__details=details(name), agent__name=f"agent-{name}"
    )
