"""Every call that the description has, by method and address as the reference writes them."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import BaseModel

from integrations.api import acts, reports, setup
from integrations.api import answers as written_answers
from orgs.api import domains
from orgs.api.request_body import OptOutBody
from reports.shape import ReportBody
from tests.openapi import answers

LEFT_OUT = {  # addresses that are no calls of programs, and who calls them
    "GET /v1/integrations/github/callback": "a browser that returns from GitHub",
    "POST /v1/webhooks/github": "GitHub",
}
TRIES = ("attempts to try again",)
TOGETHER = ("discarding or restoring several reports",)
ONE, SOME = "Acting on one report", "`POST /v1/orgs/me/reports/retry`, `/discard`, `/restore`"


class Call(NamedTuple):
    """One call: its name in generated clients, what it answers by status, and its body.

    `rates` are the rows of the page of limits that apply; `section` is the heading of the reference that
    describes it, where that is not the call itself.
    """

    name: str
    tag: str
    answers: Mapping[int, type[BaseModel] | None]
    body: type[BaseModel] | None = None
    rates: tuple[str, ...] = ()
    section: str = ""


ASKING = ("questions to GitHub",)
REPORTING = (
    "reports from an address",
    "reports from an IPv6 /48",
    "reports from a network",
    "large reports from a network",
    "reports about one claim",
    "reports about one claim from a network",
    "all reports",
    "all reports from a network",
)

QUESTIONS = (
    "questions about pages from an address",
    "questions about pages from an IPv6 /48",
    "questions about pages from a network",
    "all questions about pages",
    "all questions about pages from a network",
)

CALLS = {
    "POST /v1/reports": Call(
        "sendReport",
        "Reports",
        {201: answers.Sent, 200: answers.Sent},
        ReportBody,
        rates=REPORTING,
    ),
    "GET /v1/reports/<id>": Call("getReceipt", "Reports", {200: answers.Receipt}),
    "GET /v1/pages": Call(
        "getKnownProblems",
        "Reports",
        {200: answers.KnownProblems, 304: None},
        rates=QUESTIONS,
    ),
    "GET /v1/orgs/me": Call("getOrganization", "Organization", {200: answers.Organization}),
    "GET /v1/integrations/github/install": Call(
        "startInstallation",
        "Integration",
        {200: answers.Installation},
        rates=("starts of an installation",),
    ),
    "GET /v1/integrations/github/repositories": Call(
        "listRepositories",
        "Integration",
        {200: answers.Repositories},
        rates=(*ASKING, "lists of repositories", "lists of repositories of an installation"),
    ),
    "POST /v1/orgs/me/integrations/github": Call(
        "chooseRepository",
        "Integration",
        {200: answers.GitHubIntegration},
        setup.ConfigureBody,
        rates=ASKING,
    ),
    "PATCH /v1/orgs/me/integrations/github": Call(
        "changeIntegration", "Integration", {200: answers.GitHubIntegration}, setup.ChoicesBody
    ),
    "DELETE /v1/orgs/me/integrations/github": Call(
        "disconnectRepository", "Integration", {204: None}, rates=ASKING
    ),
    "POST /v1/orgs/me/domains": Call(
        "claimDomain",
        "Domains",
        {201: answers.DomainClaim, 200: answers.DomainClaim},
        domains.DomainBody,
        rates=("claims of domains",),
    ),
    "POST /v1/orgs/me/domains/<domain>/verify": Call(
        "verifyDomain", "Domains", {200: answers.CheckedDomain}, rates=("checks of DNS records",)
    ),
    "PATCH /v1/orgs/me/domains/<domain>": Call(
        "changeDomain", "Domains", {200: answers.Domain}, OptOutBody
    ),
    "DELETE /v1/orgs/me/domains/<domain>": Call("removeDomain", "Domains", {204: None}),
    "POST /v1/orgs/me/sites": Call(
        "claimSite",
        "Sites",
        {201: answers.Site, 200: answers.Site},
        setup.SiteBody,
        rates=ASKING,
    ),
    "PATCH /v1/orgs/me/sites/<id>": Call(
        "changeSite", "Sites", {200: answers.Site}, OptOutBody, rates=ASKING
    ),
    "DELETE /v1/orgs/me/sites/<id>": Call("removeSite", "Sites", {204: None}, rates=ASKING),
    "GET /v1/orgs/me/reports": Call(
        "listReports",
        "Received reports",
        {200: answers.Reports},
        rates=("searches in reports", "lists of reports with other filters"),
    ),
    "GET /v1/orgs/me/reports/<id>": Call(
        "getReport", "Received reports", {200: answers.WholeReport}
    ),
    **{
        f"POST /v1/orgs/me/reports/<id>/{act}": Call(
            f"{act}Report",
            "Received reports",
            {200: answers.ReportAfterwards},
            rates=TRIES if act == "retry" else (),
            section=ONE,
        )
        for act in acts.ACTS
    },
    "PUT /v1/orgs/me/reports/<id>/answer": Call(
        "answerReporters",
        "Received reports",
        {200: answers.WrittenAnswer},
        written_answers.AnswerBody,
    ),
    "DELETE /v1/orgs/me/reports/<id>/answer": Call("removeAnswer", "Received reports", {204: None}),
    **{
        f"POST /v1/orgs/me/reports/{act}": Call(
            f"{act}Reports",
            "Received reports",
            {200: answers.ActedOn},
            reports.Chosen,
            rates=TRIES if act == "retry" else TOGETHER,
            section=SOME,
        )
        for act in acts.FOR_MANY
    },
    "POST /v1/orgs/me/reports/<id>/not-the-same": Call(
        "sayNotTheSame",
        "Received reports",
        {200: answers.ReportAfterwards},
        reports.Split,
        rates=("attempts to try again",),
    ),
    "POST /v1/orgs/me/reports/<id>/same-as": Call(
        "sayTheSame", "Received reports", {200: answers.ReportAfterwards}, reports.Named
    ),
    "POST /v1/orgs/me/test-report": Call(
        "sendTestReport",
        "Received reports",
        {201: answers.TestReportSent},
        rates=("test reports",),
    ),
}
