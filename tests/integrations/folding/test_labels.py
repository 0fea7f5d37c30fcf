"""`manage.py export_likeness`: pairs of reports as labels."""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from integrations.delivery import telling_apart
from integrations.folding import labels
from integrations.models import Delivery, Integration
from orgs.models import Membership, Organization
from reports.erasing import erase
from reports.models import Report
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

FLAG = "`shipyard push --force` fails in step 3: `unknown flag: --force`, since 4.0 it is `--overwrite`"


@pytest.fixture
def acme(code_host) -> Organization:
    owner = build.acme(code_host)
    build.member(owner)
    return owner


def send(agent: str, mode: str = "fold", summary: str = FLAG) -> Delivery:
    Integration.objects.update(likeness=mode)
    body = build.report(agent__name=agent, report__summary=summary, report__details="Ä quote: “x”")
    return Delivery.objects.get(report=build.send(Client(), body).json()["id"])


def exported(**options) -> list[dict]:
    out = StringIO()
    call_command("export_likeness", stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_no_line_steers_the_terminal_of_who_reads_it(acme):
    out, steering = StringIO(), "\x9b2J\x9d0;x\x9c\u202e"
    send("claude-code")
    send("cursor", summary=f"{FLAG} {steering}")

    call_command("export_likeness", stdout=out)

    assert out.getvalue().isascii()
    assert out.getvalue().replace("\n", "").isprintable()
    [pair] = exported()
    assert pair["report"]["report"]["summary"] == f"{FLAG} {steering}"


def split(delivery: Delivery) -> None:
    Integration.objects.update(likeness="off")  # so that nothing else is found to be like it
    telling_apart.split(delivery, by=Membership.objects.get())


def test_each_pair_is_a_line_with_both_texts_and_what_is_known(acme):
    lead = send("claude-code")
    disputed, folded = send("cursor"), send("aider")
    hinted = send("goose", mode="hint")
    split(disputed)

    pairs = exported()

    assert [(each["same"], each["folded"], each["report"]["id"]) for each in pairs] == [
        (False, None, disputed.report_id),
        (None, False, hinted.report_id),
        (None, True, folded.report_id),
    ]
    assert {each["other"]["id"] for each in pairs} == {lead.report_id}
    assert {each["rule"] for each in pairs} == {1}
    assert all(each["words"].startswith("same page; ") for each in pairs)
    assert pairs[0]["report"] | {"received_at": ""} == {
        "id": disputed.report_id,
        "page": "https://docs.acme.com/install",
        "received_at": "",
        "doc_url": "https://docs.acme.com/install",
        "agent": {"name": "cursor"},
        "report": {
            "kind": "outdated",
            "summary": FLAG,
            "details": "Ä quote: “x”",
            "evidence": [],
            "suggested_fix": "",
        },
    }


def test_what_was_said_either_way_is_no_near_miss(acme):
    lead, hinted = send("claude-code", mode="hint"), send("cursor", mode="hint")
    telling_apart.name(lead, hinted.issue_url, by=Membership.objects.get())

    assert [each["same"] for each in exported()] == [True]


@pytest.mark.parametrize("gone", ["erased", "withheld"])
@pytest.mark.parametrize("which", ["lead", "the other one"])
def test_what_was_erased_or_is_withheld_is_left_out(acme, gone, which):
    lead, *others = send("claude-code"), send("cursor"), send("aider"), send("goose", mode="hint")
    split(others[0])
    for each in [lead] if which == "lead" else others:
        report = Report.objects.get(pk=each.report_id)
        erase(report) if gone == "erased" else report.withhold(7)

    assert exported() == []


def test_one_organization_is_chosen_by_name_or_id(acme):
    send("claude-code")
    send("cursor")
    build.organization("initech")

    assert len(exported(organization="acme")) == len(exported(organization=acme.pk)) == 1
    assert exported(organization="initech") == []
    with pytest.raises(CommandError, match="There is no organization umbrella"):
        exported(organization="umbrella")


def test_an_organization_named_as_the_id_of_another_adds_nothing_to_its_export(acme):
    """An attack: a GitHub login, which names a new organization, may have the form of an id."""
    send("claude-code")
    send("cursor")
    other = build.organization()
    Organization.objects.filter(pk=acme.pk).update(name=other.pk)

    assert exported(organization=other.pk) == []
    assert len(exported(organization=acme.pk)) == 1


def test_of_several_organizations_of_a_name_none_is_chosen(acme):
    namesake = build.organization("acme")

    with pytest.raises(CommandError) as refusal:
        exported(organization="acme")

    assert str(refusal.value).startswith("2 organizations are named acme. Give an id: ")
    assert {acme.pk, namesake.pk} <= set(re.findall(r"\w+", str(refusal.value)))


def test_pairs_are_read_a_batch_at_a_time(acme, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(labels, "BATCH", 2)
    for number in range(6):
        send(f"agent-{number}")
    assert Delivery.objects.filter(status="folded").count() == 5

    with django_assert_num_queries(
        3 + 1 + 1 + 4
    ):  # counts; none said, none hinted; three and the end
        pairs = exported()

    assert len({each["report"]["id"] for each in pairs}) == 5
