from django.db import migrations

from core.migrating import RemoveIndexesWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('integrations', '0030_turn_of_source'),
    ]

    operations = [
        RemoveIndexesWhileServing(
            indexes=['delivery_turn_of_known'],
            state_operations=[
                migrations.RemoveIndex(model_name='delivery', name='delivery_turn_of_known'),
            ],
        ),
    ]
