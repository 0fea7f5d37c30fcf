"""Erasing the text of a report: a page that asks, and what is left to see."""

import json
import re

import pytest
from django.contrib.admin.models import LogEntry

from core import clock
from integrations.comments import sending
from integrations.delivery import discarding, telling_apart
from integrations.github_api import IS_LOCKED
from integrations.models import Comment, Delivery, Integration
from integrations.models.comment import EDITED_BY_OTHERS
from orgs.models import Membership, User
from reports.models import Account, Report
from tests import build
from tests.integrations.comments import world

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "alice-private"
PAGE = "/settings/reports/"


@pytest.fixture
def report(client, code_host) -> Report:
    """One that has become an issue, with a further account; alice is signed in."""
    acme = build.acme(code_host)
    client.force_login(build.member(acme, "alice"))
    build.member(acme, "bob", role="member")
    for details in ("lol", SECRET):
        words = {"report__summary": f"{SECRET} is here", "report__details": details}
        build.send(client, build.report(f"https://docs.acme.com/x?{SECRET}", **words))
    return Report.objects.get()


def sign_in(client, login: str) -> None:
    client.force_login(User.objects.get(username=login))


def text_of(answer) -> str:
    return b"".join(answer).decode()


def test_the_page_asks_first_and_says_whose_the_issue_is(client, report):
    asked = text_of(client.get(f"{PAGE}{report.id}/erase/"))

    assert "issue #1</a> in acme/docs is yours" in asked
    assert Report.objects.get().erased_at is None


def test_an_owner_erases_and_no_page_shows_a_word(client, report):
    answer = client.post(f"{PAGE}{report.id}/erase/", follow=True)

    assert "The text of this report was erased." in text_of(answer)
    assert "Edit or delete it on GitHub." in text_of(answer)
    assert not Account.objects.exists()
    for path in (
        "/settings/",
        PAGE,
        f"{PAGE}{report.id}/",
        f"{PAGE}{report.id}/raw",
        f"{PAGE}reports.csv",
        "/settings/integration/",
        "/settings/account/export.json",
        f"/v1/reports/{report.id}",
    ):
        shown = client.get(path)
        assert shown.status_code == 200
        assert SECRET not in text_of(shown), path


SEEN = re.compile(r'name="seen" value="([0-9a-f]+)"')
MORE_CAME = "Somebody has reported this in other words since this page was opened"


def again(client, details: str) -> None:
    """Report the same once more."""
    words = {"report__summary": f"{SECRET} is here", "report__details": details}
    build.send(client, build.report(f"https://docs.acme.com/x?{SECRET}", **words))


def test_words_of_others_that_came_since_the_page_was_opened_are_not_erased_unseen(client, report):
    asked = text_of(client.get(f"{PAGE}{report.id}/erase/"))
    again(client, "It now deletes /var")

    answer = text_of(client.post(f"{PAGE}{report.id}/erase/", {"seen": SEEN.findall(asked)}))

    assert '#accounts">1 further account</a>. Look at it first' in asked
    assert MORE_CAME in answer
    assert '#accounts">2 further accounts</a>. Look at them first' in answer
    assert Account.objects.count() == 2
    assert Report.objects.get().summary == f"{SECRET} is here"

    client.post(f"{PAGE}{report.id}/erase/", {"seen": SEEN.findall(answer)})

    assert Report.objects.get().erased_at
    assert not Account.objects.exists()


def test_a_mere_repeat_since_the_page_was_opened_keeps_nobody_from_erasing(client, report):
    """An attack: whoever had put a name into a report repeated it, so that it could not be erased."""
    asked = text_of(client.get(f"{PAGE}{report.id}/erase/"))
    for known in ("lol", SECRET):
        again(client, known)

    client.post(f"{PAGE}{report.id}/erase/", {"seen": SEEN.findall(asked)})

    assert Report.objects.get().erased_at


def test_an_erased_report_is_seen_to_be_one(client, report):
    client.post(f"{PAGE}{report.id}/erase/")

    assert ">Erased report</a>" in text_of(client.get(PAGE))
    assert ">Erased report</a>" in text_of(client.get("/settings/"))
    page = text_of(client.get(f"{PAGE}{report.id}/"))
    assert "<h1>Erased report</h1>" in page
    assert "Its text was deleted" in page
    assert "2 times" in page
    assert "Erase the text" not in page
    [exported] = json.loads(text_of(client.get("/settings/account/export.json")))["reports"]
    assert exported["erased_at"]
    assert (exported["accounts"], exported["times_reported"]) == ([], 2)


def test_a_member_who_is_no_owner_erases_nothing(client, report):
    sign_in(client, "bob")

    page = text_of(client.get(f"{PAGE}{report.id}/"))
    answer = client.post(f"{PAGE}{report.id}/erase/", follow=True)

    assert "Erase the text" not in page
    assert "Only owners can erase a report." in text_of(answer)
    assert Report.objects.get().erased_at is None


def test_what_is_not_mine_is_not_erased(client, report):
    build.member(build.organization("charlies"), "charlie")
    sign_in(client, "charlie")

    assert client.get(f"{PAGE}{report.id}/erase/").status_code == 404
    assert client.post(f"{PAGE}{report.id}/erase/").status_code == 404
    assert Report.objects.get().erased_at is None


def test_the_address_of_the_question_leads_back_once_it_is_done(client, report):
    client.post(f"{PAGE}{report.id}/erase/")

    answer = client.get(f"{PAGE}{report.id}/erase/")

    assert answer["Location"] == f"{PAGE}{report.id}/"


def test_an_operator_erases_after_a_question_and_the_history_says_so(client, report):
    User.objects.filter(username="alice").update(is_staff=True, is_superuser=True)
    chosen = {"action": "erase", "_selected_action": [report.id]}

    asked = client.post("/admin/reports/report/", chosen)
    untouched = Report.objects.get().erased_at
    answer = client.post("/admin/reports/report/", chosen | {"confirmed": "Erase"}, follow=True)

    assert "Erase the text of 1 report?" in text_of(asked)
    assert untouched is None
    assert "1 erased." in text_of(answer)
    assert Report.objects.get().erased_at
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.get_change_message()) == (report.id, "Erased.")
    assert SECRET not in entry.object_repr


def pause() -> None:
    Integration.objects.update(paused_at=clock.now())


def disconnect() -> None:
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")


def edit_by_somebody() -> None:
    Comment.objects.update(status="left", reason=EDITED_BY_OTHERS)


def lock() -> None:
    Comment.objects.update(status="pending", reason=IS_LOCKED)


def nothing() -> None:
    """As it was."""


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (pause, "The integration is paused."),
        (disconnect, "No repository is chosen."),
        (edit_by_somebody, "The Hub does not change it any more."),
        (lock, "The issue is locked."),
        (nothing, ""),
    ],
)
def test_where_github_still_has_the_text_and_why_is_said(client, code_host, happens, why):
    client.force_login(build.member(build.acme(code_host), "alice"))
    world.lead()
    page = f"{PAGE}{world.fold('Another').report_id}/"
    sending.send_due()
    there = Comment.objects.get().comment_url
    happens()

    asked = text_of(client.get(f"{page}erase/"))
    erased = text_of(client.post(f"{page}erase/", follow=True))
    if happens is nothing:
        Comment.objects.update(due_at=clock.now())
        sending.send_due()
    later = text_of(client.get(page))

    link = f'<a href="{there}">'
    assert [link in said for said in (asked, erased, later)] == [bool(why), True, bool(why)]
    assert why in asked
    assert (why or "The Hub takes it out within minutes.") in erased


def discard(delivery: Delivery) -> None:
    discarding.discard(delivery)


def split_off(delivery: Delivery) -> None:
    telling_apart.split(delivery, by=Membership.objects.get())


@pytest.mark.parametrize("leave", [discard, split_off])
def test_of_what_has_left_an_issue_it_is_not_said_that_it_never_was_in_one(
    client, code_host, leave
):
    client.force_login(build.member(build.acme(code_host), "alice"))
    Integration.objects.update(likeness="fold")
    flag = {"report__summary": "`shipyard push --force` fails: `unknown flag: --force`"}
    for agent in ("claude-code", "cursor"):
        build.send(client, build.report(agent__name=agent, **flag))
    joined = Delivery.objects.get(status="folded")
    sending.send_due()
    edit_by_somebody()
    leave(joined)

    asked = text_of(client.get(f"{PAGE}{joined.report_id}/erase/"))

    assert "a comment of the Hub there may still have its text" in asked
    assert "has not become an issue" not in asked
