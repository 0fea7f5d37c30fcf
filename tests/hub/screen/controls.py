"""The browser of a member, and a form of a page as it sends that when nothing was typed: each control by its name."""

import re
from html.parser import HTMLParser

from django.test import Client

from orgs.models import Organization
from tests import build


def browser_of(organization: Organization, login: str) -> Client:
    """That of a new member."""
    browser = Client()
    browser.force_login(build.member(organization, login))
    return browser


def form(browser: Client, page: str, control: str) -> dict[str, str]:
    """What the form of the page that has this control sends."""
    return of_text(browser.get(page).content.decode(), control)


def of_text(text: str, control: str) -> dict[str, str]:
    """The same of a page that was opened before."""
    reader = _Reader()
    reader.feed(text)
    return next(each for each in reader.forms if control in each)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[dict[str, str]] = []
        self._area = self._list = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        name, value = attributes.get("name", ""), attributes.get("value", "")
        if tag == "form":
            self.forms.append({})
        elif tag == "textarea":
            self._area = name
            self.forms[-1][name] = ""
        elif tag == "select":
            self._list = name
        elif tag == "option" and self._list and "selected" in attributes:
            self.forms[-1][self._list] = value
        elif tag == "input" and name:
            if attributes.get("type") not in ("radio", "checkbox"):
                self.forms[-1][name] = value
            elif "checked" in attributes:
                self.forms[-1][name] = value or "on"

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1][self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            text = self.forms[-1][self._area].removeprefix("\n")
            self.forms[-1][self._area] = re.sub("\r\n|\r|\n", "\r\n", text)
            self._area = ""
        if tag == "select":
            self._list = ""
