"""Files of any length, for a member's own disk: few for each organization, one at a time."""

from collections.abc import Generator, Iterator
from threading import Lock
from weakref import WeakValueDictionary

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase

from hub.errors import page_error
from hub.settings_pages.access import MemberRequest
from orgs import rates
from orgs.errors import ApiError

RATE = "10/minute"  # for each organization


class UnderWay(ApiError):
    status_code = 429
    default_code = "rate_limited"
    default_detail = "Another download is just being made for you or your colleagues. Try again."


def download(
    request: MemberRequest, text: Generator[str, None, None], *, name: str, content_type: str
) -> HttpResponseBase:
    """`text`, made piece by piece, as a file of that name; 429 where it is one too many."""
    organization = request.membership.organization
    try:
        rates.check(RATE, "downloads", organization.pk, what="downloads")
        alone = _Alone(organization.pk, text)
    except ApiError as error:
        return page_error(request, error)
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(alone, content_type=content_type, headers=disposition)


class _Alone:
    """`text`, while no other is made for the organization in this process, until it is closed."""

    def __init__(self, organization_id: str, text: Generator[str, None, None]) -> None:
        self._organization_id, self._text = organization_id, text
        with _entering:
            if organization_id in _under_way:
                raise UnderWay(headers={"Retry-After": "5"})
            _under_way[organization_id] = self

    def __iter__(self) -> Iterator[str]:
        return self._text

    def close(self) -> None:
        self._text.close()
        _under_way.pop(self._organization_id, None)


_entering = Lock()
_under_way: WeakValueDictionary[str, _Alone] = WeakValueDictionary()  # one that is lost is no bar
