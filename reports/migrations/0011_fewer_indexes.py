import django.db.models.deletion
from django.db import migrations, models

from core.migrating import RemoveIndexesWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('reports', '0010_report_received'),
    ]

    operations = [
        RemoveIndexesWhileServing(
            indexes=[
                'reports_report_id_9fd8b4ee_like',
                'reports_report_dedup_key_feb9ec7d_like',
                'report_readable',
                'reports_report_organization_id_7b98c560_like',
                'reports_account_report_id_2c7abe7e_like',
                'reports_account_report_id_2c7abe7e',
            ],
            state_operations=[
                migrations.RemoveIndex(model_name='report', name='report_readable'),
                migrations.AlterField(
                    model_name='account',
                    name='report',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='accounts', to='reports.report'),
                ),
            ],
        ),
    ]
