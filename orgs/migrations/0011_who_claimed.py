from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('orgs', '0010_left_organizations'),
    ]

    operations = [
        migrations.AddField(
            model_name='domain',
            name='claimed_by',
            field=models.CharField(blank=True, db_default='', help_text='The login of the member who claimed it.', max_length=255),
        ),
        migrations.AddField(
            model_name='domain',
            name='claimed_by_number',
            field=models.BigIntegerField(blank=True, help_text='The number of their account on GitHub.', null=True),
        ),
    ]
