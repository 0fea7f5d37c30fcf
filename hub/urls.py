"""All URLs of the Hub."""

from django.contrib import admin
from django.urls import include, path, re_path

from core import error_answers
from hub.limits import SIGN_INS_ENDED, limited
from hub.screen import integration
from hub.screen.access import signed_in
from integrations.api import acts, answers, pages, receipts, setup
from integrations.api.organization import Me
from integrations.api.report_list import ReceivedReports
from integrations.api.reports import ActOnReport, ActOnReports, NotTheSame, OneReport, SameAs
from integrations.github_sync.webhooks import GitHubWebhook
from orgs.api.domains import Domains, OneDomain, VerifyDomain
from orgs.people import github_account, sign_in
from orgs.terminals import approval, endpoints
from reports.views import Reports

urlpatterns = [
    path("v1/reports", Reports.as_view(outcome=receipts.outcome), name="reports"),
    path("v1/reports/<str:report_id>", receipts.ReceiptView.as_view(), name="receipt"),
    path("v1/pages", pages.Pages.as_view(), name="pages"),
    path("v1/integrations/github/install", setup.Install.as_view(), name="install"),
    path("v1/integrations/github/callback", integration.callback, name="callback"),
    path("v1/integrations/github/repositories", setup.Repositories.as_view(), name="repositories"),
    path("v1/orgs/me", Me.as_view(), name="me"),
    path("v1/orgs/me/reports", ReceivedReports.as_view(), name="received-reports"),
    *(
        path(f"v1/orgs/me/reports/{act}", ActOnReports.as_view(act=act), name=f"{act}-reports")
        for act in acts.FOR_MANY
    ),
    path("v1/orgs/me/reports/<str:report_id>", OneReport.as_view(), name="received-report"),
    *(
        path(
            f"v1/orgs/me/reports/<str:report_id>/{act}",
            ActOnReport.as_view(act=act),
            name=f"{act}-report",
        )
        for act in acts.ACTS
    ),
    path(
        "v1/orgs/me/reports/<str:report_id>/answer",
        answers.OneAnswer.as_view(),
        name="answer-report",
    ),
    path(
        "v1/orgs/me/reports/<str:report_id>/not-the-same",
        NotTheSame.as_view(),
        name="report-not-the-same",
    ),
    path("v1/orgs/me/reports/<str:report_id>/same-as", SameAs.as_view(), name="report-same-as"),
    path("v1/orgs/me/integrations/github", setup.GitHubIntegration.as_view(), name="integration"),
    path("v1/orgs/me/domains", Domains.as_view(), name="domains"),
    path("v1/orgs/me/domains/<str:name>", OneDomain.as_view(), name="domain"),
    path("v1/orgs/me/domains/<str:name>/verify", VerifyDomain.as_view(), name="domain-verify"),
    path("v1/orgs/me/sites", setup.Sites.as_view(), name="sites"),
    path("v1/orgs/me/sites/<str:site_id>", setup.OneSite.as_view(), name="site"),
    path("v1/orgs/me/test-report", setup.TestReport.as_view(), name="test-report"),
    path("v1/webhooks/github", GitHubWebhook.as_view(), name="github-webhook"),
    re_path(r"^v1(/|$)", error_answers.not_found),
    path("login/", sign_in.sign_in, name="account_login"),
    path("login/github/", limited(sign_in.begin, sign_in.is_sent), name="github_login"),
    path(
        "login/github/callback/",
        limited(
            sign_in.complete,
            sign_in.asks_github,
            altogether=SIGN_INS_ENDED,
            refusals=github_account.refusals,
        ),
        name="github_callback",
    ),
    path("login/inactive/", sign_in.inactive, name="account_inactive"),
    path("logout/", sign_in.sign_out, name="account_logout"),
    path(".well-known/openid-configuration", endpoints.metadata, name="oauth-metadata"),
    path("oauth/device", endpoints.device_authorization, name="device-authorization"),
    path("oauth/token", endpoints.token, name="token"),
    path("oauth/revoke", endpoints.revocation, name="revocation"),
    path("device/", signed_in(approval.approve), name="device"),
    path("", include("hub.public.urls")),
    path("", include("hub.docs.urls")),
    path("settings/", include("hub.screen.urls")),
    path("setup/github/", include("hub.registering.urls")),
    path("admin/", admin.site.urls),
]

handler400 = error_answers.bad_request
handler404 = error_answers.not_found
handler500 = error_answers.server_error
