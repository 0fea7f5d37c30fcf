"""What is done after a commit: an error of one keeps nothing else from being done."""

import re
from functools import partial

import pytest
from django.db import OperationalError, transaction

from core import after_commit
from integrations.github_sync import visibility
from integrations.models import Delivery
from tests import build
from tests.rooms import MODULES, ROOT

CALLS = re.compile(r"\bon_commit\(")


@pytest.mark.django_db(transaction=True)
def test_what_fails_is_logged_and_the_rest_is_done(caplog):
    done = []

    with transaction.atomic():
        after_commit.do(partial(int, "no number"))
        after_commit.do(done.append, 1)

    assert done == [1]
    assert "no number" in caplog.text


def test_nothing_is_done_after_a_commit_in_another_way():
    found = {str(path) for path in MODULES if CALLS.search((ROOT / path).read_text())}

    assert found == {"core/after_commit.py"}


@pytest.mark.django_db(transaction=True)
def test_who_disconnects_is_told_so_though_what_comes_after_it_fails(code_host, monkeypatch):
    def fail(*_):
        raise OperationalError("database is locked")

    owner = build.member(build.acme(code_host), github_id=code_host.account("alice").id)
    alice = build.api(build.token(owner))
    code_host.fail("500", path="issues")
    build.send(alice)
    monkeypatch.setattr(visibility, "_show_again", fail)

    answer = alice.delete("/v1/orgs/me/integrations/github")

    assert answer.status_code == 204
    assert Delivery.objects.get().status == "held"
