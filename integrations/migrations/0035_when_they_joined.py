from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('integrations', '0034_networks_that_joined'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='delivery',
            index=models.Index(condition=models.Q(('lead__isnull', False)), fields=['lead', 'folded_at'], name='delivery_folded_at'),
        ),
    ]
