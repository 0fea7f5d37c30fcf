"""The database of one code host is not used with another one, where its numbers are others'."""

from io import StringIO

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from hub.command_line import LASTING, CommandLine
from hub.models import CodeHost
from hub.setup import code_host, database
from hub.setup.findings import Level
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

OTHERS = "The database is of the code host https://ghe.example, and HUB_GITHUB_URL is https://other.example"


def begin(name: str = "serve") -> None:
    """As far as a command gets before it works."""
    CommandLine(["manage.py", name]).fetch_command(name)


@pytest.fixture
def used(settings, code_host) -> None:
    """A database with people and an installation, with which the Hub has run."""
    build.acme(code_host)
    settings.HUB_FORWARDING = "queue"
    settings.HUB_GITHUB_URL = "https://ghe.example"
    begin()


@pytest.mark.parametrize("name", LASTING)
def test_nothing_runs_with_another_code_host(used, settings, name):
    """Whoever has alice's number there would be signed in as alice."""
    settings.HUB_GITHUB_URL = "https://other.example"

    with pytest.raises(ImproperlyConfigured, match=OTHERS):
        begin(name)

    settings.HUB_GITHUB_URL = "https://ghe.example"
    begin(name)


def test_what_is_kept_of_a_trial_is_not_taken_to_github(used, settings):
    settings.HUB_GITHUB_URL = "http://127.0.0.1:9000"
    call_command("rename_code_host", stdout=StringIO())
    settings.HUB_GITHUB_URL = "http://localhost:9001"
    begin()

    settings.HUB_GITHUB_URL = "https://github.com"
    with pytest.raises(ImproperlyConfigured, match="of the code host http://localhost:9001"):
        begin()


def test_the_check_of_the_setup_says_so(used, settings):
    settings.HUB_GITHUB_URL = "https://other.example"

    problems = [each.text for each in database.database() if each.level == Level.PROBLEM]

    assert [each for each in problems if each.startswith(OTHERS)]
    assert CodeHost.objects.get().url == "https://ghe.example"


def test_the_same_host_may_get_another_address(used, settings):
    settings.HUB_GITHUB_URL = "https://other.example"

    call_command("rename_code_host", stdout=StringIO())

    begin()
    assert CodeHost.objects.get().url == "https://other.example"


def test_a_database_without_anybody_is_of_any_code_host(settings):
    settings.HUB_GITHUB_URL = "https://ghe.example"
    begin()

    settings.HUB_GITHUB_URL = "https://other.example"
    begin()

    assert code_host.problem() == ""
    assert CodeHost.objects.get().url == "https://other.example"
