"""GitHub never answers about some repositories, and comments on the issues of others are due."""

import pytest

from integrations.comments import sending
from integrations.delivery import leased
from integrations.models import Comment
from sandbox import CodeHost
from tests import build
from tests.integrations.comments.world import fold, report

pytestmark = pytest.mark.django_db(transaction=True)


def never_answered(code_host: CodeHost, name: str) -> None:
    """An organization with three comments due, about whose repository GitHub never answers."""
    code_host.add_organization(name)
    manual = code_host.add_repository(name, "manual")
    code_host.add_installation(name, repositories=[manual])
    owner = build.organization(name)
    build.integration(owner, code_host, f"{name}/manual")
    build.domain(owner, f"{name}.com")
    for page in range(3):
        has_comment_due(f"https://{name}.com/{page}")
    comments = f"/api/v3/repositories/{manual.id}/issues/*/comments"
    code_host.fail("500", method="GET", path=comments, times=100)


def has_comment_due(page: str) -> Comment:
    lead = report(doc_url=page)
    fold("The install command has moved", under=lead, doc_url=page)
    return Comment.objects.get(lead=lead)


def test_they_keep_no_comment_of_another_one_waiting(code_host):
    build.acme(code_host, "docs.acme.com")
    for name in ("initech", "zeta"):
        never_answered(code_host, name)
    comments = [has_comment_due(f"https://docs.acme.com/{page}") for page in range(2)]
    slow: set[int] = set()

    for _ in range(2):
        sending.send_due(slow=slow)

    written = Comment.objects.filter(status=Comment.Status.WRITTEN)
    assert {*written} == {*comments}


def test_they_are_tried_again_once_the_others_are_done(code_host):
    build.acme(code_host, "docs.acme.com")
    for name in ("initech", "zeta"):
        never_answered(code_host, name)
    has_comment_due("https://docs.acme.com/install")
    slow: set[int] = set()

    assert sending.send_due(slow=slow) == leased.AWAY
    code_host.faults.clear()
    for _ in range(2):
        sending.send_due(slow=slow)

    written = Comment.objects.filter(status=Comment.Status.WRITTEN)
    assert (written.count(), slow) == (5, set())
