"""One request about a repository's issues with the token for it, which is minted anew once if it was revoked."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from core import deadlines
from integrations.github_api import tokens
from integrations.github_api.answers import GitHubAnswer, raise_for_limit
from integrations.github_api.errors import OutcomeUnknown, TimedOut, Unreachable
from integrations.github_api.transport import (
    NOT_GITHUB,
    ask,
    bounded_by,
    never_connected,
    request,
    with_token,
)
from integrations.models import Repository

T = TypeVar("T")


def asked(repository: Repository, verb: str, path: str, **arguments: Any) -> GitHubAnswer:
    """The answer to a request that may be repeated; `path` is below the repository's own."""
    url = f"/repositories/{repository.id}{path}"
    answer = ask(with_token(tokens.of(repository)), verb, url, **arguments)
    if answer.status == 401:
        tokens.forget(repository)
        answer = ask(with_token(tokens.of(repository)), verb, url, **arguments)
    return answer


def once(create: Callable[[deadlines.Gate], T], *, deadline: float) -> T:
    """What `create` makes, which calls `post` with the gate that it gets.

    Raises `OutcomeUnknown` if it may have been made without an answer.
    """
    gate = deadlines.Gate(deadline)
    try:
        return bounded_by(partial(create, gate), deadline=deadline)
    except TimedOut:
        gate.close()
        if gate.passed:
            raise OutcomeUnknown("GitHub took too long to answer.") from None
        raise


def post(
    repository: Repository, path: str, fields: dict[str, Any], gate: deadlines.Gate
) -> GitHubAnswer:
    """The answer to one POST that creates something, `path` as for `asked`; for `once`."""

    def post_once() -> GitHubAnswer:
        token = tokens.of(repository)
        return _post(token, f"/repositories/{repository.id}{path}", fields, gate)

    answer = post_once()
    if answer.status == 401:  # revoked early; a new one tells whether we are locked out
        tokens.forget(repository)
        answer = post_once()
    return answer


def _post(token: str, url: str, fields: dict[str, Any], gate: deadlines.Gate) -> GitHubAnswer:
    """Goes through the gate once it is connected: until then, nothing has been sent."""
    auth = with_token(token)
    try:
        answer = request(auth, "POST", url, fields=fields, once_connected=gate.go_through)
    except deadlines.TooLate:
        raise
    except Exception as error:  # after the first byte, it may have been created
        if never_connected(error):
            raise Unreachable("GitHub could not be reached.") from error
        raise OutcomeUnknown("The connection to GitHub was lost before it answered.") from error
    if not answer.is_githubs:
        raise_for_limit(answer)
        raise OutcomeUnknown(NOT_GITHUB.format(answer.status))
    return answer
