"""What a member says to all who report the problem of one issue: checked, stored, removed."""

import re
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from core.errors import ApiError
from integrations.answers import links
from integrations.models import Answer, Delivery
from integrations.models.answer import LONGEST
from orgs.models import Membership
from reports import canonical, secrets
from reports.cleaning import clean
from reports.plain import in_one_line

LONGEST_LINK = 2048  # characters
UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")  # but those that end a line
REST = re.compile(r"https://[^/?#]*(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
EMPTY = "Must not be empty."
NOT_THEIRS = (
    "Must be a public page of a domain, a site or a repository that your organization has claimed; {} "
    "is none."
)
NO_PUSH_ACCESS = (
    "No member of your organization has push access to the repository any more, so nobody in it can speak for "
    "the page."
)
CHANGED = "The answer was changed in the meantime. {} Look at it, and do it again."
GONE = "There is none now."
NOBODY = "It arrived before a repository was chosen, so nobody is told an answer."


class CannotAnswer(ApiError):
    """409: the report has no delivery, so it has nothing to answer; or nobody may speak for its page now."""

    status_code = 409
    default_code = "cannot_answer"
    default_detail = NOBODY


class InvalidAnswer(Exception):
    """The text or the link cannot be shown. `faults`: a sentence for each that is wrong, by its name."""

    def __init__(self, faults: dict[str, str]):
        super().__init__("; ".join(faults.values()))
        self.faults = faults


class Said(NamedTuple):
    """A text of one line, and a link or nothing."""

    text: str
    link: str


def checked(organization_id: str, text: str, link: str) -> Said:
    """The answer as it is stored and shown. Raises `InvalidAnswer`.

    The text becomes one line without what nobody sees; the link is written in ASCII.
    """
    said = Said(in_one_line(clean(text)), _ascii(link) if link else "")
    faults = {
        "text": _fault_of_text(text, said.text),
        "link": _fault_of_link(link, said.link, organization_id),
    }
    if faults := {name: fault for name, fault in faults.items() if fault}:
        raise InvalidAnswer(faults)
    return said


def say(
    member: Membership,
    delivery: Delivery | None,
    text: str,
    link: str = "",
    *,
    seen: str | None = None,
) -> Answer:
    """Answer all who report this problem, in place of an earlier answer.

    It belongs to the lead of a report that has joined another one. `seen`: what a page has shown, as `mark` says it;
    nothing is changed if that is another answer by now. Raises `CannotAnswer`, `InvalidAnswer`.
    """
    if delivery is None:
        raise CannotAnswer
    for each in (delivery, delivery.with_issue):
        if each.integration.withholds(each.report.canonical_url):
            raise CannotAnswer(NO_PUSH_ACCESS)
    said = checked(member.organization_id, text, link)
    columns: dict[str, Any] = {**said._asdict(), "made_by": member.login}
    try:
        with transaction.atomic():
            now = _as_seen(delivery, seen)
            answer, _ = Answer.objects.update_or_create(
                delivery_id=now.lead_id or now.pk, defaults=columns
            )
            before_it_joined = Answer.objects.filter(delivery=now.pk).exclude(pk=answer.pk)
            before_it_joined.delete()
    except IntegrityError:  # the integration was disconnected in between
        raise CannotAnswer from None
    return answer


def found(delivery: Delivery | None) -> Answer | None:
    """What those who report this problem are told."""
    if delivery is None:
        return None
    return Answer.objects.filter(delivery=delivery.lead_id or delivery.pk).first()


def of_before(delivery: Delivery) -> Answer | None:
    """What was said of a report before it joined another one, if nobody is told that now."""
    if delivery.lead_id is None:
        return None
    return Answer.objects.filter(delivery=delivery.pk).first()


def mark(delivery: Delivery, answer: Answer | None) -> str:
    """Which answer is shown, and of which issue: another text once either has changed."""
    shown = f"{delivery.lead_id or delivery.pk}/{answer.changed_at.isoformat() if answer else ''}"
    return salted_hmac("answer", shown, algorithm="sha256").hexdigest()[:32]


@transaction.atomic
def remove(delivery: Delivery | None, *, seen: str | None = None) -> None:
    """Say nothing any more to those who report this problem. Raises `CannotAnswer`; `seen` as for `say`."""
    if delivery is not None:
        now = _as_seen(delivery, seen)
        Answer.objects.filter(delivery__in=[now.pk, now.lead_id or now.pk]).delete()


def _as_seen(delivery: Delivery, seen: str | None) -> Delivery:
    """The delivery as it is now. Raises `CannotAnswer` if a page has shown another answer.

    It joins nothing meanwhile, and nobody answers by way of another report of the same issue.
    """
    Delivery.objects.filter(pk__in=[delivery.lead_id or delivery.pk, delivery.pk]).lock()
    now = Delivery.objects.filter(pk=delivery.pk).first() or delivery
    if seen is not None and seen != mark(now, answer := found(now)):
        said = f"It is now “{answer.text}”, by {answer.made_by}." if answer else GONE
        raise CannotAnswer(CHANGED.format(said))
    return now


def _ascii(link: str) -> str:
    """The link in ASCII, with its fragment; empty if it is no address."""
    try:
        parts = urlsplit(canonical.as_written(link).url)
    except canonical.InvalidURL:
        return ""
    found = REST.fullmatch(link)
    return f"https://{parts.netloc}{quote(found[1], safe=canonical.KEPT + '#')}" if found else ""


def _fault_of_text(text: str, shown: str) -> str:
    if UNSEEN.search(text):
        return "Must not contain control characters."
    if len(shown) > LONGEST:
        return f"Must be at most {LONGEST} characters."
    return (EMPTY if not shown else "") or _fault_of_secret(text)


def _fault_of_link(link: str, written: str, organization_id: str) -> str:
    if not link:
        return ""
    try:
        canonical.as_written(link)
    except canonical.InvalidURL as error:
        return str(error)
    if not written:
        return "Must begin with https://."
    if len(written) > LONGEST_LINK:
        return f"Must be at most {LONGEST_LINK} characters."
    if not links.shown([written], organization_id):
        return NOT_THEIRS.format(urlsplit(written).hostname)
    return _fault_of_secret(written) or _fault_of_secret(unquote(written))


def _fault_of_secret(text: str) -> str:
    _, kinds = secrets.remove(text)
    return f"Must not contain a secret; this looks like one: {kinds[0]}." if kinds else ""
