from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('orgs', '0015_index_of_names_below'),
    ]

    operations = [
        migrations.AddField(
            model_name='notice',
            name='kind',
            field=models.CharField(blank=True, choices=[('lost', 'Lapsed, or lapses soon'), ('taken', "Now somebody else's"), ('below', 'Below a name of yours'), ('gained', 'Now yours'), ('unproved', 'Not proved in time'), ('gone', 'Claims of a former member'), ('refused', 'A file that refuses reports'), ('rights', 'Push access'), ('declined', 'An invitation'), ('operator', 'By an operator')], db_default='', max_length=10),
        ),
    ]
