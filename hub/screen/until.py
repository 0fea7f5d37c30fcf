"""Until when a page has looked: its form sends that back, so that what has come since is left."""

from datetime import UTC, datetime

from django.http import HttpRequest


def sent(request: HttpRequest) -> datetime | None:
    """The time that the form sends; None if it does not say. Raises `ValueError`."""
    said = request.POST.get("until")
    try:
        return None if said is None else datetime.fromisoformat(said).astimezone(UTC)
    except OverflowError as error:
        raise ValueError from error
