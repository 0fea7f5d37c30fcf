from typing import Any

from django.conf import settings
from django.db import migrations

from orgs.domains import hosts

BATCH = 500


def say_what_they_are_below(apps: Any, schema_editor: Any) -> None:
    """Fill the column of claims that are verified, of which names below a proved one are listed."""
    domains = apps.get_model("orgs", "Domain").objects.using(schema_editor.connection.alias)
    verified = domains.filter(verified_at__isnull=False, registrable=False)
    some = []
    for domain in verified.iterator(chunk_size=BATCH):
        above = hosts.registrable(domain.name, pages_host=settings.HUB_PAGES_HOST)
        domain.below = "" if above == domain.name else above
        some.append(domain)
    domains.bulk_update(some, ["below"], batch_size=BATCH)


class Migration(migrations.Migration):

    dependencies = [
        ('orgs', '0013_names_below'),
    ]

    operations = [
        migrations.RunPython(say_what_they_are_below, migrations.RunPython.noop),
    ]
