"""Every address of the Hub."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from hub import errors
from hub.limits import limited
from hub.settings_pages import integration
from integrations import acts, api
from integrations.domain_api import Domains, OneDomain, VerifyDomain
from integrations.organization_view import Me
from integrations.receipts import ReceiptView, receipt_page
from integrations.report_api import ActOnReport, ActOnReports, OneReport
from integrations.report_list import ReceivedReports
from integrations.webhooks import GitHubWebhook
from orgs import sign_in
from reports.views import Reports

urlpatterns = [
    path("v1/reports", Reports.as_view(), name="reports"),
    path("v1/reports/<str:report_id>", ReceiptView.as_view(), name="receipt"),
    path("v1/integrations/github/install", api.Install.as_view(), name="install"),
    path("v1/integrations/github/callback", integration.callback, name="callback"),
    path("v1/integrations/github/repositories", api.Repositories.as_view(), name="repositories"),
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
    path("v1/orgs/me/integrations/github", api.GitHubIntegration.as_view(), name="integration"),
    path("v1/orgs/me/domains", Domains.as_view(), name="domains"),
    path("v1/orgs/me/domains/<str:name>", OneDomain.as_view(), name="domain"),
    path("v1/orgs/me/domains/<str:name>/verify", VerifyDomain.as_view(), name="domain-verify"),
    path("v1/orgs/me/sites", api.Sites.as_view(), name="sites"),
    path("v1/orgs/me/sites/<str:site_id>", api.OneSite.as_view(), name="site"),
    path("v1/orgs/me/test-report", api.TestReport.as_view(), name="test-report"),
    path("v1/webhooks/github", GitHubWebhook.as_view(), name="github-webhook"),
    re_path(r"^v1(/|$)", errors.not_found),
    path("r/<str:report_id>/", receipt_page, name="receipt-page"),
    path("login/", sign_in.sign_in, name="account_login"),
    path("login/github/", limited(sign_in.begin), name="github_login"),
    path("login/github/callback/", limited(sign_in.complete), name="github_callback"),
    path("login/inactive/", sign_in.inactive, name="account_inactive"),
    path("logout/", sign_in.sign_out, name="account_logout"),
    path("", RedirectView.as_view(pattern_name="settings")),
    path("settings/", include("hub.settings_pages.urls")),
    path("admin/", admin.site.urls),
]

handler400 = errors.bad_request
handler404 = errors.not_found
handler500 = errors.server_error
