"""All the ways in which a member changes something: calls of the API, and forms of the pages, by what they do."""

from typing import Any, NamedTuple


class Way(NamedTuple):
    """A call of the API with what it sends, or without a method a form of a page; `claim`: which one it is about."""

    method: str
    name: str
    sent: dict[str, Any] | None = None
    claim: str = "domain"


ISSUE = "http://the-lead"  # in its place the address of another report's issue
IT = "the report"  # in its place its id
EARLIER = "the earlier report"
PAGE = ""
WAYS: dict[str, list[Way]] = {
    "begin an installation": [Way("get", "install"), Way(PAGE, "settings-install")],
    "choose the repository": [
        Way("post", "integration", {"repo_owner": "acme", "repo_name": "docs"}),
        Way(PAGE, "settings-integration", {"repository": "acme/docs", "alerts": "no", "sure": "1"}),
    ],
    "choose about likeness": [
        Way("patch", "integration", {"likeness": "off"}),
        Way(PAGE, "settings-one-issue", {"likeness": "off", "when_reported_again": "comment"}),
    ],
    "ask GitHub again": [Way(PAGE, "settings-try-again")],
    "pause": [Way(PAGE, "settings-pause")],
    "resume": [Way(PAGE, "settings-resume")],
    "disconnect": [Way("delete", "integration"), Way(PAGE, "settings-disconnect")],
    "claim a domain": [
        Way("post", "domains", {"domain": "new.acme.com"}),
        Way(PAGE, "settings-new-claim", {"address": "new.acme.com"}),
    ],
    "check its record": [Way("post", "domain-verify"), Way(PAGE, "settings-claim")],
    "opt out of a domain": [
        Way("patch", "domain", {"opted_out": True}),
        Way(PAGE, "settings-opt-out", {"opted_out": "1"}),
    ],
    "remove a domain": [Way("delete", "domain"), Way(PAGE, "settings-delete-claim")],
    "claim a site": [
        Way("post", "sites", {"url": "https://acme.github.io/docs/"}),
        Way(PAGE, "settings-new-claim", {"address": "https://acme.github.io/docs/"}),
    ],
    "opt out of a site": [
        Way("patch", "site", {"opted_out": True}),
        Way(PAGE, "settings-opt-out", {"opted_out": "1"}, "site"),
    ],
    "remove a site": [Way("delete", "site"), Way(PAGE, "settings-delete-claim", None, "site")],
    "send an earlier report": [Way(PAGE, "settings-earlier", {"id": EARLIER})],
    "change a badge": [Way(PAGE, "settings-badge", {"badge": "state"})],
    "send a test report": [Way("post", "test-report"), Way(PAGE, "settings-test")],
    "change people and tokens": [
        Way(PAGE, "withdraw-invitation"),
        Way(PAGE, "change-role", {"role": "owner"}),
        Way(PAGE, "remove-member"),
        Way(PAGE, "tokens", {"name": "CI", "days": "90", "scopes": ["orgs:read"]}),
        Way(PAGE, "revoke-token"),
        Way(PAGE, "sign-out-terminal"),
        Way(PAGE, "sign-out-browsers"),
        Way(PAGE, "delete-account", {"name": "acme"}),
    ],
    "try it again": [Way("post", "retry-report"), Way(PAGE, "try-again")],
    "try several again": [
        Way("post", "retry-reports", {"ids": [IT]}),
        Way(PAGE, "change-reports", {"act": "retry", "id": IT}),
    ],
    "discard": [
        Way("post", "discard-report"),
        Way("post", "discard-reports", {"ids": [IT]}),
        Way(PAGE, "discard"),
        Way(PAGE, "change-reports", {"act": "discard", "id": IT}),
    ],
    "restore": [
        Way("post", "restore-report"),
        Way("post", "restore-reports", {"ids": [IT]}),
        Way(PAGE, "restore"),
        Way(PAGE, "change-reports", {"act": "restore", "id": IT}),
    ],
    "erase": [Way("post", "erase-report"), Way(PAGE, "erase")],
    "answer": [
        Way("put", "answer-report", {"text": "We know."}),
        Way(PAGE, "answer", {"text": "We know."}),
    ],
    "take an answer back": [Way("delete", "answer-report"), Way(PAGE, "answer", {"remove": "1"})],
    "not the same": [Way("post", "report-not-the-same"), Way(PAGE, "not-the-same")],
    "none is the same": [
        Way("post", "report-not-the-same", {"all": True}),
        Way(PAGE, "split-all"),
    ],
    "the same as another": [
        Way("post", "report-same-as", {"issue_url": ISSUE}),
        Way(PAGE, "same-as", {"issue_url": ISSUE}),
    ],
}
LOOKS = {  # the pages that only show or ask something, and what each browser keeps for itself
    "settings", "settings-tested", "settings-claims", "settings-kit", "settings-kit-file",
    "settings-news", "settings-reports", "reports-csv", "report", "raw-report", "export", "theme",
}  # fmt: skip
ABOUT_OTHERS = {"account", "answer-invitation"}  # inviting asks GitHub; joining leaves acme
