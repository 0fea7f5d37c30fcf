"""Words of strangers and of members on the Hub's own pages, in tables and on receipts."""

import re
from collections import Counter

from tests.abuse.people import Browser, Program, member
from tests.abuse.table import MEMBER, STRANGER, attack
from tests.abuse.words import FREE, everywhere, send
from tests.abuse.world import World, stands_if
from tests.integrations.issue.liveness import live_in_raw_text


@attack(STRANGER, "run a script in a member's browser, or in a table")
def words_in_pages_and_tables(world: World) -> str:
    """HTML in every field on every page that shows a report; formulas for whoever opens the table of reports."""
    owner = world.acme()
    alice, _ = member(owner)
    bad = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"
    with world.hub(**FREE) as hub:
        report = send(hub, **everywhere(bad))
        for start in "=+-@\t\r|":
            send(hub, report__summary=f"{start}HYPERLINK(1)", agent__name=f"={start.strip()}cmd")
        browser = Browser(hub, alice)
        pages = [
            "/settings/",
            "/settings/reports/",
            f"/settings/reports/{report}/",
            f"/r/{report}/",
        ]
        pages += [f"/settings/reports/{report}/{each}" for each in ("raw", "erase/", "same-as/")]
        pages += [f"/report/?page={bad}", f"/settings/reports/?q={bad}", f"/login/?next={bad}"]
        live_ones = [path for path in pages if _runs(browser, path)]
        table = browser.get("/settings/reports/reports.csv").text
    cells = re.findall(r'"((?:[^"]|"")*)"', table)
    formulas = [cell for cell in cells if cell[:1] and cell[0] in "=+-@\t\r"]
    figures = f"{len(live_ones)} of {len(pages)} pages run it, {len(formulas)} of {len(cells)} cells are formulas"
    return stands_if(
        not live_ones and not formulas and len(cells) > 20, f"{figures} {live_ones} {formulas[:3]}"
    )


@attack(MEMBER, "act in the browser or terminal of whoever reports")
def answers_to_reporters(world: World) -> str:
    """An answer with scripts, links that are scripts, color codes and marks for the direction of writing."""
    _, token = member(world.acme())
    with world.hub(**FREE) as hub:
        report = send(hub)
        path, told = f"/orgs/me/reports/{report}/answer", Counter[int]()
        for link in (
            "javascript:alert(1)",
            "data:text/html,x",
            "//evil.example",
            "https://a@b/",
            "\x1b]8;;x",
        ):
            told[
                Program(hub, token).call("PUT", path, {"text": "Use 4.1", "link": link}).status_code
            ] += 1
        text = "<script>alert(1)</script> \x1b[31mred\u202eback @octocat"
        Program(hub, token).call("PUT", path, {"text": text})
        visitor = Browser(hub)
        page, data = (
            visitor.get(f"/r/{report}/", headers={"Accept": "text/html"}),
            visitor.get(f"/v1/reports/{report}"),
        )
    shown = f"{page.text}{data.json()}"
    unseen = live_in_raw_text(shown.replace("\n", " "))["unseen"]
    figures = (
        f"links {dict(told)}; {shown.count('<script>alert')} scripts, {unseen} codes on the receipt"
    )
    in_data = str(data.json()).count("<script>")  # JSON is not a page
    stands = told == {400: 5} and "<script>alert" not in page.text and not unseen
    return stands_if(stands and in_data <= 1, figures)


def _runs(browser: Browser, path: str) -> bool:
    """Whether the page has the HTML as HTML, or ran the template that is in it."""
    answer = browser.get(path)
    is_page = answer.headers["Content-Type"].startswith("text/html")
    return answer.status_code >= 500 or (
        is_page and bool(re.search(r"<script>alert|<img src=x|>49<", answer.text))
    )
