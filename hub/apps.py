from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class HubConfig(AppConfig):
    """The app of the project itself: pages, commands, leases."""

    name = "hub"

    def ready(self) -> None:
        from hub import (  # noqa: F401
            checks,  # registers them
            error_reports,
            greeting,  # connects the signal
            workers,  # connects the signal
        )

        error_reports.begin()


class OperatorsConfig(AdminConfig):
    """The admin site; `hub.operators` is its class, and `hub.admin` adds to it."""

    default_site = "hub.operators.Operators"
