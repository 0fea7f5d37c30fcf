"""The Hub's key for hashes that are looked up again, also while the key is replaced."""

from django.conf import settings


def lasting() -> str:
    """The key that stays the same for all processes until the last of `HUB_SECRET_KEY_FALLBACKS` is removed."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS][-1]
