from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('orgs', '0012_records_name_the_hub'),
    ]

    operations = [
        migrations.AddField(
            model_name='domain',
            name='below',
            field=models.CharField(blank=True, db_default='', editable=False, help_text='The registrable name that it was below when it was verified; empty if it was one.', max_length=253),
        ),
    ]
