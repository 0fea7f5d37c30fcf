"""Who somebody is on GitHub, and which installations of the app they can see.

https://docs.github.com/en/rest/users/users (get a user)

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

import time
from functools import partial
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import quote

from django.conf import settings

from core import deadlines
from integrations.github_api import shapes
from integrations.github_api.answers import making_sense, raise_for_limit
from integrations.github_api.errors import BadCode, Unreachable
from integrations.github_api.installations import (
    InstallationFacts,
    Person,
    installation_facts,
    token_to_look,
)
from integrations.github_api.transport import bounded_by, look_up, post_form, with_token

PAGE_SIZE = 100


class Visitor(NamedTuple):
    """A person with a browser: their account, and the installations that they can see."""

    github_id: int
    login: str
    installations: list[InstallationFacts]


def visitor(code: str, *, redirect_uri: str, deadline: float) -> Visitor:
    """Who brought this code. Their token is not kept. Raises `BadCode`."""
    with making_sense():
        return bounded_by(partial(_visitor, code, redirect_uri, deadline), deadline=deadline)


def person(login: str, *, installation_id: int | None, deadline: float) -> Person | None:
    """The person with that login; None if there is none, or it is an organization or a bot.

    Asks as the installation if there is one, because Enterprise hosts may refuse anonymous calls. Raises
    as `token_to_look` does.
    """
    with making_sense():
        return bounded_by(partial(_person, login, installation_id), deadline=deadline)


def _person(login: str, installation_id: int | None) -> Person | None:
    auth = with_token(token_to_look(installation_id)) if installation_id else None
    body = look_up(auth, f"/users/{quote(login, safe='')}")
    if body is None or body["type"] != "User":
        return None
    return Person(shapes.number(body["id"]), shapes.name(body["login"]))


def _visitor(code: str, redirect_uri: str, deadline: float) -> Visitor:
    token = _exchange(code, redirect_uri)
    user = _look_up(token, "/user")
    me = Person(shapes.number(user["id"]), shapes.name(user["login"]))
    return Visitor(me.github_id, me.login, _installations(token, deadline))


def _exchange(code: str, redirect_uri: str) -> str:
    """The person's token in exchange for their code. GitHub answers most mistakes with 200 and an `error`."""
    answer = post_form(
        "/login/oauth/access_token",
        {
            "client_id": settings.HUB_GITHUB_CLIENT_ID,
            "client_secret": settings.HUB_GITHUB_CLIENT_SECRET,
            "code": code,
            "redirect_uri": redirect_uri,
        },
    )
    said = answer.body if isinstance(answer.body, dict) else {}
    if answer.status == 200 and isinstance(said.get("access_token"), str):
        return said["access_token"]
    raise_for_limit(answer)
    if said.get("error") == "bad_verification_code":
        raise BadCode("GitHub does not accept this code. Please start over.")
    raise Unreachable(f"GitHub did not issue a token: {said.get('error') or answer.status}.")


def _installations(token: str, deadline: float) -> list[InstallationFacts]:
    found: list[InstallationFacts] = []
    for page in count(1):
        body = _look_up(token, "/user/installations", per_page=PAGE_SIZE, page=page)
        found += [installation_facts(each) for each in body["installations"]]
        if len(body["installations"]) < PAGE_SIZE:
            break
        if time.monotonic() >= deadline:
            raise deadlines.TooLate
    return found


def _look_up(token: str, path: str, **parameters: Any) -> Any:
    if body := look_up(with_token(token), path, **parameters):
        return body
    raise Unreachable(f"GitHub has nothing at {path}.")
