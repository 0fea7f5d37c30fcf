"""Reading what GitHub tells, where it is not what GitHub would tell."""

from datetime import UTC, datetime

import pytest

from integrations.delivery.issue_states import IssueNews
from integrations.github_sync import webhook_payload
from integrations.github_sync.webhook_payload import NotAWebhook
from integrations.models import Delivery

REPOSITORY = {"id": 7, "name": "docs", "owner": {"login": "acme"}, "private": False}
NO_NUMBER = [None, True, 0, -1, 1.0, 2**63, "7", "", [7], {"id": 7}]
NO_NAME = [None, True, 7, "", "\0", "a\nb", "\ud800", "x" * 256, ["acme"], {"login": "acme"}]


@pytest.mark.parametrize("odd", NO_NUMBER, ids=repr)
def test_what_is_no_id_is_refused(odd):
    with pytest.raises(NotAWebhook):
        webhook_payload.number({"issue": {"number": odd}}, "issue", "number")


@pytest.mark.parametrize("odd", [None, True, 7, "x", [], {}], ids=repr)
def test_what_does_not_lead_to_an_id_is_refused(odd):
    with pytest.raises(NotAWebhook):
        webhook_payload.number({"issue": odd}, "issue", "number")


@pytest.mark.parametrize("odd", NO_NAME, ids=ascii)
def test_what_is_no_name_is_refused(odd):
    with pytest.raises(NotAWebhook):
        webhook_payload.name({"account": {"login": odd}}, "account", "login")


@pytest.mark.parametrize("key", [*REPOSITORY, "archived", "has_issues"])
@pytest.mark.parametrize("odd", [None, 7.5, "", [], {}], ids=repr)
def test_what_is_no_repository_is_refused(key, odd):
    with pytest.raises(NotAWebhook):
        webhook_payload.repository({"repository": REPOSITORY | {key: odd}})


def test_a_repository_is_read():
    assert webhook_payload.repository({"repository": REPOSITORY}).full_name == "acme/docs"


CLOSED = Delivery.IssueState.CLOSED
NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)
NO_TIME = [True, 0, 1772539200, "", "noon", "2026-03-03", "2026-03-03T12:00:00", "2026-13-03T12:00:00Z",
           "0001-01-01T00:00:00+01:00", "2026-W10-2T12:00:00Z", "٢026-03-03T12:00:00Z", [], {}]  # fmt: skip


def issue_news(**issue) -> IssueNews:
    return webhook_payload.issue_news({"issue": issue}, CLOSED)


@pytest.mark.parametrize("key", ["closed_at", "updated_at"])
@pytest.mark.parametrize("odd", NO_TIME, ids=ascii)
def test_what_is_no_time_is_refused(key, odd):
    with pytest.raises(NotAWebhook):
        issue_news(**{key: odd})


@pytest.mark.parametrize("odd", [True, 0, 7, [], {}, "x" * 256], ids=repr)
def test_what_is_no_reason_is_refused(odd):
    with pytest.raises(NotAWebhook):
        issue_news(state_reason=odd)


@pytest.mark.parametrize("reason", ["completed", "not_planned", "duplicate"])
def test_why_and_when_an_issue_was_closed_is_read(reason):
    told = {"state_reason": reason, "closed_at": "2026-03-03T12:00:00Z"}

    news = issue_news(**told, updated_at="2026-03-03T14:30:00+02:00")

    assert news == IssueNews(CLOSED, reason, NOON, NOON.replace(minute=30))


def test_a_reason_of_the_future_is_none_and_what_is_not_told_is_not_known():
    assert issue_news(state_reason="obsolete") == IssueNews(CLOSED)
    assert issue_news(state_reason=None, closed_at=None) == IssueNews(CLOSED)
    assert issue_news(updated_at="2026-03-03T12:00:00Z").closed_at == NOON
