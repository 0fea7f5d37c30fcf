from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import migrations

from core import batches
from orgs.domains import hosts


def say_what_they_are_below(apps: Any, schema_editor: Any) -> None:
    """Fill the column of claims that are verified, of which names below a proved one are listed."""
    domains = apps.get_model("orgs", "Domain").objects.using(schema_editor.connection.alias)
    verified = domains.filter(verified_at__isnull=False, registrable=False).order_by("pk")
    sum(batches.at_leisure(lambda: True, _filled(verified)))


def _filled(verified: Any) -> Iterator[int]:
    some = list(verified[: batches.BATCH])
    while some:
        for domain in some:
            above = hosts.registrable(domain.name, pages_host=settings.HUB_PAGES_HOST)
            domain.below = "" if above == domain.name else above
        yield verified.bulk_update(some, ["below"])
        some = list(verified.filter(pk__gt=some[-1].pk)[: batches.BATCH])


class Migration(migrations.Migration):
    atomic = False  # each batch is saved by itself: claims are checked, and reports stored, in between

    dependencies = [
        ('orgs', '0013_names_below'),
    ]

    operations = [
        migrations.RunPython(say_what_they_are_below, migrations.RunPython.noop),
    ]
