"""A site that has people press, while a page of the Hub lies ready below, acts for nobody."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import CDPSession, Error, Locator, Page

from integrations.models import Hold, Integration
from orgs.models import Invitation, User
from tests import build
from tests.browser.screens import AT_REST, Visit

pytestmark = pytest.mark.django_db(transaction=True)

DISCONNECT = "/settings/integration/disconnect/"
BELOW = "<button onclick=\"window.open('/above'); location = '{target}'\">Start</button>"
ABOVE = '<body onmousedown="window.close()">Double-click, or type<input autofocus onkeydown="window.close()">'


class Trap(ThreadingHTTPServer):
    """A site whose page opens a window above itself, and becomes `target` meanwhile."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Trapping)
        self.url = f"http://localhost:{self.server_address[1]}"  # another site than 127.0.0.1
        self.target = ""


class Trapping(BaseHTTPRequestHandler):
    server: Trap

    def log_message(self, *args: object) -> None:
        """Not said."""

    def do_GET(self) -> None:
        page = ABOVE if self.path == "/above" else BELOW.format(target=self.server.target)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())


@pytest.fixture
def trap() -> Iterator[Trap]:
    with Trap() as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def caught(visit: Visit, trap: Trap, path: str) -> tuple[Page, Page]:
    """The Hub's page, and the window that lies above it."""
    trap.target = f"{visit.url}{path}"
    visit.page.goto(trap.url)
    with visit.context.expect_page() as opened:
        visit.page.get_by_role("button", name="Start").click()
    opened.value.wait_for_load_state()
    visit.page.wait_for_url(trap.target)
    for page in (visit.page, opened.value):  # else each page believes that it has the focus
        session(page).send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    return visit.page, opened.value


def alone(visit: Visit, trap: Trap, path: str = DISCONNECT) -> Page:
    """The Hub's page, long after the window above it has closed; the mouse was never over it."""
    page, above = caught(visit, trap, path)
    above.close()
    rest(page)
    return page


def session(page: Page) -> CDPSession:
    return page.context.new_cdp_session(page)


def press(page: Page, at: Locator | tuple[float, float], *, again: bool = False) -> None:
    """Press and release the button of the mouse there; with `again`, as a second click of a double click."""
    x, y = middle(at) if isinstance(at, Locator) else at
    where = {"x": x, "y": y, "button": "left", "clickCount": 2 if again else 1}
    hand = session(page)
    for kind in ("mousePressed", "mouseReleased"):
        try:
            hand.send("Input.dispatchMouseEvent", {"type": kind, **where})
        except Error:  # the window has closed at the press
            return


def middle(button: Locator) -> tuple[float, float]:
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def move(page: Page, at: Locator | tuple[float, float]) -> None:
    x, y = middle(at) if isinstance(at, Locator) else at
    session(page).send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})


def tap(page: Page, button: Locator) -> None:
    x, y = middle(button)
    finger = session(page)
    finger.send(
        "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}
    )
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def double_click(page: Page, above: Page, button: Locator) -> None:
    at = middle(button)
    with above.expect_event("close"):
        press(above, at)
    press(page, at, again=True)


def rest(page: Page) -> None:
    """Nobody presses anything for a while."""
    page.clock.run_for(700)
    page.locator(AT_REST).wait_for()


def pressed(page: Page) -> bool:
    """Whether *Disconnect* was, once all that it would send has come."""
    page.wait_for_load_state("networkidle")
    return not Integration.objects.get().repository


def button_of(page: Page) -> Locator:
    return page.get_by_role("button", name="Disconnect")


def wait_until_pressed(page: Page) -> None:
    page.get_by_text("acme/docs no longer receives issues.").wait_for()


@pytest.fixture
def alice(cold_visit, code_host) -> Visit:
    """An owner, and an operator, whose time stands still."""
    owner = build.acme(code_host)
    user = build.member(owner, "alice", github_id=code_host.account("alice").id)
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
    visit = cold_visit(user)
    visit.context.clock.install(time=0)
    visit.context.clock.pause_at(1)
    return visit


def test_a_double_click_that_began_elsewhere_presses_no_button(alice, trap):
    page, above = caught(alice, trap, DISCONNECT)
    button = page.get_by_role("button", name="Disconnect")
    rest(page)

    double_click(page, above, button)
    for _ in range(5):  # however often
        press(page, button)
    page.clock.run_for(600)
    press(page, button)
    page.clock.run_for(600)  # since the last press
    press(page, button)

    assert Integration.objects.get().repository == "acme/docs"
    rest(page)
    press(page, button)
    page.get_by_text("acme/docs no longer receives issues.").wait_for()


def test_a_press_that_is_held_down_presses_nothing_when_it_is_let_go(alice, trap):
    page, above = caught(alice, trap, DISCONNECT)
    x, y = at = middle(page.get_by_role("button", name="Disconnect"))
    hand = session(page)
    where = {"x": x, "y": y, "button": "left", "clickCount": 1}
    rest(page)
    with above.expect_event("close"):
        press(above, at)

    hand.send("Input.dispatchMouseEvent", {"type": "mousePressed", **where})
    page.clock.run_for(5000)
    hand.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **where})

    rest(page)
    assert page.get_by_role("button", name="Disconnect").is_visible()
    assert Integration.objects.get().repository == "acme/docs"


def test_a_double_click_that_began_elsewhere_opens_no_page_whose_button_the_third_presses(
    alice, trap
):
    page, above = caught(alice, trap, "/settings/integration/")
    rest(page)

    double_click(page, above, page.get_by_role("link", name="Disconnect …"))

    rest(page)
    assert page.url.endswith("/settings/integration/")


def test_a_double_click_that_began_elsewhere_presses_no_button_of_an_operator(alice, trap):
    link = "/admin/integrations/hold/add/?kind=agent&value=agent-x&reason=Junk"
    page, above = caught(alice, trap, link)
    page.get_by_label("Reason").evaluate("field => field.value = 'Junk'")
    rest(page)

    double_click(page, above, page.get_by_role("button", name="Save", exact=True))

    rest(page)
    assert not Hold.objects.exists()
    press(page, page.get_by_role("button", name="Save", exact=True))
    page.get_by_text("is on hold until released.").wait_for()


def test_what_is_typed_elsewhere_goes_into_no_field_of_the_hub(alice, trap):
    page, above = caught(alice, trap, "/settings/account/#id_login")
    rest(page)

    with above.expect_event("close"), suppress(Error):  # the window has closed at the press
        above.keyboard.down("x")
    for key in (*"charlie", "Enter"):
        page.keyboard.press(key)

    rest(page)
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    assert page.get_by_label("GitHub login").input_value() == ""
    assert not Invitation.objects.exists()


def test_who_returns_to_a_page_goes_on_typing_where_they_were(alice, trap):
    page = alone(alice, trap, "/settings/account/")
    login = page.get_by_label("GitHub login")
    move(page, login)
    rest(page)
    press(page, login)
    page.keyboard.type("char")

    with alice.context.expect_page() as opened:
        page.evaluate("window.open('about:blank')")
    opened.value.close()
    page.keyboard.type("lie")
    rest(page)
    page.keyboard.press("Enter")

    page.get_by_text("charlie").first.wait_for()
    assert Invitation.objects.get().login == "charlie"


def test_a_press_soon_after_the_mouse_came_counts_the_second_time(alice, trap):
    """A window that is always above, and never has the focus, closes under the mouse: only the mouse tells."""
    page = alone(alice, trap)

    move(page, button_of(page))
    page.clock.run_for(600)
    press(page, button_of(page))

    assert not pressed(page)
    rest(page)
    press(page, button_of(page))
    wait_until_pressed(page)


def test_a_press_of_a_mouse_that_nobody_saw_come_counts_the_second_time(alice, trap):
    page = alone(alice, trap)

    press(page, button_of(page))

    assert not pressed(page)
    rest(page)
    press(page, button_of(page))
    wait_until_pressed(page)


@pytest.mark.parametrize("moves", [True, False])
def test_a_mouse_that_was_last_seen_elsewhere_has_just_come(alice, trap, moves):
    """Nothing told that it left, as where a window opened above it."""
    page = alone(alice, trap)
    move(page, (5, 5))
    rest(page)
    page.clock.run_for(5000)

    if moves:
        move(page, button_of(page))
        page.clock.run_for(300)
    press(page, button_of(page))

    assert not pressed(page)


def test_one_press_is_enough_once_the_mouse_rests_on_the_button(alice, trap):
    page = alone(alice, trap)
    x, y = middle(button_of(page))
    move(page, (5, 5))
    for step in range(10):
        move(page, (x, y - 100 + 10 * step))
    rest(page)
    page.clock.run_for(5000)  # somebody reads

    move(page, (x + 3, y + 3))  # by pressing
    press(page, (x + 3, y + 3))

    wait_until_pressed(page)


def test_a_finger_presses_at_once(alice, trap):
    page = alone(alice, trap)

    tap(page, button_of(page))

    wait_until_pressed(page)


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_keys_one_after_another_press_nothing(alice, trap, key):
    page = alone(alice, trap, f"{DISCONNECT}#content")

    for each in ("Tab", "Tab", key, key):
        page.keyboard.press(each)
        page.clock.run_for(600)

    assert not pressed(page)
    rest(page)
    page.keyboard.press("Control")  # by which a screen reader is asked to press, or to be silent
    page.keyboard.press(key)  # what has the focus has kept it
    wait_until_pressed(page)


def test_a_form_is_sent_by_keys_alone(alice, trap):
    page = alone(alice, trap, "/settings/account/")
    page.get_by_label("GitHub login").evaluate("field => field.previousElementSibling?.focus()")
    while page.evaluate("document.activeElement.id") != "id_login":
        page.keyboard.press("Tab")

    page.keyboard.type("charlie")
    rest(page)
    page.keyboard.press("Enter")

    page.get_by_text("charlie").first.wait_for()
    assert Invitation.objects.get().login == "charlie"


def test_a_window_that_is_too_small_to_be_read_takes_no_press_and_says_so(alice, trap):
    page = alone(alice, trap, f"{DISCONNECT}#content")
    said: list[str] = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.accept()))
    page.set_viewport_size({"width": 600, "height": 99})
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    rest(page)

    page.keyboard.press("Enter")

    assert ["too small" in each for each in said] == [True]
    assert not pressed(page)
    page.set_viewport_size({"width": 600, "height": 200})
    rest(page)
    page.keyboard.press("Enter")
    wait_until_pressed(page)


def test_a_large_window_in_which_somebody_has_zoomed_in_is_not_too_small(alice, trap):
    page = alone(alice, trap)
    page.set_viewport_size({"width": 240, "height": 120})  # of one that is never narrower than 500
    assert page.evaluate("outerWidth") >= 500

    tap(page, button_of(page))

    wait_until_pressed(page)
