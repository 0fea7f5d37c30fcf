"""A database is filled through the product; `script/keep_release` keeps it for the tests of later versions."""

import os

import pytest
from django.apps import apps
from django.db import connection

from integrations.models import Alert
from tests.conftest import Clock
from tests.dns_server import DNSServer
from tests.upgrades import filling
from tests.upgrades.filling.world import Hub
from tests.upgrades.fullness import lacks
from tests.upgrades.kept import Kept

VERSION = os.environ.get("KEEP_RELEASE", "")
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
if not VERSION:  # one that is kept is needed of each database
    pytestmark.append(pytest.mark.sqlite)


@pytest.fixture
def hub(live_server, code_host) -> Hub:
    code_host.app.webhook_url = f"{live_server.url}/v1/webhooks/github"
    return Hub(code_host)


def test_every_table_and_every_state_is_filled(hub: Hub, dns: DNSServer, clock: Clock):
    filling.fill(hub, dns, clock)

    assert not lacks(apps)
    if VERSION:
        Kept(VERSION).keep()
    Alert.objects.filter(cause="rights").delete()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM integrations_visibility")
    assert lacks(apps) == [
        "integrations_visibility is empty",
        "integrations_alert.cause is never 'rights'",
    ]
