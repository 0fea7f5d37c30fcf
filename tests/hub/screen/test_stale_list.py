"""A list of reports was opened before others came in or changed, and *all that match* is pressed after that."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from integrations.delivery import holds, ownership_changes, withholding
from integrations.models import Delivery, Installation, Integration
from orgs.models import Domain, Organization
from reports.models import Account, Report
from tests import build
from tests.hub.screen.controls import browser_of

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/settings/reports/"
UNTIL = re.compile(r'<input type="hidden" name="until" value="([^"]+)">')
ITS_AGENT = "agent=claude-code"


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme) -> Client:
    return browser_of(acme, "alice")


@pytest.fixture
def bob(acme) -> Client:
    return browser_of(acme, "bob")


def pause() -> None:
    Integration.objects.update(paused_at=timezone.now())


def arrive(*summaries: str) -> None:
    for each in summaries:
        build.send(Client(), build.report(report__summary=each, agent__name="claude-code"))


def arrive_again(summary: str, *, details: str) -> None:
    """The same problem; with `details`, in other words."""
    more = {"report__details": details} if details else {}
    body = build.report(report__summary=summary, agent__name="claude-code", **more)
    assert build.send(Client(), body).status_code in {200, 201}


def shown(browser: Client, asked: str) -> dict[str, str]:
    """What the form of the list sends with each press."""
    page = browser.get(f"{LIST}?{asked}").content.decode()
    return {"until": UNTIL.findall(page)[0]}


def press(browser: Client, act: str, asked: str, form: dict[str, str]) -> str:
    target = f"{LIST}change/?{asked}"
    return browser.post(target, form | {"all": act}, follow=True).content.decode()


def states() -> dict[str, str]:
    return {each.report.summary: each.state for each in Delivery.objects.select_related("report")}


def test_what_came_in_since_is_not_discarded_unseen(alice):
    """An attack: whoever knew that junk was being cleared away sent a true report, and its repeats were swallowed."""
    pause()
    arrive("lol 1", "lol 2")
    form = shown(alice, ITS_AGENT)
    arrive("Step 3 deletes the database")

    page = press(alice, "discard", ITS_AGENT, form)

    assert states() == {
        "lol 1": "discarded",
        "lol 2": "discarded",
        "Step 3 deletes the database": "held",
    }
    assert "2 reports discarded" in page
    assert "1 that came or changed since this list was shown was left." in page


def test_what_got_other_words_since_is_not_discarded_unseen(alice):
    """An attack: the junk came first, so the true report about the same page was no more than its further account."""
    pause()
    arrive("lol 1", "lol 2")
    form = shown(alice, ITS_AGENT)
    arrive_again("lol 1", details="Step 3 deletes the database")

    page = press(alice, "discard", ITS_AGENT, form)

    assert Account.objects.get().details == "Step 3 deletes the database"
    assert states() == {"lol 1": "held", "lol 2": "discarded"}
    assert "1 that came or changed since this list was shown was left." in page


def test_what_got_other_words_since_is_not_tried_again_unseen(alice, code_host):
    code_host.fail("422", times=2)
    arrive("True", "lol")
    form = shown(alice, "status=failed")
    arrive_again("lol", details="Visit evil.example")

    page = press(alice, "retry", "status=failed", form)

    assert states() == {"True": "pending", "lol": "failed"}
    assert "1 that came or changed since this list was shown was left." in page


@pytest.mark.parametrize("details", ["", "Known"])
def test_what_has_only_come_again_since_is_discarded(alice, details):
    pause()
    arrive("lol")
    arrive_again("lol", details="Known")
    form = shown(alice, ITS_AGENT)
    arrive_again("lol", details=details)

    page = press(alice, "discard", ITS_AGENT, form)

    assert Report.objects.get().times_reported == 3
    assert states() == {"lol": "discarded"}
    assert "since this list was shown" not in page


def test_other_words_change_nothing_else_of_a_delivery(alice):
    pause()
    arrive("lol")
    before = Delivery.objects.values().get()
    arrive_again("lol", details="Step 3 deletes the database")

    after = Delivery.objects.values().get()

    assert after.pop("changed_at") > before.pop("changed_at")
    assert after == before


def test_what_a_colleague_has_discarded_since_is_not_restored(alice, bob):
    pause()
    arrive("True", "lol 1", "lol 2")
    true = Delivery.objects.get(report__summary="True").report_id
    bob.post(f"{LIST}{true}/discard/")
    form = shown(alice, "status=discarded")
    press(bob, "discard", "status=held", shown(bob, "status=held"))

    page = press(alice, "restore", "status=discarded", form)

    assert states() == {"True": "held", "lol 1": "discarded", "lol 2": "discarded"}
    assert "1 report restored" in page
    assert "2 that came or changed since this list was shown were left." in page


def test_what_a_colleague_has_discarded_again_since_is_not_restored(alice, bob):
    pause()
    arrive("lol")
    press(bob, "discard", "status=held", shown(bob, "status=held"))
    form = shown(alice, "status=discarded")
    press(bob, "restore", "status=discarded", shown(bob, "status=discarded"))
    press(bob, "discard", "status=held", shown(bob, "status=held"))

    press(alice, "restore", "status=discarded", form)

    assert states() == {"lol": "discarded"}


@pytest.mark.parametrize("state", ["held", "pending"])
def test_what_a_colleague_has_restored_since_is_not_discarded(alice, bob, state):
    pause()
    arrive("lol", "True")
    true = Delivery.objects.get(report__summary="True").report_id
    bob.post(f"{LIST}{true}/discard/")
    form = shown(alice, ITS_AGENT)
    if state == "pending":
        Integration.objects.update(paused_at=None)
    bob.post(f"{LIST}{true}/restore/")

    page = press(alice, "discard", ITS_AGENT, form)

    assert states() == {"lol": "discarded", "True": state}
    assert "1 that came or changed since this list was shown was left." in page


def test_what_has_failed_since_is_not_tried_again(alice, code_host):
    code_host.fail("422")
    arrive("Failed before")
    form = shown(alice, "status=failed")
    code_host.fail("422")
    arrive("Failed since")

    page = press(alice, "retry", "status=failed", form)

    assert states() == {"Failed before": "pending", "Failed since": "failed"}
    assert "1 that came or changed since this list was shown was left." in page


def test_what_had_come_in_before_and_has_failed_since_is_not_tried_again(alice, code_host):
    code_host.fail("422")
    arrive("Failed before")
    pause()
    arrive("Held")
    form = shown(alice, "status=failed")
    Integration.objects.update(paused_at=None)
    code_host.fail("422")
    held = Delivery.objects.get(status="held")
    alice.post(f"{LIST}{held.report_id}/try-again/")

    press(alice, "retry", "status=failed", form)

    assert states() == {"Failed before": "pending", "Held": "failed"}


def wait_for_github(code_host, *summaries: str) -> None:
    """They came in, and wait for another try."""
    code_host.fail("500", path="token", times=len(summaries))
    arrive(*summaries)


def hold_junk() -> None:
    Delivery.objects.filter(report__summary="lol").update(status="held", held_for="ownership")


def lose_the_page() -> None:
    Domain.objects.all().delete()
    ownership_changes.hold_lost(Organization.objects.get())


def lose_push_access() -> None:
    long_ago = timezone.now() - timedelta(days=9)
    Integration.objects.update(rights_absent_since=long_ago, rights_absences=9)
    holds.record_push_access_missing(Integration.objects.get())


HELD = {
    "a pause": lambda: holds.pause(Integration.objects.get()),
    "GitHub accepts no issues": lambda: holds.block(Integration.objects.get(), "Archived."),
    "the app is suspended": lambda: holds.suspend(Installation.objects.get(), "Suspended."),
    "its page is lost": lose_the_page,
    "push access is lost": lose_push_access,
}


@pytest.mark.parametrize("hold", HELD)
def test_what_was_held_since_is_not_discarded_unseen(alice, code_host, hold):
    """A colleague pressed *Pause*, and the true reports that waited were discarded with the junk."""
    wait_for_github(code_host, "lol", "True")
    hold_junk()
    form = shown(alice, "status=held")
    HELD[hold]()
    assert states() == {"lol": "held", "True": "held"}

    page = press(alice, "discard", "status=held", form)

    assert states() == {"lol": "discarded", "True": "held"}
    assert "1 that came or changed since this list was shown was left." in page


def test_what_was_held_since_is_not_tried_again_unseen(alice, code_host):
    wait_for_github(code_host, "lol", "True")
    hold_junk()
    form = shown(alice, "status=held")
    lose_the_page()

    press(alice, "retry", "status=held", form)

    assert states() == {"lol": "pending", "True": "held"}


def test_what_has_failed_since_is_not_discarded_unseen(alice, code_host):
    wait_for_github(code_host, "lol", "True")
    Delivery.objects.filter(report__summary="lol").update(status="failed")
    form = shown(alice, "status=failed")
    true = Delivery.objects.get(status="pending")
    taken = Delivery.objects.take(true.report_id)
    assert taken
    taken.fail("GitHub refused it.")

    press(alice, "discard", "status=failed", form)

    assert states() == {"lol": "discarded", "True": "failed"}


def test_what_was_released_since_is_not_discarded_unseen(alice, code_host):
    wait_for_github(code_host, "lol")
    pause()
    arrive("True")
    form = shown(alice, "status=pending")
    holds.resume(Integration.objects.get())

    press(alice, "discard", "status=pending", form)

    assert states() == {"lol": "discarded", "True": "pending"}


def test_what_was_withheld_is_not_discarded_unseen(alice):
    """It became readable since the list was opened, and was held before: for a pause."""
    pause()
    arrive("lol", "True")
    integration = Integration.objects.get()
    true = Report.objects.filter(summary="True")
    true.update(withheld_for=integration.repository_id)
    form = shown(alice, "status=held")
    withholding.end(integration)

    press(alice, "discard", "status=held", form)

    assert true.get().withheld_for is None
    assert states() == {"lol": "discarded", "True": "held"}


def test_what_is_held_in_other_words_is_discarded(alice, code_host):
    wait_for_github(code_host, "lol", "True")
    hold_junk()
    form = shown(alice, "status=held")
    Delivery.objects.filter(report__summary="lol").update(reason="In other words.")

    press(alice, "discard", "status=held", form)

    assert states() == {"lol": "discarded", "True": "pending"}


def test_a_list_that_is_opened_again_shows_the_rest(alice):
    pause()
    arrive("lol 1")
    form = shown(alice, ITS_AGENT)
    arrive("lol 2")

    press(alice, "discard", ITS_AGENT, form)
    page = press(alice, "discard", ITS_AGENT, shown(alice, ITS_AGENT))

    assert set(states().values()) == {"discarded"}
    assert "since this list was shown" not in page


@pytest.mark.parametrize(
    "wrong", ["", "yesterday", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999999"]
)
def test_a_time_that_no_list_has_sent_changes_nothing(alice, wrong):
    pause()
    arrive("lol")

    answer = alice.post(f"{LIST}change/?{ITS_AGENT}", {"all": "discard", "until": wrong})

    assert answer.status_code == 404
    assert states() == {"lol": "held"}
