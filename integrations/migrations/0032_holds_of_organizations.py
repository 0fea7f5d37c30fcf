import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0031_turn_of_known'),
    ]

    operations = [
        migrations.AlterField(
            model_name='delivery',
            name='operator_hold',
            field=models.ForeignKey(blank=True, db_index=False, editable=False, help_text='The hold of a page, an agent, a source or its organization that holds it, or has held it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='integrations.hold'),
        ),
        migrations.AlterField(
            model_name='hold',
            name='kind',
            field=models.CharField(choices=[('page', 'Page'), ('agent', 'Agent'), ('source', 'Source'), ('organization', 'Organization')], max_length=12),
        ),
        migrations.AlterField(
            model_name='hold',
            name='value',
            field=models.TextField(help_text='The address of the page, the name of the agent as it writes it, a source from Deliveries now, or the id of the organization.'),
        ),
    ]
