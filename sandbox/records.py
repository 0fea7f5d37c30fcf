"""What the sandbox stores: the app, accounts, repositories, issues, installations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

AccountType = Literal["User", "Organization", "Bot"]
Membership = Literal["admin", "member"]
IssueState = Literal["open", "closed"]
StateReason = Literal["completed", "not_planned", "duplicate", "reopened"]
Role = Literal["pull", "triage", "push", "maintain", "admin"]
DEFAULT_LABELS = ("bug", "documentation", "enhancement", "question")
DEFAULT_TYPES = ("Task", "Bug", "Feature")  # of an organization; a person has none
ROLES: tuple[Role, ...] = ("pull", "triage", "push", "maintain", "admin")
LEVELS = {"read": 1, "write": 2, "admin": 3}
UNHEARD_OF = 4


@dataclass(eq=False)
class App:
    """The GitHub App as its owner registered it.

    `callback_urls` are the URLs that sign-in may return to; the first is the default. `asks_for_code` is
    GitHub's "Request user authorization (OAuth) during installation". Without it, after an installation
    the browser goes to `setup_url`, or the first callback URL, without a code. `events` are the
    subscriptions besides `installation` and `installation_repositories`. `owner` is a login; only an app
    that is not `public` cannot be installed on other accounts.
    """

    id: int
    slug: str
    client_id: str
    client_secret: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    public_key_pem: str = field(repr=False)
    callback_urls: list[str] = field(default_factory=list)
    setup_url: str = ""
    webhook_url: str = ""
    webhook_content_type: str = "json"
    webhook_checks_certificate: bool = True
    asks_for_code: bool = True
    permissions: dict[str, str] = field(
        default_factory=lambda: {"issues": "write", "metadata": "read"}
    )
    events: tuple[str, ...] = ("issues", "repository")
    name: str = ""
    owner: str = ""
    public: bool = True
    further_public_keys: list[str] = field(default_factory=list, repr=False)  # as its owner may add
    further_client_secrets: list[str] = field(default_factory=list, repr=False)


def no_app() -> App:
    """What stands for the app before there is one: nobody can call as it."""
    return App(id=0, slug="", client_id="", client_secret="", webhook_secret="", public_key_pem="")


@dataclass(eq=False)
class Account:
    """A person, an organization or the app's bot. `members` (of an organization): login to role.

    `issue_types`: those that an organization has.
    """

    id: int
    login: str
    type: AccountType
    name: str | None = None
    email: str | None = None
    members: dict[str, Membership] = field(default_factory=dict)
    issue_types: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Issue:
    """`user` is the author's login: the app is `<slug>[bot]`. `by_app` is true if it came with one of
    the app's tokens, also a person's. `moved_to` is where it was transferred to.
    """

    id: int
    repository: "Repository" = field(repr=False)
    number: int
    title: str
    body: str | None
    user: str
    created_at: datetime
    updated_at: datetime
    by_app: bool = False
    state: IssueState = "open"
    state_reason: StateReason | None = None
    closed_at: datetime | None = None
    deleted: bool = False
    moved_to: "Issue | None" = field(default=None, repr=False)
    locked: bool = False
    comments: list["Comment"] = field(default_factory=list, repr=False)
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    type: str | None = None

    @property
    def is_here(self) -> bool:
        """Whether it was neither deleted nor transferred."""
        return not self.deleted and self.moved_to is None

    def move_to(
        self, state: IssueState, at: datetime, *, reason: StateReason | None = None
    ) -> None:
        """Open or close the issue; without a reason, as GitHub's own button does."""
        self.state = state
        self.state_reason = reason or ("completed" if state == "closed" else "reopened")
        self.updated_at = at
        self.closed_at = at if state == "closed" else None


@dataclass(eq=False)
class Comment:
    """What somebody said about an issue; `user` and `by_app` as for an issue."""

    id: int
    issue: Issue = field(repr=False)
    body: str
    user: str
    created_at: datetime
    updated_at: datetime
    by_app: bool = False

    def change(self, body: str, at: datetime) -> None:
        """Write it anew."""
        self.body, self.updated_at = body, at


@dataclass(eq=False)
class Repository:
    """`issues` keeps deleted ones too, because GitHub never reuses a number.

    `labels` are their names; in any case they are the same.
    """

    id: int
    owner: Account
    name: str
    created_at: datetime
    private: bool = False
    archived: bool = False
    has_issues: bool = True
    has_pages: bool = True
    issues: list[Issue] = field(default_factory=list)
    grants: dict[str, Role] = field(default_factory=dict)
    labels: list[str] = field(default_factory=lambda: list(DEFAULT_LABELS))

    @property
    def full_name(self) -> str:
        """The name as `owner/name`."""
        return f"{self.owner.login}/{self.name}"

    def role_of(self, login: str) -> Role | None:
        """What the person may do here by ownership, membership or grant, apart from public reading."""
        who = login.lower()
        membership = self.owner.members.get(who)
        if who == self.owner.login.lower() or membership == "admin":
            return "admin"
        roles: list[Role] = ["pull"] if membership else []
        if who in self.grants:
            roles.append(self.grants[who])
        return max(roles, key=ROLES.index, default=None)


@dataclass(eq=False)
class Installation:
    """The app on one account; `repositories` is None if it was given all of them."""

    id: int
    account: Account
    repositories: list[Repository] | None
    permissions: dict[str, str]
    created_at: datetime
    suspended_at: datetime | None = None

    def covers(self, repository: Repository) -> bool:
        """Whether the installation has access to the repository."""
        if repository.owner is not self.account:
            return False
        return self.repositories is None or repository in self.repositories


def has_all(permissions: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether `permissions` hold all that is wanted, each at its level or above."""
    return all(
        LEVELS.get(permissions.get(name, ""), 0) >= LEVELS.get(level, UNHEARD_OF)
        for name, level in wanted.items()
    )
