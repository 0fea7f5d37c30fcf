"""All calls to GitHub, except for sign-in.

Plain functions that take and return our own types. Each is bounded by a deadline (in
`time.monotonic`), and raises one of:

    GitHubError
    |- Unreachable     nothing was created; try again later
    |  |- Busy         too many of our calls are in progress
    |  |- TimedOut     there was no answer before the deadline
    |  |  |- Unfinished   more is to be looked through: go on from `.until`
    |  |  `- ReadOn       more is to be read: the same call goes on there
    |  |- RefusedText  it was refused for what it says: with growing waits
    |  |- OtherTime    the clocks of the database and of GitHub differ, so that nothing is found
    |  `- Limited      a rate limit is reached: wait for `.wait`
    |     `- TooQuick     it was told of this one, perhaps for its text: then with growing waits
    |- OutcomeUnknown  the issue or comment may or may not have been created
    `- Refused         GitHub refused
       |- Blocked      everything for this repository, until something is changed there
       |  |- Forbidden   for a reason that we do not know
       |  `- Gone      the app cannot get at it: perhaps it was deleted
       |- Suspended    everything for this installation
       |- Locked       comments on this issue, or to show or reopen it
       |- IssueGone    because there is no such issue any more
       `- BadCode      the code that a browser brought

    app.py            who the app is, and what became of its webhooks
    issues.py         opening an issue, and closing it
    looking.py        finding an issue again
    reading.py        reading one issue, and reopening it
    changes.py        which of our issues were closed or reopened
    comments.py       comments on an issue: writing, finding, editing
    users.py          who somebody is, and which installations they see
    installations.py  what an installation may do, and where
    registering.py    the app that an operator has just registered
    asking.py         calling GitHub while a maintainer waits
    writing.py, tokens.py, transport.py, answers.py, shapes.py, errors.py: how all of them call GitHub

Sources: https://docs.github.com/en/rest/issues/issues, .../rest/apps/apps,
.../rest/apps/installations, .../rest/collaborators/collaborators and
https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from integrations.github_api.answers import CLOCKS_DIFFER
from integrations.github_api.app import (
    AppFacts,
    SentWebhook,
    WebhookFacts,
    app_facts,
    sent_webhooks,
    takes_credentials,
    webhook_facts,
)
from integrations.github_api.changes import changed_issues
from integrations.github_api.comments import (
    IssueComment,
    create_comment,
    edit_comment,
    find_comment,
    forget_places,
    read_comment,
)
from integrations.github_api.errors import (
    FOR_OPERATORS,
    IS_LOCKED,
    BadCode,
    Blocked,
    Busy,
    Forbidden,
    GitHubError,
    Gone,
    IssueGone,
    Limited,
    Locked,
    OtherTime,
    OutcomeUnknown,
    ReadOn,
    Refused,
    RefusedText,
    Suspended,
    TimedOut,
    TooQuick,
    Unfinished,
    Unreachable,
)
from integrations.github_api.installations import (
    Candidate,
    InstallationFacts,
    Person,
    Reached,
    RepositoryFacts,
    RepositoryPage,
    Right,
    assignable,
    candidate,
    installation,
    pushable,
    reached,
    repository_facts,
    rights,
)
from integrations.github_api.issues import ARCHIVED, Issue, close_issue, create_issue
from integrations.github_api.looking import find_issue, forget_read
from integrations.github_api.reading import IssueFacts, read_issue, reopen_issue
from integrations.github_api.registering import RegisteredApp, registered_app
from integrations.github_api.tokens import forget_tokens
from integrations.github_api.transport import api_address, private_key, why_unreached
from integrations.github_api.users import Visitor, person, visitor

__all__ = [
    "ARCHIVED",
    "CLOCKS_DIFFER",
    "FOR_OPERATORS",
    "IS_LOCKED",
    "AppFacts",
    "BadCode",
    "Blocked",
    "Busy",
    "Candidate",
    "Forbidden",
    "GitHubError",
    "Gone",
    "InstallationFacts",
    "Issue",
    "IssueComment",
    "IssueFacts",
    "IssueGone",
    "Limited",
    "Locked",
    "OtherTime",
    "OutcomeUnknown",
    "Person",
    "Reached",
    "ReadOn",
    "Refused",
    "RefusedText",
    "RegisteredApp",
    "RepositoryFacts",
    "RepositoryPage",
    "Right",
    "SentWebhook",
    "Suspended",
    "TimedOut",
    "TooQuick",
    "Unfinished",
    "Unreachable",
    "Visitor",
    "WebhookFacts",
    "api_address",
    "app_facts",
    "assignable",
    "candidate",
    "changed_issues",
    "close_issue",
    "create_comment",
    "create_issue",
    "edit_comment",
    "find_comment",
    "find_issue",
    "forget_places",
    "forget_read",
    "forget_tokens",
    "installation",
    "person",
    "private_key",
    "pushable",
    "reached",
    "read_comment",
    "read_issue",
    "registered_app",
    "reopen_issue",
    "repository_facts",
    "rights",
    "sent_webhooks",
    "takes_credentials",
    "visitor",
    "webhook_facts",
    "why_unreached",
]
