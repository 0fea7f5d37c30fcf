from django.db import migrations, models
from django.db.models import Max


def hide_what_was_left(apps, schema_editor):
    """Repositories that no integration has: nobody knows any more which of them GitHub would tell us about.

    `maintain` hides the links to their issues.
    """
    chosen = apps.get_model("integrations", "Integration").objects.filter(repository_id__isnull=False)
    shown = apps.get_model("integrations", "Delivery").objects.filter(
        issue_number__isnull=False, repository_private=False
    )
    left = shown.exclude(repository_id__in=chosen.values("repository_id"))
    through = left.values_list("repository_id").annotate(Max("integration__installation__github_id"))
    visibility = apps.get_model("integrations", "Visibility")
    visibility.objects.bulk_create(
        [
            visibility(repository_id=each, is_private=True, installation_id=installation)
            for each, installation in through
        ],
        batch_size=500,
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0027_alert_in_order'),
    ]

    operations = [
        migrations.AddField(
            model_name='integration',
            name='was_public',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether it counts as private only because GitHub cannot be asked whether it is public still.'),
        ),
        migrations.RunPython(hide_what_was_left, migrations.RunPython.noop),
    ]
