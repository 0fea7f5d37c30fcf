from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0035_when_they_joined'),
    ]

    operations = [
        migrations.AddField(
            model_name='integration',
            name='issues_asked_at',
            field=models.DateTimeField(blank=True, help_text='When GitHub last answered what became of the issues in the repository.', null=True),
        ),
    ]
