from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0006_find_what_is_held'),
    ]

    operations = [
        migrations.AddField(
            model_name='integration',
            name='rights_asked_to',
            field=models.BigIntegerField(default=0, editable=False, help_text='The last membership that an unfinished look has asked about; 0: none is unfinished.'),
        ),
    ]
