"""What became of issues is asked about, too: webhooks are missed while the Hub is away, and GitHub sends none again."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone

from integrations import github_api
from integrations.comments import sending
from integrations.github_api import changes, looking
from integrations.github_sync.reconciling import Bookmark, reconcile_due
from integrations.models import Alert, Comment, Integration
from integrations.setup import configuration
from tests import build
from tests.integrations.github_sync.losing import come_back, suspend, take_out
from tests.integrations.world import delivery, integration

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def issue(acme, code_host) -> int:
    """The number of the one issue. No webhook arrives."""
    call_command("retry_deliveries", "--now")
    return delivery().issue_number


@pytest.fixture
def hourly(clock):
    """The question of the next hour."""

    bookmark = Bookmark()

    def ask() -> None:
        clock.advance(minutes=61)
        reconcile_due(bookmark=bookmark)

    return ask


def questions(code_host) -> int:
    return sum(
        each.method == "GET" and each.path.endswith("/issues") for each in code_host.requests
    )


def test_what_was_closed_and_reopened_is_found_by_asking(issue, code_host, hourly):
    code_host.close_issue("acme/docs", issue, by="alice", reason="not_planned")
    hourly()
    closed = delivery()
    code_host.reopen_issue("acme/docs", issue, by="alice")
    hourly()

    assert (closed.issue_state, closed.issue_state_reason) == ("closed", "not_planned")
    assert closed.issue_closed_at is not None
    assert delivery().issue_state == "open"


def test_it_is_found_also_if_the_first_question_is_not_answered(issue, code_host, hourly):
    code_host.close_issue("acme/docs", issue, by="alice")
    code_host.fail("500", method="GET", path="issues")

    hourly()
    unknown = delivery().issue_state
    hourly()

    assert (unknown, delivery().issue_state) == ("", "closed")


def test_it_is_found_also_if_no_question_is_answered_for_more_than_a_day(
    issue, code_host, hourly, clock
):
    hourly()
    code_host.close_issue("acme/docs", issue, by="alice")
    code_host.stop()
    for _ in range(3):
        clock.advance(hours=12)
        hourly()
    unknown = delivery().issue_state

    code_host.start(port=urlsplit(code_host.url).port)
    hourly()

    assert (unknown, delivery().issue_state) == ("open", "closed")


@pytest.fixture
def old_issue(issue, code_host) -> int:
    """One that nobody has touched for five days."""
    code_host.issue("acme/docs", issue).updated_at -= timedelta(days=5)
    return issue


def closed_two_days_ago(code_host, issue: int) -> None:
    """As GitHub shows it; no webhook arrived."""
    code_host.close_issue("acme/docs", issue, by="alice")
    seen = code_host.issue("acme/docs", issue)
    seen.updated_at = seen.closed_at = seen.updated_at - timedelta(days=2)


@pytest.mark.parametrize("away", [suspend, take_out])
def test_what_was_closed_while_the_app_was_away_is_found_once_it_is_back(
    old_issue, code_host, hourly, away
):
    hourly()
    away(code_host)
    Integration.objects.update(issues_asked_at=F("issues_asked_at") - timedelta(days=3))
    closed_two_days_ago(code_host, old_issue)
    hourly()
    unknown = delivery().issue_state

    come_back(code_host, away)
    hourly()

    assert (unknown, delivery().issue_state) == ("open", "closed")


def test_that_its_problem_came_again_meanwhile_is_said(old_issue, code_host, hourly):
    page = "https://acme.github.io/docs/install"
    hourly()
    Integration.objects.update(issues_asked_at=F("issues_asked_at") - timedelta(days=3))
    closed_two_days_ago(code_host, old_issue)
    build.send(Client(), build.report(page))
    unsaid = Comment.objects.exists()

    hourly()
    sending.send_due()

    assert not unsaid
    [said] = code_host.comments("acme/docs", old_issue)
    assert said.body.startswith("**Reported again after this was closed**")


def test_what_was_closed_while_another_repository_was_chosen_is_found(old_issue, code_host, hourly):
    alice = build.member(integration().organization, github_id=code_host.account("alice").id)
    manual = code_host.add_repository("acme", "manual")
    code_host.add_to_installation(build.installed(code_host), manual)
    for name in ("docs", "manual"):
        code_host.grant("alice", f"acme/{name}", "admin")
    hourly()
    configuration.configure(alice.membership, repo_owner="acme", repo_name="manual")
    closed_two_days_ago(code_host, old_issue)
    hourly()
    unknown = delivery().issue_state

    configuration.configure(alice.membership, repo_owner="acme", repo_name="docs")
    hourly()

    assert (unknown, delivery().issue_state) == ("open", "closed")


def test_what_a_webhook_has_told_since_is_not_replaced_by_what_is_older(issue, code_host, hourly):
    code_host.close_issue("acme/docs", issue, by="alice")
    hourly()
    [seen] = code_host.issues("acme/docs")
    seen.state, seen.state_reason, seen.closed_at = "open", None, None  # a list that is behind
    seen.updated_at -= timedelta(seconds=1)

    hourly()

    assert delivery().issue_state == "closed"


def test_an_issue_of_bad_news_that_somebody_closed_is_not_closed_again(issue, code_host, hourly):
    integration = Integration.objects.get()
    number = code_host.create_issue("acme/docs", title="Bad news", user="alice").number
    mine = code_host.issue("acme/docs", number)
    mine.user = code_host.issues("acme/docs")[0].user
    alert = Alert.objects.create(
        integration=integration,
        cause="rights",
        since=timezone.now(),
        status=Alert.Status.OPEN,
        repository_id=integration.repository_id,
        repository=integration.repository,
        issue_number=number,
    )
    code_host.close_issue("acme/docs", number, by="alice")

    hourly()

    alert.refresh_from_db()
    assert alert.status == Alert.Status.CLOSED


def test_nothing_is_asked_where_the_hub_has_opened_no_issue(code_host, hourly):
    build.integration(build.organization(), code_host)

    hourly()

    assert questions(code_host) == 0


def test_one_question_is_for_all_that_have_the_repository(issue, code_host, hourly):
    for name in ("bob", "charlie"):
        build.integration(build.organization(name), code_host)
    before = questions(code_host)

    hourly()

    assert questions(code_host) == before + 1


def test_only_the_hubs_own_issues_are_believed(issue, code_host, hourly):
    code_host.issue("acme/docs", issue).user = "alice"
    code_host.close_issue("acme/docs", issue, by="alice")

    hourly()

    assert delivery().issue_state == ""


def test_a_busy_repository_is_read_for_a_few_pages(issue, code_host, hourly, monkeypatch):
    monkeypatch.setattr(looking, "PAGE_SIZE", 1)
    for number in range(9):
        code_host.create_issue("acme/docs", title=f"{number}", user="alice")
    before = questions(code_host)

    hourly()

    assert questions(code_host) == before + changes.MOST_PAGES


@pytest.fixture
def in_time(monkeypatch) -> Callable[[int], None]:
    """From then on GitHub lists so many pages of one issue in time, for each question."""
    listed: Counter[float] = Counter()
    bounded_by = changes.bounded_by

    def begin(pages: int) -> None:
        def until_it_is_late(call: Callable[[], object], *, deadline: float) -> object:
            if listed[deadline] == pages:
                raise github_api.TimedOut("GitHub took too long to answer.")
            listed[deadline] += 1
            return bounded_by(call, deadline=deadline)

        monkeypatch.setattr(looking, "PAGE_SIZE", 1)
        monkeypatch.setattr(changes, "bounded_by", until_it_is_late)

    return begin


def of_strangers(code_host, count: int, *, days_ago: int = 0) -> None:
    """So many issues, which were changed last then."""
    for number in range(count):
        made = code_host.create_issue("acme/docs", title=f"{number}", user="eve").number
        code_host.issue("acme/docs", made).updated_at -= timedelta(days=days_ago)


def test_what_github_lists_in_time_is_heard_where_it_is_too_slow_for_the_rest(
    issue, code_host, hourly, in_time
):
    of_strangers(code_host, 4, days_ago=1)
    code_host.close_issue("acme/docs", issue, by="alice")
    in_time(1)

    hourly()

    assert delivery().issue_state == "closed"
    assert integration().issues_asked_at is None  # of the rest nothing is known


def test_a_list_that_takes_too_long_is_gone_on_with_and_ends(issue, code_host, hourly, in_time):
    code_host.close_issue("acme/docs", issue, by="alice")
    of_strangers(code_host, 9)
    code_host.issue("acme/docs", issue).updated_at += timedelta(minutes=1)
    newest = [each for each in code_host.issues("acme/docs") if each.number > issue][-4:]
    for each in newest:
        each.updated_at += timedelta(minutes=2)
    in_time(2)

    heard = []
    for _ in range(3):
        hourly()
        heard.append((delivery().issue_state, integration().issues_asked_at is not None))

    assert heard == [("", False), ("", False), ("closed", True)]


def test_what_is_changed_while_a_list_is_gone_on_with_is_heard_by_the_next_question(
    issue, code_host, hourly, in_time, clock
):
    of_strangers(code_host, 3, days_ago=1)
    in_time(2)
    hourly()
    code_host.close_issue("acme/docs", issue, by="alice")

    clock.advance(days=3)
    hourly()
    unknown = delivery().issue_state
    hourly()

    assert (unknown, delivery().issue_state) == ("open", "closed")


def test_a_limit_ends_the_questions_of_the_installation(issue, code_host, hourly):
    code_host.fail("403_retry_after", method="GET", path="issues")

    hourly()

    assert Integration.objects.get().installation.is_left_alone()
    assert delivery().issue_state == ""
