from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0032_holds_of_organizations'),
    ]

    operations = [
        migrations.AddField(
            model_name='integration',
            name='mentions',
            field=models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, help_text='Whom the template may mention: logins, and teams as owner/team. Asked of GitHub when it is saved.'),
        ),
    ]
