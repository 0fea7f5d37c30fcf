"""The URLs at which the Hub's GitHub App is registered."""

from django.urls import path

from hub.registering import pages

urlpatterns = [
    path("created/", pages.created, name="setup-github-created"),
    path("<str:token>/", pages.offer, name="setup-github"),
]
