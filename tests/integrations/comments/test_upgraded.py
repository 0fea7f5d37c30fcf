"""Comments of an organization that had moved to another account under the version before."""

import pytest

from hub import pruning
from integrations.models import Installation, Integration
from reports import erasing
from tests import build
from tests.integrations.comments.world import fold, maintain, shown

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_erased_is_taken_out_where_the_version_before_has_moved(acme, code_host, clock):
    joined = fold("First")
    maintain()
    move_as_before(code_host)
    Installation.objects.create(github_id=4711, account="initech")  # nobody's issues are there
    clock.advance(days=3)

    for _ in range(2):
        pruning.prune()
    erasing.erase(joined.report)
    maintain()

    assert "First" not in shown(code_host)
    assert {*Installation.objects.values_list("account", flat=True)} >= {"acme", "beta"}


def move_as_before(code_host) -> None:
    """The version before has saved no time of the move; the app stays on the account that is left."""
    code_host.add_organization("beta")
    there = code_host.add_repository("beta", "docs")
    code_host.add_installation("beta", repositories=[there])
    beta = Installation.objects.create(
        github_id=build.installed(code_host, "beta").id, account="beta"
    )
    Integration.objects.update(
        installation=beta, repository_id=there.id, repo_owner="beta", repo_name="docs"
    )
