"""Until when a page has looked: its form sends that back, so that what has come since is left."""

from datetime import UTC, datetime

from django.http import HttpRequest

from integrations.api.report_filters import FIRST_YEAR, LAST_YEAR


def sent(request: HttpRequest) -> datetime | None:
    """The time that the form sends; None if it does not say. Raises `ValueError`."""
    said = request.POST.get("until")
    return None if said is None else _time(said)


def _time(said: str) -> datetime:
    """A time that both databases and Python can compare with. Raises `ValueError`."""
    try:
        time = datetime.fromisoformat(said).astimezone(UTC)
    except OverflowError as error:
        raise ValueError from error
    if not FIRST_YEAR <= time.year <= LAST_YEAR:
        raise ValueError
    return time
