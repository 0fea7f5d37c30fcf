from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """The app that takes reports in."""

    name = "reports"
