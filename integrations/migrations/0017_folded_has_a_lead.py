from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0016_find_what_follows'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('folded_at__isnull', False), ('lead__isnull', False), ('status', 'folded')), models.Q(models.Q(('status', 'folded'), _negated=True), ('lead__isnull', True)), _connector='OR'), name='delivery_folded_has_lead'),
        ),
    ]
