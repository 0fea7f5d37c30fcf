"""The list of those that also reported a problem, below its issue: safe to read, and without secrets."""

from collections import Counter
from collections.abc import Collection
from operator import itemgetter
from typing import NamedTuple

from django.conf import settings
from django.db.models import Sum

from core import counting
from core.prepared import PreparedStatement
from integrations.delivery import ownership_changes
from integrations.issue.rendering import BODY_LIMIT, inert_title, shown
from integrations.issue.secrets_at_seams import without_secrets_at_seams
from integrations.models import Comment, Delivery
from integrations.models.delivery import ERASED, FORGOTTEN, DeliveryQuerySet
from reports import secrets
from reports.models import Report
from reports.screening import SecretInAddress

LISTED = 30  # of those that joined, the newest: of each source one before a second
LONGEST = {"summary": 256, "agent_name": 100, "words": 500}  # characters
TITLE = "**Also reported**"
NOBODY = "The reports that were listed here have issues of their own now."
NOT_SHOWN = "Its text is not shown here."
BY_A_MEMBER = "A member says that it is the same problem."
_NEIGHBORS = "{agent_name}\n\n  {summary}"  # of what anybody wrote, in a line of the list


NEWEST_OF_EACH = PreparedStatement(
    "Which is the newest report of each source among those that have joined this issue?",
    """
    WITH RECURSIVE newest (id, source) AS (
        SELECT id, source FROM (
            SELECT d.id, d.source FROM integrations_delivery d
            WHERE d.lead_id >= %s AND d.lead_id <= %s
            ORDER BY d.lead_id DESC, d.source DESC, d.id DESC LIMIT 1
        ) found
        UNION ALL
        SELECT d.id, d.source FROM newest JOIN integrations_delivery d ON d.id = (
            SELECT o.id FROM integrations_delivery o
            WHERE o.lead_id >= %s AND (o.lead_id, o.source) < (%s, newest.source)
            ORDER BY o.lead_id DESC, o.source DESC, o.id DESC LIMIT 1
        )
    )
    SELECT id FROM newest LIMIT %s
    """,
)


class Item(NamedTuple):
    """One report of the list; its texts are as reported."""

    report_id: str
    agent_name: str
    date: str
    summary: str
    words: str

    @property
    def without_text(self) -> "Item":
        """The same, without what anybody wrote."""
        return self._replace(agent_name="", summary=NOT_SHOWN, words="")


def text(comment: Comment) -> str | None:
    """The whole list; None if nothing has joined the issue, and there is no list yet."""
    lead = comment.lead
    joined = Delivery.objects.filter(pk__in=looked_at(lead.pk)).order_by("-pk")
    newest = newest_in_turn(joined, LISTED)
    if newest:
        count = counting.up_to_most(lead.folded.order_by("pk"))
        return filled(_head(lead, count), items_of(newest, comment), count)
    return f"{TITLE}\n\n{NOBODY}" if comment.comment_id else None


def newest_in_turn(newest: DeliveryQuerySet, most: int) -> list[Delivery]:
    """So many of the newest, in their order: of each source one before a second, so that one pushes out no others.

    Of what is older than two days no source is known, but how many came from it before on that day.
    """
    before: Counter[str] = Counter()  # of each source
    places = []
    for number, (pk, source, turn) in enumerate(newest.values_list("pk", "source", "turn")):
        places.append((turn if source == FORGOTTEN else before[source], number, pk))
        before[source] += 1
    chosen = [pk for _, _, pk in sorted(sorted(places)[:most], key=itemgetter(1))]
    found = Delivery.objects.select_related("report").in_bulk(chosen)
    return [found[pk] for pk in chosen if pk in found]


def looked_at(lead_id: int) -> list[int]:
    """The newest that have joined an issue, and where these are many, the newest of each other source: by their ids.

    `counting.MOST` of both, however many one source has sent.
    """
    joined = Delivery.objects.filter(lead=lead_id).order_by("-pk")
    newest = list(joined.values_list("pk", flat=True)[: counting.MOST])
    if len(newest) < counting.MOST:
        return newest
    others = NEWEST_OF_EACH.rows(*[lead_id] * 4, counting.MOST)
    return [*newest, *{pk for (pk,) in others}.difference(newest)]


def reports(comment: Comment) -> DeliveryQuerySet:
    """What has joined the issue, at most `counting.MOST` of it, the newest."""
    return Delivery.objects.filter(lead=comment.lead_id).order_by("-pk")[: counting.MOST]


def filled(head: str, items: list[Item], count: int) -> str:
    """The list with as many of the newest as there is room for; there are `count` in all."""
    lines = [_line(each) for each in items]
    while True:
        body = "\n\n".join([head, *lines, *_foot(count - len(lines), count)])
        if len(body) <= BODY_LIMIT or not lines:
            return body
        lines.pop()


def _head(lead: Delivery, count: int) -> str:
    first = list(lead.folded.order_by("pk").values_list("report", flat=True)[: counting.MOST])
    reports = Report.objects.filter(pk__in=[lead.report_id, *first])
    times = reports.aggregate(times=Sum("times_reported"))["times"]
    so_many = "1 more report" if count == 1 else f"{counting.in_words(count)} more reports"
    return (
        f"{TITLE}\n\n{so_many[0].upper()}{so_many[1:]} of this problem. With exact repeats, it was reported "
        f"{counting.or_more(times, count)} times."
    )


def _foot(others: int, count: int) -> list[str]:
    if not others:
        return []
    verb = "other is" if others == 1 else "others are"
    return [f"{counting.or_more(others, count)} {verb} not listed."]


def _line(item: Item) -> str:
    """An item of a list. Its link comes first, and each text has a paragraph, so that none reaches another."""
    link = f"[Receipt]({settings.HUB_BASE_URL}/r/{item.report_id}/)"
    agent = _inert(item.agent_name, "agent_name")
    paragraphs = [
        " · ".join(filter(None, [f"- {link}", item.date, agent])),
        _inert(item.summary, "summary"),
        f"Joined for this: {_inert(item.words, 'words')}" if item.words else "",
    ]
    return "\n\n  ".join(filter(None, paragraphs))


def _inert(words: str, name: str) -> str:
    return inert_title(shown("summary", words), limit=LONGEST[name])


def items_of(deliveries: Collection[Delivery], comment: Comment) -> list[Item]:
    """What is shown of the reports that have joined the issue of its lead, and of itself."""
    pks = [each.pk for each in deliveries]
    free = ownership_changes.owned(pks) - _on_hold(pks, comment)
    if left_out := set(pks) - free:
        comment.note_left_out(left_out)
    return [_item(each, comment.lead, is_free=each.pk in free) for each in deliveries]


def _on_hold(pks: Collection[int], comment: Comment) -> set[int]:
    """Those that an operator holds. Asked again once that is noted: a hold that ends looks for such notes."""
    if not Delivery.objects.on_hold(pks):
        return set()
    comment.note_on_hold()
    return Delivery.objects.on_hold(pks)


def _item(delivery: Delivery, lead: Delivery, *, is_free: bool) -> Item:
    """A report: without its text if its page no longer belongs to the organization, or an operator holds it."""
    report = delivery.report
    date = f"{report.received_at:%-d %B %Y}"
    item = Item(report.id, report.agent_name, date, report.summary, _why(delivery, lead))
    if report.erased_at:
        return item.without_text._replace(summary=ERASED)
    if report.withheld_for or not is_free:
        return item.without_text
    return _screened(report, item)


def _why(delivery: Delivery, lead: Delivery) -> str:
    """Why it joined; the rule's words are in both of them."""
    if delivery.folded_by:
        return BY_A_MEMBER
    is_hidden = lead.report.erased_at or lead.report.withheld_for
    return "" if is_hidden else secrets.remove(delivery.likeness_words)[0]


def _screened(report: Report, item: Item) -> Item:
    """Without what today counts as a secret; what was removed is saved."""
    try:
        changed, notices = report.screen()
    except SecretInAddress:
        return item.without_text
    fields = {"summary": report.summary, "agent_name": report.agent_name}
    fields = without_secrets_at_seams(_NEIGHBORS, fields, notices)
    if notices:
        report.note(notices, changed)
    return item._replace(**fields)
