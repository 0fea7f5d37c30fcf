"""Reading what GitHub tells, where it is not what GitHub would tell."""

import pytest

from integrations.github_sync import webhook_payload
from integrations.github_sync.webhook_payload import NotAWebhook

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
