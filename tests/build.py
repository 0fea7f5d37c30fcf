"""What tests are about: organizations with claims, and reports."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from django.test import Client
from django.utils import timezone

from integrations.models import Attempt, Delivery, Installation, Integration
from orgs.domains import hosts
from orgs.models import Domain, Membership, Organization, Site, Terminal, User
from orgs.people import tokens
from sandbox import CodeHost

github_ids = count(90_001)  # of accounts that no sandbox knows


def organization(name: str = "acme") -> Organization:
    return Organization.objects.create(name=name)


def member(
    owner: Organization, login: str = "alice", *, role: str = "owner", github_id: int | None = None
) -> User:
    """Somebody who has signed in, in this organization."""
    user = User.objects.create(username=login, last_login=timezone.now())
    Membership.objects.create(
        organization=owner,
        user=user,
        github_id=github_id or next(github_ids),
        login=login,
        role=role,
    )
    return user


def token(user: User, scopes: Iterable[str] = tokens.SCOPES) -> str:
    """The value of a new personal token."""
    return tokens.issue(user, "for a test", scopes=scopes)[1]


def terminal(user: User) -> Terminal:
    """One in which this person is signed in."""
    ends_at = timezone.now() + timedelta(days=90)
    return Terminal.objects.create(
        user=user, client="docfeedback", scopes=["orgs:read"], family=uuid4().hex, ends_at=ends_at
    )


def api(token: str) -> Client:
    """A client that sends this token."""
    return Client(headers={"Authorization": f"Bearer {token}"})


def caller(name: str) -> Client:
    """A client with the token of the owner of an organization; both have this name."""
    return api(token(member(organization(name), name)))


def domain(owner: Organization, name: str, *, verified: bool = True) -> Domain:
    above = hosts.registrable(name, pages_host="github.io")
    return Domain.objects.create(
        organization=owner,
        name=name,
        registrable=hosts.is_registrable(name, pages_host="github.io"),
        below=above if verified and above != name else "",
        verified_at=timezone.now() if verified else None,
    )


def site(owner: Organization, host: str, path: str = "/", repository: str = "acme/docs") -> Site:
    return Site.objects.create(
        organization=owner, host=host, path=path, repository=repository, verified_at=timezone.now()
    )


def installed(code_host: CodeHost, account: str = "acme"):
    """The app's installation on an account of the sandbox."""
    return code_host.installation_on(code_host.account(account))


def tell_of_issue(code_host: CodeHost, action: str, updated_at: str, **issue: Any) -> None:
    """A webhook about issue 1 of acme/docs, as GitHub sends it at that time; keywords say more of the issue."""
    payload = {
        "action": action,
        "installation": {"id": installed(code_host).id},
        "repository": {"id": code_host.repository("acme/docs").id},
        "issue": {"number": 1, "updated_at": updated_at, **issue},
    }
    assert code_host.deliver_webhook("issues", payload).status == 202


def integration(
    owner: Organization, code_host: CodeHost, repository: str = "acme/docs"
) -> Integration:
    """The organization's integration with a repository of the sandbox."""
    target = code_host.repository(repository)
    installation, _ = Installation.objects.get_or_create(
        github_id=installed(code_host, target.owner.login).id,
        defaults={"account": target.owner.login},
    )
    return Integration.objects.create(
        organization=owner,
        installation=installation,
        repository_id=target.id,
        repo_owner=target.owner.login,
        repo_name=target.name,
        repository_private=target.private,
        has_pages=target.has_pages,
    )


def acme(code_host: CodeHost, *domains: str) -> Organization:
    """An organization that is set up: issues about `domains` go to acme/docs."""
    owner = organization()
    integration(owner, code_host)
    for name in domains or ("docs.acme.com",):
        domain(owner, name)
    return owner


def report(doc_url: str = "https://docs.acme.com/install", **changes: Any) -> dict[str, Any]:
    """The body of a report; keywords replace parts of it by their path (`report__kind="broken"`)."""
    body: dict[str, Any] = {
        "protocol_version": "0",
        "doc_url": doc_url,
        "agent": {"name": "agent-x"},
        "report": {"kind": "outdated", "summary": "The install command is gone"},
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        target = body
        for parent in parents:
            target = target.setdefault(parent, {})
        target[last] = value
    return body


def send(client: Client, body: Any = None, **headers: str):
    """POST a report; headers by their WSGI-free names, such as `Idempotency_Key`."""
    return client.post(
        "/v1/reports",
        data=report() if body is None else body,
        content_type="application/json",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def attempts(delivery: Delivery, number: int) -> None:
    """So many attempts of a delivery, as a Hub that kept all of them has stored."""
    known = delivery.attempts.count()
    now = timezone.now()
    ended = {"started_at": now, "ended_at": now, "outcome": Attempt.Outcome.HELD}
    Attempt.objects.bulk_create(
        Attempt(delivery=delivery, number=each, **ended) for each in range(known + 1, number + 1)
    )
    Delivery.objects.filter(pk=delivery.pk).update(tries=number)
