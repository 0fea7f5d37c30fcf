from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    """The app that delivers reports to GitHub."""

    name = "integrations"

    def ready(self) -> None:
        from integrations import receivers  # noqa: F401  (connects the signals)
