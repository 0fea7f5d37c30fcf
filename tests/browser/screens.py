"""A real browser at the Hub: what it shows, what it asks for, and what axe says of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request

from orgs.models import User
from orgs.people.sessions import SessionStore

SCREENSHOTS = settings.VAR_DIR / "screenshots"
RULES: dict[str, dict[str, bool]] = {}  # of axe, besides those that it has by default
SERIOUS = {"serious", "critical"}
AXE = Axe().axe_script
ONLY_VIOLATIONS = {"resultTypes": ["violations"]}  # what passes need not be written down
VIOLATIONS = "options => axe.run(options).then(results => results.violations)"
MILLISECONDS = 60_000  # until what does not come is given up


AT_REST = "html:not([data-held])"


def at_rest(button: Locator) -> Locator:
    """The button, once it can be pressed: a page to which another site has led waits a moment (`brought.js`),
    also after the mouse has come.
    """
    button.hover()
    button.page.locator(AT_REST).wait_for()
    return button


class Screen(NamedTuple):
    """How a person sees the pages; `axe`: whether axe looks at them, too."""

    width: int = 1280
    theme: str = "light"
    script: bool = True
    axe: bool = True

    def __str__(self) -> str:
        return f"{self.width}-{self.theme}{'' if self.script else '-plain'}"


class Windows:
    """One for each person and screen, kept open: to open one costs more than a page in it."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._kept: dict[tuple[str, Screen, int], BrowserContext] = {}

    def at(self, url: str, screen: Screen, number: int) -> BrowserContext:
        """The window of the person with this number."""
        key = (url, screen, number)
        if key not in self._kept:
            self._kept[key] = self.new(url, screen)
            self._kept[key].new_page()  # it closes with its last page
        return self._kept[key]

    def new(self, url: str, screen: Screen) -> BrowserContext:
        """A window with nothing in its cache."""
        context = self._browser.new_context(
            base_url=url,
            viewport={"width": screen.width, "height": 900},
            color_scheme=screen.theme,
            java_script_enabled=screen.script,
            reduced_motion="reduce",
        )
        context.set_default_timeout(MILLISECONDS)
        return context


class Visit:
    """One person's pages in a window, which remembers what a page must not do."""

    def __init__(self, context: BrowserContext, url: str, screen: Screen) -> None:
        self.context, self.url, self.screen = context, url, screen
        self.screens = [screen]
        self._others = list(context.pages)
        self.page: Page = context.new_page()
        self.asked: set[str] = set()
        self.complaints: list[str] = []
        self.finished: list[Request] = []
        self.page.on("requestfinished", lambda request: self.finished.append(request))
        self.page.on("request", self._note)
        self.page.on("console", lambda message: self._hear(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def leave(self) -> None:
        """As if nobody had been there."""
        for page in self.context.pages:
            if page not in self._others:
                page.close()
        self.context.clear_cookies()
        self.context.clear_permissions()

    def _hear(self, kind: str, text: str) -> None:
        if "Content Security Policy" in text or (kind == "error" and "status of 4" not in text):
            self.complaints.append(text)

    def _note(self, request: Request) -> None:
        """Whom the Hub's pages ask for anything but another page."""
        by_the_hub = request.frame.url.startswith(self.url)
        if by_the_hub and not request.is_navigation_request():
            self.asked.add(urlsplit(request.url).netloc)

    def sign_in(self, user: User) -> None:
        client = Client()
        client.force_login(user)
        key = client.session.session_key
        self.context.add_cookies([{"name": "session", "value": key, "url": self.url}])

    def remember(self, name: str, value: object) -> None:
        """As if an earlier request had left this in the session."""
        [cookie] = [each for each in self.context.cookies() if each["name"] == "session"]
        session = SessionStore(cookie["value"])
        session[name] = value
        session.save()

    def shoot(self, name: str) -> None:
        """A screenshot of all of the page, if people want to look at it."""
        if not os.environ.get("HUB_SCREENSHOTS"):
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        with self._deaf():
            self.page.screenshot(path=SCREENSHOTS / f"{name}-{self.screen}.png", full_page=True)

    @contextmanager
    def _deaf(self) -> Iterator[None]:
        """Who looks at a page may put styles into it, of which the browser complains."""
        heard = list(self.complaints)
        yield
        self.page.wait_for_timeout(1)  # what is on its way is heard by then
        self.complaints = heard

    def look(self, name: str) -> list[str]:
        """The faults of the page that is open, on each of the screens; pictured if asked for."""
        found = []
        for screen in self.screens:
            self._turn_to(screen)
            self.shoot(name)
            found += self.faults()
        return found

    def _turn_to(self, screen: Screen) -> None:
        """The page that is open, on another screen."""
        if screen != self.screen:
            self.screen = screen
            self.page.set_viewport_size({"width": screen.width, "height": 900})
            self.page.emulate_media(color_scheme=screen.theme)

    def look_at(self, pages: dict[str, str]) -> list[str]:
        """The faults of pages, by names for their pictures."""
        found = []
        for name, path in pages.items():
            self.page.goto(path)
            found += self.look(name)
        return found

    def cost(self) -> dict[str, int]:
        """The bytes that came in for each address that was asked."""
        return {each.url: each.sizes()["responseBodySize"] for each in self.finished}

    def faults(self) -> list[str]:
        """What axe finds serious or critical, sideways scrolling, complaints, other hosts."""
        found = [*self.complaints, *self._foreign()]
        if self.screen.script:
            if self.screen.axe:
                found += self._axe()
            if self.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append("The page scrolls sideways.")
        return [f"{self.page.url} ({self.screen}): {each}" for each in found]

    def _foreign(self) -> list[str]:
        return [f"It asked {host}." for host in self.asked - {urlsplit(self.url).netloc}]

    def _axe(self) -> list[str]:
        with self._deaf():
            if not self.page.evaluate("'axe' in window"):
                self.page.evaluate(AXE)
            violations = self.page.evaluate(VIOLATIONS, {"rules": RULES, **ONLY_VIOLATIONS})
        return [
            f"{each['id']}: {each['help']} ({node['html'][:120]})"
            for each in violations
            if each["impact"] in SERIOUS
            for node in each["nodes"]
        ]
