"""Whether GitHub has signed a webhook, with a secret of the app.

https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
"""

import hashlib
import hmac

from django.conf import settings
from django.utils.crypto import constant_time_compare

HEADER = "X-Hub-Signature-256"


def is_signed(body: bytes, signature: str) -> bool:
    """Whether the signature in `HEADER` matches that of a secret; never without one."""
    secrets = [settings.HUB_GITHUB_WEBHOOK_SECRET, *settings.HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS]
    signatures = [
        hmac.new(each.encode(), body, hashlib.sha256).hexdigest() for each in secrets if each
    ]
    return any(constant_time_compare(signature, f"sha256={each}") for each in signatures)
