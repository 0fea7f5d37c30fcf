"""Whatever GitHub answers to whichever call: an error of ours, or what a column takes and a page can show."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
import responses

from integrations import github_api
from tests.integrations.github_api import odd
from tests.integrations.github_api.conftest import _method_and_url

pytestmark = pytest.mark.usefixtures("app")

LONGEST = 999  # characters of what is told
SHOWN = (  # in a terminal alone
    github_api.AppFacts,
    github_api.RegisteredApp,
    github_api.SentWebhook,
    github_api.WebhookFacts,
)


@pytest.mark.parametrize("name", odd.CALLS)
def test_the_proper_answers_are_no_error(name):
    *_, proper = (call := odd.CALLS[name]).answers

    told = outcome_of(call, proper.status, json.dumps(proper.body), {})

    assert not isinstance(told, str)


@pytest.mark.parametrize("name", odd.CALLS)
def test_an_odd_answer_is_an_error_of_ours_or_fits(name):
    call = odd.CALLS[name]

    for status, body, headers in odd.answers(call.answers[-1]):
        outcome = outcome_of(call, status, body, headers)
        assert fits(outcome), (status, body, headers, outcome)


def outcome_of(call: odd.Call, status: int, body: str, headers: dict[str, str]) -> Any:
    """What the call returns, or the sentence of its error; the last of its answers is this."""
    github_api.forget_tokens()
    github_api.forget_places()
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        for each in call.answers[:-1]:
            mock.add(*_method_and_url(each.line), status=each.status, body=json.dumps(each.body))
        line = _method_and_url(call.answers[-1].line)
        body = "" if status == 204 else body
        mock.add(*line, status=status, body=body, headers={"Date": odd.DATE} | headers)
        try:
            return call.make(time.monotonic() + (0.2 if "Link" in headers else 60))
        except github_api.GitHubError as error:
            return str(error)


def fits(outcome: Any) -> bool:
    """Whether everything in it can be stored and shown."""
    return all(map(_fits, _values(outcome)))


def _values(found: Any) -> Iterator[Any]:
    if isinstance(found, SHOWN):
        return
    if isinstance(found, github_api.IssueComment):
        found = found._replace(body="")  # compared, and not stored
    if isinstance(found, github_api.Reached):
        found = found.repository
    if isinstance(found, tuple | list):
        for each in found:
            yield from _values(each)
    else:
        yield found


def _fits(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST and value.isprintable()
    return not isinstance(value, int | float) or 0 <= value < 2**63
