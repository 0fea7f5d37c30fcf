from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('integrations', '0013_signal'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='delivery',
            index=models.Index(condition=models.Q(('lead__isnull', False)), fields=['lead', 'id'], name='delivery_folded'),
        ),
    ]
