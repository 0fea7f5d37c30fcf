"""Records that go, come back, or cannot be seen, over days and weeks."""

import re
import threading
from datetime import timedelta
from io import StringIO
from itertools import count

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from orgs.domains import claiming, reverification, turns, txt_records
from orgs.models import Domain, Notice
from orgs.models.domain import DomainQuerySet
from tests import build
from tests.plans import plan_of, plans_of, whole_tables_in

pytestmark = pytest.mark.django_db(transaction=True)

RECORD = "_hub-challenge.docs.acme.com"


@pytest.fixture
def domain(dns):
    """A verified claim of docs.acme.com, its record in the DNS."""
    claim = build.domain(build.organization(), "docs.acme.com")
    dns.txt(RECORD, claim.record_value)
    return claim


def reverify(**options) -> str:
    out = StringIO()
    call_command("reverify_domains", stdout=out, **options)
    return out.getvalue()


def pass_days(clock, days: int) -> None:
    """Twice a day, maintain looks at what is due."""
    for _ in range(days * 2):
        clock.advance(hours=12)
        reverification.maintain()


def test_a_record_that_stays_keeps_the_domain(domain, clock):
    pass_days(clock, 40)

    domain.refresh_from_db()
    assert domain.status == "verified"
    assert not Notice.objects.exists()


@pytest.mark.slow
def test_a_hundred_days_without_an_answer_lose_nobody_a_domain(domain, dns, clock):
    dns.fail(RECORD, "SERVFAIL")

    pass_days(clock, 100)

    domain.refresh_from_db()
    assert (domain.status, domain.absences) == ("verified", 0)
    assert not Notice.objects.exists()


def test_a_day_without_the_record_begins_the_grace_time_and_says_so(domain, dns, clock):
    dns.remove(RECORD)

    pass_days(clock, 3)

    domain.refresh_from_db()
    assert domain.status == "verified"
    assert domain.lapses_at
    [notice] = Notice.objects.all()
    assert f"{domain.lapses_at:%-d %B %Y at %H:%M}" in notice.text
    assert domain.record_value in notice.text


def test_many_looks_in_one_day_are_one_absence(domain, dns, clock):
    dns.remove(RECORD)

    for _ in range(20):
        clock.advance(hours=1)
        reverify()

    domain.refresh_from_db()
    assert domain.absences == 20
    assert domain.lapses_at is None


def test_two_looks_over_days_are_not_enough(domain, dns, clock):
    dns.remove(RECORD)

    for _ in range(2):
        reverify()
        clock.advance(days=3)

    domain.refresh_from_db()
    assert domain.lapses_at is None


def test_a_record_that_is_back_in_the_grace_time_is_forgiven(domain, dns, clock):
    dns.remove(RECORD)
    pass_days(clock, 6)
    dns.txt(RECORD, domain.record_value)
    pass_days(clock, 2)
    dns.remove(RECORD)
    pass_days(clock, 6)

    domain.refresh_from_db()
    assert domain.status == "verified"
    assert domain.lapses_at


def test_after_the_grace_time_the_domain_lapses_and_that_is_said(domain, dns, clock):
    dns.remove(RECORD)

    pass_days(clock, 10)

    domain.refresh_from_db()
    assert (domain.status, bool(domain.lapsed_at)) == ("pending", True)
    latest, _ = Notice.objects.all()
    assert "the claim has lapsed" in latest.text


def test_a_claim_that_an_alias_of_every_name_had_proved_lapses_like_one_without_its_record(
    domain, dns, clock, monkeypatch
):
    """Also if the server that every name is led to answers for no other name."""
    monkeypatch.setattr("orgs.domains.diagnosis.secrets.token_hex", lambda size: "beside")
    dns.remove(RECORD)
    dns.alias_below("docs.acme.com", "v.evil.example")
    dns.txt("_hub-challenge.v.evil.example", domain.record_value)
    dns.fail("_hub-beside.docs.acme.com", "SERVFAIL")

    pass_days(clock, 3)
    domain.refresh_from_db()
    warned = (domain.status, bool(domain.lapses_at))
    pass_days(clock, 7)
    domain.refresh_from_db()

    assert warned == ("verified", True)
    assert (domain.status, bool(domain.lapsed_at)) == ("pending", True)
    assert Notice.objects.count() == 2


@pytest.mark.slow
def test_silence_at_the_end_of_the_grace_time_is_no_lapse(domain, dns, clock):
    dns.remove(RECORD)
    pass_days(clock, 5)
    dns.fail(RECORD, "SERVFAIL")

    pass_days(clock, 30)

    domain.refresh_from_db()
    assert domain.status == "verified"


def test_a_lapsed_domain_whose_record_is_restored_is_verified_again(domain, dns, clock):
    dns.remove(RECORD)
    pass_days(clock, 12)
    lapsed = Domain.objects.get().status
    dns.txt(RECORD, domain.record_value)

    pass_days(clock, 2)

    assert lapsed == "pending"
    assert Domain.objects.get().status == "verified"
    assert Domain.objects.get().lapsed_at is None


def test_a_wildcard_that_has_taken_the_records_place_proves_nothing(domain, dns, clock):
    dns.remove(RECORD)
    dns.txt("*.docs.acme.com", domain.record_value)

    pass_days(clock, 12)

    assert Domain.objects.get().status == "pending"


def test_a_lapsed_claim_does_not_take_the_domain_from_its_new_owner(domain, dns, clock):
    dns.remove(RECORD)
    pass_days(clock, 12)
    new = build.domain(build.organization("new"), "docs.acme.com")
    dns.txt(RECORD, domain.record_value, new.record_value)

    pass_days(clock, 2)

    assert Domain.objects.verified().get() == new


def test_nor_while_a_resolver_remembers_its_record_and_no_other(domain, dns, clock):
    dns.remove(RECORD)
    pass_days(clock, 12)
    new = build.domain(build.organization("new"), "docs.acme.com")
    dns.txt(RECORD, domain.record_value)

    pass_days(clock, 2)

    assert Domain.objects.verified().get() == new
    assert not domain.organization.notices.filter(text__contains="is now yours").exists()


def test_what_was_never_proved_is_given_up_after_thirty_days_and_that_is_said(dns, clock):
    acme = build.organization()
    claiming.claim_domain(build.member(acme).membership, "docs.acme.com")

    pass_days(clock, 29)
    before = Domain.objects.count()
    pass_days(clock, 2)

    assert before == 1
    assert not Domain.objects.exists()
    assert "Claim it again" in acme.notices.get().text


def test_claims_that_are_removed_together_are_told_in_one_notice(dns, clock):
    """The attack: a member claims many names, and so decides when their organization gets as many notices."""
    acme, other = build.organization(), build.organization("other")
    bob = build.member(acme, "bob", role="member").membership
    for number in range(8):
        claiming.claim_domain(bob, f"w{number}.bob.dev")
    claiming.claim_domain(build.member(other, "olga").membership, "docs.other.com")
    clock.advance(days=31)

    reverification.maintain()

    assert not Domain.objects.exists()
    [told], [one] = acme.notices.all(), other.notices.all()
    named = "w0.bob.dev, w1.bob.dev, w2.bob.dev, w3.bob.dev, w4.bob.dev, and 3 more"
    assert told.text.startswith(f"The claims of {named} were removed because their DNS records ")
    assert one.text.startswith("The claim of docs.other.com was removed because its DNS record ")
    assert told.kind == one.kind == "unproved"


def test_a_claim_that_is_renewed_while_others_are_removed_stays(dns, clock, monkeypatch):
    acme = build.organization()
    alice = build.member(acme).membership
    for name in ("kept.acme.com", "gone.acme.com"):
        claiming.claim_domain(alice, name)
    clock.advance(days=31)
    kept, drop = Domain.objects.get(name="kept.acme.com"), claiming._drop

    def renewed_first(ids):
        kept.renew_challenge()
        return drop(ids)

    monkeypatch.setattr(claiming, "_drop", renewed_first)

    assert claiming.drop_expired() == 1
    assert Domain.objects.get() == kept
    assert "claim of gone.acme.com was" in acme.notices.get().text


def test_the_command_counts_what_it_saw(domain, dns):
    gone = build.domain(domain.organization, "gone.example.com")
    hidden = build.domain(domain.organization, "hidden.example.com")
    dns.fail(hidden.record_name, "SERVFAIL")

    said = reverify()

    assert said == "3 checked: 1 confirmed, 1 without a record, 1 without an answer.\n"
    gone.refresh_from_db()
    assert gone.absences == 1


def test_a_rehearsal_writes_nothing(domain, dns):
    dns.remove(RECORD)

    said = reverify(dry_run=True)

    assert "1 without a record" in said
    assert "Nothing was saved" in said
    assert Domain.objects.get().last_checked_at is None
    assert reverify().startswith("1 checked")


def test_one_domain_in_any_spelling(domain, dns):
    build.domain(domain.organization, "other.example.com")

    assert reverify(domain="DOCS.acme.com.") == "1 checked: 1 confirmed.\n"
    with pytest.raises(CommandError, match=r"Nobody has verified nobody\.example"):
        reverify(domain="nobody.example")
    with pytest.raises(CommandError, match="Check the host name"):
        reverify(domain="exa mple.com")


def test_what_another_run_has_just_looked_at_is_left_out(domain, dns, clock):
    reverify()

    assert reverify() == "None checked. 1 skipped.\n"
    clock.advance(minutes=11)
    assert reverify() == "1 checked: 1 confirmed.\n"


def test_a_terminal_shows_how_far_it_is(domain, dns):
    terminal = StringIO()
    terminal.isatty = lambda: True

    call_command("reverify_domains", stdout=StringIO(), stderr=terminal, no_color=True)

    assert terminal.getvalue() == "\r1 of 1\n"


def test_only_what_is_due_is_looked_at_when_that_is_asked(domain, dns, clock):
    reverify()
    clock.advance(hours=12)
    early = reverify(due=True)
    clock.advance(hours=18)

    assert early == "None checked.\n"
    assert reverify(due=True) == "1 checked: 1 confirmed.\n"


@pytest.mark.slow
def test_two_runs_at_once_do_the_work_once(dns):
    owner = build.organization()
    for number in range(250):
        claim = build.domain(owner, f"d{number}.example.com")
        dns.txt(claim.record_name, claim.record_value)
    together = threading.Barrier(2)
    outcomes = []

    def run() -> None:
        together.wait()
        outcomes.append(reverification.run(Domain.objects.all())["confirmed"])
        connection.close()

    runs = [threading.Thread(target=run) for _ in range(2)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()

    assert sum(outcomes) == 250
    assert len([q for q in dns.asked if q.name.startswith("_hub-challenge")]) == 250


@pytest.mark.slow
def test_one_hanging_name_among_a_thousand_holds_up_nobody(dns, monkeypatch):
    monkeypatch.setattr(txt_records, "QUERY_TIMEOUT", 60)
    monkeypatch.setattr(txt_records, "MAX_SECONDS", 60)
    owner = build.organization()
    domains = [build.domain(owner, f"d{number}.example.com") for number in range(1000)]
    for claim in domains:
        dns.txt(claim.record_name, claim.record_value)
    dns.fail(domains[3].record_name, "silence")
    done = count(1)

    def let_go_when_all_others_are_done() -> None:
        if next(done) == 999:
            dns.repair(domains[3].record_name)

    outcomes = reverification.run(Domain.objects.all(), on_progress=let_go_when_all_others_are_done)

    assert outcomes == {"confirmed": 1000}


def test_a_name_that_hangs_for_good_is_given_up(domain, dns, impatient):
    dns.fail(RECORD, "silence")

    assert reverification.run(Domain.objects.all()) == {"without an answer": 1}
    assert Domain.objects.get().status == "verified"


def test_a_run_that_is_to_stop_begins_no_more(domain, dns):
    assert not reverification.run(Domain.objects.all(), go_on=lambda: False)
    assert not dns.asked


def test_of_many_due_claims_each_organization_has_some_checked(dns, monkeypatch):
    monkeypatch.setattr(turns, "BATCH", 6)
    monkeypatch.setattr(turns, "IN_TURN", 3)
    many, few = build.organization("many"), build.organization("few")
    for number in range(40):
        build.domain(many, f"d{number}.example.com")
    theirs = build.domain(few, "docs.acme.com")

    first = next(reverification._due_in_turn())

    assert theirs.pk in first
    assert len(first) == 4


def test_all_that_is_due_is_checked_in_the_end_and_once(dns, monkeypatch):
    monkeypatch.setattr(turns, "BATCH", 4)
    monkeypatch.setattr(turns, "IN_TURN", 3)
    for name in ("one", "two"):
        owner = build.organization(name)
        for number in range(10):
            claim = build.domain(owner, f"d{number}.{name}.com")
            dns.txt(claim.record_name, claim.record_value)

    assert reverification.maintain() == {"confirmed": 20}
    assert not reverification.maintain()


def test_of_what_is_due_the_oldest_comes_first(monkeypatch, clock):
    monkeypatch.setattr(turns, "IN_TURN", 1)
    owner = build.organization()
    build.domain(owner, "a.acme.com")
    oldest = build.domain(owner, "b.acme.com")
    Domain.objects.filter(pk=oldest.pk).update(look_due_at=clock.now() - timedelta(days=1))

    assert next(reverification._due_in_turn()) == [oldest.pk]


def test_a_run_over_all_claims_reads_a_batch_at_a_time(dns, monkeypatch):
    monkeypatch.setattr(reverification, "BATCH", 3)
    owner = build.organization()
    ids = sorted(build.domain(owner, f"d{number}.example.com").pk for number in range(7))

    found = list(reverification._in_order(Domain.objects.all()))

    assert found == [ids[:3], ids[3:6], ids[6:]]
    assert reverification.run(Domain.objects.all(), dry_run=True).total() == 7


def test_expired_claims_are_removed_some_at_a_time(dns, clock, monkeypatch):
    monkeypatch.setattr(claiming, "DROPPED", 2)
    owner = build.member(build.organization()).membership
    for number in range(5):
        claiming.claim_domain(owner, f"d{number}.acme.com")
    clock.advance(days=31)

    assert claiming.drop_expired(lambda: False) == 0
    assert [claiming.drop_expired() for _ in range(4)] == [2, 2, 1, 0]


def test_what_is_due_or_expired_is_found_by_an_index(domain):
    free = reverification.due().untaken(reverification.FRESH)
    mine = free.filter(organization=domain.organization).order_by("look_due_at")

    assert re.search(r"domain_due\b", plan_of(free.order_by("look_due_at")))
    assert "domain_due_of" in plan_of(mine)
    assert "domain_expires" in plan_of(Domain.objects.expired())
    plans = plans_of(lambda: next(reverification._due_in_turn()))
    assert not whole_tables_in(plans, "orgs_domain")


def test_looks_are_spread_over_time(dns):
    owner = build.organization()
    for number in range(20):
        claim = build.domain(owner, f"d{number}.example.com")
        dns.txt(claim.record_name, claim.record_value)

    reverify()

    due = sorted(Domain.objects.values_list("look_due_at", flat=True))
    assert due[-1] - due[0] > timedelta(hours=1)


@pytest.mark.parametrize("stays", [True, False])
def test_a_check_that_cannot_be_saved_ends_no_round_and_is_made_again_soon(
    dns, clock, monkeypatch, stays
):
    owner = build.organization()
    claims = [build.domain(owner, f"{name}.example.com") for name in "abc"]
    for each in claims if stays else []:
        dns.txt(each.record_name, each.record_value)
    save_one, save_many, saved = reverification.record, DomainQuerySet.confirm, []

    def deadlock_of_the_first(names: list[str]) -> None:
        saved.extend(names)
        if saved.count("a.example.com") == 1 and "a.example.com" in names:
            raise OperationalError("deadlock detected")

    def one(domain, *others, **options):
        deadlock_of_the_first([domain.name])
        return save_one(domain, *others, **options)

    def many(self, domains):
        deadlock_of_the_first([each.name for each in domains])
        save_many(self, domains)

    monkeypatch.setattr(reverification, "record", one)
    monkeypatch.setattr(DomainQuerySet, "confirm", many)
    monkeypatch.setattr(reverification, "AT_ONCE", 1)

    first = reverification.maintain()
    clock.advance(minutes=11)
    second = reverification.maintain()

    outcome = "confirmed" if stays else "without a record"
    assert first + second == {"not saved": first["not saved"], outcome: 3}
    assert first["not saved"] == second[outcome] >= 1
    assert not reverification.maintain()


def test_reports_are_stored_between_claims_that_lapse(dns, monkeypatch):
    """An attack on SQLite: who lets a thousand names lapse at once keeps others' reports waiting, which get 503."""
    owner = build.organization()
    for number in range(3):
        build.domain(owner, f"d{number}.example.com")
    Domain.objects.update(absences=5, absent_since=timezone.now(), lapses_at=timezone.now())
    rests = []
    monkeypatch.setattr(
        "core.batches.time.sleep",
        lambda took: rests.append((took > 0, Domain.objects.verified().count())),
    )

    outcomes = reverification.maintain()

    assert outcomes == {"lapsed": 3}
    assert rests == [(True, 2), (True, 1), (True, 0)]


def test_claims_are_confirmed_in_the_order_of_their_ids(domain):
    with CaptureQueriesContext(connection) as asked:
        Domain.objects.confirm([domain])

    [locked] = [each["sql"] for each in asked if each["sql"].startswith("SELECT")]
    in_order = 'SELECT "orgs_domain"."id" .* ORDER BY 1 ASC'
    assert re.match(in_order, locked)
    assert locked.endswith("FOR UPDATE") == connection.features.has_select_for_update
