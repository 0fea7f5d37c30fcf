"""A template has only HTML that every parser reads alike: other is refused, and was saved before it acts no more."""

import pytest
from django.test import Client

from integrations.models import Integration
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/v1/orgs/me/integrations/github"
PAGE = "/settings/integration/"
NOT_SHOWN = "is HTML that GitHub does not show. Leave it out, or write it between backticks."
IN_DIFFERENT_WAYS = (
    "is HTML that programs read in different ways. Close each tag and comment in its own paragraph, "
    "put values between quotes, without < and >, and write any other < as &lt;."
)


@pytest.fixture
def browser(code_host, client) -> Client:
    acme = build.acme(code_host)
    client.force_login(build.member(acme, github_id=code_host.account("alice").id))
    return client


@pytest.mark.parametrize(
    ("template", "found", "said"),
    [
        ("{summary}\n\n<video src=x></video>", "<video src=x>", NOT_SHOWN),
        ("<div title='\n\n{summary}", "<div title='", IN_DIFFERENT_WAYS),
        ("<" + "x" * 200 + ">", "<" + "x" * 99, NOT_SHOWN),
        (
            "[<b>x</b>](https://docs.acme.com)",
            "<b>",
            (
                "is HTML in the text of a link. Only images may be there: "
                'write the link as <a href="…">…</a>.'
            ),
        ),
        (
            "<table>{summary}</table>",
            "<table>",
            "is followed by a text that is in no cell of its table. Put it between <td> and </td>.",
        ),
    ],
)
def test_html_that_is_not_read_alike_everywhere_is_refused_with_what_to_do(
    browser, template, found, said
):
    token = build.token(Integration.objects.get().organization.memberships.get().user)
    body = {"repo_owner": "acme", "repo_name": "docs", "issue_template": template}

    answer = build.api(token).post(URL, body, content_type="application/json")

    assert answer.status_code == 400
    assert answer.json() == {
        "error": "template_has_odd_html",
        "message": f"`{found}` {said}",
        "found": found,
    }
    assert Integration.objects.get().issue_template == ""


def test_the_page_says_so_beside_the_field_and_in_the_preview(browser):
    form = {"repository": "acme/docs", "issue_template": "<video src=x></video> {summary}"}

    refused = browser.post(PAGE, form)
    preview = browser.post(PAGE, form | {"live": "1"}).content.decode()

    assert refused.context["form"].errors == {
        "issue_template": [f"`<video src=x>` {NOT_SHOWN}"],
    }
    assert "<code>&lt;video src=x&gt;</code> is HTML that GitHub does not show." in preview


def test_a_template_that_was_saved_before_is_plain_text_until_it_is_changed(browser, code_host):
    template = "<div>@<foo></foo>charlie</div>\n\n[x](https://docs.acme.com) {summary}"
    Integration.objects.update(issue_template=template)

    build.send(browser)
    before = browser.get("/settings/").content.decode()
    browser.post(PAGE, {"repository": "acme/docs", "issue_template": "<b>x</b> {summary}"})
    after = browser.get("/settings/").content.decode()

    body = code_host.issues("acme/docs")[-1].body
    assert body.startswith("<\u200bdiv>@\u200b<\u200bfoo><\u200b/foo>charlie<\u200b/div>")
    assert "[\u200bx]\u200b(https:\u200b//docs.acme.com)" in body
    assert "Your template has HTML that may not be in it." in before
    assert "<code>&lt;foo&gt;</code> is HTML that GitHub does not show." in before
    assert "Your template addresses others" not in before
    assert "Your template has HTML" not in after
    assert Integration.objects.get().issue_template == "<b>x</b> {summary}"
