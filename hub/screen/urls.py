"""The URLs of the settings, below /settings/."""

from django.urls import path

from hub.screen import (
    account,
    claims,
    earlier,
    integration,
    kit,
    overview,
    report_page,
    reports,
    trial_page,
)
from hub.screen.access import signed_in
from orgs.people import account_pages

urlpatterns = [
    path("", overview.overview, name="settings"),
    path("integration/", integration.integration, name="settings-integration"),
    path("integration/install/", integration.install, name="settings-install"),
    path("integration/try-again/", integration.try_again, name="settings-try-again"),
    path("integration/pause/", integration.pause, name="settings-pause"),
    path("integration/resume/", integration.resume, name="settings-resume"),
    path("integration/disconnect/", integration.disconnect, name="settings-disconnect"),
    path("test/", trial_page.new, name="settings-test"),
    path("test/<str:report_id>/", trial_page.sent, name="settings-tested"),
    path("claims/", claims.claims, name="settings-claims"),
    path("claims/new/", claims.new, name="settings-new-claim"),
    path("claims/<str:claim_id>/", claims.claim, name="settings-claim"),
    path("claims/<str:claim_id>/opt-out/", claims.opt_out, name="settings-opt-out"),
    path("claims/<str:claim_id>/delete/", claims.delete, name="settings-delete-claim"),
    path("claims/<str:claim_id>/earlier/", earlier.earlier, name="settings-earlier"),
    path("claims/<str:claim_id>/kit/", kit.publish, name="settings-kit"),
    path("claims/<str:claim_id>/kit/badge/", kit.choose_badge, name="settings-badge"),
    path("claims/<str:claim_id>/kit/<str:name>", kit.download, name="settings-kit-file"),
    path("reports/", reports.reports, name="settings-reports"),
    path("reports/reports.csv", reports.as_csv, name="reports-csv"),
    path("reports/change/", reports.change, name="change-reports"),
    path("reports/<str:report_id>/", report_page.report, name="report"),
    path("reports/<str:report_id>/raw", report_page.raw, name="raw-report"),
    path("reports/<str:report_id>/try-again/", report_page.try_again, name="try-again"),
    path("reports/<str:report_id>/erase/", report_page.erase, name="erase"),
    path("reports/<str:report_id>/discard/", report_page.discard, name="discard"),
    path("reports/<str:report_id>/restore/", report_page.restore, name="restore"),
    path("reports/<str:report_id>/answer/", report_page.answer, name="answer"),
    path("tokens/", signed_in(account_pages.tokens), name="tokens"),
    path("tokens/<int:token_id>/revoke/", signed_in(account_pages.revoke), name="revoke-token"),
    path(
        "tokens/terminals/<int:terminal_id>/sign-out/",
        signed_in(account_pages.sign_out_terminal),
        name="sign-out-terminal",
    ),
    path("account/", account.account, name="account"),
    path("invitations/<int:invitation_id>/", account.answer, name="answer-invitation"),
    path("account/invitations/<int:invitation_id>/", account.withdraw, name="withdraw-invitation"),
    path("account/members/<int:member_id>/role/", account.change_role, name="change-role"),
    path("account/members/<int:member_id>/remove/", account.remove, name="remove-member"),
    path("account/theme/", account.theme, name="theme"),
    path("account/export.json", account.export_all, name="export"),
    path("account/delete/", signed_in(account_pages.delete), name="delete-account"),
]
