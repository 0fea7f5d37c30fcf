from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0026_news_of_webhooks'),
    ]

    operations = [
        migrations.AddField(
            model_name='alert',
            name='issue_updated_at',
            field=models.DateTimeField(blank=True, help_text="GitHub's time of the last webhook about the issue.", null=True),
        ),
    ]
