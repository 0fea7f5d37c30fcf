"""The open problems of a page that are known, as `GET /v1/pages` gives them."""

from __future__ import annotations

from typing import Any, Dict, List, Optional
from urllib.parse import quote

from . import answers, settings, web, words
from .contract import message
from .document import objects, text, whole
from .settings import link
from .visible import quoted

PATH = "/v1/pages"
REQUIRED = ("issue_url", "kind")


def request(url: str, endpoint: str, *, public_only: bool = False) -> web.Request:
    """The question about the page at `url`; `endpoint` is where the Hub takes reports."""
    hub_url = endpoint[: -len(settings.REPORTS)]
    asked = f"{hub_url}{PATH}?url={quote(url, safe='')}"
    return web.Request("GET", asked, web.ACCEPT, public_only=public_only)


def has_problems(body: Dict[str, Any]) -> bool:
    """Whether it is what a Hub answers to this question."""
    return isinstance(body.get("problems"), list)


def of(body: Dict[str, Any], url: str) -> Dict[str, Any]:
    """The response, without problems that lack required fields or whose issue is no link."""
    found = [each for each in objects(body["problems"], *REQUIRED) if link(each["issue_url"])]
    return {
        "url": text(body.get("url")) or url,
        "problems": [
            {
                "issue_url": each["issue_url"],
                "title": text(each.get("title")),
                "kind": each["kind"],
                "times_reported": whole(each.get("times_reported")),
                "first_reported_at": text(each.get("first_reported_at")),
                "last_reported_at": text(each.get("last_reported_at")),
                "answer": answers.as_json(answers.owner_answer(each.get("answer"))),
            }
            for each in found
        ],
    }


def lines(page: Dict[str, Any], url: str) -> List[str]:
    """What a person reads, who has asked about the page at `url`."""
    problems = page["problems"]
    if not problems:
        return [message("no_problems", url=url)]
    found = [message("problems_line", url=url, number=len(problems))]
    for each in words.first(problems):
        title = words.quote(each["title"]) if each["title"] else message("erased_summary")
        kind, issue = words.state(each["kind"]), words.link(each["issue_url"])
        found.append(message("problem_title", title=title))
        found.append(message("problem_issue", kind=kind, url=issue))
        found += _counted(each["times_reported"], each["last_reported_at"])
        found += [f"  {line}" for line in said(answers.owner_answer(each["answer"]))]
    return [*found, *words.more(problems)]


def said(answer: Optional[answers.OwnerAnswer]) -> List[str]:
    """What the page's owner says, as a quotation, and their link."""
    if answer is None:
        return []
    line = message("answer_line", text=quoted(answer.text))
    link = [] if answer.link is None else [message("answer_link", url=words.link(answer.link))]
    return [line, *link]


def _counted(times: Optional[int], last: Optional[str]) -> List[str]:
    if times is None or last is None:
        return []
    return [message("problem_times", times=times, time=words.time(last))]
