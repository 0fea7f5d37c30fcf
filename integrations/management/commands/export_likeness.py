"""`manage.py export_likeness`: pairs of reports, and whether they are the same problem."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Q

from core.command import Group, HubCommand
from core.progress import Progress
from integrations.folding import labels
from orgs.models import Organization

NAMED = 5  # ids, where several organizations have the name


class Command(HubCommand):
    help = (
        "Prints pairs of reports as JSON, one a line: those of which members have said that they are "
        "the same problem, or not; those that joined an issue, or were hinted to be maybe the same, where "
        "nobody has said anything. What was erased or is withheld is left out. It has the reports' text."
    )
    group = Group.KEEP
    summary = "prints which reports are the same problem, as labels"
    examples = {
        "export_likeness": "of all organizations",
        "export_likeness --organization acme": "of one, by its id or its name",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--organization", help="only of the organization of this id, or of this name"
        )

    def handle(self, *args: Any, organization: str | None, **options: Any) -> None:
        kinds = labels.kinds(_chosen(organization) if organization else None)
        progress = Progress(self.stderr, sum(kind.rows.count() for kind in kinds))
        for kind in kinds:
            for pair in labels.pairs_of(kind):
                self.stdout.write(json.dumps(pair, cls=DjangoJSONEncoder))
                progress.step()


def _chosen(text: str) -> Organization:
    """The organization of this id, or else the only one of this name."""
    for same in (Q(pk=text), Q(name=text)):
        found = list(Organization.objects.filter(same).order_by("pk"))
        if len(found) > 1:
            ids = ", ".join(each.pk for each in found[:NAMED])
            raise CommandError(f"{len(found)} organizations are named {text}. Give an id: {ids}.")
        if found:
            return found[0]
    raise CommandError(f"There is no organization {text}. Give its name or its id.")
