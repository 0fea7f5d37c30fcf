from django.db import migrations, models

from core.migrating import AddIndexWhileServing


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('orgs', '0008_repositories'),
        ('reports', '0008_what_nobody_has_claimed'),
    ]

    operations = [
        AddIndexWhileServing(
            model_name='report',
            index=models.Index(models.Func(models.F('organization'), models.Func(models.F('canonical_url'), 1, 200, function='SUBSTR'), template='(%(expressions)s)', arg_joiner=' || ', output_field=models.TextField()), models.F('received_at'), models.F('id'), condition=models.Q(('organization__isnull', False), ('withheld_for__isnull', True)), name='report_of_page'),
        ),
    ]
