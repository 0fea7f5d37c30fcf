from datetime import timedelta

import github
import pytest

ISSUES = "/repos/acme/docs/issues"
BOT = "docs-feedback[bot]"


@pytest.fixture
def five(host):
    """Five issues an hour apart: three of the app's, two of charlie's; the second is closed."""
    for number, user in enumerate((BOT, "charlie", BOT, "charlie", BOT), start=1):
        host.clock_offset = timedelta(hours=number - 10)
        if user == BOT:
            host.new_issue(host.repository("acme/docs"), f"Issue {number}", body="", user=BOT)
        else:
            host.create_issue("acme/docs", title=f"Issue {number}", user=user)
    host.clock_offset = timedelta()
    host.close_issue("acme/docs", 2, by="alice")


@pytest.mark.parametrize("name", ["acme/docs", 2001])
def test_the_app_opens_an_issue(host, as_installation, name):
    issue = as_installation.get_repo(name).create_issue("Broken link", "The link is *broken*.")

    (kept,) = host.issues("acme/docs")
    assert (kept.title, kept.body, kept.user) == ("Broken link", "The link is *broken*.", BOT)
    assert (kept.number, kept.state, kept.by_app) == (1, "open", True)
    assert issue.number == 1
    assert issue.html_url == f"{host.url}/acme/docs/issues/1"
    assert (issue.user.login, issue.user.type) == (BOT, "Bot")
    assert issue.created_at == kept.created_at
    assert issue.raw_data["performed_via_github_app"]["slug"] == "docs-feedback"


def test_an_issue_may_be_opened_by_the_address_with_the_id(call, token):
    answer = call("POST", "/repositories/2001/issues", token, json={"title": "By number"})

    assert answer.status_code == 201
    assert answer.json()["body"] is None
    assert answer.headers["Location"] == answer.json()["url"]


def test_the_longest_title_and_body_are_taken(call, token):
    longest = {"title": "t" * 256, "body": "é" * 65536}

    assert call("POST", ISSUES, token, json=longest).status_code == 201


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"title": " "}, {"field": "title", "code": "missing_field"}),
        (
            {"title": "t" * 257},
            {
                "field": "title",
                "code": "custom",
                "message": "title is too long (maximum is 256 characters)",
            },
        ),
        (
            {"title": "t", "body": "b" * 65537},
            {
                "field": "body",
                "code": "custom",
                "message": "body is too long (maximum is 65536 characters)",
            },
        ),
    ],
)
def test_an_issue_that_is_not_valid_is_refused(host, call, token, sent, error):
    answer = call("POST", ISSUES, token, json=sent)

    assert answer.status_code == 422
    assert answer.json()["message"] == "Validation Failed"
    assert answer.json()["errors"] == [{"resource": "Issue", **error}]
    assert host.issues("acme/docs") == []


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "Problems parsing JSON"),
        (b"\xff", 400, "Problems parsing JSON"),
        (b"[" * 100_000, 400, "Problems parsing JSON"),
        (b"[]", 422, "Invalid request."),
        (b"", 422, 'Invalid request.\n\n"title" wasn\'t supplied.'),
        (b'{"title": null}', 422, "Invalid request."),
        (b'{"title": "t", "body": 5}', 422, "Invalid request."),
    ],
)
def test_a_body_of_the_wrong_shape_is_refused(call, token, body, status, message):
    answer = call("POST", ISSUES, token, data=body)

    assert answer.status_code == status
    assert answer.json()["message"].startswith(message)


def test_where_issues_are_turned_off_they_are_gone(host, as_installation):
    repository = as_installation.get_repo("acme/docs")
    host.set_issues("acme/docs", False)

    with pytest.raises(github.GithubException) as refused:
        repository.create_issue("Title")

    assert (refused.value.status, refused.value.message) == (
        410,
        "Issues are disabled for this repo",
    )


def test_an_archived_repository_is_read_only(host, call, token, as_installation):
    repository = as_installation.get_repo("acme/docs")
    host.archive("acme/docs")

    with pytest.raises(github.GithubException) as refused:
        repository.create_issue("Title")

    assert (refused.value.status, refused.value.message) == (
        403,
        "Repository was archived so is read-only.",
    )
    assert call("GET", ISSUES, token).status_code == 200
    host.unarchive("acme/docs")
    assert repository.create_issue("Title").number == 1


@pytest.mark.parametrize(
    ("repository", "status", "message"),
    [
        ("docs", 401, "Requires authentication"),
        ("secret", 404, "Not Found"),
        ("nothing", 404, "Not Found"),
    ],
)
def test_without_a_token_no_issue_is_opened(call, repository, status, message):
    answer = call("POST", f"/repos/acme/{repository}/issues", json={"title": "Title"})

    assert (answer.status_code, answer.json()["message"]) == (status, message)


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [5, 4, 3, 1]),
        ("?state=open&direction=asc", [1, 3, 4, 5]),
        ("?state=closed", [2]),
        ("?state=all", [5, 4, 3, 2, 1]),
        ("?state=all&sort=updated", [2, 5, 4, 3, 1]),
        ("?state=all&creator=docs-feedback%5Bbot%5D", [5, 3, 1]),
        ("?state=all&creator=Charlie", [4, 2]),
        ("?state=all&creator=bob", []),
        ("?state=all&per_page=2&page=2", [3, 2]),
        ("?state=all&per_page=0&page=x", [5, 4, 3, 2, 1]),
        ("?state=all&page=9", []),
    ],
)
def test_issues_are_listed_as_asked(five, call, token, query, numbers):
    answer = call("GET", ISSUES + query, token)

    assert [issue["number"] for issue in answer.json()] == numbers


def test_issues_are_listed_since_their_last_change(host, five, as_installation):
    since = host.issue("acme/docs", 4).created_at

    listed = as_installation.get_repo("acme/docs").get_issues(state="all", since=since)

    assert [issue.number for issue in listed] == [5, 4, 2]


@pytest.mark.parametrize("query", ["creator=mallory", "since=yesterday"])
def test_a_filter_that_makes_no_sense_is_refused(five, call, token, query):
    answer = call("GET", f"{ISSUES}?{query}", token)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "invalid"


def test_pygithub_walks_through_all_pages(five, connect, token):
    repository = connect(token, per_page=2).get_repo("acme/docs")

    listed = repository.get_issues(state="all")

    assert listed.totalCount == 5
    assert [issue.number for issue in listed] == [5, 4, 3, 2, 1]


def test_links_lead_from_page_to_page(host, five, call, token):
    base = f"{host.url}/api/v3/repositories/2001/issues?state=all&per_page=2&page="

    links = [
        {rel: link["url"] for rel, link in call("GET", f"{ISSUES}{query}", token).links.items()}
        for query in ("?state=all&per_page=2", "?state=all&per_page=2&page=3", "?state=all")
    ]

    assert links == [
        {"next": f"{base}2", "last": f"{base}3"},
        {"prev": f"{base}2", "first": f"{base}1"},
        {},
    ]


def test_a_page_has_a_hundred_at_most(host, call, token):
    for number in range(101):
        host.create_issue("acme/docs", title=f"Issue {number}", user="charlie")

    answer = call("GET", f"{ISSUES}?per_page=500", token)

    assert len(answer.json()) == 100
    assert answer.links["next"]["url"].endswith("page=2")


def test_somebody_elses_issue_is_not_the_apps(host, as_installation):
    marker = "<!-- hub:01J00000000000000000000000 -->"
    host.create_issue("acme/docs", title="Forged", body=marker, user="mallory")

    (issue,) = as_installation.get_repo("acme/docs").get_issues()

    assert (issue.user.login, issue.user.type, issue.body) == ("mallory", "User", marker)
    assert issue.raw_data["performed_via_github_app"] is None


def test_an_issue_is_closed_and_opened_again(host, as_installation):
    repository = as_installation.get_repo("acme/docs")
    host.create_issue("acme/docs", title="Title", user="charlie")

    host.close_issue("acme/docs", 1, by="alice")
    closed = repository.get_issue(1)
    host.reopen_issue("acme/docs", 1, by="alice")
    reopened = repository.get_issue(1)

    assert (closed.state, closed.state_reason) == ("closed", "completed")
    assert closed.closed_at is not None
    assert (reopened.state, reopened.closed_at) == ("open", None)


def test_a_deleted_issue_is_gone_and_its_number_is_not_used_again(host, as_installation):
    repository = as_installation.get_repo("acme/docs")
    host.create_issue("acme/docs", title="First", user="charlie")
    host.delete_issue("acme/docs", 1, by="alice")

    with pytest.raises(github.GithubException) as refused:
        repository.get_issue(1)

    assert (refused.value.status, refused.value.message) == (410, "This issue was deleted")
    assert repository.create_issue("Second").number == 2
    with pytest.raises(github.UnknownObjectException):
        repository.get_issue(3)


def test_a_person_opens_an_issue_through_the_app(host, connect, sign_in):
    connect(sign_in("charlie")).get_repo("acme/docs").create_issue("From a person")

    (issue,) = host.issues("acme/docs")
    assert (issue.user, issue.by_app) == ("charlie", True)


def test_the_app_closes_an_issue(host, five, call, token):
    answer = call("PATCH", f"{ISSUES}/1", token, json={"state": "closed"})

    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["state_reason"]) == ("closed", "completed")
    issue = host.issue("acme/docs", 1)
    assert (issue.state, issue.closed_at) == ("closed", issue.updated_at)


def test_an_issue_is_closed_for_a_reason_and_reopened(host, five, call, token):
    unwanted = {"state": "closed", "state_reason": "not_planned"}
    closed = call("PATCH", f"{ISSUES}/1", token, json=unwanted).json()
    reopened = call("PATCH", f"{ISSUES}/1", token, json={"state": "open"}).json()

    assert (closed["state"], closed["state_reason"]) == ("closed", "not_planned")
    assert (reopened["state"], reopened["state_reason"]) == ("open", "reopened")
    assert reopened["closed_at"] is None


def test_title_and_body_may_be_changed(host, five, call, token):
    call("PATCH", f"{ISSUES}/1", token, json={"title": "Another", "body": "text"})

    issue = host.issue("acme/docs", 1)
    assert (issue.title, issue.body, issue.state) == ("Another", "text", "open")


@pytest.mark.parametrize("sent", [{"state": "shut"}, {"state_reason": "bored"}, {"title": " "}])
def test_a_change_that_github_does_not_know(five, call, token, sent):
    assert call("PATCH", f"{ISSUES}/1", token, json=sent).status_code == 422


def test_an_issue_that_cannot_be_changed(host, five, call, token):
    closed = {"state": "closed"}
    host.delete_issue("acme/docs", 1, by="alice")

    assert call("PATCH", f"{ISSUES}/1", token, json=closed).status_code == 410
    assert call("PATCH", f"{ISSUES}/9", token, json=closed).status_code == 404
    assert call("PATCH", f"{ISSUES}/3", json=closed).status_code == 401
    host.archive("acme/docs")
    assert call("PATCH", f"{ISSUES}/3", token, json=closed).status_code == 403


def test_an_issue_is_closed_as_a_duplicate(five, call, token):
    same = {"state": "closed", "state_reason": "duplicate"}

    assert call("PATCH", f"{ISSUES}/1", token, json=same).json()["state_reason"] == "duplicate"


def test_the_address_of_a_transferred_issue_leads_to_where_it_is_now(host, five, call, token):
    host.add_repository("acme", "other")
    host.create_issue("acme/other", title="Another", user="charlie")
    moved = host.transfer_issue("acme/docs", 2, "acme/other", by="alice")

    answer = call("GET", f"{ISSUES}/2", token)

    assert answer.status_code == 301
    assert answer.headers["Location"].endswith("/repos/acme/other/issues/2")
    assert (moved.title, moved.state, moved.number) == ("Issue 2", "closed", 2)
    assert [each.number for each in host.issues("acme/docs")] == [1, 3, 4, 5]
