"""The pages of reports that are alike, on every screen."""

import pytest
from django.utils import timezone

from integrations.models import Comment, Delivery
from integrations.models.comment import EDITED_BY_OTHERS
from reports.erasing import erase
from tests.browser.test_gallery import alice, busy, delivered, received, screens

__all__ = ["alice", "busy"]

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = "same page; --force, --overwrite, unknown flag, push in common"
RULE = {"likeness_rule": 1, "likeness_words": WORDS}
LATER = "The flag `--force` of `shipyard push` was removed, and step 3 still has it"


def like(owner, lead: Delivery, number: int, **columns) -> Delivery:
    """One that has joined the lead."""
    report = received(owner, f"{LATER} ({number})", agent_name="cursor")
    joined = {"lead": lead, "folded_at": timezone.now(), **RULE, **columns}
    delivered(report, "folded", **joined)
    return Delivery.objects.get(report=report)


@screens
def test_the_pages_of_reports_that_are_alike(visit, busy, alice, screen, others):
    first = received(busy, "`shipyard push --force` fails: unknown flag", times_reported=12)
    lead = Delivery.objects.get(report=delivered(first, "sent"))
    joined = [like(busy, lead, number) for number in range(33)]
    by_hand = like(busy, lead, 33, folded_by="alice", likeness_words="", likeness_rule=None)
    other = received(busy, "Step 3 does not know `--force`", times_reported=14)
    hinted = Delivery.objects.get(report=delivered(other, "sent", maybe_lead=lead, **RULE))
    path = "/settings/reports/{}/".format
    window = visit(screen, alice, others=others)
    page = window.page

    faults = window.look_at(
        {
            "report-folded": path(joined[0].report_id),
            "report-folded-by-hand": path(by_hand.report_id),
            "report-hinted": path(hinted.report_id),
            "report-lead": path(lead.report_id),
            "split-all": f"{path(lead.report_id)}split-all/",
        }
    )
    page.goto(path(hinted.report_id))
    page.get_by_text("The same as another issue?").click()
    page.get_by_label("Address of the issue").fill("#12")
    page.get_by_role("button", name="The same as this issue").click()
    page.wait_for_url("**/same-as/")
    faults += window.look("report-refused-name")

    assert page.title().startswith("Error:")
    assert page.get_by_label("Address of the issue").input_value() == "#12"
    assert not faults


@screens
def test_where_the_text_of_a_joined_report_still_is(visit, busy, alice, screen, others):
    lead = Delivery.objects.get(report=delivered(received(busy, LATER, times_reported=12), "sent"))
    asked, erased = (like(busy, lead, number) for number in range(2))
    there = "https://github.com/acme/docs/issues/1#issuecomment-"
    for number, purpose in enumerate(Comment.Purpose.values[:2]):
        Comment.objects.create(
            integration=lead.integration,
            lead=lead,
            purpose=purpose,
            occasion=timezone.now(),
            status=Comment.Status.LEFT,
            reason=EDITED_BY_OTHERS,
            comment_id=number + 1,
            comment_url=f"{there}{number + 1}",
            written_at=timezone.now(),
        )
    erase(erased.report)
    window = visit(screen, alice, others=others)
    path = "/settings/reports/{}/".format

    faults = window.look_at(
        {
            "erase-joined": f"{path(asked.report_id)}erase/",
            "report-erased-joined": path(erased.report_id),
        }
    )

    assert window.page.get_by_text("The Hub does not change it any more.").count() == 2
    assert not faults
