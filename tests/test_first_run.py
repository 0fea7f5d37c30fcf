"""A Hub's first run: without an app, its operator registers one, and people sign in."""

import os
import re
import subprocess
import sys
import threading

import pytest

from hub.registering import credentials
from sandbox import CodeHost
from tests.hub_process import ROOT, HubProcess
from tests.plain_browser import Browser

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def code_host(settings):
    """Without an app; charlie's docs are to be reported."""
    host = CodeHost(app=None)
    host.add_user("charlie")
    host.add_repository("charlie", "docs")
    for name in credentials.NAMES:
        setattr(settings, name, "")
    with host.serving() as settings.HUB_GITHUB_URL:
        yield host


def test_from_no_app_to_the_first_issue(code_host, tmp_path):
    file = tmp_path / "github.json"
    with HubProcess(HUB_GITHUB_CREDENTIALS=str(file)) as hub:
        command = Command(hub)
        charlie = Browser(hub.url)

        page = charlie.send(charlie.open(command.address()), login="charlie")
        shown = charlie.send(page, name="Docs of Charlie")
        said = command.wait()

        assert shown.url == f"{hub.url}/setup/github/created/"
        assert f"Its keys are in {file}" in said
        assert charlie.open(command.url).status_code == 404
        assert "Nobody can sign in yet" in charlie.open("/login/").text
        hub.stop()
        hub.start()

        assert charlie.open(command.url).status_code == 404
        assert "HUB_GITHUB" not in checked(hub)
        assert charlie.sign_in("charlie").url == f"{hub.url}/settings/"
        send_a_test_report(charlie)

    [issue] = code_host.issues("charlie/docs")
    assert issue.user == "docs-of-charlie[bot]"
    assert {each.status for each in code_host.webhooks_sent} == {202}


def send_a_test_report(charlie: Browser) -> None:
    """Install the app, choose the repository, claim its site, and report it."""
    token = charlie.new_token()
    call = charlie.calling(token)
    install = call("GET", "integrations/github/install").json()["install_url"]
    charlie.send(charlie.open(install), account="charlie", selection="all")
    call("POST", "orgs/me/integrations/github", repo_owner="charlie", repo_name="docs")
    call("POST", "orgs/me/sites", url="https://charlie.github.io/docs/")
    assert call("POST", "orgs/me/test-report").status_code == 201


class Command:
    """`manage.py setup_github` beside the Hub; what it prints is read as it comes."""

    def __init__(self, hub: HubProcess) -> None:
        self.url, self._said = "", ""
        self._has_address = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "setup_github"],
            cwd=ROOT,
            env=hub.environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with self._process.stdout as lines:
            for line in lines:
                self._said += line
                if found := re.search(r"^    (http\S+)$", line):
                    self.url = found[1]
                    self._has_address.set()
        self._has_address.set()

    def address(self) -> str:
        """Where it sends its operator, as soon as it is there."""
        self._has_address.wait(120)
        return self.url

    def wait(self) -> str:
        """What it has said, once it ended well."""
        assert self._process.wait(120) == 0
        self._reader.join()
        return self._said


def checked(hub: HubProcess) -> str:
    """What `check_setup` says of this Hub."""
    ended = subprocess.run(
        [sys.executable, "manage.py", "check_setup"],
        cwd=ROOT,
        env={**os.environ, **hub.environment()},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return ended.stdout
