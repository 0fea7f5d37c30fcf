"""The webhooks of a change: collected under the lock, sent once it is released."""

import threading
from collections import deque
from dataclasses import replace
from typing import Any
from uuid import uuid4

from . import github_json, webhooks
from .records import App, Installation, Issue, Repository
from .state import State

ALWAYS_SENT = ("installation", "installation_repositories")


class Announcements(State):
    """The state, with webhooks about its changes."""

    def __init__(self, *, app: App | None, ids_from: int = 0) -> None:
        super().__init__(app=app, ids_from=ids_from)
        self._sent: deque[webhooks.Sent] = deque(maxlen=1000)
        self._announced: deque[webhooks.Event] = deque()

    @property
    def webhooks_sent(self) -> list[webhooks.Sent]:
        """The latest webhooks, oldest first, and their results."""
        return list(self._sent)

    def deliver_webhook(
        self, event: str, payload: dict[str, Any], *, delivery_id: str | None = None
    ) -> webhooks.Sent:
        """Send one webhook now. `delivery_id` repeats the `X-GitHub-Delivery` of an earlier one."""
        if not self.app.webhook_url:
            raise ValueError("The app has no webhook URL.")
        return self._send(webhooks.Event(event, payload, delivery_id or str(uuid4())))

    def _send(self, event: webhooks.Event) -> webhooks.Sent:
        sent = replace(webhooks.send(event, self.app), at=self.now())
        self._sent.append(sent)
        return sent

    def send_announcements(self, *, in_background: bool) -> None:
        """Send the collected webhooks, now or in the background."""
        if in_background and self._announced:
            threading.Thread(target=self._send_all, daemon=True).start()
        elif self._announced:
            self._send_all()

    def _send_all(self) -> None:
        while True:
            try:
                event = self._announced.popleft()
            except IndexError:
                return
            self._send(event)

    def announce(
        self, event: str, action: str, *, installation: Installation, **details: Any
    ) -> None:
        """Collect a webhook, if the app has a URL for it and has subscribed to such events.

        `details` go into the payload; the sender is the installation's account unless they name another.
        """
        if not self.app.webhook_url or event not in (*ALWAYS_SENT, *self.app.events):
            return
        payload = {
            "action": action,
            "installation": github_json.installation(self, installation),
            "sender": github_json.account(self, installation.account),
            **details,
        }
        self._announced.append(webhooks.Event(event, payload, str(uuid4())))

    def announce_repository(self, action: str, repository: Repository, **details: Any) -> None:
        """Collect a webhook about a repository, if it is in an installation."""
        if installation := self.installation_for(repository):
            shape = github_json.repository(self, repository)
            self.announce(
                "repository", action, installation=installation, repository=shape, **details
            )

    def announce_issue(self, action: str, issue: Issue, *, by: str, **details: Any) -> None:
        """Collect a webhook about an issue, if its repository is in an installation."""
        if installation := self.installation_for(issue.repository):
            self.announce(
                "issues",
                action,
                installation=installation,
                issue=github_json.issue(self, issue),
                repository=github_json.repository(self, issue.repository),
                sender=github_json.account(self, self.account(by)),
                **details,
            )
