"""Which tests run where: on SQLite, again on PostgreSQL, and in `script/test --fast`."""

import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import pumping

DATABASE_FIXTURES = {"db", "transactional_db"}
# What either database shows the same: pages, sockets, who may call what, one fault after the other,
# and processes and threads that wait for something else.
SAME_ON_EITHER = (
    "tests/browser/",
    "tests/chaos/",
    "tests/docs/",
    "tests/faults/test_github.py::test_a_fault[",
    "tests/faults/test_labels.py",
    "tests/faults/test_comments.py::test_30_rounds",
    "tests/faults/test_comments.py::test_killed",
    "tests/faults/test_folding.py::test_the_answer_about_the_lead_is_lost",
    "tests/hub/docs/",
    "tests/hub/public/test_connect_page.py",
    "tests/hub/public/test_links.py",
    "tests/hub/public/test_plain_pages.py",
    "tests/hub/public/test_receipt_page.py",
    "tests/hub/public/test_report_page.py",
    "tests/hub/registering/test_pages.py",
    "tests/hub/registering/test_setup_github.py",
    "tests/hub/screen/test_account_page.py",
    "tests/hub/screen/test_alerts.py",
    "tests/hub/screen/test_answering.py",
    "tests/hub/screen/test_claim_pages.py",
    "tests/hub/screen/test_erase_page.py",
    "tests/hub/screen/test_further_accounts.py",
    "tests/hub/screen/test_integration_page.py",
    "tests/hub/screen/test_inviting.py",
    "tests/hub/screen/test_issue_choice.py",
    "tests/hub/screen/test_kit.py",
    "tests/hub/screen/test_not_the_same_page.py",
    "tests/hub/screen/test_one_issue.py",
    "tests/hub/screen/test_one_report.py",
    "tests/hub/screen/test_own_files.py",
    "tests/hub/screen/test_settings_pages.py",
    "tests/hub/screen/test_spark_lines.py",
    "tests/hub/test_every_call.py",
    "tests/hub/test_every_state.py",
    "tests/hub/test_maintain.py::test_retry_deliveries_can_go_on",
    "tests/hub/test_maintain.py::test_serve_brings_what_is_due",
    "tests/hub/test_operators.py::test_a_list_asks_of_no_column",
    "tests/hub/test_operators.py::test_nothing_is_added_or_deleted_by_hand[",
    "tests/hub/test_operators.py::test_the_admin_needs_no_inline_script_or_style",
    "tests/hub/test_rotating_secrets.py",
    "tests/hub/test_serve.py",
    "tests/hub/test_start.py::test_maintain_loads_no_views",
    "tests/integrations/alerts/test_faults.py::test_closing[",
    "tests/integrations/alerts/test_faults.py::test_opening[",
    "tests/integrations/answers/test_saying.py",
    "tests/integrations/comments/test_closing_faults.py::test_reading",
    "tests/integrations/comments/test_closing_faults.py::test_reopening",
    "tests/integrations/comments/test_closing_faults.py::test_saying",
    "tests/integrations/comments/test_faults.py::test_an_answer",
    "tests/integrations/comments/test_faults.py::test_editing",
    "tests/integrations/comments/test_faults.py::test_making",
    "tests/integrations/delivery/test_labels.py",
    "tests/integrations/setup/test_configuration.py",
    "tests/integrations/setup/test_labels.py",
    "tests/orgs/domains/test_reverification.py::test_one_hanging_name_among_a_thousand",
    "tests/orgs/people/test_token_pages.py",
    "tests/orgs/terminals/test_approval.py",
    "tests/orgs/terminals/test_endpoints.py",
    "tests/orgs/test_repository_pages.py",
    "tests/openapi/",
    "tests/sandbox/",
    "tests/test_first_run.py",
    "tests/test_setting_up.py",
)
# Other tests reach what these do. To look at each line of them would take as long again.
UNTRACED = (
    "tests/abuse/",
    "tests/bench/",
    "tests/browser/",
    "tests/chaos/",
    "tests/clients/",
    "tests/deploy/",
    "tests/docs/",
    "tests/faults/",
    "tests/hostile/",
    "tests/hub/test_every_address.py",
    "tests/hub/test_every_call.py",
    "tests/hub/test_every_state.py",
    "tests/hub/test_flat_lists.py",
    "tests/hub/test_operators.py::test_a_list_asks_of_no_column",
    "tests/hub/test_operators.py::test_any_text_can_be_searched_for",
    "tests/hub/test_operators.py::test_each_filter_of_a_list",
    "tests/integrations/github_api/test_odd_answers.py",
    "tests/integrations/issue/test_inertness.py",
    "tests/integrations/issue/test_secrets_at_seams.py",
    "tests/integrations/test_two_organizations.py",
    "tests/openapi/",
    "tests/releasing/",
    "tests/supply/",
    "tests/test_architecture.py",
    "tests/test_docstrings.py",
    "tests/test_first_run.py",
    "tests/test_patterns.py",
    "tests/test_prepared.py",
    "tests/test_setting_up.py",
    "tests/upgrades/",
)
TRACED_CASES = 10  # of each test; the others go through the same lines
UNCOUNTED = pytest.StashKey[bool]()
SLOW = ("tests/browser/", "tests/clients/", "tests/faults/", "tests/sandbox/")
PROCESS_FIXTURES = {"hub_process", "hub", "redis"}


def on_postgresql() -> bool:
    return os.environ.get("HUB_TEST_DATABASE") == "postgresql"


def runs_here(item: pytest.Item) -> bool:
    """On PostgreSQL, what uses a database in a way of its own runs again, and what needs PostgreSQL."""
    if on_postgresql():
        return _uses_database(item) and not item.nodeid.startswith(SAME_ON_EITHER)
    return not item.get_closest_marker("postgresql")


def is_passed_over(path: Path, config: pytest.Config) -> bool:
    """What does not run again on PostgreSQL is not even read, when all tests run."""
    if not on_postgresql() or config.args != config.getini("testpaths"):
        return False
    place = path.relative_to(config.rootpath).as_posix()
    return f"{place}/".startswith(SAME_ON_EITHER) or place in SAME_ON_EITHER


def _uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    marked = item.get_closest_marker("django_db") or fixtures & DATABASE_FIXTURES
    return bool(marked) and not item.get_closest_marker("sqlite")


def is_fast(item: pytest.Item) -> bool:
    """Without processes, a browser, the stand-in for GitHub, and what is slow in itself."""
    fixtures = set(getattr(item, "fixturenames", ()))
    slow = item.get_closest_marker("slow") or fixtures & PROCESS_FIXTURES
    return not slow and not item.nodeid.startswith(SLOW)


def is_traced(item: pytest.Item) -> bool:
    """Whether the lines that it reaches are counted."""
    is_of_many_examples = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return not is_of_many_examples and not item.nodeid.startswith(UNTRACED)


def leave_untraced(items: Iterable[pytest.Item]) -> None:
    """Count no lines that some of them reach.

    All modules are loaded before: what is in none of their functions would not count where such a test is the
    first that needs it.
    """
    for path in pumping.MODULES:
        if path.parts[0] != "clients":  # packages of their own
            pumping.module(path)
    cases = Counter[str]()
    for item in items:
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        if cases[test] > TRACED_CASES or not is_traced(item):
            item.stash[UNCOUNTED] = True


@contextmanager
def uncounted(item: pytest.Item) -> Iterator[None]:
    """Have coverage look away for as long as the test takes, if it is one of those, with its fixtures.

    `no_cover` of pytest-cov counts the fixtures.
    """
    plugin = item.config.pluginmanager.get_plugin("_cov")
    if UNCOUNTED not in item.stash or plugin is None:
        yield
        return
    plugin.cov_controller.pause()
    yield
    plugin.cov_controller.resume()


def refuse_processes(patch: pytest.MonkeyPatch) -> None:
    """What is not marked as slow starts none."""
    patch.setattr(subprocess, "Popen", _refused)


def _refused(*_: object, **__: object) -> None:
    raise AssertionError("This test starts a process: mark it with pytest.mark.slow.")
