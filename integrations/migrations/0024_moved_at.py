from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0023_past_tries'),
    ]

    operations = [
        migrations.AddField(
            model_name='integration',
            name='moved_at',
            field=models.DateTimeField(blank=True, help_text='When it came to its installation from another one, at which counts what it has tried before.', null=True),
        ),
    ]
