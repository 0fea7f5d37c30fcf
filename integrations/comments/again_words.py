"""What a comment says of a problem that was reported again after its issue was closed."""

from collections.abc import Iterable
from datetime import datetime

from core import clock, counting
from integrations.comments import listing
from integrations.comments.listing import Item
from integrations.delivery.issue_states import AFTER
from integrations.github_api import CLOCKS_DIFFER
from integrations.models import Comment, Delivery
from integrations.models.delivery import DeliveryQuerySet

LISTED = 10  # reports, the newest: of each source one before a second
SPLIT = " The report that was listed here has an issue of its own now."


def text(comment: Comment) -> str | None:
    """What came again since then; None if that is nothing by now, and nothing was said."""
    if not (comment.comment_id or unerased(comment).exists()):
        return None
    came = said(comment) if is_over(comment) else reports(comment)
    newest = listing.newest_in_turn(came, LISTED)
    head = (
        "**Reported again after this was closed**\n\n"
        f"It was closed as completed on {comment.occasion:%-d %B %Y}.{'' if newest else SPLIT}"
    )
    items = [
        _item(each, item, comment)
        for each, item in zip(newest, listing.items_of(newest, comment), strict=True)
    ]
    return listing.filled(head, items, counting.up_to_most(came))


def reports(comment: Comment) -> DeliveryQuerySet:
    """The reports of this problem that came again, the newest first."""
    return _came(comment, listing.looked_at(comment.lead_id))


def unerased(comment: Comment) -> DeliveryQuerySet:
    """Those of them that are a reason to say that it came again, or to reopen the issue: they still have a text."""
    return reports(comment).filter(report__erased_at=None)


def said(comment: Comment) -> DeliveryQuerySet:
    """Those that had joined when it was posted, and the report with the issue; all, if that time is not known."""
    if comment.posted_at is None:
        return reports(comment)
    joined = Delivery.objects.filter(
        lead=comment.lead_id, folded_at__lt=clock.after(comment.posted_at)
    )
    newest = joined.order_by("-folded_at").values_list("pk", flat=True)[: counting.MOST]
    return _came(comment, newest)


def is_over(comment: Comment) -> bool:
    """Whether all of which it was said was discarded, split off or erased since then."""
    return bool(comment.comment_id) and not said(comment).filter(report__erased_at=None).exists()


def _came(comment: Comment, joined: Iterable[int]) -> DeliveryQuerySet:
    since = comment.occasion + AFTER - CLOCKS_DIFFER
    came = _since(since, [comment.lead_id, *joined])
    return came.select_related("report").order_by("-report__last_received_at", "-pk")


def came_since(lead_id: int, since: datetime) -> DeliveryQuerySet:
    """Of the report with this issue, and the latest that have joined it: those that came since then."""
    return _since(since, [lead_id, *listing.looked_at(lead_id)])


def _since(since: datetime, looked_at: list[int]) -> DeliveryQuerySet:
    return Delivery.objects.filter(pk__in=looked_at, report__last_received_at__gte=since)


def _item(delivery: Delivery, item: Item, comment: Comment) -> Item:
    """A report: what it says if it is new, and else how often it came."""
    report = delivery.report
    is_lead = delivery.pk == comment.lead_id
    if report.received_at > comment.occasion and not is_lead:
        return item
    again = f"The same report, {counting.in_words(report.times_reported)} times by now."
    summary = again if is_lead else f"{again} {item.summary}"
    return item._replace(date=f"{report.last_received_at:%-d %B %Y}", summary=summary, words="")
