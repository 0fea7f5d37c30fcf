from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """The app that takes reports in."""

    name = "reports"

    def ready(self) -> None:
        from reports import receivers  # noqa: F401  (connects the signal)
