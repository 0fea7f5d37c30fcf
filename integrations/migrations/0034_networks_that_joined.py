from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0033_mentions'),
        ('reports', '0013_test_reports'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('lead__isnull', False)), fields=['lead', 'source', 'id'], name='delivery_folded_of'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('lead__isnull', False)), fields=['lead', 'folded_at'], name='delivery_folded_at'),
        ),
    ]
