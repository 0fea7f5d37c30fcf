"""Claiming a domain, proving it, giving it up: the calls of a maintainer."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from django.db import connection
from django.db.models.functions import Now

from orgs.domains import txt_records, verification
from orgs.models import Domain, Notice, Organization
from tests import build
from tests.waiting import is_somebody_waiting_for_a_lock

pytestmark = pytest.mark.django_db(transaction=True)

DOMAINS = "/v1/orgs/me/domains"


@pytest.fixture
def alice():
    return build.caller("alice")


@pytest.fixture
def charlie():
    """Of another organization."""
    return build.caller("charlie")


def claim(caller, text="docs.acme.com"):
    return caller.post(DOMAINS, {"domain": text}, content_type="application/json")


def verify(caller, text="docs.acme.com"):
    return caller.post(f"{DOMAINS}/{text}/verify")


def publish(dns, answer) -> None:
    """Put the record that a claim asks for into the DNS."""
    record = answer.json()["dns_record"]
    dns.txt(record["name"], record["value"])


def test_a_claim_asks_for_a_record_of_its_own(alice, charlie):
    answer = claim(alice)

    assert answer.status_code == 201
    value = answer.json()["dns_record"]["value"]
    assert answer.json() == {
        "domain": "docs.acme.com",
        "status": "pending",
        "dns_record": {"name": "_hub-challenge.docs.acme.com", "type": "TXT", "value": value},
    }
    assert re.fullmatch(r"hub-verify=hub\.example/[\w-]{32}", value)  # for which Hub it is
    assert claim(charlie).json()["dns_record"]["value"] != value


def test_the_record_published_the_domain_is_verified(alice, dns):
    publish(dns, claim(alice))

    answer = verify(alice)

    assert answer.status_code == 200
    assert answer.json() == {
        "domain": "docs.acme.com", "status": "verified", "dns_record": None, "hint": None
    }  # fmt: skip


def test_a_record_is_not_that_of_another_hub(alice, settings):
    value = claim(alice).json()["dns_record"]["value"]
    settings.HUB_BASE_URL = "https://evil.dev:8000"

    other = claim(alice, "other.acme.com").json()["dns_record"]["value"]

    assert other.startswith("hub-verify=evil.dev/")
    assert claim(alice).json()["dns_record"]["value"] == value  # what was published goes on


@pytest.mark.parametrize(
    "spelling", ["BÜCHER.example.com", "xn--bcher-kva.EXAMPLE.com", "bücher.example.com."]
)
def test_any_spelling_is_one_domain(alice, dns, spelling):
    first = claim(alice, "bücher.example.com")
    publish(dns, first)

    again = claim(alice, spelling)

    assert (again.status_code, again.json()) == (200, first.json())
    assert verify(alice, spelling).json()["status"] == "verified"
    assert claim(alice, spelling).json() == {
        "domain": "xn--bcher-kva.example.com", "status": "verified", "dns_record": None
    }  # fmt: skip
    assert alice.delete(f"{DOMAINS}/{spelling}").status_code == 204
    assert not Domain.objects.exists()


@pytest.mark.parametrize(
    ("text", "status", "code", "sentence"),
    [
        ("github.io", 422, "public_suffix",
         "nobody can claim all of it. Claim your own address, for example https://you.github.io/repo/."),
        ("co.uk", 422, "public_suffix", "for example you.co.uk."),
        ("vercel.app", 422, "public_suffix", "`vercel.app` is shared by many owners"),
        ("pages.dev", 422, "public_suffix", "`pages.dev` is shared by many owners"),
        ("localhost", 400, "invalid_domain", "`localhost` is not a name in the public DNS"),
        ("127.0.0.1", 400, "invalid_domain", "An IP address cannot be claimed."),
        ("exa mple.com", 400, "invalid_domain", "This is not a host name."),
        ("_x.example.com", 400, "invalid_domain", "This is not a host name."),
        ("xn--a.com", 400, "invalid_domain", "This is not a host name."),
        ("https://docs.acme.com/", 400, "invalid_domain", "This is not a host name."),
        ("github.com", 400, "invalid_domain", "belongs to the code host"),
        ("https://github.com/acme/docs", 400, "invalid_domain", "A repository is claimed as a site."),
        ("alice.github.io", 422, "use_site_claim", "for example https://alice.github.io/repo/."),
        ("", 400, "invalid_domain", "This is not a host name."),
        (None, 400, "validation_error", "Invalid request"),
        (["docs.acme.com"], 400, "validation_error", "Invalid request"),
    ],
)  # fmt: skip
def test_what_cannot_be_claimed_is_refused_in_words(alice, text, status, code, sentence):
    answer = claim(alice, text)

    assert (answer.status_code, answer.json()["error"]) == (status, code)
    assert sentence in answer.json()["message"]
    assert not Domain.objects.exists()


@pytest.mark.parametrize(
    "body", [b"null", b"{", b"[]", b'{"domain": "a.com", "more": 1}', b"[" * 9999]
)
def test_a_body_of_another_shape_is_refused(alice, body):
    answer = alice.post(DOMAINS, body, content_type="application/json")

    assert (answer.status_code, answer.json()["error"]) == (400, "validation_error")


def test_what_others_have_claimed_is_not_found(alice, charlie, dns):
    publish(dns, claim(alice))

    for answer in (verify(charlie), charlie.delete(f"{DOMAINS}/docs.acme.com"), verify(charlie, "%ff")):  # fmt: skip
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_a_token_is_needed(client, dns):
    assert claim(client).status_code == 401
    assert verify(client).status_code == 401


def test_a_deleted_claims_value_proves_nothing_any_more(alice, dns):
    first = claim(alice)
    publish(dns, first)
    verify(alice)
    alice.delete(f"{DOMAINS}/docs.acme.com")

    second = claim(alice)

    assert second.status_code == 201
    assert second.json()["dns_record"]["value"] != first.json()["dns_record"]["value"]
    assert verify(alice).json()["status"] == "pending"
    assert "an older value of yours" in verify(alice).json()["hint"]


def test_a_value_that_was_not_published_in_thirty_days_counts_no_more(alice, dns, clock):
    first = claim(alice)
    clock.advance(days=31)
    publish(dns, first)

    answer = verify(alice)

    assert answer.json()["status"] == "pending"
    assert "an older value of yours" in answer.json()["hint"]
    assert answer.json()["dns_record"] != first.json()["dns_record"]
    assert claim(alice).json()["dns_record"] == answer.json()["dns_record"]


def test_claimed_again_after_thirty_days_it_asks_for_another_value(alice, clock):
    first = claim(alice)
    clock.advance(days=31)

    assert claim(alice).json()["dns_record"] != first.json()["dns_record"]


def test_a_pending_claim_excludes_nobody(alice, charlie, dns):
    claim(alice)
    publish(dns, claim(charlie))

    assert verify(charlie).json()["status"] == "verified"
    assert verify(alice).json()["status"] == "pending"


def test_while_the_owners_record_is_there_nobody_else_gets_the_domain(alice, charlie, dns):
    publish(dns, claim(alice))
    verify(alice)
    publish(dns, claim(charlie))

    answer = verify(charlie)

    assert (answer.status_code, answer.json()["error"]) == (409, "verified_elsewhere")
    assert Domain.objects.get(verified_at__isnull=False).organization.name == "alice"


def test_without_the_owners_record_the_domain_passes_on_and_both_are_told(alice, charlie, zone):
    publish(zone, claim(alice))
    verify(alice)
    zone.remove("_hub-challenge.docs.acme.com")
    publish(zone, claim(charlie))

    answer = verify(charlie)

    assert answer.json()["status"] == "verified"
    former = Domain.objects.get(organization__name="alice")
    assert (former.status, bool(former.lapsed_at)) == ("pending", True)
    told = {each.organization.name: (each.kind, each.text) for each in Notice.objects.all()}
    assert told == {
        "alice": ("taken", told["alice"][1]),
        "charlie": ("gained", told["charlie"][1]),
    }
    assert "another organization" in told["alice"][1]
    assert "is now yours" in told["charlie"][1]


def test_where_nobody_can_say_the_domain_stays_with_its_owner(alice, charlie, dns):
    publish(dns, claim(alice))
    verify(alice)
    claim(charlie)
    dns.fail("_hub-challenge.docs.acme.com", "SERVFAIL")

    answer = verify(charlie)

    assert answer.json()["status"] == "pending"
    assert "does not count against your claim" in answer.json()["hint"]
    assert verify(alice).json()["status"] == "verified"


def verify_beside(caller) -> threading.Thread:
    def run() -> None:
        try:
            verify(caller)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_one_organization_looks_at_one_domain_at_a_time(alice, charlie, dns, monkeypatch):
    """Silent name servers of its own would take all the places there are."""
    monkeypatch.setattr(txt_records, "QUERY_TIMEOUT", 60)
    claim(alice)
    claim(charlie, "docs.initech.com")
    dns.zones += ["acme.com", "initech.com"]
    dns.fail("_hub-challenge.docs.acme.com", "silence")
    first = verify_beside(alice)
    while not dns.asked:
        time.sleep(0.01)

    again, beside = verify(alice), verify(charlie, "docs.initech.com")

    dns.repair("_hub-challenge.docs.acme.com")
    first.join()
    assert (again.status_code, again.json()["error"]) == (429, "rate_limited")
    assert "already checking one of your claims" in again.json()["message"]
    assert beside.json()["hint"].startswith("There is no TXT record")
    assert verify(alice).json()["hint"].startswith("There is no TXT record")


def test_many_who_check_at_once_leave_the_server_its_threads(alice, charlie, dns, monkeypatch):
    monkeypatch.setattr(verification, "slots", cache(lambda: threading.BoundedSemaphore(1)))
    monkeypatch.setattr(txt_records, "QUERY_TIMEOUT", 60)
    claim(alice)
    claim(charlie)
    dns.zones.append("acme.com")
    dns.fail("_hub-challenge.docs.acme.com", "silence")
    first = verify_beside(alice)
    while not dns.asked:
        time.sleep(0.01)

    answer = verify(charlie)

    dns.repair("_hub-challenge.docs.acme.com")
    first.join()
    assert "many domains at the moment" in answer.json()["hint"]
    assert verify(alice).json()["hint"].startswith("There is no TXT record")


def opt_out(caller, value=True, text="docs.acme.com"):
    path = f"{DOMAINS}/{text}"
    return caller.patch(path, {"opted_out": value}, content_type="application/json")


def test_whoever_opts_out_gets_no_reports(alice, dns, client):
    publish(dns, claim(alice))
    verify(alice)
    before = build.send(client).json()
    since = opt_out(alice).json()["opted_out_at"]

    answer = build.send(client)

    assert answer.status_code == 410
    assert (answer.json()["error"], answer.json()["since"]) == ("opted_out", since)
    assert client.get(f"/v1/reports/{before['id']}").json()["times_reported"] == 1
    assert build.send(client, build.report("https://docs.acme.org/x")).status_code == 201


def test_opting_out_again_keeps_the_first_time(alice, dns, clock):
    claim(alice)
    since = opt_out(alice).json()["opted_out_at"]
    clock.advance(days=1)

    assert opt_out(alice).json()["opted_out_at"] == since


def test_an_opt_out_is_taken_back(alice, dns, client):
    publish(dns, claim(alice))
    verify(alice)
    opt_out(alice)

    answer = opt_out(alice, False)

    assert answer.json()["opted_out_at"] is None
    assert build.send(client).status_code == 201


@pytest.mark.parametrize("value", ["yes", None, 1])
def test_an_opt_out_is_yes_or_no(alice, value):
    claim(alice)

    assert (opt_out(alice, value).status_code, opt_out(alice, value).json()["error"]) == (
        400, "validation_error"
    )  # fmt: skip


def test_whoever_opts_out_with_a_site_gets_no_reports(alice, client):
    site = build.site(Organization.objects.get(), "alice.github.io", "/docs/")
    path = f"/v1/orgs/me/sites/{site.pk}"

    answer = alice.patch(path, {"opted_out": True}, content_type="application/json")

    assert answer.json()["opted_out_at"]
    assert build.send(client, build.report("https://alice.github.io/docs/x")).status_code == 410
    assert build.send(client, build.report("https://alice.github.io/other/")).status_code == 201


def test_a_claim_is_listed_with_all_that_is_known(alice, dns):
    publish(dns, claim(alice))
    pending = alice.get("/v1/orgs/me").json()["domains"]
    verify(alice)

    [verified] = alice.get("/v1/orgs/me").json()["domains"]

    assert pending[0]["dns_record"]["name"] == "_hub-challenge.docs.acme.com"
    assert (verified["status"], verified["dns_record"]) == ("verified", None)
    assert verified["verified_at"]
    assert verified["last_checked_at"]
    assert (verified["lapsed_at"], verified["lapses_at"]) == (None, None)


@contextmanager
def deleted_once_read(table: str) -> Iterator[None]:
    """The rows of a table are deleted right after the first question about them."""
    deleted = []

    def delete(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if f'FROM "{table}"' in sql and not deleted:
            deleted.append(table)
            with connection.cursor() as cursor:
                cursor.execute(f'DELETE FROM "{table}"')
        return result

    with connection.execute_wrapper(delete):
        yield
    assert deleted


def test_a_domain_that_is_given_up_in_the_middle_of_an_opt_out_is_not_found(alice):
    claim(alice)

    with deleted_once_read("orgs_domain"):
        answer = opt_out(alice)

    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_a_site_that_is_given_up_in_the_middle_of_an_opt_out_is_not_found(alice):
    site = build.site(Organization.objects.get(), "alice.github.io", "/docs/")
    path = f"/v1/orgs/me/sites/{site.pk}"

    with deleted_once_read("orgs_site"):
        answer = alice.patch(path, {"opted_out": True}, content_type="application/json")

    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


@pytest.mark.postgresql
def test_a_claim_that_a_colleague_removes_while_it_is_claimed_again_is_there_or_gone(
    alice, monkeypatch
):
    """Where nobody who is here has made it, it is saved again: removing it waits for that."""
    claim(alice)
    Domain.objects.update(claimed_by_number=7)
    is_member = Domain.claimant_is_member

    def remove() -> None:
        alice.delete(f"{DOMAINS}/docs.acme.com")
        connection.close()

    removing = threading.Thread(target=remove)

    def meanwhile(domain: Domain) -> bool:
        removing.start()
        while removing.is_alive() and not is_somebody_waiting_for_a_lock():
            removing.join(0.01)
        return is_member(domain)

    monkeypatch.setattr(Domain, "claimant_is_member", meanwhile)
    again = claim(alice)
    removing.join()

    assert again.status_code == 200
    assert not Domain.objects.exists()


def test_nothing_is_claimed_for_an_organization_whose_last_owner_leaves(alice, monkeypatch):
    def meanwhile(*told):
        Organization.objects.update(left_at=Now())

    monkeypatch.setattr("orgs.domains.claiming.counted.check", meanwhile)

    answer = claim(alice)

    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert not Domain.objects.exists()


def test_proved_claims_have_a_number_too(alice, monkeypatch):
    monkeypatch.setattr("orgs.domains.claiming.MOST", 2)
    for name in ("one.acme.com", "two.acme.com"):
        claim(alice, name)
    Domain.objects.update(verified_at=Now())

    answer = claim(alice, "three.acme.com")

    assert (answer.status_code, answer.json()["error"]) == (409, "too_many_claims")
    assert claim(alice, "one.acme.com").status_code == 200


def test_claims_without_number_are_not_begun(alice, monkeypatch):
    monkeypatch.setattr("orgs.domains.claiming.MOST_UNPROVED", 2)
    claim(alice, "one.acme.com")
    claim(alice, "two.acme.com")

    answer = claim(alice, "three.acme.com")

    assert (answer.status_code, answer.json()["error"]) == (409, "too_many_claims")
    assert claim(alice, "one.acme.com").status_code == 200
    Domain.objects.filter(name="two.acme.com").update(verified_at=Now())
    assert claim(alice, "three.acme.com").status_code == 201
