"""What an installation of the app may do, in which repositories, and what people may do there.

https://docs.github.com/en/rest/apps/installations
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from integrations.github_api import shapes, tokens
from integrations.github_api.answers import GitHubAnswer, making_sense, raise_for_limit
from integrations.github_api.errors import Suspended, Unreachable
from integrations.github_api.transport import all_bounded_by, ask, bounded_by, look_up, with_token

PAGE_SIZE = 50
LEVELS = ("admin", "write", "read", "none")
LOOK, WRITE = {"metadata": "read"}, {"issues": "write"}
LOOK_AT_ISSUES = {"metadata": "read", "issues": "read"}


class InstallationFacts(NamedTuple):
    """An installation as GitHub describes it; `account` is the login of its account."""

    id: int
    account: str
    is_suspended: bool
    may_write_issues: bool


class RepositoryFacts(NamedTuple):
    """A repository as GitHub describes it."""

    id: int
    owner: str
    name: str
    is_private: bool
    has_issues: bool
    is_archived: bool
    has_pages: bool = True

    @property
    def full_name(self) -> str:
        """The name as `owner/name`."""
        return f"{self.owner}/{self.name}"


class Person(NamedTuple):
    """An account by its id; GitHub has to be asked by login."""

    github_id: int
    login: str


class Right(NamedTuple):
    """What a person may do in a repository: `admin`, `write`, `read` or `none`, and their current login."""

    person: Person
    level: str

    @property
    def pushes(self) -> bool:
        """Whether the person has push access."""
        return self.level in ("admin", "write")

    @property
    def administers(self) -> bool:
        """Whether the person has admin access."""
        return self.level == "admin"


@dataclass(frozen=True)
class Reached:
    """A repository that an installation can access, and what is needed to ask who may do what there."""

    repository: RepositoryFacts
    token: str = field(repr=False)


class Candidate(NamedTuple):
    """A repository that may be chosen, and what a person may do there."""

    repository: RepositoryFacts
    may_see: bool
    may_push: bool


class RepositoryPage(NamedTuple):
    """Some repositories; `following` is the number of the next page, None on the last one."""

    repositories: list[RepositoryFacts]
    following: int | None


def installation_facts(body: Mapping[str, Any]) -> InstallationFacts:
    """From GitHub's JSON."""
    return InstallationFacts(
        shapes.number(body["id"]),
        shapes.name(body["account"].get("login") or body["account"]["slug"]),  # as of an enterprise
        bool(body.get("suspended_at")),
        body["permissions"].get("issues") == "write",
    )


def repository_facts(body: Mapping[str, Any]) -> RepositoryFacts:
    """From GitHub's JSON."""
    return RepositoryFacts(
        shapes.number(body["id"]),
        shapes.name(body["owner"]["login"]),
        shapes.name(body["name"]),
        shapes.flag(body.get("private", True)),
        shapes.flag(body.get("has_issues", True)),
        shapes.flag(body.get("archived", False)),
        shapes.flag(body.get("has_pages", True)),
    )


def installation(installation_id: int, *, deadline: float) -> InstallationFacts | None:
    """The installation as it is now; None if the app is no longer installed there."""
    with making_sense():
        return bounded_by(partial(_installation, installation_id), deadline=deadline)


def reached(installation_id: int, repository_id: int, *, deadline: float) -> Reached | None:
    """The repository as it is now; None if the installation cannot access it. May raise `Suspended`."""
    wish = partial(_mint, installation_id, repository_ids=[repository_id], permissions=LOOK)
    with making_sense():
        answer = bounded_by(wish, deadline=deadline)
        if answer.status != 201:
            return None
        found = repository_facts(answer.body["repositories"][0])
        _require(found.id == repository_id)
        return Reached(found, answer.body["token"])


def rights(reached: Reached, people: Sequence[Person], *, deadline: float) -> list[Right]:
    """What each of these people may do in the repository; a few are asked about at a time."""
    ask = [partial(_right, reached.token, reached.repository.id, each) for each in people]
    with making_sense():
        return all_bounded_by(ask, deadline=deadline)


def candidate(
    installation_id: int, full_name: str, *, person: Person, deadline: float
) -> Candidate | None:
    """The installation's repository with that name, if the app may write issues there; else None.

    May raise `Suspended`.
    """
    ask = partial(_candidate, installation_id, full_name, person)
    with making_sense():
        return bounded_by(ask, deadline=deadline)


def assignable(
    installation_id: int, repository_id: int, logins: Sequence[str], *, deadline: float
) -> list[str]:
    """Those of these logins that issues of the repository can be assigned to. May raise `Suspended`.

    https://docs.github.com/en/rest/issues/assignees (check if a user can be assigned)
    """
    wish = partial(
        _mint, installation_id, repository_ids=[repository_id], permissions=LOOK_AT_ISSUES
    )
    with making_sense():
        answer = bounded_by(wish, deadline=deadline)
        if answer.status != 201:
            raise Unreachable(f"GitHub did not issue a token: {answer.reason}.")
        each_one = partial(_is_assignable, answer.body["token"], repository_id)
        are = all_bounded_by([partial(each_one, login) for login in logins], deadline=deadline)
        return [login for login, is_one in zip(logins, are, strict=True) if is_one]


def pushable(installation_id: int, *, person: Person, page: int, deadline: float) -> RepositoryPage:
    """Those repositories on one page of the installation's list that the person may push to."""
    with making_sense():
        token, body = bounded_by(partial(_page, installation_id, page), deadline=deadline)
        listed = [repository_facts(each) for each in body["repositories"]]
        rights = _rights(token, [each.id for each in listed], person, deadline)
        found = [each for each, right in zip(listed, rights, strict=True) if right.pushes]
        return RepositoryPage(found, page + 1 if page * PAGE_SIZE < body["total_count"] else None)


def _installation(installation_id: int) -> InstallationFacts | None:
    answer = tokens.ask_as_app("GET", f"/app/installations/{installation_id}")
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise Unreachable(f"GitHub answered {answer.status} when asked about the installation.")
    facts = installation_facts(answer.body)
    _require(facts.id == installation_id)
    return facts


def _require(is_about_it: bool) -> None:
    """Raise `Unreachable` if the answer is about something else than what was asked for."""
    if not is_about_it:
        raise Unreachable("GitHub's response is about something else.")


def _candidate(installation_id: int, full_name: str, person: Person) -> Candidate | None:
    name = full_name.partition("/")[2]
    answer = _mint(installation_id, repositories=[name], permissions=WRITE)
    if answer.status != 201:
        return None
    found = repository_facts(answer.body["repositories"][0])
    if found.full_name.lower() != full_name.lower():
        return None
    right = _right(answer.body["token"], found.id, person)
    return Candidate(found, not found.is_private or right.level != "none", right.pushes)


def _page(installation_id: int, page: int) -> tuple[str, Any]:
    """A read-only token, and the repositories that it can access."""
    token = token_to_look(installation_id)
    path = "/installation/repositories"
    return token, look_up(with_token(token), path, per_page=PAGE_SIZE, page=page)


def token_to_look(installation_id: int) -> str:
    """A token that may write nothing. Raises `Suspended`, or `Unreachable` if there is none."""
    answer = _mint(installation_id, permissions=LOOK)
    if answer.status != 201:
        raise Unreachable(f"GitHub did not issue a token: {answer.reason}.")
    return answer.body["token"]


def _mint(installation_id: int, **wish: Any) -> GitHubAnswer:
    """A token with these permissions: 201, or 422 if the installation does not have them all."""
    answer = tokens.mint(installation_id, **wish)
    if answer.status in (403, 404):
        raise Suspended("The app is suspended or no longer installed.")
    return answer


def _right(token: str, repository_id: int, person: Person) -> Right:
    """By the account's id. If its login has changed, the current one is looked up."""
    level = _level(token, repository_id, person)
    if level is None and (renamed := _person_now(token, person)):
        person, level = renamed, _level(token, repository_id, renamed)
    return Right(person, level or "none")


def _is_assignable(token: str, repository_id: int, login: str) -> bool:
    path = f"/repositories/{repository_id}/assignees/{quote(login, safe='')}"
    answer = ask(with_token(token), "GET", path)
    if answer.status in (204, 404):
        return answer.status == 204
    raise_for_limit(answer)
    raise Unreachable(f"GitHub answered {answer.status} when asked who can be assigned.")


def _rights(token: str, ids: list[int], person: Person, deadline: float) -> list[Right]:
    """The right to each repository; who the person is now is found out with the first."""
    if not ids:
        return []
    first = bounded_by(partial(_right, token, ids[0], person), deadline=deadline)
    ask = [partial(_level, token, each, first.person) for each in ids[1:]]
    levels = all_bounded_by(ask, deadline=deadline)
    return [first, *(Right(first.person, level or "none") for level in levels)]


def _level(token: str, repository_id: int, person: Person) -> str | None:
    """The permission of this login; None if the login belongs to another account."""
    login = quote(person.login, safe="")
    path = f"/repositories/{repository_id}/collaborators/{login}/permission"
    body = look_up(with_token(token), path)
    if body is None or body["user"]["id"] != person.github_id:
        return None
    if body["permission"] not in LEVELS:
        raise Unreachable("GitHub named an unknown permission.")
    return body["permission"]


def _person_now(token: str, person: Person) -> Person | None:
    """The same account with its current login; None if that has not changed or is gone."""
    body = look_up(with_token(token), f"/user/{person.github_id}")
    if body is None or body["id"] != person.github_id or body["login"] == person.login:
        return None
    return Person(person.github_id, shapes.name(body["login"]))
