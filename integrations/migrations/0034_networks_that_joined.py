from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('integrations', '0033_mentions'),
        ('reports', '0013_test_reports'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='delivery',
            index=models.Index(condition=models.Q(('lead__isnull', False)), fields=['lead', 'source', 'id'], name='delivery_folded_of'),
        ),
    ]
