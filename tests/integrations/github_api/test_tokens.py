"""The code host's tokens, in the memory of this process."""

import pytest

from integrations.github_api import tokens, transport
from integrations.models import Repository
from tests import build


@pytest.fixture
def docs(code_host) -> Repository:
    code_host_id = code_host.repository("acme/docs").id
    return Repository(build.installed(code_host).id, code_host_id, "acme/docs")


def test_a_hub_with_many_repositories_keeps_a_bounded_number_of_tokens(docs, monkeypatch):
    monkeypatch.setattr(tokens, "MOST", 3)

    for number in range(10):
        tokens.of(docs._replace(name=f"acme/docs-{number}"))

    assert [each.name for each in tokens._tokens] == [f"acme/docs-{n}" for n in (7, 8, 9)]


def test_tokens_that_have_expired_are_forgotten(docs, monkeypatch):
    tokens.of(docs._replace(name="acme/before"))
    monkeypatch.setattr(tokens.time, "monotonic", lambda now=tokens.time.monotonic: now() + 3600)

    tokens.of(docs)

    assert list(tokens._tokens) == [docs]


def test_the_key_of_the_app_is_parsed_once(docs):
    transport._parsed.cache_clear()

    for number in range(3):
        tokens.of(docs._replace(name=f"acme/docs-{number}"))

    assert transport._parsed.cache_info().misses == 1
