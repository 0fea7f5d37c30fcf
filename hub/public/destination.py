"""Where a report about a page would go, as far as strangers may know."""

from enum import Enum
from typing import NamedTuple

from integrations.models import Integration
from integrations.ownership import public_files
from orgs.ownership import claim_covering


class Reach(Enum):
    """Who would get the report."""

    NOBODY = "nobody"  # has claimed the page
    UNSAID = "unsaid"  # nobody, or a private repository, which is not told apart
    OPTED_OUT = "opted out"  # whose page it is wants no reports
    MAINTAINERS = "maintainers"  # somebody; no more is said
    PUBLIC = "public"  # a public repository, which may be named


class Destination(NamedTuple):
    """Who would get a report, and the public repository that it would go to."""

    reach: Reach
    repository: str = ""


def of(canonical_url: str) -> Destination:
    """Where a report about this page would go now. At most two queries.

    A repository is named only if GitHub said that it is public, and an issue would be opened at once:
    a private one, and an integration that is paused, on hold or not finished, look alike. Of files on the code
    host no more is said, since their address names the repository.
    """
    claim = claim_covering(canonical_url)
    is_file = public_files.are_at(canonical_url)
    if claim is None:
        return Destination(Reach.UNSAID if is_file else Reach.NOBODY)
    sending = Integration.objects.configured().not_on_hold()
    target = sending.of(claim.organization_id).first()
    if is_file and not (target and public_files.are_of(target, canonical_url)):
        return Destination(Reach.UNSAID)
    if claim.opted_out_at:
        return Destination(Reach.OPTED_OUT)
    if target is None or target.repository_private or target.obstacle:
        return Destination(Reach.MAINTAINERS)
    return Destination(Reach.PUBLIC, target.repository)
