"""What people do on the code host, with the webhooks that GitHub sends about it.

When called in process, the webhook has been delivered when the method returns; over HTTP, it is sent
in the background. None is sent while the app has no webhook URL.
"""

from typing import Any

from . import github_json
from .announcements import Announcements
from .credentials import Tokens
from .records import App, Comment, Installation, Issue, Repository, StateReason
from .state import AnyRepository


class Changes(Announcements):
    """The state, and what people do to it."""

    def __init__(self, *, app: App | None, ids_from: int = 0) -> None:
        super().__init__(app=app, ids_from=ids_from)
        self.tokens = Tokens()

    # Installations

    def add_installation(
        self,
        account: str,
        *,
        repositories: list[Repository] | None = None,
        permissions: dict[str, str] | None = None,
    ) -> Installation:
        """Install the app. `repositories=None` gives it all; by default it has the app's permissions."""
        granted = {"metadata": "read", **(permissions or self.app.permissions)}
        with self.changing():
            installation = self.new_installation(
                self.account(account), repositories=repositories, permissions=granted
            )
            shown = self._brief(*self.repositories_of(installation))
            self.announce("installation", "created", installation=installation, repositories=shown)
        return installation

    def suspend(self, installation: Installation) -> None:
        """Suspend an installation."""
        with self.changing():
            installation.suspended_at = self.now()
            shown = self._brief(*self.repositories_of(installation))
            self.announce("installation", "suspend", installation=installation, repositories=shown)

    def unsuspend(self, installation: Installation) -> None:
        """End the suspension of an installation."""
        with self.changing():
            installation.suspended_at = None
            self.announce("installation", "unsuspend", installation=installation)

    def uninstall(self, installation: Installation) -> None:
        """Remove an installation; its tokens stop working."""
        with self.changing():
            shown = self._brief(*self.repositories_of(installation))
            del self.installations[installation.id]
            self.tokens.revoke(installation)
            self.announce("installation", "deleted", installation=installation, repositories=shown)

    def add_to_installation(self, installation: Installation, repository: AnyRepository) -> None:
        """Give an installation access to a repository."""
        with self.changing():
            added = self.repository(repository)
            if not installation.covers(added):
                installation.repositories = [*(installation.repositories or []), added]
            self._announce_selection(installation, "added", repository=added)

    def remove_from_installation(
        self, installation: Installation, repository: AnyRepository
    ) -> None:
        """Take a repository away from an installation."""
        with self.changing():
            removed = self.repository(repository)
            kept = [each for each in self.repositories_of(installation) if each is not removed]
            installation.repositories = kept
            self._announce_selection(installation, "removed", repository=removed)

    def _announce_selection(
        self, installation: Installation, action: str, *, repository: Repository
    ) -> None:
        lists: dict[str, list[Any]] = {"repositories_added": [], "repositories_removed": []}
        lists[f"repositories_{action}"] = self._brief(repository)
        self.announce("installation_repositories", action, installation=installation, **lists)

    def _brief(self, *repositories: Repository) -> list[dict[str, Any]]:
        names = ("id", "node_id", "name", "full_name", "private")
        shown = [github_json.repository(self, each) for each in repositories]
        return [{name: each[name] for name in names} for each in shown]

    # Repositories

    def rename(self, repository: AnyRepository, name: str) -> None:
        """Rename a repository; the old name redirects to it."""
        with self.changing():
            renamed = self.repository(repository)
            changes = {"repository": {"name": {"from": renamed.name}}}
            self.name_repository(renamed, owner=renamed.owner, name=name)
            self.announce_repository("renamed", renamed, changes=changes)

    def transfer(self, repository: AnyRepository, account: str) -> None:
        """Give a repository to another account; the old account's installation loses it."""
        with self.changing():
            moved = self.repository(repository)
            former = moved.owner
            self.name_repository(moved, owner=self.account(account), name=moved.name)
            if (left := self.installation_on(former)) and left.repositories is not None:
                left.repositories = [each for each in left.repositories if each is not moved]
            kind = "organization" if former.type == "Organization" else "user"
            changes = {"owner": {"from": {kind: github_json.account(self, former)}}}
            self.announce_repository("transferred", moved, changes=changes)

    def delete_repository(self, repository: AnyRepository) -> None:
        """Delete a repository."""
        with self.changing():
            deleted = self.repository(repository)
            self.announce_repository("deleted", deleted)
            self.forget(deleted)

    def archive(self, repository: AnyRepository) -> None:
        """Archive a repository."""
        self._set_archived(repository, True)

    def unarchive(self, repository: AnyRepository) -> None:
        """Unarchive a repository."""
        self._set_archived(repository, False)

    def _set_archived(self, repository: AnyRepository, archived: bool) -> None:
        with self.changing():
            changed = self.repository(repository)
            changed.archived = archived
            self.announce_repository("archived" if archived else "unarchived", changed)

    def set_private(self, repository: AnyRepository, private: bool) -> None:
        """Make a repository private or public."""
        with self.changing():
            changed = self.repository(repository)
            changed.private = private
            self.announce_repository("privatized" if private else "publicized", changed)

    def set_pages(self, repository: AnyRepository, on: bool) -> None:
        """Publish a site from it, or none. GitHub tells nobody."""
        with self.changing():
            self.repository(repository).has_pages = on

    def set_issues(self, repository: AnyRepository, on: bool) -> None:
        """Turn issues on or off. GitHub sends no webhook about it."""
        with self.changing():
            self.repository(repository).has_issues = on

    # Issues

    def create_issue(
        self, repository: AnyRepository, *, title: str, body: str | None = None, user: str
    ) -> Issue:
        """Open an issue as somebody other than the app; an unknown login gets an account."""
        with self.changing():
            if user.lower() not in self.accounts:
                self.add_user(user)
            issue = self.new_issue(self.repository(repository), title, body=body, user=user)
            self.announce_issue("opened", issue, by=user)
        return issue

    def close_issue(
        self,
        repository: AnyRepository,
        number: int,
        *,
        by: str,
        reason: StateReason | None = None,
    ) -> None:
        """Close an issue; without a reason as completed."""
        with self.changing():
            issue = self.issue(repository, number)
            issue.move_to("closed", self.now(), reason=reason)
            self.announce_issue("closed", issue, by=by)

    def reopen_issue(self, repository: AnyRepository, number: int, *, by: str) -> None:
        """Reopen an issue."""
        with self.changing():
            issue = self.issue(repository, number)
            issue.move_to("open", self.now())
            self.announce_issue("reopened", issue, by=by)

    def delete_issue(self, repository: AnyRepository, number: int, *, by: str) -> None:
        """Delete an issue."""
        with self.changing():
            issue = self.issue(repository, number)
            issue.deleted = True
            self.announce_issue("deleted", issue, by=by)

    def comment(self, repository: AnyRepository, number: int, body: str, *, user: str) -> Comment:
        """Say something about an issue as somebody other than the app; an unknown login gets an account."""
        with self.changing():
            if user.lower() not in self.accounts:
                self.add_user(user)
            return self.new_comment(self.issue(repository, number), body, user=user)

    def edit_comment(self, comment: Comment, body: str) -> None:
        """Change a comment by hand, whoever wrote it."""
        with self.changing():
            comment.change(body, self.now())

    def delete_comment(self, comment: Comment) -> None:
        """Delete a comment by hand."""
        with self.changing():
            comment.issue.comments.remove(comment)

    def lock_issue(
        self, repository: AnyRepository, number: int, *, locked: bool = True, by: str = "alice"
    ) -> None:
        """Let nobody comment on an issue, or everybody again."""
        with self.changing():
            issue = self.issue(repository, number)
            issue.locked = locked
            self.announce_issue("locked" if locked else "unlocked", issue, by=by)

    def transfer_issue(
        self, repository: AnyRepository, number: int, to: AnyRepository, *, by: str
    ) -> Issue:
        """Move an issue to another repository, where it has another number; the old one redirects to it."""
        with self.changing():
            old, there = self.issue(repository, number), self.repository(to)
            if there is old.repository:
                raise ValueError(f"The issue is in {there.full_name} already.")
            new = self.new_issue(there, old.title, body=old.body, user=old.user, by_app=old.by_app)
            new.created_at, new.state = old.created_at, old.state
            new.state_reason, new.closed_at = old.state_reason, old.closed_at
            for each in old.comments:
                self.new_comment(new, each.body, user=each.user, by_app=each.by_app)
            changes = {
                "new_issue": github_json.issue(self, new),
                "new_repository": github_json.repository(self, there),
            }
            self.announce_issue("transferred", old, by=by, changes=changes)
            old.moved_to = new
            self.announce_issue("opened", new, by=by)
        return new
