"""What operators hold, and what the admin notes of it."""

from io import StringIO

from django.core.management import call_command
from django.test import Client

from core import client_address
from integrations.delivery import operator_holds
from integrations.models import Hold
from orgs.models import User
from tests.upgrades.filling.world import Hub

PAGE = "https://docs.operated.com/flood"
AGENT = "flooding agent"


def hold(hub: Hub) -> None:
    """alice is an operator: she holds a page, an agent, a source and an organization. Another one has left."""
    team = hub.team("operated")
    call_command("make_operator", "alice", stdout=StringIO())
    alice = User.objects.get(is_superuser=True)
    before = User.objects.create_user("operator", is_staff=True)
    _hold("page", PAGE, alice)
    operator_holds.follow()
    _hold("agent", AGENT, before)
    _hold("source", client_address.source("192.0.2.7"), before)
    _hold("organization", hub.team("stopped").organization.pk, alice)
    operator_holds.release(_hold("page", "https://released.example.org/", before))
    before.delete()
    team.send("Held by an operator", doc_url=PAGE)
    held = team.send("Held for its agent", agent__name=AGENT)
    browser = Client()
    browser.force_login(alice)
    chosen = {"action": "retry", "_selected_action": [held.pk]}
    browser.post("/admin/integrations/delivery/", chosen)


def _hold(kind: str, value: str, by: User) -> Hold:
    hold = Hold(kind=kind, value=operator_holds.checked(kind, value), reason="Made-up reports.")
    operator_holds.make(hold, by=by)
    return hold
