"""What tests of comments share."""

import pytest

from orgs.models import Organization
from tests import build
from tests.integrations.comments.world import report


@pytest.fixture
def acme(code_host) -> Organization:
    """Its first report is an issue."""
    owner = build.acme(code_host)
    report()
    return owner
