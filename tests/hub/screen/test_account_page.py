"""`/settings/account/`: members, theme and export."""

import json
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import batches
from integrations.models import Attempt, Delivery
from orgs import renamed
from orgs.domains import claiming
from orgs.domains.claiming import claim_domain
from orgs.models import Domain, Notice, User
from orgs.people import members
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/settings/account/"


@pytest.fixture
def acme(code_host):
    return build.acme(code_host)


@pytest.fixture
def alice(acme, code_host, client):
    alice = build.member(acme, github_id=code_host.account("alice").id)
    client.force_login(alice)
    return alice.membership


def text_of(answer) -> str:
    return answer.content.decode()


def as_bob(acme) -> Client:
    client = Client()
    client.force_login(build.member(acme, "bob", role="member"))
    return client


def test_members_are_listed_with_those_who_have_not_agreed_yet(client, acme, alice):
    acme.invitations.create(github_id=3, login="charlie", role="owner", invited_by=alice)

    page = text_of(client.get(PAGE))

    assert "alice (you)" in page
    assert "Owner" in page
    assert "charlie" in page
    assert page.count("Invited by alice") == 1


def test_a_deactivated_owner_is_marked_and_counts_for_none(client, acme, alice):
    bob = build.member(acme, "bob")
    before = text_of(client.get(PAGE))
    User.objects.filter(pk=bob.pk).update(is_active=False)

    page = text_of(client.get(PAGE))

    assert "Deactivated" not in before
    assert "last owner" not in before
    assert page.count("Deactivated by an operator") == 1
    assert "You are the last owner of" in page


def test_an_owner_invites_somebody_by_their_login(client, acme, alice):
    answer = client.post(PAGE, {"login": "bob", "role": "member"}, follow=True)

    assert answer.redirect_chain == [(PAGE, 302)]
    assert "bob was invited and can accept at the next visit." in text_of(answer)
    assert acme.invitations.get(login="bob").role == "member"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"login": "nobody", "role": "owner"}, "There is no GitHub user nobody."),
        ({"login": "alice", "role": "owner"}, "alice is already an owner."),
        ({"login": "alice", "role": "member"}, "alice is already an owner."),
        ({"login": "bob", "role": "king"}, "Select a valid choice."),
        ({"login": "", "role": "owner"}, "Enter a GitHub login."),
    ],
)
def test_a_refusal_keeps_what_was_typed(client, acme, alice, typed, said):
    answer = client.post(PAGE, typed)

    assert "<title>Error: Account" in text_of(answer)
    assert said in text_of(answer)
    assert answer.context["form"]["login"].value() == typed["login"]
    assert acme.memberships.count() == 1


def test_a_member_adds_and_removes_nobody(acme, alice):
    bob = as_bob(acme)

    assert "Invite a member" not in text_of(bob.get(PAGE))
    refused = bob.post(PAGE, {"login": "charlie", "role": "owner"}, follow=True)
    changed = bob.post(f"{PAGE}members/{alice.pk}/role/", {"role": "member"}, follow=True)
    assert "Only owners can" in text_of(refused)
    assert "Only owners can" in text_of(changed)
    removed = bob.post(f"{PAGE}members/{alice.pk}/remove/", follow=True)

    assert "Only owners can" in text_of(removed)
    assert acme.memberships.count() == 2


def test_an_owner_changes_a_role(client, acme, alice):
    as_bob(acme)
    bob = acme.memberships.get(login="bob")

    up = client.post(f"{PAGE}members/{bob.pk}/role/", {"role": "owner"}, follow=True)
    again = client.post(f"{PAGE}members/{bob.pk}/role/", {"role": "owner"}, follow=True)
    down = client.post(f"{PAGE}members/{alice.pk}/role/", {"role": "member"}, follow=True)

    assert "bob is now an owner." in text_of(up)
    assert "bob is already an owner." in text_of(again)
    assert "alice is now a member." in text_of(down)
    assert set(acme.memberships.values_list("login", "role")) == {
        ("alice", "member"),
        ("bob", "owner"),
    }


@pytest.fixture
def invited(acme, alice) -> Client:
    """Bob, who has just signed in and is asked whether he joins acme."""
    acme.invitations.create(github_id=3, login="bob", role="member", invited_by=alice)
    user = User.objects.create(username="bob")
    members.welcome(user, github_id=3, login="bob")
    client = Client()
    client.force_login(user)
    return client


def test_whoever_is_invited_is_asked_and_goes_on_as_before(invited, acme):
    invited.post("/settings/claims/new/", {"address": "docs.bob.dev"})
    page = text_of(invited.get("/settings/"))

    assert "alice invites you to acme" in page
    assert "<h1>bob</h1>" in page
    assert [each.organization.name for each in Domain.objects.filter(name="docs.bob.dev")] == [
        "bob"
    ]


def test_a_yes_joins(invited, acme):
    answer = invited.post(invitation_of(acme), {"join": "member"}, follow=True)

    assert "You are now a member of acme." in text_of(answer)
    assert acme.memberships.count() == 2


def test_a_no_changes_nothing_but_what_the_inviting_one_is_told(invited, acme):
    answer = invited.post(invitation_of(acme), {"decline": "1"}, follow=True)

    assert "You declined the invitation to acme." in text_of(answer)
    assert "<h1>bob</h1>" in text_of(answer)
    assert "bob has declined the invitation." in [each.text for each in acme.notices.all()]


def test_a_form_that_says_neither_changes_nothing(invited, acme):
    invited.post(invitation_of(acme))
    invited.get(invitation_of(acme))

    assert acme.invitations.exists()


def test_an_invitation_is_withdrawn(client, invited, acme):
    invitation = acme.invitations.get()
    address = invitation_of(acme)

    others = invited.post(f"{PAGE}invitations/{invitation.pk}/")
    answer = client.post(f"{PAGE}invitations/{invitation.pk}/", follow=True)
    late = invited.post(address, {"join": "member"}, follow=True)

    assert others.status_code == 404
    assert "The invitation of bob was withdrawn." in text_of(answer)
    assert "This invitation was withdrawn or changed." in text_of(late)
    assert acme.memberships.count() == 1


def invitation_of(acme) -> str:
    return f"/settings/invitations/{acme.invitations.get().pk}/"


def test_removing_asks_and_then_does(client, acme, alice):
    as_bob(acme)
    bob = acme.memberships.get(login="bob")

    asked = client.get(f"{PAGE}members/{bob.pk}/remove/")
    assert acme.memberships.count() == 2
    done = client.post(f"{PAGE}members/{bob.pk}/remove/", follow=True)

    assert "Remove bob?" in text_of(asked)
    assert "bob was removed from acme." in text_of(done)
    assert acme.memberships.count() == 1


@pytest.fixture
def claims_of_bob(acme) -> list[str]:
    """Names that bob has claimed for acme: he has their DNS, and nobody else of acme."""
    bob = build.member(acme, "bob", role="member").membership
    names = [f"d{number:02}.bob.dev" for number in range(12)]
    for each in names:
        claim_domain(bob, each)[0].record_found()
    return names


def box_in(page: str) -> str:
    """What the box of the page that asks sends if it is ticked."""
    return re.search('name="claims" value="([^"]+)"', page)[1]


def test_who_removes_somebody_sees_what_they_have_claimed_and_may_remove_that(
    client, acme, alice, claims_of_bob
):
    remove = f"{PAGE}members/{acme.memberships.get(login='bob').pk}/remove/"

    asked = text_of(client.get(remove))
    client.post(remove, {"claims": box_in(asked)})

    assert "bob has claimed <code>d00.bob.dev</code>, " in asked
    assert all(f"<code>{each}</code>" in asked for each in claims_of_bob)
    assert [each.name for each in acme.domains.all()] == ["docs.acme.com"]
    assert acme.memberships.count() == 1
    assert not acme.notices.exists()


def test_claims_of_somebody_who_goes_stay_and_their_organization_is_told(
    client, acme, alice, claims_of_bob
):
    """Those that are proved first: their reports come in."""
    acme.domains.filter(name="d00.bob.dev").update(verified_at=None, expires_at=timezone.now())
    client.post(f"{PAGE}members/{acme.memberships.get(login='bob').pk}/remove/")
    page = client.get(f"/settings/claims/{acme.domains.get(name='d03.bob.dev').pk}/")

    assert acme.domains.count() == 13
    told = acme.notices.get().text
    assert told.startswith("bob, who is no longer a member, had claimed d01.bob.dev, d02.bob.dev, ")
    assert "d05.bob.dev, and 7 more. These claims stay as long as their DNS records do" in told
    assert "bob, who is no longer a member" in text_of(page)


def test_a_member_who_leaves_removes_no_claims(acme, alice, claims_of_bob):
    bob = Client()
    bob.force_login(User.objects.get(username="bob"))
    leave = f"{PAGE}members/{acme.memberships.get(login='bob').pk}/remove/"

    asked = text_of(bob.get(leave))
    refused = text_of(bob.post(leave, {"claims": "on"}, follow=True))

    assert "You have claimed <code>d00.bob.dev</code>" in asked
    assert "checkbox" not in asked
    assert "Only owners can do that." in refused
    assert acme.domains.count() == 13


def test_who_claims_an_unproved_name_again_has_claimed_it_once_the_first_is_gone(acme):
    """A proved one stays what somebody else has claimed: it is not theirs to have removed with them."""
    alice, bob, carol = (
        build.member(acme, each, role=role).membership
        for each, role in [("alice", "owner"), ("bob", "member"), ("carol", "member")]
    )
    names = ["new.bob.dev", "proved.bob.dev", "lapsed.bob.dev"]
    new, proved, lapsed = (claim_domain(bob, each)[0] for each in names)
    for each in (proved, lapsed):
        each.record_found()
    lapsed.lapse("Its record is gone.")
    claim_domain(carol, new.name)
    kept = acme.domains.get(name=new.name).claimed_by
    members.remove(bob, by=alice)
    for each in names:
        claim_domain(carol, each)

    assert kept == "bob"
    assert [acme.domains.get(name=each).claimed_by for each in names] == ["carol", "bob", "bob"]


def test_leaving_leads_to_an_organization_of_ones_own(acme, alice):
    bob = as_bob(acme)
    leave = f"{PAGE}members/{acme.memberships.get(login='bob').pk}/remove/"

    asked = bob.get(leave)
    done = bob.post(leave, follow=True)

    assert "Leave acme?" in text_of(asked)
    assert "You have left acme." in text_of(done)
    assert "Members of bob" in text_of(done)
    assert acme.memberships.count() == 1


def test_the_last_owner_cannot_leave(client, acme, alice):
    answer = client.post(f"{PAGE}members/{alice.pk}/remove/", follow=True)

    assert "alice is the last owner. Make somebody else an owner first" in text_of(answer)
    assert acme.memberships.count() == 1


def test_the_last_owner_is_told_before_and_not_after(client, acme, alice):
    build.member(acme, "bob", role="member")
    leave = f"{PAGE}members/{alice.pk}/remove/"
    needed = "You are the last owner of acme"

    page, asked, gone = (text_of(client.get(path)) for path in (PAGE, leave, f"{PAGE}delete/"))

    assert f"{needed}. Before you can leave it, make somebody else an owner." in page
    assert f"{needed}, so it is deleted with your account." in page
    assert leave not in page
    assert needed in asked
    assert "<form" not in asked.partition("<main")[2]
    assert f"{needed}. It is deleted too" in gone
    assert "make somebody else an owner</a> first" in gone


def test_one_of_two_owners_can_leave(client, acme, alice):
    build.member(acme, "bob")
    leave = f"{PAGE}members/{alice.pk}/remove/"

    page, asked, gone = (text_of(client.get(path)) for path in (PAGE, leave, f"{PAGE}delete/"))

    assert "last owner" not in page + asked + gone
    assert leave in page
    assert "acme stays." in page


def test_members_of_others_are_not_there(client, alice):
    charlie = build.member(build.organization("charlie"), "charlie").membership

    assert client.get(f"{PAGE}members/{charlie.pk}/remove/").status_code == 404
    assert client.post(f"{PAGE}members/{charlie.pk}/remove/").status_code == 404


def test_the_theme_is_kept_in_this_browser(client, alice):
    answer = client.post(f"{PAGE}theme/", {"theme": "dark"}, follow=True)
    assert 'data-theme="dark"' in text_of(answer)
    assert '<option value="dark" selected>' in text_of(answer)

    answer = client.post(f"{PAGE}theme/", {"theme": "system"}, follow=True)

    assert "data-theme" not in text_of(answer)


def test_a_theme_that_does_not_exist_is_none(client, alice):
    answer = client.post(f"{PAGE}theme/", {"theme": '"><script>'}, follow=True)

    assert "data-theme" not in text_of(answer)


def test_the_export_has_everything_of_ours_and_nothing_of_others(client, acme, alice):
    build.site(acme, "acme.github.io")
    build.send(client, build.report(report__details="Grüße\n<b>"))
    neighbor = build.organization("neighbor")
    build.domain(neighbor, "docs.neighbor.dev")
    build.send(client, build.report("https://docs.neighbor.dev/"))

    answer = client.get(f"{PAGE}export.json")
    text = b"".join(answer.streaming_content).decode()
    found = json.loads(text)

    assert "attachment" in answer["Content-Disposition"]
    assert found["organization"]["name"] == "acme"
    assert [each["login"] for each in found["members"]] == ["alice"]
    assert [each["name"] for each in found["domains"]] == ["docs.acme.com"]
    assert [each["host"] for each in found["sites"]] == ["acme.github.io"]
    assert found["integrations"][0]["repo_name"] == "docs"
    assert found["integrations"][0]["installation"]["account"] == "acme"
    [report] = found["reports"]
    assert report["details"] == "Grüße\n<b>"
    assert report["delivery"]["issue_number"] == 1
    assert [each["outcome"] for each in report["delivery"]["attempts"]] == ["sent"]
    assert "neighbor" not in text


def test_of_attempts_without_end_the_export_has_a_hundred(client, acme, alice, code_host):
    for _ in range(2):
        build.send(client, build.report(report__summary=f"Gone {Delivery.objects.count()}"))
    build.attempts(Delivery.objects.order_by("pk")[0], 300)

    text = b"".join(client.get(f"{PAGE}export.json").streaming_content).decode()

    [first, second] = [each["delivery"]["attempts"] for each in json.loads(text)["reports"]]
    assert [each["number"] for each in first] == [1, *range(202, 301)]
    assert [each["number"] for each in second] == [1]


def test_the_export_has_invitations_tokens_and_earlier_challenges(client, acme, alice, code_host):
    value = build.token(alice.user, ["orgs:read"])
    bob = code_host.account("bob")
    acme.invitations.create(github_id=bob.id, login="bob", role="member", invited_by=alice)
    earlier = acme.domains.get().challenge
    acme.domains.get().remove_claim()

    text = b"".join(client.get(f"{PAGE}export.json").streaming_content).decode()
    found = json.loads(text)

    assert [each["login"] for each in found["invitations"]] == ["bob"]
    assert [each["challenge"] for each in found["earlier_challenges"]] == [earlier]
    [token] = found["tokens"]
    assert (token["name"], token["scopes"]) == ("for a test", ["orgs:read"])
    assert value not in text


def test_the_export_has_the_addresses_that_a_repository_had(client, acme, alice):
    site = build.site(acme, "github.com", "/acme/docs/")
    renamed.leave(site, 7)

    text = b"".join(client.get(f"{PAGE}export.json").streaming_content).decode()

    [former] = json.loads(text)["former_addresses"]
    assert (former["host"], former["path"]) == ("github.com", "/acme/docs/")


def test_the_export_reads_few_notices_at_once(client, acme, alice, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 2)
    for number in range(5):
        acme.tell(Notice.Kind.LOST, f"Number {number}")

    with CaptureQueriesContext(connection) as queries:
        text = b"".join(client.get(f"{PAGE}export.json").streaming_content).decode()

    told = [each["text"] for each in json.loads(text)["notices"]]
    whole = [each["sql"] for each in queries if '"orgs_notice"."text"' in each["sql"]]
    assert told == [f"Number {number}" for number in (4, 3, 2, 1, 0)]
    assert len(whole) == 3


def test_the_export_of_many_reports_costs_a_few_queries_a_batch(
    client, acme, alice, django_assert_max_num_queries
):
    now = acme.created_at
    Report.objects.bulk_create(
        [
            Report(organization=acme, received_at=now, last_received_at=now, kind="other")
            for _ in range(450)
        ]
    )

    with django_assert_max_num_queries(12 + 24 * 5):
        answer = client.get(f"{PAGE}export.json")
        found = json.loads(b"".join(answer.streaming_content))

    assert len(found["reports"]) == 450
    assert found["reports"][0]["delivery"] is None
    assert (Delivery.objects.count(), Attempt.objects.count()) == (0, 0)


def test_downloads_cannot_take_all_threads(client, acme, alice):
    first = client.get(f"{PAGE}export.json")
    beside = client.get("/settings/reports/reports.csv", headers={"Accept": "text/html"})
    first.close()
    after = client.get(f"{PAGE}export.json")

    assert (first.status_code, beside.status_code, after.status_code) == (200, 429, 200)
    assert beside["Retry-After"] == "1"
    assert "Another download of your organization" in text_of(beside)
    after.close()


def test_a_download_counts_for_its_organization_until_it_is_read(client, acme, alice):
    answer = client.get(f"{PAGE}export.json")
    answer.close()

    assert answer.wsgi_request.META["hub.whose"] == acme.pk  # which `hub.server.spool` goes by


def test_downloads_of_many_organizations_cannot_take_all_memory(client, acme, alice):
    others = [Client() for _ in range(3)]
    for number, each in enumerate(others):
        each.force_login(build.member(build.organization(f"org{number}"), f"mallory{number}"))

    made = [each.get(f"{PAGE}export.json") for each in others]
    beside = client.get(f"{PAGE}export.json")
    made[0].close()
    after = client.get(f"{PAGE}export.json")

    assert beside.status_code == 429
    assert "The Hub is making other downloads at the moment." in text_of(beside)
    assert after.status_code == 200
    for each in (*made[1:], after):
        each.close()


def test_the_export_reads_few_reports_at_once(client, acme, alice):
    for number in range(50):
        build.send(Client(), build.report(report__summary=f"Gone {number}"))

    with CaptureQueriesContext(connection) as queries:
        text = b"".join(client.get(f"{PAGE}export.json").streaming_content).decode()

    read = [each["sql"] for each in queries if ' FROM "reports_report"' in each["sql"]]
    assert len(json.loads(text)["reports"]) == 50
    assert sum(each.endswith("LIMIT 20") for each in read) == 4  # the last finds nothing


def test_downloads_are_limited_for_each_organization(client, acme, alice):
    answers = []
    for _ in range(11):
        answers.append(client.get(f"{PAGE}export.json"))
        answers[-1].close()

    assert [each.status_code for each in answers] == [200] * 10 + [429]
    assert int(answers[-1]["Retry-After"]) > 0


@pytest.mark.parametrize(
    "path", ["", "theme/", "members/1/remove/", "delete/"],
)  # fmt: skip
def test_every_form_has_its_token(acme, alice, path):
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice.user)

    assert client.post(PAGE + path).status_code == 403


@pytest.mark.parametrize("path", ["", "members/1/remove/", "export.json"])
def test_visitors_sign_in_first(client, path):
    assert client.get(PAGE + path)["Location"] == f"/login/?next={PAGE}{path}"


def test_claims_are_removed_with_their_member_or_not_at_all(client, acme, alice):
    """The last owner stays, also if there was another one when the page was opened."""
    mine = acme.memberships.get(login="alice")
    claim_domain(mine, "d01.alice.dev")

    box = claiming.which(acme.domains.filter(name="d01.alice.dev"))
    answer = client.post(f"{PAGE}members/{mine.pk}/remove/", {"claims": box}, follow=True)

    assert "alice is the last owner." in text_of(answer)
    assert acme.domains.filter(name="d01.alice.dev").exists()


def test_many_claims_are_removed_with_their_member_in_as_many_steps_as_one(client, acme, alice):
    """An attack: for each claim all that waits was looked at, in one transaction, for which all others waited."""

    def steps(number: int) -> int:
        bob = build.member(acme, f"bob{number}", role="member").membership
        for each in range(number):
            claim_domain(bob, f"d{each}.bob{number}.dev")[0].record_found()
        for each in range(5):
            build.send(Client(), build.report(report__summary=f"{each} of {number}"))
        Delivery.objects.update(status=Delivery.Status.PENDING, issue_number=None, issue_url="")
        remove = f"{PAGE}members/{bob.pk}/remove/"
        box = box_in(text_of(client.get(remove)))
        with CaptureQueriesContext(connection) as asked:
            client.post(remove, {"claims": box})
        return len(asked)

    assert steps(20) == steps(1)
    assert [each.name for each in acme.domains.all()] == ["docs.acme.com"]
    assert acme.earlier_challenges.count() == 21


def test_no_claim_is_removed_with_its_member_that_nobody_was_asked_about(
    client, acme, alice, claims_of_bob
):
    """An attack: bob claims again what carol had claimed, who has left, while alice reads what goes with him."""
    carol = build.member(acme, "carol", role="member").membership
    claim_domain(carol, "guide.acme.com")
    members.remove(carol, by=alice)
    bob = acme.memberships.get(login="bob")
    remove = f"{PAGE}members/{bob.pk}/remove/"

    box = box_in(text_of(client.get(remove)))
    claim_domain(bob, "guide.acme.com")
    said = text_of(client.post(remove, {"claims": box}, follow=True))

    assert "What they have claimed has changed in the meantime" in said
    assert acme.domains.filter(name="guide.acme.com").exists()
    assert acme.memberships.filter(pk=bob.pk).exists()
