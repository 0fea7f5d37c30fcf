"""A stand-in for GitHub on loopback, for the demo and the tests.

It speaks HTTP as a GitHub Enterprise host does (the API is below `/api/v3`): the same status codes,
JSON, headers, tokens and pages, as far as a GitHub App that opens issues needs them.

    host = CodeHost(app=App(id=1, slug="docs-feedback", client_id=…, client_secret=…,
                            webhook_secret=…, public_key_pem=…))
    host.add_organization("acme")
    docs = host.add_repository("acme", "docs")
    installation = host.add_installation("acme", repositories=[docs])

    with host.serving() as url:
        ...                                       # the Hub, with HUB_GITHUB_URL=url
    host.issues("acme/docs")[0].title             # what it did
    host.requests                                 # what it asked, and as whom

What people do: `suspend`, `uninstall`, `rename`, `transfer`, `archive`, `set_issues`, `close_issue`
and so on (`changes.py`); `remove_member`, `revoke`, `rename_account` (`state.py`). What goes wrong:
`host.fail("502", created=True)`, or the same as JSON to `POST /_sandbox/faults` (`faults.py` lists
them all); `host.drops = {"labels"}` leaves labels out of new issues without a word, also `assignees` and
`type`. `host.clock_offset` moves its clock. With `host.trial = Trial(…)`, its pages try out a Hub: a
page of docs that can be reported, and buttons for what goes wrong.
"""

from .faults import Fault, Wire
from .host import CodeHost, LoggedRequest
from .records import Account, App, Installation, Issue, Repository
from .trial import Trial
from .webhooks import Sent

__all__ = [
    "Account",
    "App",
    "CodeHost",
    "Fault",
    "Installation",
    "Issue",
    "LoggedRequest",
    "Repository",
    "Sent",
    "Trial",
    "Wire",
]
