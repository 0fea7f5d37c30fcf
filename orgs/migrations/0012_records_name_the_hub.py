import orgs.models.challenge
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('orgs', '0011_who_claimed'),
    ]

    operations = [
        migrations.AlterField(
            model_name='domain',
            name='challenge',
            field=models.CharField(default=orgs.models.challenge.new_challenge, editable=False, max_length=300, unique=True),
        ),
        migrations.AlterField(
            model_name='earlierchallenge',
            name='challenge',
            field=models.CharField(max_length=300, unique=True),
        ),
    ]
