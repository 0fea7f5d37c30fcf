"""What an organization chooses about its issues, besides the repository and the template."""

from typing import Any, NamedTuple

from integrations.models import Integration


class Choices(NamedTuple):
    """What is chosen, by the columns of the integration; None leaves one as it is."""

    likeness: str | None = None
    when_reported_again: str | None = None
    shows_known: bool | None = None

    @classmethod
    def of(cls, integration: Integration) -> "Choices":
        """What is chosen now."""
        return cls(*(getattr(integration, name) for name in cls._fields))

    def columns(self) -> dict[str, Any]:
        """The columns that change."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def set_on(self, integration: Integration) -> None:
        """Set them on the integration. Not saved."""
        for name, value in self.columns().items():
            setattr(integration, name, value)
