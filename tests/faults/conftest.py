"""One Hub process and one code host for all faults; the summary says what became of each."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

import pytest

from integrations import github_api
from sandbox import CodeHost
from tests import build
from tests.conftest import new_code_host, settings_for
from tests.hub_process import HubProcess

OUTCOMES: list[str] = []
OUTCOME = "what became of it"


@pytest.fixture(scope="package")
def shared_host() -> Iterator[CodeHost]:
    host = new_code_host()
    with host.serving():
        yield host


@pytest.fixture(scope="package")
def shared_hub(django_db_setup, django_db_blocker, shared_host) -> Iterator[HubProcess]:
    with (
        django_db_blocker.unblock(),
        HubProcess(**settings_for(shared_host)) as hub,
    ):
        yield hub


@pytest.fixture
def host(shared_host, settings) -> Iterator[CodeHost]:
    """The shared code host, whole again, without issues and faults."""
    for name, value in settings_for(shared_host).items():
        setattr(settings, name, value)
    shared_host.faults.clear()
    shared_host.clock_offset = timedelta()
    shared_host.delete_repository("acme/docs")
    installation = build.installed(shared_host)
    shared_host.unsuspend(installation)
    shared_host.add_to_installation(installation, shared_host.add_repository("acme", "docs"))
    yield shared_host
    github_api.forget_tokens()


@pytest.fixture
def hub(transactional_db, host, shared_hub) -> HubProcess:
    """The shared Hub, with acme set up: issues about docs.acme.com go to acme/docs."""
    build.acme(host)
    return shared_hub


@pytest.fixture
def tell(record_property) -> Callable[[str], None]:
    """Say in the summary what became of a fault."""
    return partial(record_property, OUTCOME)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Also where another process has run the test."""
    if report.when == "call":
        told = [value for name, value in report.user_properties if name == OUTCOME]
        OUTCOMES.extend(f"{report.nodeid.rpartition('::')[2]}: {outcome}" for outcome in told)


def pytest_terminal_summary(terminalreporter) -> None:
    if OUTCOMES:
        terminalreporter.section("what became of the deliveries")
        for line in OUTCOMES:
            terminalreporter.line(line)
