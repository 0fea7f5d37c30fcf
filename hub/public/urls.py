"""The URLs of the pages for everybody."""

from django.urls import path

from hub.public import receipt_page, report_page

urlpatterns = [
    path("report/", report_page.report, name="report-form"),
    path("r/<str:report_id>/", receipt_page.receipt, name="receipt-page"),
]
