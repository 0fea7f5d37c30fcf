from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hub", "0002_github_app_offer")]

    operations = [
        migrations.CreateModel(
            name="CodeHost",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.CharField(max_length=300)),
            ],
        )
    ]
