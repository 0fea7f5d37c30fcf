import django.db.models.functions.text
from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('orgs', '0014_fill_names_below'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='domain',
            index=models.Index(models.F('below'), django.db.models.functions.text.Length('name'), models.F('name'), condition=models.Q(('verified_at__isnull', False), models.Q(('below', ''), _negated=True)), name='domain_below'),
        ),
    ]
