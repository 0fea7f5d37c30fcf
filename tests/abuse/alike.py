"""Reports that are to draw others to themselves, or to cost much because they are compared."""

from django.db import connection

from integrations.models import Delivery, Integration
from tests import build
from tests.abuse.table import STRANGER, attack
from tests.abuse.words import FREE
from tests.abuse.world import Shipped, World, stands_if
from tests.integrations.delivery.alike import AGAIN, ONCE_MORE, OTHER, PUSH
from tests.integrations.likeness.labeled import PAGES
from tests.waiting import wait_until

LEADS = 200  # issues of a page that a report is compared with
AFTER = 25  # reports that are measured


@attack(STRANGER, "have all reports of a page join an issue of theirs")
def a_report_with_all_words(world: World) -> str:
    """The words of all that will be reported about a page are one report, sent first, in each of its fields."""
    world.acme()
    Integration.objects.update(likeness="fold")
    connection.close()
    rows = next(iter(PAGES.values()))
    reports = [report for _, report in rows]
    problems = {report["summary"]: problem for problem, report in rows}
    words = " ".join(f"{each['summary']} {each['details']}" for each in reports)
    with world.hub(**FREE) as hub:
        bait = [
            _send(hub, 0, {"report__summary": words[:400], "report__details": words}),
            _send(hub, 1, {"report__summary": "All of it", "report__details": words}),
        ]
        for number, each in enumerate(reports, 2):
            _send(hub, number, {f"report__{name}": value for name, value in each.items() if value})
    joined = Delivery.objects.filter(lead__report__in=bait).exclude(report__in=bait)
    about = [problems[each.report.summary] for each in joined.select_related("report")]
    issues = len(world.host.issues("acme/docs"))
    connection.close()
    figures = (
        f"{len(about)} of {len(reports)} joined theirs, about {sorted(set(about))}; {issues} issues"
    )
    return stands_if(
        len(set(about)) <= 1, figures
    )  # the problem with which it begins is one of its own


@attack(STRANGER, "have somebody's report swallowed by one of theirs")
def a_report_that_is_swallowed(world: World) -> str:
    """An issue like the true reports is there before them; what they say has to reach the repository all the same."""
    world.acme()
    Integration.objects.update(likeness="fold")
    connection.close()
    true = [{**AGAIN, "report__details": "Say --overwrite in step 3"}, ONCE_MORE, OTHER]
    with world.hub(maintain=True, **FREE) as hub:
        _send(hub, 0, PUSH)
        for number, each in enumerate(true, 1):
            _send(hub, number, each)
        wait_until(lambda: "codex" in _all(world))
        text = _all(world)
    told = [each["agent__name"] in text for each in true]
    states = sorted(Delivery.objects.values_list("status", flat=True))
    connection.close()
    return stands_if(all(told), f"{states}; of {len(true)} true reports {sum(told)} are on GitHub")


@attack(STRANGER, "keep what others say off GitHub")
def a_list_that_is_full_of_one_network(world: World) -> str:
    """Three reports join an issue, and thirty of one network after them, before the list below it is written."""
    world.acme()
    Integration.objects.update(likeness="fold")
    connection.close()
    true = [AGAIN, ONCE_MORE, {**ONCE_MORE, "agent__name": "windsurf"}]
    junk = {**PUSH, "report__details": "lol"}
    with world.hub(**FREE) as hub:
        _send(hub, 0, PUSH)
        for number, each in enumerate(true, 1):
            _send(hub, 300 * number, each)
        for number in range(30):
            _send(hub, number, {**junk, "agent__name": f"bot-{number}"}, "203.0.113.9")
    with world.hub(maintain=True, **FREE):
        wait_until(lambda: "Also reported" in _all(world))
        text = _all(world)
    joined = Delivery.objects.filter(status="folded").count()
    told = sum(each["agent__name"] in text for each in true)
    connection.close()
    return stands_if(
        told == 3, f"{joined} joined the issue; of 3 true reports {told} are on GitHub"
    )


@attack(STRANGER, "make each report cost more than the one before")
def a_page_with_many_issues(world: World) -> str:
    """300 long reports about one page, each of which is compared with those before it."""
    world.acme()
    Integration.objects.update(likeness="fold")
    connection.close()
    with world.hub(**FREE) as hub:
        _fill(hub, 0, 60)
        early = hub.cpu_of(lambda: _fill(hub, 60, AFTER)) / AFTER
        _fill(hub, 60 + AFTER, LEADS)
        late = hub.cpu_of(lambda: _fill(hub, 60 + AFTER + LEADS, AFTER)) / AFTER
    figures = (
        f"{early:.0f} ms of computing a report after 60, {late:.0f} ms after {60 + AFTER + LEADS}"
    )
    return stands_if(late < 4 * early + 50, figures)


def _fill(hub: Shipped, first: int, number: int) -> None:
    """Reports that have much in common, and are about something else each."""
    for each in range(first, first + number):
        words = " ".join(f"`option_{(each + n) % 97}`" for n in range(40))
        said = {
            "report__summary": f"`switch_{each}` of `tool_{each}` is gone",
            "report__details": words,
        }
        _send(hub, each, said)


def _send(hub: Shipped, number: int, words: dict, address: str = "") -> str:
    address = address or f"198.{number // 250 % 250}.{number % 250}.1"
    report = build.report(**{"agent__name": f"agent-{number}", **words})
    return str(hub.post(report, **{"X-Forwarded-For": address}).json()["id"])


def _all(world: World) -> str:
    """All that is written in the repository."""
    issues = world.host.issues("acme/docs")
    comments = [c.body for each in issues for c in world.host.comments("acme/docs", each.number)]
    return "\n".join([*(f"{each.title}\n{each.body}" for each in issues), *comments])
