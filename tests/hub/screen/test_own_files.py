"""The files of a repository as a claim: the checkbox of the integration, and what the pages say of it."""

import pytest
from django.conf import settings
from django.test import Client

from integrations.models import Delivery, Integration
from orgs.models import Organization, Site
from reports import erasing
from reports.models import Report
from tests import build

PAGE = "/settings/integration/"
FORM = {"repository": "acme/docs", "issue_template": ""}
TICKED = FORM | {"own_files": "on"}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def acme(code_host) -> Organization:
    """Installed, and no repository chosen."""
    owner = build.organization()
    build.integration(owner, code_host)
    Integration.objects.update(repository_id=None, repo_owner="", repo_name="")
    return owner


@pytest.fixture
def alice(acme, code_host, client) -> Client:
    client.force_login(build.member(acme, github_id=code_host.account("alice").id))
    return client


@pytest.fixture
def files(alice) -> Site:
    """The claim, made by the form."""
    alice.post(PAGE, TICKED)
    return Site.objects.get()


def address(path: str = "") -> str:
    return f"{settings.HUB_GITHUB_URL}/acme/docs/{path}"


def text_of(answer) -> str:
    return answer.content.decode()


def box(page: str) -> str:
    """The checkbox of a page; empty without one."""
    return next((part for part in page.split("<") if 'name="own_files"' in part), "")


def rival(code_host, *, login: str = "bob") -> Organization:
    """Another organization on the same repository, which has claimed its files."""
    other = build.organization(login)
    build.integration(other, code_host)
    theirs = Client()
    code_host.grant(login, "acme/docs", "push")
    theirs.force_login(build.member(other, login, github_id=code_host.account(login).id))
    theirs.post(PAGE, TICKED)
    assert Site.objects.get().organization == other
    return other


def test_the_first_repository_comes_with_its_files_by_default(alice):
    page = text_of(alice.get(PAGE))

    assert "Also receive reports about the files in acme/docs</label>" in page
    assert " checked" in box(page)


def test_saving_claims_the_files_and_says_so(alice, acme):
    page = text_of(alice.post(PAGE, TICKED, follow=True))

    claim = acme.sites.get()
    assert claim.is_repository
    assert claim.url == address()
    assert "Issues now go to acme/docs." in page
    assert "Reports about the files of acme/docs come to you, too." in page
    assert f'<a href="/settings/claims/{claim.id}/">Show the claim</a>' in page
    assert not box(page)


def test_unchecked_claims_nothing_and_is_not_checked_the_next_time(alice):
    page = text_of(alice.post(PAGE, FORM, follow=True))

    assert not Site.objects.exists()
    assert "files of acme/docs come to you" not in page
    assert box(page)
    assert " checked" not in box(page)


def test_a_claim_that_was_removed_stays_away_when_a_template_is_saved(alice, files):
    alice.post(f"/settings/claims/{files.id}/delete/")

    page = text_of(alice.get(PAGE))
    alice.post(PAGE, FORM | {"issue_template": "{summary}"})

    assert " checked" not in box(page)
    assert not Site.objects.exists()


def test_pressed_twice_it_is_one_claim_and_said_once(alice, files):
    alice.get(PAGE)
    again = text_of(alice.post(PAGE, TICKED, follow=True))

    assert Site.objects.count() == 1
    assert "Template saved." in again
    assert "You receive reports about the files of acme/docs." in again
    assert "come to you, too" not in again


def test_what_was_typed_is_kept_while_somebody_only_looks(alice):
    unticked = text_of(alice.post(PAGE, FORM | {"preview": "1"}))
    ticked = text_of(alice.post(PAGE, TICKED | {"preview": "1"}))
    wrong = text_of(alice.post(PAGE, TICKED | {"issue_template": "{sumary}"}))

    assert " checked" not in box(unticked)
    assert " checked" in box(ticked)
    assert " checked" in box(wrong)
    assert not Site.objects.exists()


def test_among_several_repositories_the_label_names_none(alice, code_host):
    installed = build.installed(code_host)
    code_host.add_to_installation(installed, code_host.add_repository("acme", "b"))

    assert "Also receive reports about the files in the repository</label>" in text_of(
        alice.get(PAGE)
    )


def test_files_that_another_organization_has_stay_theirs_and_the_rest_is_saved(alice, code_host):
    other = rival(code_host)
    code_host.grant("alice", "acme/docs", "push")

    page = text_of(alice.post(PAGE, TICKED | {"issue_template": "{summary}"}, follow=True))

    assert Site.objects.get().organization == other
    assert "Issues now go to acme/docs." in page
    assert "You do not receive reports about the files of acme/docs. Another organization" in page
    assert Integration.objects.get(organization__name="acme").issue_template == "{summary}"
    assert "Another organization on this Hub receives reports about the files of acme/docs" in page
    assert " checked" not in box(page)


def test_an_admin_takes_them_from_who_has_no_push_access_any_more(alice, acme, code_host):
    rival(code_host)
    code_host.grant("bob", "acme/docs", "pull")

    page = text_of(alice.post(PAGE, TICKED, follow=True))

    assert Site.objects.live().get().organization == acme
    assert "Reports about the files of acme/docs come to you, too." in page


def test_who_has_no_push_access_claims_nothing(acme, code_host, client):
    client.force_login(build.member(acme, "bob", role="member", github_id=1))

    page = text_of(client.post(PAGE, TICKED))

    assert "push access to acme/docs" in page
    assert " checked" in box(page)
    assert not Site.objects.exists()


def test_without_an_answer_of_github_nothing_is_claimed(alice, code_host):
    code_host.fail("answer", status=503, method="*", path="/api/v3/*", times=9)

    page = text_of(alice.post(PAGE, TICKED))

    assert "problem" in page
    assert " checked" in box(page)
    assert not Site.objects.exists()


def test_another_repository_asks_and_offers_its_files(alice, acme, files, code_host):
    installed = build.installed(code_host)
    code_host.add_to_installation(installed, code_host.add_repository("acme", "b"))
    form = FORM | {"repository": "acme/b"}

    asked = text_of(alice.post(PAGE, form))
    assert f"<li>{address()}</li>" in asked
    assert "Also receive reports about the files in acme/b</label>" in asked
    assert " checked" in box(asked)

    done = text_of(alice.post(PAGE, form | {"sure": "1", "own_files": "on"}, follow=True))
    assert "Reports about the files of acme/b come to you, too." in done
    assert [each.repository for each in acme.sites.live()] == ["acme/b"]
    assert "has lapsed." not in text_of(alice.get("/settings/"))  # it was given up


def test_back_at_the_first_repository_its_claim_is_restored_and_told(alice, acme, files, code_host):
    installed = build.installed(code_host)
    code_host.add_to_installation(installed, code_host.add_repository("acme", "b"))
    alice.post(PAGE, FORM | {"repository": "acme/b", "sure": "1"})
    assert not acme.sites.live().exists()

    back = text_of(alice.post(PAGE, FORM, follow=True))

    assert "Reports about the files of acme/docs come to you, too." in back
    assert acme.sites.live().get() == files


def test_the_files_alone_leave_the_docs_to_be_claimed(alice, files):
    page = text_of(alice.get("/settings/"))

    assert "Receiving" in page
    assert "for only the <a" in page
    assert "files of acme/docs</a>" in page
    assert "Step 3 of 4." in page
    assert "Claim https://acme.github.io/docs/</button>" in page
    assert 'Start with this<span class="hidden">: Send a test report' in page


def test_the_first_issue_ends_the_set_up_with_the_files_alone(alice, files, code_host):
    sent = alice.post("/settings/test/", {"page": address()}, follow=True)
    page = text_of(alice.get("/settings/"))

    assert "Issue #1 opened in acme/docs" in text_of(sent)
    assert "Step 3 of 4." not in page
    assert "files of acme/docs</a>" in page


def test_a_test_report_is_about_a_page_that_readers_see_first(alice, acme, files):
    build.domain(acme, "docs.acme.com")

    alice.post("/settings/test/")

    assert Delivery.objects.get().report.doc_url == "https://docs.acme.com/"


def test_the_page_of_the_claim_says_what_it_covers(alice, files):
    page = text_of(alice.get(f"/settings/claims/{files.id}/"))

    assert f"<h1>{address()}</h1>" in page
    assert "About the files of acme/docs on " in page
    assert "<code>blob</code>" in page
    assert "such as on a site, need a claim of their own" in page
    assert "publishes it" not in page


def test_one_field_takes_a_repository(alice, acme):
    alice.post(PAGE, FORM)

    page = text_of(alice.post("/settings/claims/new/", {"address": address()}, follow=True))

    assert acme.sites.get().is_repository
    assert "You now receive reports about the files of acme/docs." in page


@pytest.mark.parametrize(
    "path",
    [
        "blob/main/docs/install.md",
        "blob/HEAD/README.md?plain=1#L3",
        "wiki/Home",
        "tree/main",
        "issues/1",
        "settings",
    ],
)
def test_for_a_file_its_repository_is_offered(alice, path):
    alice.post(PAGE, FORM)

    page = text_of(alice.post("/settings/claims/new/", {"address": address(path)}))

    assert "<title>Error: " in page
    assert f'name="address" value="{address()}"><button class="primary">Claim {address()}' in page
    assert not Site.objects.exists()


@pytest.mark.parametrize("path", ["../..", "../../features", "../../orgs/acme"])
def test_what_is_of_no_repository_is_refused_in_words(alice, path):
    alice.post(PAGE, FORM)

    page = text_of(alice.post("/settings/claims/new/", {"address": address(path)}))

    assert "<title>Error: " in page
    assert not Site.objects.exists()


def test_who_pastes_what_is_cloned_is_offered_the_repository(alice):
    alice.post(PAGE, FORM)
    there = settings.HUB_GITHUB_URL.partition("://")[2]
    cloned = f"git@{there}:acme/docs.git"

    page = text_of(alice.post("/settings/claims/new/", {"address": cloned}))

    assert f">Claim {address()}</button>" in page
    assert not Site.objects.exists()


def test_site_and_files_are_offered_until_they_are_claimed(alice, files):
    page = text_of(alice.get("/settings/claims/new/"))

    assert "Claim https://acme.github.io/docs/</button>" in page
    assert f"Claim {address()}</button>" not in page


def test_the_kit_of_a_repository_has_what_a_repository_can_publish(alice, files):
    kit = f"/settings/claims/{files.id}/kit/"
    page = text_of(alice.get(kit))

    assert "docfeedback init --hub-url https://hub.example" in page
    assert "docs-feedback.json" not in page
    assert "llms.txt" not in page
    assert alice.get(f"{kit}AGENTS.md").status_code == 200
    assert alice.get(f"{kit}docs-feedback.json").status_code == 404
    assert "Check my site" not in page


@pytest.mark.parametrize(
    ("url", "is_told"),
    [
        ("https://github.com", False),
        ("https://acme.ghe.com", False),
        ("https://github.acme.com", True),
    ],
)
def test_the_kit_names_a_code_host_that_the_command_does_not_know(
    alice, files, settings, url, is_told
):
    settings.HUB_GITHUB_URL = url

    page = text_of(alice.get(f"/settings/claims/{files.id}/kit/"))

    assert (f"export DOCFEEDBACK_CODE_HOST={url}" in page) is is_told


def test_a_lapsed_claim_says_how_to_get_it_back(alice, files):
    alice.post("/settings/integration/disconnect/")

    page = text_of(alice.get(f"/settings/claims/{files.id}/"))
    overview = text_of(alice.get("/settings/"))

    assert "Your issues no longer go to acme/docs." in page
    assert "claim its address</a>" in page
    assert f"The claim of {address()} has lapsed." in overview
    assert "is no longer the repository of your integration" in overview


def receipt_of(page: str) -> str:
    answer = build.send(Client(), build.report(page))
    return text_of(Client().get(f"/r/{answer.json()['id']}/", headers={"Accept": "text/html"}))


def without_what_differs(page: str) -> list[str]:
    """The words of a page without ids, times and repetitions of them."""
    kept = ("<h1", "lead", "<b>", "state")
    lines = [line for line in page.splitlines() if any(each in line for each in kept)]
    return [line.split("<time")[0] for line in lines]


def test_strangers_learn_of_a_public_repository_where_a_report_goes(alice, files):
    form = text_of(Client().get("/report/", {"doc_url": address("blob/HEAD/docs/a.md")}))

    assert "it becomes a public issue in acme/docs" in form
    assert "Issue #1 is open" in receipt_of(address("blob/HEAD/docs/a.md"))
    again = build.send(Client(), build.report(address("blob/main/docs/a.md"))).json()
    assert (again["claimed"], again["status"]) == (True, "forwarded")


def test_strangers_cannot_tell_a_private_repository_from_one_that_nobody_has(
    alice, files, code_host
):
    code_host.set_private("acme/docs", True)
    Integration.objects.update(repository_private=True)
    pages = [
        address("blob/HEAD/docs/a.md"),
        address("blob/HEAD/docs/a.md").replace("docs/", "x/", 1),
    ]

    forms = [text_of(Client().get("/report/", {"doc_url": each})) for each in pages]
    receipts = [without_what_differs(receipt_of(each)) for each in pages]

    assert Delivery.objects.get().status == Delivery.Status.SENT
    assert all(
        "nobody has claimed this repository on this Hub, or it is private" in f for f in forms
    )
    assert receipts[0] == receipts[1]
    again = build.send(Client(), build.report(pages[0])).json()
    assert (again["claimed"], again["status"], again["issue_url"]) == (False, "received", None)
    delivered = Delivery.objects.get().report_id
    assert Client().get(f"/v1/reports/{delivered}").json()["status"] == "received"


def test_strangers_are_not_told_that_the_owner_of_private_files_has_erased_a_report(alice, files):
    Integration.objects.update(repository_private=True)
    pages = [address("blob/HEAD/a.md"), address("blob/HEAD/a.md").replace("docs/", "x/", 1)]
    mine, nobodys = (build.send(Client(), build.report(each)).json()["id"] for each in pages)

    erasing.erase(Report.objects.get(pk=mine))
    of_private_files = read_receipt(mine)
    erasing.erase(Report.objects.get(pk=nobodys))  # as only operators do

    assert "Erased" not in of_private_files
    assert "Erased" in read_receipt(nobodys)


def read_receipt(report_id: str) -> str:
    return text_of(Client().get(f"/r/{report_id}/", headers={"Accept": "text/html"}))


def test_opting_out_of_a_private_repository_warns_of_what_it_tells(alice, files):
    public = text_of(alice.get(f"/settings/claims/{files.id}/opt-out/"))
    Integration.objects.update(repository_private=True)
    private = text_of(alice.get(f"/settings/claims/{files.id}/opt-out/"))

    assert "learns that it exists" not in public
    assert "learns that it exists" in private


def test_the_list_of_reports_can_show_those_about_the_files(alice, acme, files):
    build.domain(acme, "docs.acme.com")
    build.send(alice, build.report(report__summary="Of the site"))
    build.send(alice, build.report(address("blob/main/docs/a.md"), report__summary="Of a file"))

    page = text_of(alice.get("/settings/reports/", {"claim": files.url}))

    assert "Of a file" in page
    assert "Of the site" not in page


def test_the_way_of_a_report_names_the_repository(alice, files):
    answer = build.send(alice, build.report(address("blob/main/docs/a.md"))).json()

    page = text_of(alice.get(f"/settings/reports/{answer['id']}/"))

    assert "acme/docs, your claim" in page


def test_one_who_only_reads_is_told_whom_to_ask(acme, files, client):
    client.force_login(build.member(acme, "bob", role="member", github_id=1))

    page = text_of(client.get(f"/settings/claims/{files.id}/"))

    assert "An owner of your organization can opt out or remove this claim." in page


def test_who_owns_both_kinds_sees_which_is_which(alice, acme, files):
    build.site(acme, "acme.github.io", "/docs/")

    page = text_of(alice.get("/settings/claims/"))

    assert '<span class="chip">Repository</span><span>its files, and its wiki</span>' in page
    assert '<span class="chip">Site</span><span>published by acme/docs</span>' in page


def test_earlier_reports_about_files_are_named_by_their_paths(alice, acme):
    alice.post(PAGE, FORM)
    build.send(Client(), build.report(address("blob/main/docs/a.md")))
    alice.post(PAGE, TICKED)
    claim = Site.objects.get()

    page = text_of(alice.get(f"/settings/claims/{claim.id}/earlier/"))

    assert ">blob/HEAD/docs/a.md<" in page


def test_whoever_receives_reports_about_files_is_not_told_that_none_arrive_yet(alice, acme):
    before = text_of(alice.get("/settings/"))
    alice.post(PAGE, TICKED)
    after = text_of(alice.get("/settings/"))

    assert "Three short steps until reports arrive as issues." in before
    assert "Step 3 of 4. Two short steps left." in after
