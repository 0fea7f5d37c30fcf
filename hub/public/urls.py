"""The URLs of the pages for everybody."""

from django.urls import path

from hub.public import receipt_page, report_page
from hub.public.badge import badge

urlpatterns = [
    path("report/", report_page.report, name="report-form"),
    path("r/<str:report_id>/", receipt_page.receipt, name="receipt-page"),
    path("badge/<str:claim_id>.svg", badge, name="badge"),
]
