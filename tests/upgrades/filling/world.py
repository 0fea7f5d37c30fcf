"""Organizations whose reports become issues in a repository each."""

from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from integrations.models import Delivery, Integration
from orgs.models import Domain, Organization
from sandbox import CodeHost
from tests import build


@dataclass
class Hub:
    """The Hub, and the sandbox that tells it what happens there."""

    host: CodeHost

    def team(self, name: str, *, account: str = "acme", **choices: Any) -> "Team":
        """A new organization, with a claim and a repository; `choices` are columns of its integration."""
        return Team(self, name, build.organization(name), choices, account)


@dataclass
class Team:
    """An organization that receives reports about docs.<name>.com, as issues in <account>/<name>."""

    hub: Hub
    name: str
    organization: Organization
    choices: dict[str, Any] = field(default_factory=dict)
    account: str = "acme"

    def __post_init__(self) -> None:
        host = self.hub.host
        if host.find_repository(self.repository) is None:
            made = host.add_repository(self.account, self.name)
            if there := build.installed(host, self.account):
                host.add_to_installation(there, made)
            else:
                host.add_installation(self.account, repositories=[made])
        build.integration(self.organization, host, self.repository)
        self.choose(**self.choices)
        build.domain(self.organization, self.domain)

    @property
    def repository(self) -> str:
        return f"{self.account}/{self.name}"

    @property
    def domain(self) -> str:
        return f"docs.{self.name}.com"

    @property
    def integration(self) -> Integration:
        integrations = Integration.objects.select_related("installation", "organization")
        return integrations.get(organization=self.organization)

    @property
    def claim(self) -> Domain:
        return Domain.objects.get(name=self.domain)

    def choose(self, **columns: Any) -> None:
        Integration.objects.filter(organization=self.organization).update(**columns)

    def send(self, summary: str, **changes: Any) -> Delivery:
        """Report a page of theirs; returns the delivery, as it is then."""
        page = changes.pop("doc_url", f"https://{self.domain}/install")
        body = build.report(page, report__summary=summary, **changes)
        answer = build.send(Client(), body)
        assert answer.status_code == 201, answer.content
        return Delivery.objects.select_related("report", "integration").get(
            report=answer.json()["id"]
        )
