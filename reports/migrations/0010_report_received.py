from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('reports', '0009_page_of_a_report'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='report',
            index=models.Index(condition=models.Q(('organization__isnull', False), ('withheld_for__isnull', True)), fields=['organization', 'received_at', 'id'], name='report_received'),
        ),
    ]
