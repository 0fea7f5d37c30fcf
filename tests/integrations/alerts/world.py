"""An organization whose claim is about to lapse, and the Hub's work in the background."""

from datetime import timedelta

from core import clock
from integrations.alerts import causes, sending
from integrations.models import Alert, Integration
from orgs.models import Domain

GRACE = timedelta(days=7)


def lose_record(name: str = "docs.acme.com") -> None:
    """The record has been missing for a day, so that the grace period has begun."""
    since = clock.now() - timedelta(days=1)
    Domain.objects.filter(name=name).update(
        absences=3, absent_since=since, lapses_at=clock.now() + GRACE
    )


def find_record(name: str = "docs.acme.com") -> None:
    Domain.objects.get(name=name).record_found()


def lapse(name: str = "docs.acme.com") -> None:
    Domain.objects.get(name=name).lapse("It was missing for too long.")


def lose_rights() -> None:
    Integration.objects.update(rights_absences=3, rights_lost_at=clock.now())


def maintain() -> None:
    """One round: compare, then open and close."""
    causes.compare()
    sending.send_due()


def alert() -> Alert:
    return Alert.objects.get()
