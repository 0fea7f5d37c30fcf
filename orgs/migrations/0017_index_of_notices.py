from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('orgs', '0016_kinds_of_notices'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='notice',
            index=models.Index(fields=['organization', 'id'], name='notice_of_organization'),
        ),
    ]
