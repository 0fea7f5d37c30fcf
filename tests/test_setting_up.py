"""Everything up to the first issue, as a maintainer does it: a browser, a token, the API."""

import pytest
import requests
from django.apps import apps

from tests import build
from tests.plain_browser import Browser

pytestmark = pytest.mark.django_db(transaction=True)


class Maintainer:
    """Somebody with a browser and, once signed in, with a token."""

    def __init__(self, hub, login: str) -> None:
        self.hub, self.login, self.browser = hub, login, Browser(hub.url)
        self.browser.sign_in(login)
        self.value = self.browser.new_token()
        self.call = self.browser.calling(self.value)

    def install(self, account: str) -> requests.Response:
        """By GitHub's page and its button, and back to the Hub."""
        page = self.browser.open(
            self.call("GET", "integrations/github/install").json()["install_url"]
        )
        return self.browser.send(page, account=account, selection="all")


def test_from_nothing_to_the_first_issue(hub_process, code_host):
    code_host.uninstall(build.installed(code_host))
    alice = Maintainer(hub_process, "alice")

    installed = alice.install("acme")
    listed = alice.call("GET", "integrations/github/repositories").json()["repositories"]
    configured = alice.call(
        "POST", "orgs/me/integrations/github", repo_owner="acme", repo_name="docs"
    )
    claimed = alice.call("POST", "orgs/me/sites", url="https://acme.github.io/docs/")
    tried = alice.call("POST", "orgs/me/test-report")

    assert (installed.status_code, installed.json()["account"]) == (200, "acme")
    assert [each["repo_name"] for each in listed] == ["docs"]
    assert (configured.status_code, configured.json()["status"]) == (200, "configured")
    assert (claimed.status_code, claimed.json()["status"]) == (201, "verified")
    [issue] = code_host.issues("acme/docs")
    assert tried.status_code == 201
    assert tried.json()["issue_url"] == f"{code_host.url}/acme/docs/issues/{issue.number}"
    assert issue.title == "[docs] Test report: this is how reports arrive"
    assert issue.user == "docs-feedback-hub[bot]"


def test_bob_neither_sees_nor_changes_what_is_alices(hub_process, code_host):
    alice, bob = set_up(hub_process), Maintainer(hub_process, "bob")
    before = alice.call("GET", "orgs/me").json()
    [site] = before["sites"]

    seen = bob.call("GET", "orgs/me").json()
    refused = [
        bob.call("DELETE", f"orgs/me/sites/{site['id']}"),
        bob.call("POST", "orgs/me/sites", url=site["url"]),
        bob.call("POST", "orgs/me/test-report"),
        bob.call("GET", "integrations/github/repositories"),
    ]
    bob.call("DELETE", "orgs/me/integrations/github")

    assert [each.status_code for each in refused] == [404, 409, 409, 409]
    assert (seen["integration"], seen["sites"]) == (None, [])
    assert alice.call("GET", "orgs/me").json() == before


def test_the_hub_asks_for_narrow_tokens_and_keeps_no_secret(hub_process, code_host):
    alice = set_up(hub_process)
    alice.call("POST", "orgs/me/test-report")

    asked = [each.asked for each in code_host.requests if each.asked is not None]
    docs = code_host.repository("acme/docs").id
    assert asked == [
        {"repositories": ["docs"], "permissions": {"issues": "write"}},
        {"repository_ids": [docs], "permissions": {"issues": "write"}},
    ]
    at_rest = dump()
    for secret in (alice.value, "ghu_", "ghs_", code_host.app.webhook_secret):
        assert secret not in at_rest


def set_up(hub) -> Maintainer:
    """alice, with an integration for acme/docs and its site claimed."""
    alice = Maintainer(hub, "alice")
    addresses = alice.call("GET", "integrations/github/install").json()
    alice.browser.send(alice.browser.open(addresses["use_existing_url"]), login="alice")
    alice.call("POST", "orgs/me/integrations/github", repo_owner="acme", repo_name="docs")
    alice.call("POST", "orgs/me/sites", url="https://acme.github.io/docs/")
    return alice


def dump() -> str:
    """All rows of all tables."""
    return str([list(model.objects.values()) for model in apps.get_models()])
