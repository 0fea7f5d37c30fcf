import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0022_visibility'),
    ]

    operations = [
        migrations.CreateModel(
            name='PastTry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(blank=True, help_text='As of the delivery.', max_length=16)),
                ('last_tried_at', models.DateTimeField(db_index=True)),
                ('installation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integrations.installation')),
            ],
            options={
                'verbose_name_plural': 'past tries',
                'indexes': [models.Index(fields=['installation', '-last_tried_at'], name='past_try_pace')],
            },
        ),
    ]
