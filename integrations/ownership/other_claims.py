"""The claim of another organization that stands in the way of one: a live one, or one that is to come back.

Several organizations can send their issues to one repository, since that takes push access alone. What one of
them has claimed there stays its own while the proof is missing for a moment.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import F, Q, QuerySet

from integrations.models import Integration
from orgs.models import Site


def in_the_way(integration: Integration, claim: Mapping[str, Any]) -> Site | None:
    """The claim that keeps the integration's organization from having this one; None if there is none.

    `claim` has the columns of it. A repository is the same by whatever name, as long as its number is.
    """
    here = Site.objects.filter(repository_id=claim["repository_id"])
    if claim["repository_id"] is None:  # no two names of repositories differ in their case alone
        here = here.filter(host=claim["host"], path__iexact=claim["path"])
    own = Q(organization=integration.organization_id)
    mine = here.filter(own).order_by(F("lapsed_at").desc(nulls_first=True)).first()
    if mine and mine.lapsed_at is None:
        return None
    if live := here.live().exclude(own).first():
        return live
    coming_back = here.exclude(own).filter(organization__in=_those_who_get_it_back(integration))
    if mine:
        coming_back = coming_back.filter(lapsed_at__gt=mine.lapsed_at)  # who had it last has it
    return coming_back.order_by("-lapsed_at").first()


def _those_who_get_it_back(integration: Integration) -> QuerySet[Integration, Any]:
    """The organizations whose claims come back by themselves: the same repository is theirs by the same installation.

    An installation of before was removed, or is of an account to which the repository no longer belongs.
    """
    same = Integration.objects.filter(
        repository_id=integration.repository_id,
        installation=integration.installation_id,
        rights_lost_at=None,
    )
    return same.values("organization")
