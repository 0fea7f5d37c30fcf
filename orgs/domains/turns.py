"""The order in which claims are checked: organizations take turns, so that none delays the others."""

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from orgs.models import Organization

BATCH = 100  # claims that are handed out together
ORGANIZATIONS = 100  # whose claims take turns
IN_TURN = 20  # claims of one of them


def in_turn(claims: QuerySet[Any], oldest_first: str) -> Iterator[list[str]]:
    """The ids of the claims, at most `BATCH` at a time, until none is left: the caller takes each batch.

    `oldest_first` is the column by which the claims of one organization are ordered.
    """
    while claims.exists():
        one = Subquery(claims.filter(organization=OuterRef("pk")).values("pk")[:1])
        some = Organization.objects.alias(one=one).exclude(one=None).order_by("?")
        ids = some.values_list("pk", flat=True)[:ORGANIZATIONS]
        oldest = [_oldest_of(each, claims, oldest_first) for each in ids]
        turns = iter([pk for turn in zip_longest(*oldest) for pk in turn if pk])
        while batch := list(islice(turns, BATCH)):
            yield batch


def _oldest_of(organization: str, claims: QuerySet[Any], oldest_first: str) -> list[str]:
    mine = claims.filter(organization=organization).order_by(oldest_first)
    return list(mine.values_list("pk", flat=True)[:IN_TURN])
