"""`python -m tests.abuse.led …`: `manage.py …`, for which the hosts of claims are on loopback."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    from orgs.discovery import fetching

    context = fetching.trust(os.environ["LED_CERTIFICATE"])
    fetching.PORT = int(os.environ["LED_PORT"])
    fetching.public_addresses = lambda *_: ["127.0.0.1"]
    fetching.trust = lambda: context
    execute_from_command_line(sys.argv)
