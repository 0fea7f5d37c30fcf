"""Downloads of any length: a few per member, one at a time, and a few at once altogether."""

from collections.abc import Generator
from contextlib import closing

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase

from core.at_once import AtOnce
from core.error_answers import page_error
from core.errors import ApiError
from hub.screen.access import MemberRequest
from orgs.people import counted

RATE = "10/minute"  # of each owner, and of all other members together


downloads = AtOnce(1, "Another download of your organization is in progress. Please try again.")
altogether = AtOnce(
    3, "The Hub is making other downloads at the moment. Please try again in a minute."
)


def download(
    request: MemberRequest, text: Generator[str, None, None], *, name: str, content_type: str
) -> HttpResponseBase:
    """`text`, produced piece by piece, as a file; 429 if the organization, or the Hub, has too many."""
    try:
        counted.check(request.membership, RATE, "downloads", what="downloads")
        alone = _alone(counted.whose(request.membership), text)
        next(alone)
    except ApiError as error:
        return page_error(request, error)
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(alone, content_type=content_type, headers=disposition)


def _alone(whose: str, text: Generator[str, None, None]) -> Generator[str, None, None]:
    """`text` after an empty piece, while no other download for the same is made, and few of others."""
    with downloads.one(whose), altogether.one("all"), closing(text):
        yield ""
        yield from text
