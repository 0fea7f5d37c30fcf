from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0036_when_issues_were_asked_about'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='decided_at',
            field=models.DateTimeField(blank=True, help_text='When a member last discarded or restored it.', null=True),
        ),
    ]
