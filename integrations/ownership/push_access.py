"""Who still has push access to the repository that an organization's issues go to.

GitHub is asked with the app's own token, and its answers count for account ids, never for logins
alone. If GitHub cannot be asked, that is an exception and counts against nobody.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from core import deadlines
from core.errors import ApiError
from integrations import github_api
from integrations.delivery import holds
from integrations.github_api import Person, Reached, Right, asking
from integrations.models import Integration
from orgs.models import Membership
from orgs.people import members

MOST = 50  # members of an organization that one check asks about
TOGETHER = deadlines.AT_ONCE  # of them at a time, if the first has no push access
LONGEST_LOOK = 20  # seconds, for one integration


class MemberBatch(NamedTuple):
    """Some members, and their memberships; `last` is the one after which there are more, 0 if there are none."""

    people: list[Person]
    memberships: list[int]
    last: int

    def up_to(self, number: int) -> int:
        """The membership after which there are more once so many were asked about; 0 if that is nobody in turn."""
        return self.memberships[number - 1] if number > 1 else 0  # the first may be out of turn


class NoPushAccess(ApiError):
    """403: the member has no push access."""

    status_code = 403
    default_code = "no_push_right"


def look(integration: Integration, reached: Reached) -> None:
    """Look for a member with push access, and save who has it or that nobody has.

    "Nobody" counts once all who were members when the first check began were asked about, over as many checks as
    that takes. Raises `github_api.GitHubError` if GitHub could not be asked; then nothing is saved, but how far it
    has answered in time.
    """
    batch = some_members(integration.organization_id, before=integration.rights_asked_to)
    found, asked = None, 0
    try:
        for right in _rights(batch.people, reached, asking.deadline(LONGEST_LOOK)):
            if right.pushes:
                found = right.person
                break
            asked += 1
    except github_api.TimedOut:
        if last := batch.up_to(asked):
            _save(integration, reached, None, last)
        raise
    _save(integration, reached, found, batch.last)


def _save(integration: Integration, reached: Reached, found: Person | None, last: int) -> None:
    """Save who was found, or that nobody was up to the membership `last`; 0: among all."""
    with transaction.atomic():
        unmoved = Integration.objects.select_for_update(no_key=True).filter(
            repository_id=reached.repository.id
        )
        now = unmoved.filter(pk=integration.pk).first()
        if now is None:  # another repository was chosen in the meantime
            return
        if found:
            if now.rights_lost_at:  # its name may be another one by now
                now.installation.ask_about_soon()
            holds.record_push_access_found(now, found.github_id)
        elif last:
            now.asked_about_some(last)
        else:
            holds.record_push_access_missing(now)


def repository_of(member: Membership) -> int | None:
    """GitHub's number of the repository whose push access decides; None if none is chosen."""
    mine = Integration.objects.of(member.organization_id)
    return mine.values_list("repository_id", flat=True).first()


def locked_repository_of(owner: Membership) -> int | None:
    """The same once nothing changes any more: the role, the repository and its claims may have while GitHub was asked.

    Raises `members.NotAnOwner`.
    """
    members.lock(owner.organization_id)
    members.require_owner(owner)
    Integration.objects.of(owner.organization_id).lock()
    return repository_of(owner)


def require(member: Membership) -> None:
    """Check that the member has push access to the organization's repository now.

    If none is chosen, nothing is asked. Raises `NoPushAccess`, or as `asking.github` does.
    """
    _require(member, or_nobody=False)


def require_to_let_go(member: Membership) -> None:
    """The same before something is removed, which owners may also do if no member has push access."""
    _require(member, or_nobody=True)


def _require(member: Membership, *, or_nobody: bool) -> None:
    configured = Integration.objects.configured().select_related("installation")
    integration = configured.of(member.organization_id).first()
    if integration is None:
        return
    asked_about = [Person(member.github_id, member.login)]
    if or_nobody:
        batch = some_members(member.organization_id)
        asked_about += [each for each in batch.people if each.github_id != member.github_id]
        or_nobody = not batch.last or integration.rights_lost_at is not None
    with asking.github(member, through=integration.installation) as deadline:
        reached = reach(integration, deadline=deadline)
        found = somebody(asked_about, reached, deadline=deadline) if reached else None
    if found is None and or_nobody:  # also if the app cannot access the repository
        return
    if reached is None:
        raise NoPushAccess(
            f"The app can't see {integration.repository} now, so GitHub does not say whether you have push "
            "access to it. Give the app access on GitHub first."
        )
    if found is None or found.github_id != member.github_id:
        raise NoPushAccess(
            f"You don't have push access to {integration.repository}. Ask a member who has."
        )


def reach(integration: Integration, *, deadline: float) -> Reached | None:
    """Its repository; None if the app is suspended, uninstalled, or cannot access it any more."""
    asked_about = cast(int, integration.repository_id)
    try:
        return github_api.reached(
            integration.installation.github_id, asked_about, deadline=deadline
        )
    except github_api.Suspended:
        return None


def some_members(organization_id: str, *, before: int = 0) -> MemberBatch:
    """At most `MOST` members: the last one seen with push access first, then from who came last.

    With `before`, those who came earlier than that membership. So whoever comes meanwhile is not waited for: members
    who leave and come back would keep a check from ever having asked about all.
    """
    seen = Integration.objects.of(organization_id).filter(rights_of=OuterRef("github_id"))
    members = Membership.objects.filter(organization=organization_id)
    if before:
        members = members.filter(Q(pk__lt=before) | Exists(seen))
    in_turn = members.order_by(Exists(seen).desc(), "-pk")
    found = list(in_turn.values_list("github_id", "login", "pk")[: MOST + 1])
    people = [Person(github_id, login) for github_id, login, _ in found[:MOST]]
    memberships = [pk for *_, pk in found[:MOST]]
    return MemberBatch(people, memberships, memberships[-1] if len(found) > MOST else 0)


def somebody(people: Sequence[Person], reached: Reached, *, deadline: float) -> Person | None:
    """The first of `people` with push access to the repository; no more are asked about after that."""
    rights = _rights(people, reached, deadline)
    return next((right.person for right in rights if right.pushes), None)


def _rights(people: Sequence[Person], reached: Reached, deadline: float) -> Iterator[Right]:
    """What each may do, in turn. New logins are kept: to find one out takes three calls, not one."""
    for some in _first_alone(people):
        rights = github_api.rights(reached, some, deadline=deadline)
        for right in rights:
            if right.person not in some:
                _follow_login(right.person)
        yield from rights


def _first_alone(people: Sequence[Person]) -> Iterator[Sequence[Person]]:
    yield people[:1]
    for first in range(1, len(people), TOGETHER):
        yield people[first : first + TOGETHER]


def _follow_login(person: Person) -> None:
    """Save the current login, since GitHub has to be asked by login."""
    Membership.objects.filter(github_id=person.github_id).update(login=person.login)
