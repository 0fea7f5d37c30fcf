import django.db.models.deletion
from django.db import migrations, models

from core.migrating import RemoveIndexesWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('integrations', '0019_when_an_issue_changed'),
    ]

    operations = [
        RemoveIndexesWhileServing(
            indexes=[
                'integrations_delivery_report_id_9ec32cb3_like',
                'integrations_delivery_integration_id_03478aaa',
                'integrations_attempt_delivery_id_6229bb9d',
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='delivery',
                    name='integration',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='integrations.integration'),
                ),
                migrations.AlterField(
                    model_name='attempt',
                    name='delivery',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='integrations.delivery'),
                ),
            ],
        ),
    ]
