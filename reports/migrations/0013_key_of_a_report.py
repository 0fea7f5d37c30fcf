

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reports', '0012_key_of_a_lost_organization'),
    ]

    operations = [
        migrations.AlterField(
            model_name='report',
            name='dedup_key',
            field=models.CharField(editable=False, help_text="Empty once a repeat counts as a new report: this one is too old, was erased, or was another organization's.", max_length=80, null=True, unique=True),
        ),
    ]
