from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('integrations', '0015_find_what_is_hinted'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='delivery',
            index=models.Index(condition=models.Q(('follows__isnull', False)), fields=['follows'], name='delivery_follows'),
        ),
    ]
