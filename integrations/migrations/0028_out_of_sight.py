from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0027_alert_in_order'),
    ]

    operations = [
        migrations.AddField(
            model_name='integration',
            name='was_public',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether it counts as private only because GitHub cannot be asked whether it is public still.'),
        ),
    ]
