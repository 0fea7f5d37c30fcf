"""Templates that cost more than they say."""

from integrations.models import Integration
from tests import build
from tests.abuse.world import World, attack, milliseconds, stands_if

SLOW = 1000  # milliseconds, for a report and its issue


@attack
def template_of_list_items(world: World) -> str:
    """72 characters that took exponential time, from then on with every report."""
    return _report_through(world, "-  " * 24 + "x\n\n{details}")


def _report_through(world: World, template: str, **parts: str) -> str:
    """How long a report takes to become an issue by this template."""
    world.acme()
    Integration.objects.update(issue_template=template)
    with world.hub() as hub:
        took = milliseconds(lambda: hub.post(build.report(report__details="x", **parts)))
    return stands_if(took < SLOW, f"{took:.0f} ms for a report and its issue")
