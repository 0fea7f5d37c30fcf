"""The examples of the document are what the Hub answers: each is asked for again, and compared."""

import json
import os
import re
from typing import Any

import pytest
from django.test import Client

from integrations.models import Answer, Delivery, Integration
from orgs.models import Domain, User
from tests import build
from tests.openapi import examples, reference
from tests.openapi.calls import CALLS

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = "01J9ZK3V5T8Q2M4N6P7R8S9T0V"
VARYING = {  # what differs from run to run, and what stands for it
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z": "2026-01-31T12:34:56.789012Z",
    r"hub-verify=hub\.example/[\w-]+": "hub-verify=hub.example.com/JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    r"state=[\w.-]+": "state=Zm9vYmFyYmF6cXV4",
    r"\d{10,16}-(?=[0-7][0-9A-HJKMNP-TV-Z]{25})": "1769862896789012-",
    r"http://127\.0\.0\.1:\d+": "https://github.com",
    r"hub\.example(?=/|%2F)": "hub.example.com",
}
ULID = re.compile(r"\b0[0-9A-HJKMNP-TV-Z]{25}\b")
PAGE = "https://docs.example.com/quickstart"
REPORT = {
    "protocol_version": "0",
    "doc_url": PAGE,
    "agent": {"name": "claude-code", "version": "2.1.0", "vendor": "Anthropic"},
    "report": {
        "kind": "incorrect",
        "summary": "Step 3 needs a token that the page does not mention",
        "details": "The command of step 3 fails without `DOCS_TOKEN`.",
        "evidence": [{"kind": "error_message", "text": "401 Unauthorized"}],
        "suggested_fix": "Say before step 3 where the token comes from.",
    },
    "task_context": {"task_summary": "Set up the command line"},
    "submitted_at": "2026-01-31T12:34:56Z",
    "locale": "en",
}
FLAG = (
    "`example push --force` fails in step 4: `unknown flag: --force`, since 4.0 it is `--overwrite`"
)


class Asked:
    """Keeps the first request and answer of each kind."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    def __call__(
        self, client: Client, call: str, body: Any = None, *, query: str = "", **names: str
    ) -> Any:
        method, path = call.split()
        for name, value in names.items():
            path = path.replace(f"<{name}>", value)
        sent = {} if body is None else {"data": body, "content_type": "application/json"}
        answer = getattr(client, method.lower())(path + query, **sent)
        self._keep(CALLS[call].name, body, answer)
        return answer.json() if answer.content else None

    def _keep(self, name: str, body: Any, answer: Any) -> None:
        known = self.kept.setdefault(name, {})
        if answer.status_code >= 400:
            error = answer.json()
            known.setdefault("errors", {}).setdefault(error["error"], error)
            return
        if body is not None:
            known.setdefault("request", body)
        if answer.content:
            known.setdefault("answers", {}).setdefault(str(answer.status_code), answer.json())

    def written(self) -> str:
        """All of it as text, with the same ids and times each time."""
        text = json.dumps(self.kept, indent=1, ensure_ascii=False)
        for pattern, stands_for in VARYING.items():
            text = re.sub(pattern, stands_for, text)
        ids = {found: f"{NOWHERE[:-2]}{n:02}" for n, found in enumerate(_unique(text))}
        return ULID.sub(lambda found: ids.get(found[0], found[0]), text) + "\n"


def _unique(text: str) -> list[str]:
    return [each for each in dict.fromkeys(ULID.findall(text)) if each != NOWHERE]


@pytest.fixture
def acme(code_host):
    code_host.add_repository("acme", "old", archived=True)
    handbook = code_host.add_repository("acme", "handbook")
    code_host.add_to_installation(build.installed(code_host), handbook)
    return build.acme(code_host, "docs.example.com")


@pytest.fixture
def people(acme, code_host):
    """alice owns acme and may push, charlie owns it too and may not, bob is a member; dora has nothing set up."""
    roles = {"alice": "owner", "bob": "member", "charlie": "owner"}
    users = {
        login: build.member(acme, login, role=role, github_id=code_host.account(login).id)
        for login, role in roles.items()
    }
    code_host.grant("bob", "acme/docs", "push")
    code_host.grant("charlie", "acme/handbook", "push")
    users["dora"] = build.member(build.organization("dora"), "dora")
    return users


@pytest.fixture
def clients(people):
    return {login: build.api(build.token(user)) for login, user in people.items()}


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.mark.slow
def test_the_examples_are_what_the_hub_answers(asked, acme, people, clients, code_host, dns):
    reporters(asked)
    refusals(asked, people["alice"], clients["alice"])
    integration(asked, clients, code_host)
    domains(asked, clients, people["dora"], dns)
    sites(asked, clients, code_host)
    reports(asked, clients, code_host)
    alike(asked, clients["alice"])
    leaving(asked, clients, code_host)

    written = asked.written()
    if os.environ.get("WRITE_EXAMPLES"):
        examples.FILE.write_text(written, encoding="utf-8")
    assert written == examples.FILE.read_text(encoding="utf-8"), "Run script/openapi."


def reporters(asked):
    closed = build.domain(build.organization("closed"), "closed.example.com")
    Domain.objects.filter(pk=closed.pk).update(opted_out_at=closed.verified_at)
    anybody, agent = Client(), Client(headers={"X-Docs-Feedback-Protocol-Version": "0"})
    wrong = {**REPORT, "doc_url": "ftp://docs.example.com/", "agent": {}}

    sent = asked(anybody, "POST /v1/reports", REPORT)
    asked(
        agent, "POST /v1/reports", {**REPORT, "report": {**REPORT["report"], "details": "Again."}}
    )
    asked(anybody, "POST /v1/reports", wrong)
    asked(anybody, "POST /v1/reports", {**REPORT, "doc_url": "https://closed.example.com/"})
    asked(anybody, "GET /v1/reports/<id>", id=sent["id"])
    asked(anybody, "GET /v1/reports/<id>", id=NOWHERE)
    pages(asked, anybody, sent["id"])


def pages(asked, anybody, report_id):
    """What is known of the page of a report that somebody has answered."""
    Integration.objects.update(shows_known=True)
    lead = Delivery.objects.get(report=report_id)
    answer = {"text": "Create one under Settings, Tokens.", "link": f"{PAGE}#tokens"}
    Answer.objects.create(delivery=lead, made_by="alice", **answer)
    asked(anybody, "GET /v1/pages", query=f"?url={PAGE}")
    asked(anybody, "GET /v1/pages", query="?url=https://unknown.example.com/")
    asked(anybody, "GET /v1/pages", query="?url=ftp://docs.example.com/")


def refusals(asked, alice, client):
    """What every call with a token, with a body, or about something refuses."""
    others = {
        "orgs:read": build.api(build.token(alice, ["orgs:read"])),
        "orgs:write": build.api(build.token(alice, ["orgs:write"])),
    }
    nobody = build.api(build.token(User.objects.create(username="frank")))
    for call, each in CALLS.items():
        names = {"id": NOWHERE, "domain": "unknown.example.com"}
        if reference.is_public(call):
            continue
        for other in others.values():
            asked_for(asked, other, call, names, "insufficient_scope")
        for other in (Client(), nobody):
            asked_for(asked, other, call, names, "unauthorized", "no_organization")
        if each.body:
            needs = any(field.is_required() for field in each.body.model_fields.values())
            asked(client, call, {} if needs else {"color": "red"}, **names)
        if "<" in call:
            asked(client, call, {"opted_out": True} if each.body else None, **names)


def asked_for(asked, client, call, names, *codes):
    """Ask, and keep the answer only if it is one of these errors."""
    trial = Asked()
    trial(client, call, None, **names)
    for error in trial.kept.get(CALLS[call].name, {}).get("errors", {}).values():
        if error["error"] in codes:
            known = asked.kept.setdefault(CALLS[call].name, {}).setdefault("errors", {})
            known.setdefault(error["error"], error)


def integration(asked, clients, code_host):
    alice, dora = clients["alice"], clients["dora"]
    asked(alice, "GET /v1/orgs/me")
    asked(alice, "GET /v1/integrations/github/install")
    listed = "GET /v1/integrations/github/repositories"
    choose = "POST /v1/orgs/me/integrations/github"
    mine = {"repo_owner": "acme", "repo_name": "docs"}
    asked(dora, listed)
    asked(dora, choose, mine)
    away(asked, code_host, alice, listed)
    away(asked, code_host, alice, choose, mine)
    asked(alice, listed)
    asked(alice, listed, query="?page=first")
    asked(alice, choose, {**mine, "issue_template": "{summary}\n\n{details}", "alerts": False})
    asked(alice, choose, {**mine, "repo_name": "old"})
    asked(alice, choose, {**mine, "issue_template": "{sumary}"})
    asked(alice, choose, {**mine, "issue_template": "x" * 20_001})
    asked(alice, choose, {**mine, "issue_template": "cc @charlie"})
    asked(alice, choose, {**mine, "issue_template": "{summary} <video src=x></video>"})
    change = "PATCH /v1/orgs/me/integrations/github"
    asked(dora, change, {"likeness": "off"})
    asked(alice, change, {"likeness": "hint", "when_reported_again": "comment"})


def away(asked, code_host, client, call, body=None, **names):
    """The same while GitHub does not answer."""
    code_host.fail("502", method="*", path="/api/v3/*")
    asked(client, call, body, **names)


def domains(asked, clients, dora, dns):
    alice, bob, claim = clients["alice"], clients["bob"], "POST /v1/orgs/me/domains"
    one = "/v1/orgs/me/domains/<domain>"
    build.domain(dora.membership.organization, "wiki.example.com")
    asked(alice, claim, {"domain": "help.example.com"})
    asked(alice, claim, {"domain": "help.example.com"})
    for refused in ("127.0.0.1", "co.uk", "acme.github.io"):
        asked(alice, claim, {"domain": refused})
    wiki = alice.post(claim.split()[1], {"domain": "wiki.example.com"}, "application/json").json()
    theirs = Domain.objects.get(organization=dora.membership.organization)
    dns.txt(theirs.record_name, theirs.record_value, wiki["dns_record"]["value"])
    asked(alice, f"POST {one}/verify", domain="help.example.com")
    asked(alice, f"POST {one}/verify", domain="wiki.example.com")
    for who in (bob, alice):
        asked(who, f"PATCH {one}", {"opted_out": True}, domain="help.example.com")
        asked(who, f"DELETE {one}", domain="help.example.com")
    waiting = {"organization": dora.membership.organization, "registrable": False}
    Domain.objects.bulk_create(Domain(name=f"d{n}.example.com", **waiting) for n in range(100))
    asked(clients["dora"], claim, {"domain": "help.example.com"})


def sites(asked, clients, code_host):
    alice, claim = clients["alice"], "POST /v1/orgs/me/sites"
    mine = {"url": "https://acme.github.io/docs/"}
    asked(clients["dora"], claim, mine)
    other, erin = build.organization("other"), code_host.add_user("erin")
    build.member(other, "erin", github_id=erin.id)
    code_host.grant("erin", "acme/docs", "push")
    taken = build.site(other, "acme.github.io", "/docs/")
    away(asked, code_host, alice, claim, mine)
    asked(alice, claim, mine)
    taken.delete()
    for refused in ("/docs/install/", "/handbook/"):
        asked(alice, claim, {"url": f"https://acme.github.io{refused}"})
    Integration.objects.update(has_pages=False)
    asked(alice, claim, mine)
    Integration.objects.update(has_pages=True)
    asked(alice, claim, {"url": "https://github.io/"})
    asked(alice, claim, {"url": "https://docs.example.com/"})
    site = asked(alice, claim, mine)["id"]
    asked(alice, claim, mine)
    other = {"repo_owner": "acme", "repo_name": "handbook"}
    asked(clients["charlie"], "POST /v1/orgs/me/integrations/github", other)
    one = "/v1/orgs/me/sites/<id>"
    for who in ("bob", "charlie"):
        asked(clients[who], f"PATCH {one}", {"opted_out": True}, id=site)
        asked(clients[who], f"DELETE {one}", id=site)
    away(asked, code_host, alice, f"PATCH {one}", {"opted_out": True}, id=site)
    away(asked, code_host, alice, f"DELETE {one}", id=site)
    asked(alice, f"PATCH {one}", {"opted_out": True}, id=site)
    asked(alice, f"DELETE {one}", id=site)


def reports(asked, clients, code_host):
    alice, bob = clients["alice"], clients["bob"]
    mine = "/v1/orgs/me/reports"
    sent = Delivery.objects.get().report_id
    asked(alice, f"GET {mine}", query="?status=sent")
    asked(alice, f"GET {mine}", query="?status=lost&since=yesterday")
    asked(alice, f"GET {mine}/<id>", id=sent)
    answer = {"text": "Create one under Settings, Tokens.", "link": f"{PAGE}#tokens"}
    asked(alice, f"PUT {mine}/<id>/answer", answer, id=sent)
    asked(bob, f"PUT {mine}/<id>/answer", {"text": "x", "link": "https://example.org/"}, id=sent)
    for act in ("retry", "discard", "restore"):
        asked(alice, f"POST {mine}/<id>/{act}", id=sent)
    code_host.fail("422")
    failed = build.send(Client(), build.report(PAGE)).json()["id"]
    asked(alice, f"POST {mine}/discard", {"ids": [failed, sent]})
    asked(alice, f"POST {mine}/restore", {"ids": [failed, sent]})
    asked(alice, f"POST {mine}/<id>/discard", id=failed)
    asked(alice, f"POST {mine}/<id>/restore", id=failed)
    code_host.fail("422")
    failed = build.send(Client(), build.report(PAGE, report__summary="Another one")).json()["id"]
    asked(alice, f"POST {mine}/retry", {"ids": [failed, sent]})
    Delivery.objects.filter(report=failed).update(status="failed")
    asked(alice, f"POST {mine}/<id>/retry", id=failed)
    for who in (bob, alice):
        asked(who, f"POST {mine}/<id>/erase", id=failed)


def alike(asked, alice):
    """One problem in the words of two agents, which a member takes for two problems, and for one again."""
    mine = "POST /v1/orgs/me/reports/<id>"
    Integration.objects.update(likeness="fold")
    first, joined = (
        build.send(Client(), build.report(PAGE, agent__name=each, report__summary=FLAG)).json()[
            "id"
        ]
        for each in ("claude-code", "cursor")
    )
    issue = {"issue_url": Delivery.objects.get(report=first).issue_url}
    for _ in range(2):
        asked(alice, f"{mine}/not-the-same", {"all": True}, id=first)
    for each in (first, joined):
        asked(alice, f"{mine}/same-as", issue, id=each)


def leaving(asked, clients, code_host):
    alice, test = clients["alice"], "POST /v1/orgs/me/test-report"
    disconnect = "DELETE /v1/orgs/me/integrations/github"
    asked(clients["dora"], test)
    asked(alice, test)
    Domain.objects.all().delete()
    asked(alice, test)
    for who in ("bob", "charlie"):
        asked(clients[who], disconnect)
    away(asked, code_host, alice, disconnect)
    asked(alice, disconnect)
