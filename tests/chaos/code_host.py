"""The stand-in for GitHub, whose webhooks may be lost, late or sent again."""

from sandbox import CodeHost, Sent
from sandbox.webhooks import Event


class ChaosHost(CodeHost):
    """`webhooks` is what becomes of them: "sent", "lost", "late" or "replayed"."""

    webhooks = "sent"

    def _send(self, event: Event) -> Sent:
        return super()._send(event)
