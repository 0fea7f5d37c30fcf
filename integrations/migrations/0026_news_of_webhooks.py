from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0025_turn_of_what_is_known'),
    ]

    operations = [
        migrations.AddField(
            model_name='webhook',
            name='installation_id',
            field=models.BigIntegerField(blank=True, help_text="GitHub's number of the installation that it brings news of, or of a repository of it.", null=True),
        ),
        migrations.AddField(
            model_name='webhook',
            name='repository_id',
            field=models.BigIntegerField(blank=True, help_text="GitHub's number of the repository that it brings news of.", null=True),
        ),
    ]
