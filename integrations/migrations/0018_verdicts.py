from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0017_folded_has_a_lead'),
    ]

    operations = [
        migrations.AddField(
            model_name='verdict',
            name='with_all',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether all that had joined the lead were split off at once.'),
        ),
    ]
