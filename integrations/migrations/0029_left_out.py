from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0028_out_of_sight'),
    ]

    operations = [
        migrations.AddField(
            model_name='comment',
            name='left_out',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list, help_text='Of those, by their keys, what was only ever listed without its text.'),
        ),
    ]
