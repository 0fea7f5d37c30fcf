from django.db import migrations, models
from django.db.models import functions, lookups

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('integrations', '0029_left_out'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='delivery',
            index=models.Index(condition=models.Q(lookups.Exact(functions.Upper('status'), models.Value('PENDING'))), fields=['integration', 'source', 'turn', 'due_at', 'id'], name='delivery_turn_of_source'),
        ),
    ]
