"""One comment that grows: who also reported a problem, below its issue."""

import pytest

from tests import build
from tests.integrations.comments.world import (
    comment,
    fold,
    maintain,
    report,
    shown,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host):
    owner = build.acme(code_host)
    report()
    return owner


def test_the_first_report_that_joins_writes_one_comment(acme, code_host):
    joined = fold("`--force` is an unknown flag", agent__name="agent-y")

    maintain()

    text = shown(code_host)
    assert text.startswith("**Also reported**\n\n1 more report of this problem.")
    assert "`--force` is an unknown flag" in text
    assert "agent-y" in text
    assert f"/r/{joined.report_id}/" in text
    assert "Joined for this: same page; `--force` and “unknown flag” in common" in text
    assert (comment().status, comment().reason) == ("written", "")
    assert comment().comment_url == f"{code_host.url}/acme/docs/issues/1#issuecomment-6001"
    assert len(code_host.issues("acme/docs")) == 1


def test_the_second_edits_it_ten_minutes_later(acme, code_host, clock):
    fold("First")
    maintain()
    fold("Second")

    maintain()
    assert "Second" not in shown(code_host)
    assert comment().status == "pending"

    clock.advance(minutes=11)
    maintain()
    assert "First" in shown(code_host)
    assert "Second" in shown(code_host)
    assert comment().status == "written"
