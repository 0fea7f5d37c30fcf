from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0036_when_issues_were_asked_about'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='changed_at',
            field=models.DateTimeField(db_default=Now(), help_text='When its status or cause last changed, or its report became readable or got other words.'),
        ),
    ]
