from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('orgs', '0009_former_addresses'),
    ]

    operations = [
        migrations.AddField(
            model_name='organization',
            name='left_at',
            field=models.DateTimeField(blank=True, help_text='When its last owner left: what it has is being deleted, and then it.', null=True),
        ),
        migrations.AddIndex(
            model_name='organization',
            index=models.Index(condition=models.Q(('left_at__isnull', False)), fields=['left_at'], name='organization_left'),
        ),
    ]
