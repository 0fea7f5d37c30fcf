from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0017_folded_has_a_lead'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='issue_updated_at',
            field=models.DateTimeField(blank=True, help_text="GitHub's time of what is known of the issue.", null=True),
        ),
    ]
