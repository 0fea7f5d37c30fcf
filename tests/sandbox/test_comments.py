from datetime import timedelta

import pytest
import requests

BOT = "docs-feedback[bot]"
COMMENTS = "/repos/acme/docs/issues/1/comments"


@pytest.fixture(autouse=True)
def issue(host):
    return host.create_issue("acme/docs", title="Broken link", user="charlie")


def test_the_app_comments_and_edits_its_comment(host, as_installation):
    comment = as_installation.get_repo("acme/docs").get_issue(1).create_comment("Also *here*.")
    comment.edit("Also there.")

    (kept,) = host.comments("acme/docs", 1)
    assert (kept.body, kept.user, kept.by_app) == ("Also there.", BOT, True)
    assert comment.id == kept.id
    assert comment.html_url == f"{host.url}/acme/docs/issues/1#issuecomment-{kept.id}"
    assert comment.issue_url.endswith("/issues/1")
    assert comment.raw_data["performed_via_github_app"]["slug"] == "docs-feedback"
    assert as_installation.get_repo("acme/docs").get_issue(1).comments == 1


def test_comments_are_listed_oldest_first_a_page_at_a_time(host, call, token):
    for number in range(3):
        host.comment("acme/docs", 1, f"Comment {number}", user="bob")

    first = call("GET", f"{COMMENTS}?per_page=2", token)
    second = call("GET", f"{COMMENTS}?per_page=2&page=2", token)

    assert [each["body"] for each in first.json()] == ["Comment 0", "Comment 1"]
    assert [each["body"] for each in second.json()] == ["Comment 2"]
    assert 'rel="next"' in first.headers["Link"]
    assert 'rel="next"' not in second.headers["Link"]


def test_only_what_was_updated_since_then_is_listed(host, call, token):
    host.clock_offset = timedelta(hours=-2)
    old = host.comment("acme/docs", 1, "Old", user="bob")
    host.clock_offset = timedelta()
    new = host.comment("acme/docs", 1, "New", user="bob")
    since = (host.now() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")

    assert [each["id"] for each in call("GET", f"{COMMENTS}?since={since}", token).json()] == [
        new.id
    ]
    host.edit_comment(old, "Changed")
    assert len(call("GET", f"{COMMENTS}?since={since}", token).json()) == 2
    assert call("GET", f"{COMMENTS}?since=yesterday", token).status_code == 422


def test_a_comment_that_was_deleted_is_not_found(host, call, token):
    comment = host.comment("acme/docs", 1, "Gone soon", user="bob")
    path = f"/repositories/2001/issues/comments/{comment.id}"
    assert call("GET", path, token).json()["body"] == "Gone soon"

    host.delete_comment(comment)

    assert call("GET", path, token).status_code == 404
    assert call("PATCH", path, token, json={"body": "x"}).status_code == 404
    assert host.comments("acme/docs", 1) == []


def test_nobody_comments_on_a_locked_issue(host, call, token):
    host.lock_issue("acme/docs", 1)
    refused = call("POST", COMMENTS, token, json={"body": "Also here."})
    host.lock_issue("acme/docs", 1, locked=False)

    assert refused.status_code == 403
    assert refused.json()["message"] == "Unable to create comment because issue is locked."
    assert call("POST", COMMENTS, token, json={"body": "Also here."}).status_code == 201


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, "Invalid request."),
        ({"body": 5}, "Invalid request."),
        ({"body": " "}, "Validation Failed"),
        ({"body": "b" * 65537}, "Validation Failed"),
    ],
)
def test_a_comment_that_is_not_valid_is_refused(host, call, token, sent, message):
    answer = call("POST", COMMENTS, token, json=sent)

    assert answer.status_code == 422
    assert answer.json()["message"].startswith(message)
    assert host.comments("acme/docs", 1) == []


def test_where_the_issue_is_gone_nobody_comments(host, call, token, as_installation):
    other = host.add_repository("acme", "other")
    host.transfer_issue("acme/docs", 1, "acme/other", by="alice")
    moved = call("GET", COMMENTS, token)
    host.create_issue("acme/docs", title="Another", user="charlie")
    host.delete_issue("acme/docs", 2, by="alice")
    deleted = call("POST", "/repos/acme/docs/issues/2/comments", token, json={"body": "x"})

    assert (moved.status_code, moved.headers["Location"]) == (
        301,
        f"{host.url}/api/v3/repos/{other.full_name}/issues/1",
    )
    assert deleted.status_code == 410
    assert call("POST", "/repos/acme/docs/issues/9/comments", token).status_code == 404


def test_a_repository_that_takes_no_issues_takes_no_comments(host, call, token):
    comment = host.comment("acme/docs", 1, "Here", user="bob")
    path = f"/repositories/2001/issues/comments/{comment.id}"

    host.archive("acme/docs")
    assert call("POST", COMMENTS, token, json={"body": "x"}).status_code == 403
    assert call("PATCH", path, token, json={"body": "x"}).status_code == 403
    host.unarchive("acme/docs")
    host.set_issues("acme/docs", False)
    assert call("POST", COMMENTS, token, json={"body": "x"}).status_code == 410
    assert call("GET", path, token).status_code == 410


def test_a_token_that_only_reads_writes_no_comment(host, as_app, call, installation):
    token = as_app.get_access_token(installation.id, permissions={"issues": "read"}).token

    assert call("GET", COMMENTS, token).status_code == 200
    assert call("POST", COMMENTS, token, json={"body": "x"}).status_code == 403


@pytest.mark.parametrize(
    ("fault", "status", "is_made"),
    [
        ("500", 500, False),
        ("502_after_creating", 502, True),
        ("403_locked", 403, False),
        ("no_id", 201, True),
    ],
)
def test_a_comment_can_go_wrong(host, call, token, fault, status, is_made):
    host.fail(fault, path="comments")

    answer = call("POST", COMMENTS, token, json={"body": "Also here."})

    assert answer.status_code == status
    assert bool(host.comments("acme/docs", 1)) is is_made
    assert fault != "no_id" or "id" not in answer.json()


def test_the_page_of_an_issue_shows_its_comments(host):
    host.comment("acme/docs", 1, "Also *here*, <b>they</b> say.", user="bob")

    shown = requests.get(f"{host.url}/acme/docs/issues/1", timeout=10).text

    assert "bob commented" in shown
    assert "Also <em>here</em>," in shown
    assert "<b>they" not in shown
