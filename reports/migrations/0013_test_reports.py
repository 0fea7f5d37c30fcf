from django.db import migrations, models
from django.db.models import Value
from django.db.models.functions import Concat


def mark_test_reports(apps, schema_editor):
    """They were told by the name of their agent before, which strangers can send, too; their text is the Hub's."""
    tests = apps.get_model("reports", "Report").objects.filter(
        agent_name="Docs Feedback Hub",
        summary="Test report: this is how reports arrive",
        details="A maintainer sent this from the Hub to try it. There is nothing to fix.",
        dedup_key__startswith="key:",  # each had one of its own; a stranger's of this name keeps its key
    )
    tests.update(dedup_key=Concat(Value("test:"), "id"))


class Migration(migrations.Migration):

    dependencies = [
        ('reports', '0012_key_of_a_lost_organization'),
    ]

    operations = [
        migrations.RunPython(mark_test_reports, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='report',
            name='dedup_key',
            field=models.CharField(editable=False, help_text="Empty once a repeat counts as a new report: this one is too old, was erased, or was another organization's.", max_length=80, null=True, unique=True),
        ),
    ]
