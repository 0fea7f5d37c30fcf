"""The rate limits of what a member asks for."""

from core.rates import Limit, check_all
from orgs.models import Membership

CHANGES = "120/minute"  # of whatever kind


def check_change(member: Membership) -> None:
    """Count one request of the member that may change something. Raises `rates.RateLimited`."""
    check(member, CHANGES, "any change", what="changes")


def check(member: Membership, rate: str, *key: str, what: str = "requests") -> None:
    """Count one request of the member against `limits`. Raises `rates.RateLimited`."""
    check_all(*limits(member, rate, *key), what=what)


def limits(member: Membership, rate: str, *key: str) -> list[Limit]:
    """For `rates.check_all`: `rate` for the member's organization, and the same for the person.

    Without the second, whoever deletes the account and signs in again, or joins an organization and leaves
    it, has a new organization with all its limits unused.
    """
    return [Limit(rate, (*key, member.organization_id)), of_person(member, rate, *key)]


def of_person(member: Membership, rate: str, *key: str) -> Limit:
    """`rate` for the person, by the GitHub id, which an account keeps whatever becomes of it here."""
    return Limit(rate, (*key, "person", str(member.github_id)))
