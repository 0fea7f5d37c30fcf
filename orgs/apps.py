from django.apps import AppConfig


class OrgsConfig(AppConfig):
    """The app of organizations, people and claims."""

    name = "orgs"
    verbose_name = "Organizations"
