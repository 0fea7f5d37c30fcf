"""Checks of the configuration for Django's `check`."""

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, URLValidator
from django.db import connections

from orgs.domains.txt_records import configured_servers

HOST = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+")  # not all that is below `com`
ALIKE, SHORTEST = 0.85, 8  # of names: how alike, and how many characters


@checks.register(checks.Tags.database)
def no_atomic_requests(
    app_configs: Any, databases: Any, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Refuse ATOMIC_REQUESTS: deliveries must start after the transaction of their report."""
    return [
        checks.Error(
            f"ATOMIC_REQUESTS is on for the database {alias!r}.",
            hint="Remove it from DATABASE_URL: the Hub opens its own transactions.",
            id="hub.E001",
        )
        for alias in connections
        if connections[alias].settings_dict.get("ATOMIC_REQUESTS")
    ]


@checks.register(deploy=True)
def no_trial(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn about `HUB_DEBUG`, as Django does about `DEBUG`, which the Hub never sets."""
    if not settings.HUB_DEBUG:
        return []
    hint = "It is for trials on your own machine only: unset it."
    return [checks.Warning("HUB_DEBUG is on.", hint=hint, id="hub.W001")]


@checks.register
def contact_can_be_written_to(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Refuse a `HUB_CONTACT` that is no link: every page has it in its footer."""
    contact = settings.HUB_CONTACT
    if not contact or _is_contact(contact):
        return []
    return [
        checks.Error(
            f"HUB_CONTACT is {contact!r}.",
            hint="Set it to an e-mail address, or to the https:// address of a page.",
            id="hub.E002",
        )
    ]


@checks.register
def dns_servers_can_be_asked(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Refuse `HUB_DNS_SERVERS` that are no addresses: no domain could be verified."""
    try:
        configured_servers()
    except ValueError as error:
        servers = f"HUB_DNS_SERVERS is {settings.HUB_DNS_SERVERS!r}: {error}."
        hint = "Set it to a list of ip[:port], such as 192.0.2.1,192.0.2.2:5353."
        return [checks.Error(servers, hint=hint, id="hub.E003")]
    return []


@checks.register
def pages_host_is_a_name(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Refuse a `HUB_PAGES_HOST` that is no host name: nobody could claim a site. Empty, there is none."""
    host = settings.HUB_PAGES_HOST
    if not host or HOST.fullmatch(host):
        return []
    hint = "Set it to the host name of the code host's static sites, such as github.io."
    return [checks.Error(f"HUB_PAGES_HOST is {host!r}.", hint=hint, id="hub.E004")]


@checks.register
def names_are_right(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn about variables with nearly the name of a setting: they change nothing."""
    return [
        checks.Warning(f"{name} is no setting.", hint=f"Do you mean {meant}?", id="hub.W002")
        for name, meant in misspelt(os.environ).items()
    ]


def misspelt(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with nearly the name of a setting, or with our prefix too much, and that name."""
    found = {}
    for name in sorted(environment.keys() - settings.READ):
        bare, value = name.removeprefix("HUB_"), environment[name]
        if bare in settings.READ and not value.startswith(
            "tcp://"
        ):  # which Kubernetes sets for a service
            found[name] = bare
        elif len(name) >= SHORTEST and (near := get_close_matches(name, settings.READ, 1, ALIKE)):
            found[name] = near[0]
    return found


def _is_contact(text: str) -> bool:
    valid = URLValidator(["https"]) if ":" in text else EmailValidator()
    try:
        valid(text)
    except ValidationError:
        return False
    return True
