from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('integrations', '0014_find_what_is_folded'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='delivery',
            index=models.Index(condition=models.Q(('maybe_lead__isnull', False)), fields=['maybe_lead'], name='delivery_maybe_lead'),
        ),
    ]
