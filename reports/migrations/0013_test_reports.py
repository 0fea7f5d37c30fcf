

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reports', '0012_key_of_a_lost_organization'),
    ]

    operations = [
        # test reports were told by the name of their agent before; their text is that of the Hub
        migrations.RunSQL(
            """
            UPDATE reports_report SET dedup_key = 'test:' || id
            WHERE agent_name = 'Docs Feedback Hub' AND dedup_key NOT LIKE 'test:%'
            AND summary = 'Test report: this is how reports arrive'
            """,
            migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name='report',
            name='dedup_key',
            field=models.CharField(editable=False, help_text="Empty once a repeat counts as a new report: this one is too old, was erased, or was another organization's.", max_length=80, null=True, unique=True),
        ),
    ]
