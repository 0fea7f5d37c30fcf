"""A comment of the Hub's on an issue that it has opened."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.expressions import Combinable
from django.utils.functional import cached_property

from core import clock
from core.ids import ULIDField
from integrations.models.delivery import ERASED, Delivery, DeliveryQuerySet
from integrations.models.integration import Installation, Integration, Repository
from integrations.models.leased import Leased, LeasedQuerySet

EDITED_APART = timedelta(minutes=10)  # at least
ON_HOLD = "An operator of this Hub holds reports that it is about."
EDITED_BY_OTHERS = "Somebody has edited the comment, so the Hub leaves it as it is."
DELETED_BY_OTHERS = "Somebody has deleted the comment, so the Hub writes no other."


class CommentQuerySet(LeasedQuerySet):
    """Queries over comments."""

    with_each = (
        "integration__installation",
        "integration__organization",
        "lead__report",
    )

    def sendable(self) -> Self:
        """Those about which GitHub may be called now: nothing stops their integration."""
        return self.filter(
            integration__repository_id__isnull=False,
            integration__problem="",
            integration__paused_at=None,
            integration__rights_lost_at=None,
            integration__installation__suspended_at=None,
        )

    def want(
        self,
        lead: Delivery,
        purpose: "Comment.Purpose",
        occasion: datetime,
        *,
        after: timedelta = timedelta(),
    ) -> None:
        """Have this said, or done, below an issue. Once for each occasion, however often it is wanted."""
        new = self.model(
            integration_id=lead.integration_id, lead=lead, purpose=purpose, occasion=occasion
        )
        if after:
            new.due_at = clock.now() + after
        self.bulk_create([new], ignore_conflicts=True)

    def note_folded(self, lead: Delivery) -> None:
        """Have the list of those that joined an issue written, or written anew."""
        purpose = self.model.Purpose.ALSO
        self.want(lead, purpose, lead.created_at)
        self.filter(lead=lead, purpose=purpose)._write_anew()

    def note_changed(self, lead: Delivery) -> None:
        """Have what lists its reports written anew, if there is any: what it says is no longer so."""
        states, purposes = self.model.Status, self.model.Purpose
        known = self.filter(lead=lead, purpose__in=[purposes.ALSO, purposes.AGAIN])
        known.filter(status__in=[states.PENDING, states.WRITTEN])._write_anew()

    def note_erased(self, lead: Delivery) -> None:
        """The same, and forget what GitHub answered to what is written no more: it may have repeated a word."""
        self.note_changed(lead)
        ended = self.filter(
            lead=lead, status__in=[self.model.Status.DROPPED, self.model.Status.LEFT]
        )
        ended.exclude(reason__in=["", EDITED_BY_OTHERS, DELETED_BY_OTHERS]).update(reason=ERASED)

    def still_there(self, lead: Delivery) -> Self:
        """Those below an issue, as far as is known."""
        return self.filter(lead=lead, comment_id__isnull=False).exclude(reason=DELETED_BY_OTHERS)

    def note_gone(self, repository_id: int, number: int) -> None:
        """An issue is gone: look at what joined it, unless the list below it was complete."""
        states = self.model.Status
        there = self.filter(lead__repository_id=repository_id, lead__issue_number=number)
        lists = there.filter(purpose=self.model.Purpose.ALSO)
        incomplete = lists.exclude(status=states.WRITTEN, left_out=[])
        incomplete.update(status=states.PENDING, changes=F("changes") + 1)

    def note_over(self, repository_id: int, number: int, *, reason: str) -> None:
        """What kept comments on an issue waiting is over: write them now."""
        there = self.filter(lead__repository_id=repository_id, lead__issue_number=number)
        there.filter(reason=reason, lease_until=None).update(due_at=clock.now())

    def note_let_go(self) -> None:
        """A hold of an operator is over: have written what was left out for one."""
        self.filter(reason=ON_HOLD)._write_anew()

    def _write_anew(self) -> None:
        """Without those that somebody else has taken over. `due_at` keeps two edits apart."""
        states = self.model.Status
        others = self.exclude(status=states.LEFT)
        others.update(status=states.PENDING, changes=F("changes") + 1)


class Comment(Leased):
    """What the Hub says, or does, below one issue on one occasion. Its row is the truth about it.

    What it says is not stored: it is made from what is known, and compared with what GitHub has.
    """

    class Purpose(models.TextChoices):
        """What it is for."""

        ALSO = "also"  # lists who also reported the problem; one per issue, and it grows
        AGAIN = "again"  # says that the problem was reported again after the issue was closed
        REOPEN = "reopen"  # no comment: reopens the issue after that was said

    class Status(models.TextChoices):
        """How far it is."""

        PENDING = "pending"  # to be written, or written anew
        WRITTEN = "written"
        LEFT = "left"  # somebody else has edited or deleted it, so it stays as it is
        DROPPED = "dropped"  # GitHub refused it, or the reason was gone before

    TO_DO: ClassVar = [Status.PENDING]
    LAST_SENT: ClassVar = F("written_at")
    UNKNOWN = "It is not known yet whether GitHub took the comment."
    lacks = ""  # why this attempt leaves something out
    leaves_out: Sequence[int] = ()  # what this attempt lists without its text, as all before it

    id = ULIDField()
    integration = models.ForeignKey(Integration, models.CASCADE, related_name="+", db_index=False)
    lead = models.ForeignKey(Delivery, models.CASCADE, related_name="comments", db_index=False)
    purpose = models.CharField(max_length=6, choices=Purpose)
    occasion = models.DateTimeField(
        help_text="When the issue was closed; for the list of reports, when the lead came in."
    )
    status = models.CharField(max_length=7, choices=Status, default=Status.PENDING)
    changes = models.PositiveIntegerField(
        default=0, help_text="How often what it is to say has changed."
    )
    posted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When it was sent. Without a comment: GitHub has not answered, so it is looked for.",
    )
    written_at = models.DateTimeField(null=True, blank=True, help_text="When GitHub last took it.")
    listed_until = models.DateTimeField(
        null=True, blank=True, help_text="Those that joined until then are in it, or counted."
    )
    left_out = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        help_text="Of those, by their keys, what was only ever listed without its text.",
    )
    comment_id = models.BigIntegerField(null=True, blank=True, help_text="GitHub's.")
    comment_url = models.URLField(max_length=500, blank=True)

    objects: ClassVar = CommentQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["status", "due_at"], name="comment_due"),
            models.Index(fields=["integration", "-last_tried_at"], name="comment_pace"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["lead", "purpose", "occasion"], name="comment_once_per_occasion"
            ),
            models.CheckConstraint(
                condition=~Q(status="written") | Q(comment_id__isnull=False) | Q(purpose="reopen"),
                name="comment_written_is_there",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_purpose_display()} {self.lead_id}"

    @property
    def target(self) -> Repository:
        """The repository that the issue is in."""
        through = self.installation.github_id
        return Repository(through, self.lead.repository_id, self.lead.repository)  # type: ignore[arg-type]

    @property
    def place(self) -> tuple[Repository, int]:
        """The repository and the number of the issue."""
        return self.target, self.lead.issue_number or 0

    @cached_property
    def installation(self) -> Installation:
        """The one that reaches the repository."""
        return self.integration.installation_of(self.lead.repository_id, self.lead.repository)

    def has_left(self) -> bool:
        """Whether the organization's issues no longer go to that repository."""
        return self.lead.repository_id != self.integration.repository_id

    def note_on_hold(self) -> None:
        """It leaves out what an operator holds, until `note_let_go`."""
        self.lacks = ON_HOLD
        Comment.objects.filter(pk=self.pk).update(reason=ON_HOLD)

    def note_left_out(self, pks: Collection[int]) -> None:
        """This attempt lists these without their text. What a list before had with its text may have been read."""
        self.leaves_out = list(self.unread().filter(pk__in=pks).values_list("pk", flat=True))

    def record(self, listed_until: datetime | None) -> None:
        """Save that it is about to be sent, before the POST, and who is in it."""
        self._update(posted_at=clock.now(), **self._listed(listed_until))

    def made(self, comment_id: int, url: str) -> None:
        """GitHub has it. That is known even if the lease has expired."""
        mine = Comment.objects.filter(pk=self.pk, comment_id=None)
        mine.update(comment_id=comment_id, comment_url=url, **self._written())

    def found(self, comment_id: int, url: str) -> None:
        """GitHub has it from an attempt before: what is new since then is written in its time."""
        self._update(
            comment_id=comment_id,
            comment_url=url,
            reason="",
            lease_until=None,
            written_at=self.posted_at,
            due_at=clock.now() + EDITED_APART,
            last_tried_at=self.posted_at,
        )

    def edited(self, listed_until: datetime | None) -> None:
        """GitHub has what it says now."""
        self._update(**self._listed(listed_until), **self._written())

    def begin_anew(self) -> None:
        """Nothing is left for which it was written, and GitHub says so: what comes later is said in another one."""
        unsaid = {"comment_id": None, "comment_url": "", "posted_at": None, "written_at": None}
        anew = {"status": self.Status.PENDING, "reason": "", "lease_until": None}
        self._update(**unsaid, **anew, **self._listed(None), due_at=clock.now())

    def is_as_it_was(self, listed_until: datetime | None) -> None:
        """GitHub had that before, so nothing was sent."""
        done = {"status": self._done(), "reason": self.lacks} | self._listed(listed_until)
        self._update(**done, lease_until=None, last_tried_at=self.LAST_SENT)

    def left(self, reason: str) -> None:
        """It stays as somebody else has left it."""
        states, last = self.Status, self.LAST_SENT
        self._update(status=states.LEFT, reason=reason, lease_until=None, last_tried_at=last)

    def end(self, reason: str) -> None:
        """Nothing can be written there any more."""
        if self.comment_id:
            self.left(reason)
        else:
            self.drop(reason)

    def forget(self) -> None:
        """There is no reason for it any more, and nothing was said. What was wanted with it goes, too.

        So all of it is wanted again as soon as there is a reason.
        """
        mine = Comment.objects.filter(pk=self.pk, comment_id=None, tries=self.tries)
        with transaction.atomic():
            if mine.filter(changes=self.changes).delete()[0]:
                there = Comment.objects.filter(lead=self.lead_id, occasion=self.occasion)
                there.filter(status=self.Status.PENDING, posted_at=None, comment_id=None).delete()
                return
        self.leave("There was nothing to say.")

    def backoff(self) -> timedelta:
        """As of others, but never longer than two edits are apart."""
        return min(super().backoff(), EDITED_APART)

    def _listed(self, until: datetime | None) -> dict[str, Any]:
        return {"listed_until": until, "left_out": list(self.leaves_out)}

    def _written(self) -> dict[str, Any]:
        apart = clock.now() + EDITED_APART
        written = {"status": self._done(), "written_at": clock.now(), "due_at": apart}
        return written | {"reason": self.lacks, "lease_until": None}

    def unread(self) -> DeliveryQuerySet:
        """What has joined the issue and stands in no comment there with its text, as far as is known."""
        joined = Delivery.objects.filter(lead=self.lead_id).order_by("pk")
        if self.purpose != self.Purpose.ALSO:
            return joined.none()
        if self.comment_id is None or self.listed_until is None:
            return joined
        return joined.filter(
            Q(folded_at__gte=clock.after(self.listed_until)) | Q(pk__in=self.left_out)
        )

    def _done(self) -> Combinable:
        """Written, unless there is something new since this attempt began."""
        is_whole = When(changes=self.changes, then=Value(self.Status.WRITTEN))
        return Case(is_whole, default=Value(self.Status.PENDING))
