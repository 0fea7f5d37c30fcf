import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('orgs', '0008_repositories'),
    ]

    operations = [
        migrations.CreateModel(
            name='FormerAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(max_length=253)),
                ('path', models.CharField(help_text='As the claim had it: `/owner/repository/`.', max_length=255)),
                ('repository_id', models.BigIntegerField(help_text="GitHub's number of the repository.")),
                ('left_at', models.DateTimeField(help_text='When its claim moved on.')),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, db_constraint=False, related_name='former_addresses', to='orgs.organization')),
            ],
            options={
                'verbose_name_plural': 'former addresses',
                'constraints': [models.UniqueConstraint(fields=('organization', 'host', 'path'), name='former_address_once')],
            },
        ),
    ]
