"""The sandbox's tables and the queries on them. One lock guards them all."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from .records import (
    DEFAULT_TYPES,
    Account,
    AccountType,
    App,
    Comment,
    Installation,
    Issue,
    Membership,
    Repository,
    Role,
    no_app,
)

AnyRepository = Repository | str


class State:
    """The tables. Ids of different kinds come from different ranges, so that mix-ups are noticed."""

    app: App
    bot: Account

    def __init__(self, *, app: App | None, ids_from: int = 0) -> None:
        self.lock = threading.RLock()
        self.clock_offset = timedelta(0)
        self.url = "http://127.0.0.1"
        self.drops: set[str] = set()  # of `labels`, `assignees` and `type`, without a word
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self._names: dict[str, Repository] = {}
        self._account_ids = count(ids_from + 1001)
        self._repository_ids = count(ids_from + 2001)
        self._installation_ids = count(ids_from + 3001)
        self._issue_ids = count(ids_from + 4001)
        self._comment_ids = count(ids_from + 6001)
        self._app_ids = count(ids_from + 5001)
        self._depth = 0
        self.register(app or no_app())

    @contextmanager
    def changing(self, *, in_background: bool = False) -> Iterator[None]:
        """Hold the lock; the webhooks of the change are sent when the outermost block ends."""
        with self.lock:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                outermost = self._depth == 0
        if outermost:
            self.send_announcements(in_background=in_background)

    def register(self, app: App) -> None:
        """Make this the app, in the place of the one there was; it is installed nowhere."""
        with self.lock:
            login = f"{app.slug}[bot]"
            self.app = app
            self.bot = self.accounts.get(login) or self._add_account(login, "Bot")
            self.installations.clear()

    def new_app_id(self) -> int:
        """An id for another app."""
        return next(self._app_ids)

    def send_announcements(self, *, in_background: bool) -> None:
        """Nothing to send here: `Announcements` knows about webhooks."""

    def now(self) -> datetime:
        """The code host's clock, in UTC and whole seconds, as GitHub shows times."""
        return (datetime.now(UTC) + self.clock_offset).replace(microsecond=0)

    def add_organization(self, login: str) -> Account:
        """Create an account that people can be members of; `add_user` creates a person."""
        account = self._add_account(login, "Organization")
        account.issue_types = list(DEFAULT_TYPES)
        return account

    def add_user(self, login: str, *, name: str | None = None, email: str | None = None) -> Account:
        """Create a person."""
        user = self._add_account(login, "User")
        user.name = name or login.capitalize()
        user.email = email or f"{login}@example.com"
        return user

    def _add_account(self, login: str, kind: AccountType) -> Account:
        with self.lock:
            if login.lower() in self.accounts:
                raise ValueError(f"There is already an account {login}.")
            account = Account(id=next(self._account_ids), login=login, type=kind)
            self.accounts[login.lower()] = account
            return account

    def account(self, login: str) -> Account:
        """The account with that login; raises LookupError."""
        try:
            return self.accounts[login.lower()]
        except KeyError:
            raise LookupError(f"The sandbox has no account {login}.") from None

    def add_member(self, organization: str, login: str, *, role: Membership = "member") -> None:
        """`role` is "admin" (an owner of the organization) or "member" (may read everything)."""
        with self.lock:
            self.account(organization).members[self.account(login).login.lower()] = role

    def remove_member(self, organization: str, login: str) -> None:
        """Remove a person from an organization, with everything granted to them there by name."""
        with self.lock:
            owner = self.account(organization)
            owner.members.pop(login.lower(), None)
            for repository in self.repositories.values():
                if repository.owner is owner:
                    repository.grants.pop(login.lower(), None)

    def rename_account(self, login: str, new_login: str) -> None:
        """Change a login. The id stays; the old login does not redirect, and anybody may take it."""
        with self.lock:
            if new_login.lower() in self.accounts:
                raise ValueError(f"There is already an account {new_login}.")
            account = self.accounts.pop(login.lower())
            account.login = new_login
            self.accounts[new_login.lower()] = account
            for organization in self.accounts.values():
                _rename(login, new_login, roles=organization.members)
            for repository in self.repositories.values():
                _rename(login, new_login, roles=repository.grants)

    def account_by_id(self, account_id: int) -> Account | None:
        """The account with that id; None if there is none."""
        return next((each for each in self.accounts.values() if each.id == account_id), None)

    def add_repository(
        self,
        owner: str,
        name: str,
        *,
        issues: bool = True,
        pages: bool = True,
        private: bool = False,
        archived: bool = False,
    ) -> Repository:
        """Create a repository."""
        with self.lock:
            repository = Repository(
                id=next(self._repository_ids),
                owner=self.account(owner),
                name=name,
                created_at=self.now(),
                has_issues=issues,
                has_pages=pages,
                private=private,
                archived=archived,
            )
            self.name_repository(repository, owner=repository.owner, name=name)
            self.repositories[repository.id] = repository
            return repository

    def name_repository(self, repository: Repository, *, owner: Account, name: str) -> None:
        """Name the repository; its old names redirect to it until somebody takes them."""
        full_name = f"{owner.login}/{name}".lower()
        holder = self._names.get(full_name)
        if holder and holder is not repository and holder.full_name.lower() == full_name:
            raise ValueError(f"There is already a repository {owner.login}/{name}.")
        repository.owner, repository.name = owner, name
        self._names[full_name] = repository

    def forget(self, repository: Repository) -> None:
        """Remove a repository and all its names."""
        del self.repositories[repository.id]
        self._names = {name: each for name, each in self._names.items() if each is not repository}

    def find_repository(self, full_name: str) -> Repository | None:
        """The repository with this current or old name, in any case; None if there is none."""
        return self._names.get(full_name.lower())

    def repository(self, which: AnyRepository) -> Repository:
        """The repository with that name; raises LookupError."""
        if isinstance(which, Repository):
            return which
        if found := self.find_repository(which):
            return found
        raise LookupError(f"The sandbox has no repository {which}.")

    def grant(self, login: str, repository: AnyRepository, role: Role) -> None:
        """Give a person a role in a repository."""
        with self.lock:
            self.repository(repository).grants[self.account(login).login.lower()] = role

    def revoke(self, login: str, repository: AnyRepository) -> None:
        """Take back what `grant` gave."""
        with self.lock:
            self.repository(repository).grants.pop(login.lower(), None)

    def issues(self, repository: AnyRepository) -> list[Issue]:
        """The issues of a repository, oldest first, without deleted and transferred ones."""
        with self.lock:
            return [issue for issue in self.repository(repository).issues if issue.is_here]

    def issue(self, repository: AnyRepository, number: int) -> Issue:
        """The issue with that number; raises LookupError."""
        for issue in self.issues(repository):
            if issue.number == number:
                return issue
        raise LookupError(f"There is no issue {number}.")

    def new_issue(
        self,
        repository: Repository,
        title: str,
        *,
        body: str | None,
        user: str,
        by_app: bool = False,
    ) -> Issue:
        """Open an issue."""
        now = self.now()
        issue = Issue(
            id=next(self._issue_ids),
            repository=repository,
            number=len(repository.issues) + 1,
            title=title,
            body=body,
            user=user,
            created_at=now,
            updated_at=now,
            by_app=by_app,
        )
        repository.issues.append(issue)
        return issue

    def comments(self, repository: AnyRepository, number: int) -> list[Comment]:
        """The comments on an issue, oldest first."""
        with self.lock:
            return list(self.issue(repository, number).comments)

    def new_comment(self, issue: Issue, body: str, *, user: str, by_app: bool = False) -> Comment:
        """Say something about an issue."""
        now = issue.updated_at = self.now()
        comment = Comment(next(self._comment_ids), issue, body, user, now, now, by_app=by_app)
        issue.comments.append(comment)
        return comment

    def new_installation(
        self,
        account: Account,
        *,
        repositories: list[Repository] | None,
        permissions: dict[str, str],
    ) -> Installation:
        """Install the app on an account that does not have it."""
        if self.installation_on(account):
            raise ValueError(f"The app is already installed on {account.login}.")
        installation = Installation(
            id=next(self._installation_ids),
            account=account,
            repositories=repositories,
            permissions=permissions,
            created_at=self.now(),
        )
        self.installations[installation.id] = installation
        return installation

    def installation_on(self, account: Account) -> Installation | None:
        """The installation on an account; None if there is none."""
        return next((each for each in self.installations.values() if each.account is account), None)

    def installation_for(self, repository: Repository) -> Installation | None:
        """The installation that reaches the repository, unless it is suspended."""
        installation = self.installation_on(repository.owner)
        if installation is None or installation.suspended_at or not installation.covers(repository):
            return None
        return installation

    def repositories_of(self, installation: Installation) -> list[Repository]:
        """The repositories that an installation has access to."""
        return [each for each in self.repositories.values() if installation.covers(each)]


def _rename(login: str, new_login: str, *, roles: dict[str, Any]) -> None:
    if login.lower() in roles:
        roles[new_login.lower()] = roles.pop(login.lower())
