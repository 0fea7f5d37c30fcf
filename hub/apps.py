from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class HubConfig(AppConfig):
    name = "hub"

    def ready(self) -> None:
        from hub import checks  # noqa: F401  (registers them)


class OperatorsConfig(AdminConfig):
    """The admin, as an app of its own; `hub.admin` says what else is in it."""

    default_site = "hub.operators.Operators"
