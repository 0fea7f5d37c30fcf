"""`/connect/`: what to set up in the client that somebody picks, with this Hub's address in it."""

import re

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from hub.public.clients import CLIENTS, Block, Place

HOME = "/home/alice"
FOLDER = re.compile(  # with room for no sentence: agents follow what is here
    r"/(?!/)[\w.@+/-]*(?: [\w.@+/-]+){0,2}"
)


class PlaceForm(forms.Form):
    """Where the client is on a person's computer."""

    home = forms.CharField(
        label="Your home folder",
        max_length=100,
        error_messages={"max_length": "Shorten this to 100 characters."},
        help_text="Its full path: most of these clients do not understand ~.",
    )

    def clean_home(self) -> str:
        """An absolute path with two blanks at most; `//` at its start would name another computer."""
        home = self.cleaned_data["home"]
        if not FOLDER.fullmatch(home):
            raise forms.ValidationError(f"Write the full path of a folder, such as {HOME}.")
        return home


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: HttpRequest) -> HttpResponse:
    """The blocks for one client, or one of them as a file.

    Only the page's own form brings a folder. A link could name one of somebody else, whose programs the
    blocks would start.
    """
    key = request.GET.get("client", "")
    client = CLIENTS.get(key) or CLIENTS[key := next(iter(CLIENTS))]
    form = PlaceForm(request.POST if request.method == "POST" else {"home": HOME})
    home = form.cleaned_data["home"] if form.is_valid() else HOME
    blocks = client.blocks(Place(settings.HUB_BASE_URL, home))
    files = {block.file: block for block in blocks if block.file}
    if file := files.get(request.POST.get("file", "")):
        return _download(file)
    context = {
        "clients": CLIENTS,
        "key": key,
        "client": client,
        "blocks": blocks,
        "form": form,
        "home": home,
        "room": "connect",
    }
    return render(request, "public/connect.html", context)


def _download(block: Block) -> HttpResponse:
    answer = HttpResponse(f"{block.text}\n", content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{block.file}"'
    return answer
