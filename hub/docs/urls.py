"""The URLs of the docs, and of the files for agents."""

from django.urls import path, re_path, register_converter
from django.urls.converters import StringConverter

from hub.docs import machine_files, views
from hub.docs.shelf import LATEST, VERSION


class Version(StringConverter):
    """A version of the docs, such as `v0` or `v0.1`."""

    regex = VERSION.pattern


register_converter(Version, "version")

urlpatterns = [
    path("<version:version>/", views.page, name="docs"),
    path("<version:version>", views.leads_on),
    path("<version:version>/search/", views.search, name="docs-search"),
    path("<version:version>/<path:name>.md", views.as_markdown, name="docs-markdown"),
    re_path(rf"^(?P<version>{VERSION.pattern})/(?P<name>.+\.(?:svg|png|webp))$", views.image),
    path("<version:version>/<path:name>/", views.page, name="docs-page"),
    path("<version:version>/<path:name>", views.leads_on),
    path("docs", views.leads_on, {"version": LATEST}),
    path("docs/", views.leads_on, {"version": LATEST}),
    path("docs/<path:name>", views.leads_on, {"version": LATEST}),
    path("llms.txt", machine_files.llms),
    path("llms-full.txt", machine_files.llms_full),
    path("openapi.json", machine_files.openapi),
    path("robots.txt", machine_files.robots),
    path("sitemap.xml", machine_files.sitemap),
    path(".well-known/docs-feedback.json", machine_files.well_known),
    path(".well-known/security.txt", machine_files.security),
]
