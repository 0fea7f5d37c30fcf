"""Where to ask for the receipt of a report: by its ID at the Hub that is set, or at its own address."""

from __future__ import annotations

import re
from typing import Optional

from . import address, settings, web
from .contract import message
from .errors import PrivateAddress, ValidationError

REPORT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
RECEIPT = re.compile(
    r"(https?://[^?#]+?)/(?:r|v1/reports)/([A-Za-z0-9_-]{1,64})/?(?:[?#].*)?",
    re.ASCII | re.IGNORECASE,
)


def request(report: str, hub_url: Optional[str], *, allow_private: bool) -> web.Request:
    """The request for the receipt; `report` is an ID, or the URL of a receipt.

    A URL that is not at the Hub that is set, nor on this machine, must be https and public.
    """
    if not isinstance(report, str):
        raise ValidationError.of("not_a_report_id", name=report)
    if REPORT_ID.fullmatch(report):
        return _at(settings.required_hub_url(hub_url), report)
    match = RECEIPT.fullmatch(report) if settings.VISIBLE.fullmatch(report) else None
    if match is None or not settings.is_hub_url(match[1]):
        raise ValidationError.of("not_a_report_id", name=settings.without_user_info(report))
    hub = settings.base(match[1])
    known = allow_private or address.is_loopback(hub) or _is_set(hub, hub_url)
    if not known:
        _refuse_private(hub)
    return _at(hub, match[2], public_only=not known)


def _at(hub: str, report_id: str, *, public_only: bool = False) -> web.Request:
    url = f"{hub}{settings.REPORTS}/{report_id}"
    return web.Request("GET", url, web.ACCEPT, public_only=public_only)


def _is_set(hub: str, hub_url: Optional[str]) -> bool:
    known = settings.hub_url(hub_url)
    return known is not None and settings.one_spelling(known) == settings.one_spelling(hub)


def _refuse_private(hub: str) -> None:
    try:
        place = address.parse(hub)
        if place is not None:
            address.judge(place)
    except address.Refused as refused:
        sentence = message("private_receipt", url=hub)
        fields = {"reason": refused.code}
        raise PrivateAddress("private_address", sentence, fields=fields) from None
