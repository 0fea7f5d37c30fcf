"""A claim of a host name, from its challenge until it lapses."""

import random
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Self

from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Length, Now

from core import clock
from core.ids import ULIDField
from orgs.models.challenge import LONGEST, EarlierChallenge, new_challenge, record_value
from orgs.models.organization import Membership, Notice, Organization
from orgs.models.published import Published, PublishedQuerySet
from orgs.models.signals import domain_lost, domain_verified

CHALLENGE_LIFETIME = timedelta(days=30)
NAMED = 5  # claims in one notice
EARLIER = 100  # values of earlier claims of a name that a look at the DNS knows again
MOST_EARLIER = 1000  # of one organization; the oldest are forgotten
ABSENCES = 3  # this many checks without the record,
ABSENT_FOR = timedelta(hours=24)  # over at least this time, start the grace period
GRACE = timedelta(days=7)
LOOK_EVERY = timedelta(hours=24)
LOOK_AGAIN = timedelta(hours=8)  # if the last check did not find the record
# claims that were verified once; both databases find their indexes only if a query repeats this
PROVED = Q(verified_at__isnull=False) | Q(lapsed_at__isnull=False)


class DomainQuerySet(PublishedQuerySet["Domain"]):
    """Queries over claims of domains."""

    def verified(self) -> Self:
        """Claims that are verified now."""
        return self.filter(verified_at__isnull=False)

    def of_member(self, member: Membership) -> Self:
        """Claims that a member has made for their organization."""
        mine = self.filter(organization=member.organization_id)
        return mine.filter(claimed_by_number=member.github_id)

    def proved_first(self) -> Self:
        """Those that are verified before the others."""
        return self.order_by(F("verified_at").asc(nulls_last=True), "name")

    def tell_that_they_stay(self, member: Membership) -> None:
        """Tell the organization which claims somebody has made who goes: others may be unable to change their DNS."""
        names = list(self.of_member(member).proved_first().values_list("name", flat=True))
        if names:
            member.organization.tell(
                Notice.Kind.GONE,
                f"{member.login}, who is no longer a member, had claimed {listed(names)}. "
                "These claims stay as long as their DNS records do: remove those that are not yours.",
            )

    def of_others_below(self, claim: "Domain") -> Self:
        """Verified claims of other organizations that take a part of what this one covers, the shortest names first."""
        below = self.verified().exclude(below="").filter(below=claim.name)
        return below.exclude(organization=claim.organization_id).order_by(Length("name"), "name")

    def expired(self) -> Self:
        """Claims whose record was not published in time, the earliest first."""
        unproved = self.filter(verified_at__isnull=True, expires_at__lte=clock.now())
        return unproved.order_by("expires_at")

    def to_be_proved_again(self) -> Self:
        """Verified claims, and those that lapsed so recently that their record still counts."""
        lapsed = Q(lapsed_at__isnull=False, expires_at__gt=clock.now())
        return self.filter(Q(verified_at__isnull=False) | lapsed)

    def due(self) -> Self:
        """Those whose next check of the DNS record is due."""
        return self.to_be_proved_again().filter(PROVED, look_due_at__lte=clock.now())

    def untaken(self, fresh: timedelta) -> Self:
        """Those whose last check began longer ago than this."""
        never = Q(look_began_at__isnull=True)
        return self.filter(never | Q(look_began_at__lte=clock.now() - fresh))

    def take(self, domain_id: str, *, fresh: timedelta) -> bool:
        """Take a claim in order to check it; True if this call took it. The next check is a day later."""
        taken = (
            self.untaken(fresh)
            .filter(pk=domain_id)
            .update(look_began_at=clock.now(), look_due_at=clock.now() + _about(LOOK_EVERY))
        )
        return bool(taken)

    def confirm(self, domains: Iterable["Domain"]) -> None:
        """Note that the records of verified claims are still there; newer changes are left alone."""
        challenges = [domain.challenge for domain in domains]
        these = self.verified().filter(challenge__in=challenges).order_by("pk")
        with transaction.atomic():  # rows are locked in the order of their ids, as `record` does
            mine = list(these.select_for_update().values_list("pk", flat=True))
            self.filter(pk__in=mine).update(**_proved())

    def remove_claims(self) -> None:
        """Delete these claims, whose values are never issued again. Each organization looks once at what waits."""
        with transaction.atomic():  # rows are locked in the order of their ids, as `record` does
            locked = self.select_related("organization").order_by("pk")
            gone = list(locked.select_for_update(of=("self",)))
            _remember_challenges(gone)
            Domain.objects.filter(pk__in=[each.pk for each in gone]).delete()
            for organization in {each.organization for each in gone if each.verified_at}:
                domain_lost.send(Domain, organization=organization)

    def check_soon(self) -> None:
        """Let their next check be due now, as far as none has taken them lately."""
        self.update(look_due_at=clock.now())


class Domain(Published):
    """A claim of a host name, proved by a DNS TXT record."""

    class Status(models.TextChoices):
        """Whether the claim is proved now."""

        PENDING = "pending"
        VERIFIED = "verified"

    id = ULIDField()
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="domains")
    name = models.CharField(max_length=253, help_text="Lower case, in ASCII (punycode).")
    registrable = models.BooleanField(
        help_text="Whether it was a public suffix plus one label when it was claimed; "
        "then it covers the names below it too."
    )
    below = models.CharField(
        max_length=253,
        blank=True,
        db_default="",
        editable=False,
        help_text="The registrable name that it was below when it was verified; empty if it was one.",
    )
    challenge = models.CharField(
        max_length=LONGEST, unique=True, default=new_challenge, editable=False
    )
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="When the challenge expires; empty while verified."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    verified_at = models.DateTimeField(null=True, blank=True)
    lapsed_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(
        max_length=255,
        blank=True,
        db_default="",
        help_text="The login of the member who claimed it.",
    )
    claimed_by_number = models.BigIntegerField(
        null=True, blank=True, help_text="The number of their account on GitHub."
    )
    opted_out_at = models.DateTimeField(
        null=True, blank=True, help_text="When it opted out of reports."
    )

    last_checked_at = models.DateTimeField(null=True, blank=True)
    look_began_at = models.DateTimeField(
        null=True, blank=True, help_text="When the last check of its record started."
    )
    look_due_at = models.DateTimeField(db_default=Now())
    absences = models.PositiveIntegerField(
        default=0, help_text="Checks in a row that did not find the record of a verified claim."
    )
    absent_since = models.DateTimeField(null=True, blank=True)
    lapses_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The end of the grace period, as the organization was told.",
    )

    objects = DomainQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["name"], name="domain_name"),
            models.Index(fields=["look_due_at"], name="domain_due", condition=PROVED),
            models.Index(
                fields=["organization", "look_due_at"], name="domain_due_of", condition=PROVED
            ),
            models.Index(
                fields=["file_due_at"],
                name="domain_file_due",
                condition=Q(verified_at__isnull=False),
            ),
            models.Index(
                "below",
                Length("name"),
                "name",
                name="domain_below",
                condition=Q(verified_at__isnull=False) & ~Q(below=""),
            ),
            models.Index(
                fields=["expires_at"], name="domain_expires", condition=Q(verified_at__isnull=True)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "name"], name="domain_once_per_organization"
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(verified_at__isnull=False),
                name="domain_one_verified_owner",
            ),
            models.CheckConstraint(
                condition=Q(verified_at__isnull=True) | Q(lapsed_at__isnull=True),
                name="domain_verified_or_lapsed",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def claimant_is_member(self) -> bool:
        """Whether whoever claimed it still belongs to the organization."""
        number = self.claimed_by_number or 0  # nobody's
        return self.organization.memberships.filter(github_id=number).exists()

    @property
    def was_proved(self) -> bool:
        """Whether it is verified, or was before it lapsed."""
        return bool(self.verified_at or self.lapsed_at)

    @property
    def is_in_doubt(self) -> bool:
        """Whether it has lapsed, or the last check of its record did not find it."""
        return self.verified_at is None or self.absences > 0

    @property
    def is_below_unknown(self) -> bool:
        """Whether `note_below` is still to be called: a version before has verified it during an upgrade."""
        return not self.registrable and not self.below

    @property
    def url(self) -> str:
        """The URL where its pages begin."""
        return f"https://{self.name}/"

    @property
    def status(self) -> "Domain.Status":
        """Verified or pending."""
        return self.Status.VERIFIED if self.verified_at else self.Status.PENDING

    @property
    def record_name(self) -> str:
        """The name of the TXT record that proves the claim."""
        return record_name(self.name)

    @property
    def record_value(self) -> str:
        """The exact value of the TXT record."""
        return record_value(self.challenge)

    def renew_challenge(self) -> None:
        """Ask for a new value, unless somebody just did; the old one is remembered."""
        with transaction.atomic():
            _remember_challenges([self])
            Domain.objects.filter(pk=self.pk, challenge=self.challenge).update(
                challenge=new_challenge(), expires_at=clock.now() + CHALLENGE_LIFETIME
            )
            self.refresh_from_db(fields=["challenge", "expires_at"])

    def note_below(self, registrable: str) -> None:
        """Save which registrable name it is below, if any."""
        self._update(below="" if registrable == self.name else registrable)

    def opt_out(self, out: bool) -> None:
        """Refuse reports about it from now on, or accept them again."""
        self._update(opted_out_at=Coalesce("opted_out_at", clock.now()) if out else None)

    def remove_claim(self) -> None:
        """Delete the claim; its value is never issued again."""
        Domain.objects.filter(pk=self.pk).remove_claims()

    def record_found(self) -> None:
        """The record is there: the claim becomes or stays verified."""
        newly = self.verified_at is None
        self._update(
            verified_at=Coalesce("verified_at", clock.now()),
            lapsed_at=None,
            expires_at=None,
            look_due_at=clock.now() + _about(LOOK_EVERY),
            **_proved(),
        )
        if newly:
            domain_verified.send(Domain, organization=self.organization)

    def record_missing(self) -> None:
        """The record is missing: a verified claim enters its grace period, or lapses at the end of it."""
        self.record_checked()
        if self.verified_at is None:
            return
        self._update(absences=F("absences") + 1, absent_since=Coalesce("absent_since", clock.now()))
        if self._if(lapses_at__lte=clock.now()):
            self.lapse(
                f"The DNS record of {self.name} was missing for longer than the grace period, so the "
                f"claim has lapsed, and its reports are held. {self._how_to_repair()}"
            )
        elif self._if(
            lapses_at=None, absences__gte=ABSENCES, absent_since__lte=clock.now() - ABSENT_FOR
        ):
            self._update(lapses_at=clock.now() + GRACE)
            self.organization.tell(
                Notice.Kind.LOST,
                f"The DNS record of {self.name} is missing. Without it, the claim lapses on "
                f"{self.lapses_at:%-d %B %Y at %H:%M} UTC. {self._how_to_repair()}",
            )

    def record_checked(self) -> None:
        """Note a check that tells nothing and does not count against the claim."""
        self._update(last_checked_at=clock.now(), look_due_at=clock.now() + _about(LOOK_AGAIN))

    def lapse(self, why: str, kind: Notice.Kind = Notice.Kind.LOST) -> None:
        """Make the claim pending again. `why` is what the organization is told."""
        self._update(
            verified_at=None,
            lapsed_at=clock.now(),
            expires_at=clock.now() + CHALLENGE_LIFETIME,
            absences=0,
            absent_since=None,
            lapses_at=None,
        )
        self.organization.tell(kind, why)
        domain_lost.send(Domain, organization=self.organization)

    def earlier_values(self) -> set[str]:
        """The values that this organization's claims of the name had to publish before, the latest."""
        earlier = EarlierChallenge.objects.filter(organization=self.organization, name=self.name)
        latest = earlier.order_by("-pk").values_list("challenge", flat=True)[:EARLIER]
        return {record_value(each) for each in latest}

    def _how_to_repair(self) -> str:
        return f"Publish it again: a TXT record at {self.record_name} with {self.record_value}"

    def _if(self, **conditions: Any) -> bool:
        """Whether the claim is verified and meets the conditions, by the database's clock."""
        return Domain.objects.verified().filter(pk=self.pk, **conditions).exists()

    def _update(self, **columns: Any) -> None:
        Domain.objects.filter(pk=self.pk).update(**columns)
        self.refresh_from_db(fields=columns.keys())


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are: "a.dev, b.dev, c.dev, d.dev, e.dev, and 3 more"."""
    more = f", and {len(names) - NAMED} more" if names[NAMED:] else ""
    return f"{', '.join(names[:NAMED])}{more}"


def _remember_challenges(domains: Sequence[Domain]) -> None:
    """Keep the values of these claims, of each organization the latest `MOST_EARLIER`."""
    EarlierChallenge.objects.bulk_create(
        (
            EarlierChallenge(
                organization_id=each.organization_id, name=each.name, challenge=each.challenge
            )
            for each in domains
        ),
        ignore_conflicts=True,
    )
    for organization in {each.organization_id for each in domains}:
        mine = EarlierChallenge.objects.filter(organization=organization).order_by("-pk")
        oldest = mine.values_list("pk", flat=True)[MOST_EARLIER : MOST_EARLIER * 2]
        EarlierChallenge.objects.filter(pk__in=list(oldest)).delete()


def record_name(name: str) -> str:
    """The name of the TXT record that proves a claim of this name."""
    return f"_hub-challenge.{name}"


def _proved() -> dict[str, Any]:
    """The columns to save when a check has found the record."""
    return {
        "absences": 0,
        "absent_since": None,
        "lapses_at": None,
        "last_checked_at": clock.now(),
    }


def _about(duration: timedelta) -> timedelta:
    """The duration plus or minus a fifth, so that checks spread out over time."""
    return duration * random.uniform(0.8, 1.2)  # noqa: S311  (spreads the load, guards nothing)
