from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0021_has_pages'),
    ]

    operations = [
        migrations.CreateModel(
            name='Visibility',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('repository_id', models.BigIntegerField(help_text="GitHub's number of it.", unique=True)),
                ('is_private', models.BooleanField()),
                ('installation_id', models.BigIntegerField(help_text="GitHub's number of the installation through which it was heard of.")),
            ],
            options={
                'verbose_name_plural': 'visibilities',
            },
        ),
    ]
