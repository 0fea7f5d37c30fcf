from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0005_fair_share_of_a_source'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('status', 'held')), fields=['integration', 'held_for'], name='delivery_held'),
        ),
    ]
