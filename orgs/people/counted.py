"""The limits of what a member asks for: nobody uses up those of an owner."""

from collections.abc import Iterator
from contextlib import contextmanager

from core import at_once
from core.rates import Limit, check_all
from core.watching import current
from orgs.models import Membership

CHANGES = "120/minute"  # of whatever kind
BROWSER, TOKEN = "browser", "token"  # by which people come in


@contextmanager
def in_progress(member: Membership, way: str) -> Iterator[None]:
    """Count one request while the block runs: for the person, and for all together who are no owners.

    Whoever has somebody's token leaves them the browser (`way`), in which it is revoked. Raises
    `at_once.TooManyAtOnce`.
    """
    with at_once.requests.one(f"{way} {member.user_id}"):
        if member.is_owner:
            yield
        else:
            with at_once.members.one(member.organization_id):
                yield


def whose(member: Membership) -> str:
    """For what one may do at a time: each owner, and all members together who are no owners."""
    return f"owner {member.user_id}" if member.is_owner else str(member.organization_id)


def check_change(member: Membership, way: str) -> None:
    """Count one request of the person that may change something. Raises `rates.RateLimited`."""
    check_all(of_person(member, CHANGES, "any change", way), what="changes")
    current.note(changed=current.SETTINGS)


def check(member: Membership, rate: str, *key: str, what: str = "requests") -> None:
    """Count one request of the member against `limits`. Raises `rates.RateLimited`."""
    check_all(*limits(member, rate, *key), what=what)


def limits(member: Membership, rate: str, *key: str) -> list[Limit]:
    """For `rates.check_all`: `rate` for the person, and the same for all members together who are no owners.

    Without the first, whoever deletes the account and signs in again, or joins an organization and leaves
    it, has a new organization with all its limits unused.
    """
    own = of_person(member, rate, *key)
    if member.is_owner:
        return [own]
    return [Limit(rate, (*key, member.organization_id)), own]


def of_person(member: Membership, rate: str, *key: str) -> Limit:
    """`rate` for the person, by the GitHub id, which an account keeps whatever becomes of it here."""
    return Limit(rate, (*key, "person", str(member.github_id)))
