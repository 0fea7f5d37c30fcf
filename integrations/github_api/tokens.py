"""Tokens for one repository, for issues only; kept in the memory of this process."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from integrations.github_api.answers import GitHubAnswer, date, raise_for_limit
from integrations.github_api.errors import FOR_OPERATORS, Gone, Suspended, Unreachable
from integrations.github_api.transport import as_app, ask, with_token
from integrations.models import Repository

SHORTEST_LIFE = timedelta(minutes=5)  # a token that is about to expire is not used
MOST = 5000  # tokens that are kept

_tokens: dict[Repository, tuple[str, float]] = {}


def forget_tokens() -> None:
    """Drop all tokens, so that new ones are requested."""
    _tokens.clear()


def forget(repository: Repository) -> None:
    """Drop the token of this repository, so that a new one is requested."""
    _tokens.pop(repository, None)


def of(repository: Repository) -> str:
    """A token that may write issues in `repository`, and nothing else."""
    token, good_until = _tokens.get(repository, ("", 0.0))
    if time.monotonic() >= good_until:
        token, good_until = _mint(repository)
        _keep(repository, token, good_until)
    return token


def _keep(repository: Repository, token: str, good_until: float) -> None:
    """Keep the token, and drop expired ones; beyond `MOST`, the oldest ones."""
    now = time.monotonic()
    _tokens.pop(repository, None)
    _tokens[repository] = token, good_until
    minted = list(_tokens.items())  # in this order; other threads mint meanwhile
    for each, (_, until) in minted:
        if until <= now:
            _tokens.pop(each, None)
    for each, _ in minted[:-MOST]:
        _tokens.pop(each, None)


def _mint(repository: Repository) -> tuple[str, float]:
    """A token, and when to stop using it. GitHub tells how long it is valid, since our clock may be wrong."""
    answer = mint(
        repository.installation_id, repository_ids=[repository.id], permissions={"issues": "write"}
    )
    if answer.status == 201:
        return _token_in(answer)
    if answer.status in (403, 404):
        raise Suspended(f"The app is suspended or no longer installed for {repository.name}.")
    raise Gone(
        f"The app may not write issues in {repository.name}. Give it access to it and "
        "the permission Issues: read and write, then press Try again."
    )


def _token_in(answer: GitHubAnswer) -> tuple[str, float]:
    try:
        life = datetime.fromisoformat(answer.body["expires_at"]) - date(answer)
        with_token(answer.body["token"])  # or it would be kept, and fail each time
        return answer.body["token"], time.monotonic() + (life - SHORTEST_LIFE).total_seconds()
    except (KeyError, TypeError, ValueError, OverflowError):
        raise Unreachable("GitHub answered without a token when asked for one.") from None


def mint(installation_id: int, **narrowed: Any) -> GitHubAnswer:
    """GitHub's response to the request for a token: 201 with it, or 403, 404 or 422.

    `narrowed` as in https://docs.github.com/en/rest/apps/apps (create an installation access token).
    """
    path = f"/app/installations/{installation_id}/access_tokens"
    answer = ask_as_app("POST", path, fields=narrowed)
    if answer.status in (201, 403, 404, 422):
        return answer
    raise Unreachable(f"GitHub answered {answer.status} when asked for a token.")


def ask_as_app(verb: str, path: str, **arguments: Any) -> GitHubAnswer:
    """Call GitHub with the app's own key. Raises `Unreachable` if GitHub does not accept the key."""
    answer = ask(as_app(), verb, path, **arguments)
    raise_for_limit(answer)
    if answer.status == 401:
        raise Unreachable(
            f"GitHub does not accept the Hub's key{_clock_off(answer)}.{FOR_OPERATORS}"
        )
    return answer


def _clock_off(answer: GitHubAnswer) -> str:
    """How far our clock is off. A key is valid for minutes, so a wrong clock makes GitHub reject it."""
    minutes = round((datetime.now(UTC) - date(answer)).total_seconds() / 60)
    return f": this machine's clock is {minutes:+} minutes off GitHub's" if minutes else ""
