"""The webhooks that go with a change: collected under the lock, sent once it is free."""

import threading
from collections import deque
from typing import Any
from uuid import uuid4

from . import github_json, webhooks
from .records import App, Installation, Issue, Repository
from .state import State

ALWAYS_SENT = ("installation", "installation_repositories")


class Announcements(State):
    def __init__(self, *, app: App) -> None:
        super().__init__(app=app)
        self._sent: deque[webhooks.Sent] = deque(maxlen=1000)
        self._announced: deque[webhooks.Event] = deque()

    @property
    def webhooks_sent(self) -> list[webhooks.Sent]:
        """The latest webhooks, oldest first, and what became of them."""
        return list(self._sent)

    def deliver_webhook(
        self, event: str, payload: dict[str, Any], *, delivery_id: str | None = None
    ) -> webhooks.Sent:
        """Sends one webhook now. `delivery_id` repeats an earlier one's `X-GitHub-Delivery`."""
        if not self.app.webhook_url:
            raise ValueError("The app has no webhook URL.")
        return self._send(webhooks.Event(event, payload, delivery_id or str(uuid4())))

    def _send(self, event: webhooks.Event) -> webhooks.Sent:
        sent = webhooks.send(event, self.app)
        self._sent.append(sent)
        return sent

    def send_announcements(self, *, in_background: bool) -> None:
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
        """Notes a webhook, if the app has a URL for it and wants to hear of such events.

        `details` go into the payload; the sender is the installation's account unless they say so.
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
        if installation := self.installation_for(repository):
            shape = github_json.repository(self, repository)
            self.announce(
                "repository", action, installation=installation, repository=shape, **details
            )

    def announce_issue(self, action: str, issue: Issue, *, by: str) -> None:
        if installation := self.installation_for(issue.repository):
            self.announce(
                "issues",
                action,
                installation=installation,
                issue=github_json.issue(self, issue),
                repository=github_json.repository(self, issue.repository),
                sender=github_json.account(self, self.account(by)),
            )
