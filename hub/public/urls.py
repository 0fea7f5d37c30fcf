"""The URLs of the pages for everybody."""

from django.urls import path

from hub.public import connect_page, plain_pages, receipt_page, report_page
from hub.public.badge import badge

urlpatterns = [
    path("", plain_pages.landing, name="landing"),
    path("connect/", connect_page.connect, name="connect"),
    path("privacy/", plain_pages.privacy, name="privacy"),
    path("report/", report_page.report, name="report-form"),
    path("r/<str:report_id>/", receipt_page.receipt, name="receipt-page"),
    path("badge/<str:claim_id>.svg", badge, name="badge"),
]
