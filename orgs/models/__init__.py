"""Organizations, their people, and what they own."""

from orgs.models.challenge import EarlierChallenge
from orgs.models.domain import Domain
from orgs.models.former_address import FormerAddress
from orgs.models.organization import (
    Invitation,
    Membership,
    Notice,
    Organization,
    PersonalToken,
    User,
)
from orgs.models.site import Site
from orgs.models.terminal import Terminal, TerminalToken

__all__ = [
    "Domain",
    "EarlierChallenge",
    "FormerAddress",
    "Invitation",
    "Membership",
    "Notice",
    "Organization",
    "PersonalToken",
    "Site",
    "Terminal",
    "TerminalToken",
    "User",
]
