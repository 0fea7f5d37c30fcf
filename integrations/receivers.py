"""Starts, withholds, holds and releases deliveries when reports or claims change."""

from collections.abc import Collection, Iterator
from typing import Any

from django.conf import settings
from django.db.models import Exists, Q
from django.db.models.signals import post_save
from django.dispatch import receiver

from core import after_commit
from core.locking import locked
from integrations.comments import again
from integrations.delivery import ownership_changes, withholding
from integrations.delivery.task import forward_report
from integrations.folding import stored_terms, verdicts
from integrations.folding.signals import delivery_folded, delivery_unfolded
from integrations.models import Comment, Delivery, Hold
from integrations.models.delivery import LEFT_BEHIND, READABLE_THERE
from integrations.setup import leaving
from orgs.models import Organization
from orgs.models.signals import domain_lost, domain_verified, organization_left
from reports.models import Account, Report
from reports.signals import is_unheard, is_unwanted, report_erased


@receiver(post_save, sender=Report, dispatch_uid="forward-report")
def forward_when_saved(instance: Report, raw: bool, **kwargs: Any) -> None:
    """Create the delivery of a matched report, and send it after the commit.

    The queue is a table, so its row is written in the same transaction: one commit less. What waits for
    its turn is sent by `maintain`.
    """
    if raw or instance.organization_id is None:
        return
    if not Delivery.objects.create_for(instance):  # true once per report
        return
    if instance.waits_for_its_turn:
        return
    if settings.HUB_FORWARDING == "queue":
        forward_report.enqueue(instance.pk)
        instance.is_queued = True
    else:
        after_commit.do(forward_report.enqueue, instance.pk)


@receiver(post_save, sender=Account, dispatch_uid="withhold-account")
def withhold_when_kept(instance: Account, created: bool, raw: bool, **kwargs: Any) -> None:
    """Withhold a new further account if nobody may read it now."""
    if created and not raw:
        withholding.withhold_account(instance)


@receiver(post_save, sender=Account, dispatch_uid="note-what-lists-have-not-shown")
def note_when_kept(instance: Account, created: bool, raw: bool, **kwargs: Any) -> None:
    """Have the delivery count as changed: lists that were opened before have not shown these words."""
    if created and not raw and instance.report.organization_id:  # or there is no delivery
        Delivery.objects.filter(report=instance.report_id).note_changed()


@receiver(report_erased, dispatch_uid="forget-what-was-erased")
def forget_when_erased(report: Report, **kwargs: Any) -> None:
    """Erase the text that the delivery has kept, its terms, and what comments and verdicts say of it."""
    mine = locked(Delivery.objects.filter(report=report))
    if delivery := mine.select_related("lead").first():
        delivery.forget_text()
        stored_terms.forget([delivery])
        verdicts.forget_words(report)
        Comment.objects.note_erased(delivery.with_issue)


@receiver(delivery_folded, dispatch_uid="list-what-has-joined")
def list_when_folded(delivery: Delivery, **kwargs: Any) -> None:
    """Have it listed below the issue that it has joined, and said that the problem came again."""
    if delivery.lead:
        Comment.objects.note_folded(delivery.lead)
        again.note_folded(delivery)


@receiver(delivery_unfolded, dispatch_uid="list-without-what-has-left")
def list_when_unfolded(lead: Delivery, **kwargs: Any) -> None:
    """Have it listed no longer."""
    Comment.objects.note_changed(lead)


@receiver(is_unheard, dispatch_uid="act-on-a-repeat")
def is_to_be_acted_on(report_id: str, source: str, **kwargs: Any) -> bool:
    """Whether a delivery would be created now, or it would be said that the report has come again."""
    return again.is_unheard(report_id, source)


@receiver(post_save, sender=Report, dispatch_uid="say-when-reported-again")
def say_when_reported_again(
    instance: Report, raw: bool, update_fields: Collection[str] | None, **kwargs: Any
) -> None:
    """Have it said on a closed issue that its report has come again."""
    if not raw and instance.organization_id and "last_received_at" in (update_fields or ()):
        again.note_repeat(instance.pk, instance.source)


@receiver(is_unwanted, dispatch_uid="unread-is-unwanted")
def unread_is_unwanted(report: Report, source: str, **kwargs: Any) -> bool:
    """Whether nobody would read more of it there.

    It was discarded, an operator holds it by hand or its sender's network, or the issue that it became or has joined
    is gone, or in a repository that was left for another one; or it is withheld for such a repository. Of a network
    that is held, as the repeat's `source` may be, a report of its own would be read no sooner.
    """
    by_hand = Q(held_for=Delivery.Cause.OPERATOR, operator_hold=None)
    of_a_network = Q(operator_hold__kind=Hold.Kind.SOURCE) & ~Q(operator_hold__value=source)
    is_held_itself = Exists(Hold.objects.sources_in_force().filter(value=source))
    why = Q(held_for=Delivery.Cause.DISCARDED) | by_hand | (of_a_network & ~is_held_itself)
    deleted = Delivery.IssueState.DELETED
    is_gone = Q(issue_state=deleted) | Q(lead__issue_state=deleted)
    is_held = why & Q(status=Delivery.Status.HELD)
    is_left = LEFT_BEHIND | ~READABLE_THERE
    return Delivery.objects.filter(is_held | is_gone | is_left, report=report).exists()


@receiver(domain_verified, dispatch_uid="release-what-is-owned-again")
def release_when_verified(organization: Organization, **kwargs: Any) -> None:
    """Release what was held for pages that the organization has claimed."""
    ownership_changes.release_regained(organization)


@receiver(domain_lost, dispatch_uid="hold-what-is-no-longer-owned")
def hold_when_lost(organization: Organization, **kwargs: Any) -> None:
    """Hold what waits for pages that the organization has lost."""
    ownership_changes.hold_lost(organization)


@receiver(organization_left, dispatch_uid="delete-its-integration")
def delete_when_left(organization: Organization, **kwargs: Any) -> Iterator[int]:
    """Delete the integration of an organization that is deleted, with all that it has."""
    return leaving.deleted(organization)
