"""What an owner can do in each state of an organization and of a report, by the API and on the pages alike.

| sign | in that state |
|---|---|
| `+` | it is done |
| `=` | there is nothing to do |
| `x` | it is refused, and a sentence says why |
| `.` | there is no such thing |
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.contrib.messages import ERROR, WARNING, get_messages
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import get_resolver, reverse

from core import rates
from hub.screen.urls import urlpatterns as pages
from integrations import github_api
from orgs import ownership
from tests import build
from tests.hostile.tenants import Rows, all_models
from tests.hub.states import STATES, World, world
from tests.hub.test_every_call import BEGINS, CALLS
from tests.hub.ways import ABOUT_OTHERS, EARLIER, ISSUE, IT, LOOKS, PAGE, WAYS, Way

OF_ORGANIZATIONS = """
                          runs paused archived suspended uninstalled no-push no-repo no-app lapsed opted-out deactivated
begin an installation      +     +       +         +          +         +       +      +      +        +          x
choose the repository      +     +       x         x          x         x       +      x      +        +          x
choose about likeness      +     +       +         +          +         +       +      x      +        +          x
ask GitHub again           +     +       x         x          x         x       x      x      +        +          x
pause                      +     =       +         +          +         +       +      x      +        +          x
resume                     =     +       x         x          x         x       x      x      =        =          x
disconnect                 +     +       +         +          +         +       =      =      +        +          x
claim a domain             +     +       +         +          +         +       +      +      +        +          x
check its record           =     =       =         =          =         =       =      =      +        =          x
opt out of a domain        +     +       +         +          +         +       +      +      +        =          x
remove a domain            +     +       +         +          +         +       +      +      +        +          x
claim a site               =     =       x         x          x         x       x      x      +        =          x
opt out of a site          +     +       +         x          x         x       x      .      x        =          x
remove a site              +     +       +         +          +         +       +      .      +        +          x
send an earlier report     +     +       +         +          +         +       x      x      .        .          x
change a badge             +     +       +         +          +         +       +      +      .        +          x
send a test report         +     +       +         +          +         x       x      x      x        x          x
change people and tokens   +     +       +         +          +         +       +      +      +        +          x
"""
# The same, where an operator holds all that it receives.
OF_HELD_ORGANIZATIONS = """
                          all-on-hold
begin an installation          +
choose the repository          +
choose about likeness          +
ask GitHub again               +
pause                          +
resume                         x
disconnect                     +
claim a domain                 +
check its record               =
opt out of a domain            +
remove a domain                +
claim a site                   =
opt out of a site              +
remove a site                  +
send an earlier report         +
change a badge                 +
send a test report             +
change people and tokens       +
"""
# Of a report that GitHub has refused, and of others.
OF_REPORTS = """
                     failed discarded on-hold joined sent erased withheld unknown sending never
try it again           +        x        x      x     x     x       .        +       x      x
try several again      +        x        x      x     x     x       .        =       x      x
discard                +        x        x      +     x     x       .        x       x      x
restore                x        +        x      x     x     x       .        x       x      x
erase                  +        +        +      +     +     =       .        +       +      +
answer                 +        +        +      +     +     +       .        +       +      x
take an answer back    =        =        =      =     =     =       .        =       =      =
not the same           x        x        x      +     x     x       .        x       x      x
none is the same       x        x        x      x     x     x       .        x       x      x
the same as another    +        +        x      +     +     x       .        x       x      x
"""
# Of one that GitHub has refused, where the organization is in these states.
OF_REPORTS_THERE = """
                     paused archived suspended no-push no-repo lost all-on-hold
try it again           x       +         +        x       x     +       +
try several again      x       +         +        x       x     +       +
discard                +       +         +        +       +     +       +
restore                x       x         x        x       x     x       x
erase                  +       +         +        +       +     +       +
answer                 +       +         +        +       +     +       +
take an answer back    =       =         =        =       =     =       =
not the same           x       x         x        x       x     x       x
none is the same       x       x         x        x       x     x       x
the same as another    +       +         +        +       x     x       x
"""
THERE_IS_NONE = "There is no report with this id."  # as it is said of one of several
FORGET = (
    rates.forget, ownership.forget, github_api.forget_tokens, github_api.forget_read, github_api.forget_places,
)  # fmt: skip
NOTED = {  # whatever is done: when something was looked at, asked about, used, or is to be tried
    "last_used_at", "last_checked_at", "look_began_at", "look_due_at", "asked_about_at", "limit_left",
    "limit_seen_at", "due_at", "last_login",
}  # fmt: skip


def states_of(table: str) -> list[str]:
    """Its columns."""
    return table.splitlines()[1].split()


def rows_of(table: str) -> dict[str, dict[str, str]]:
    """The signs of each row by state."""
    states, found = states_of(table), {}
    for row in table.splitlines()[2:]:
        *words, rest = row.split("  ", 1)
        found[words[0]] = dict(zip(states, rest.split(), strict=True))
    return found


TABLES = {
    "organization": OF_ORGANIZATIONS,
    "held": OF_HELD_ORGANIZATIONS,
    "report": OF_REPORTS,
    "there": OF_REPORTS_THERE,
}


def test_every_way_to_change_something_is_in_a_table():
    of_api = {(get_resolver().resolve(path).url_name, method) for method, path in changing()}
    known = {(each.name, each.method) for ways in WAYS.values() for each in ways}

    assert {each for each in known if each[1] != PAGE} == of_api
    assert {name for name, method in known if method == PAGE} == {
        each.name for each in pages if each.name not in LOOKS | ABOUT_OTHERS
    }
    assert [*WAYS] == [*rows_of(OF_ORGANIZATIONS), *rows_of(OF_REPORTS)]
    assert [*rows_of(OF_ORGANIZATIONS)] == [*rows_of(OF_HELD_ORGANIZATIONS)]
    assert [*rows_of(OF_REPORTS)] == [*rows_of(OF_REPORTS_THERE)]


def changing() -> Iterator[tuple[str, str]]:
    """The calls of the API that change something."""
    return (each for each in CALLS if each[0] not in ("get", "head") or each == BEGINS)


@pytest.fixture
def acme(code_host, dns) -> World:
    made = world(code_host)
    claim = made.acme.domains.get()
    dns.txt(claim.record_name, claim.record_value)
    return made


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "state"), [(name, state) for name in TABLES for state in states_of(TABLES[name])]
)
def test_each_way_does_what_the_table_says(acme, table, state):
    STATES[state](acme)
    token, expected = build.token(acme.alice), rows_of(TABLES[table])
    rows, before = Rows(), stored()

    def sign(way: Way) -> str:
        rows.restore()
        return sign_of(way, acme, token, before)

    found = {(action, *way[:2]): sign(way) for action in expected for way in WAYS[action]}

    assert found == {each: expected[each[0]][state] for each in found}


def sign_of(way: Way, acme: World, token: str, before: object) -> str:
    """What came of it, where the database held this before."""
    for forget in FORGET:
        forget()
    client = Client() if way.method == PAGE else build.api(token)
    if way.method == PAGE:
        client.force_login(acme.alice)
    answer, refusals = asked(client, acme, way)
    is_changed = stored() != before
    if answer.status_code == 404 or THERE_IS_NONE in " ".join(refusals):
        assert not is_changed
        return "."
    if refusals and not is_changed:
        assert all(each.endswith(".") for each in refusals)
        return "x"
    return "+" if is_changed else "="


def asked(client: Client, acme: World, way: Way) -> tuple[Any, list[str]]:
    """The answer, and the sentences that refuse it."""
    known = acme.ids | {"claim_id": acme.claims[way.claim]}
    [possible, *_] = get_resolver().reverse_dict.getlist(way.name)
    address = reverse(way.name, kwargs={each: known[each] for each in possible[0][0][1]})
    places = {ISSUE: acme.issue, IT: acme.ids["report_id"], EARLIER: acme.earlier}
    text = json.dumps(way.sent or {})
    for place, here in places.items():
        text = text.replace(place, here)
    if way.method == PAGE:
        return of_page(client.post(address, json.loads(text)))
    return of_api(client.generic(way.method.upper(), address, text, "application/json"))


def of_api(answer) -> tuple[Any, list[str]]:
    told = answer.json() if answer.content else {}
    refusals = [told, *told.get("refused", [])]
    return answer, [each["message"] for each in refusals if each.get("error")]


def of_page(answer) -> tuple[Any, list[str]]:
    said = get_messages(answer.wsgi_request)
    refusals = [str(each) for each in said if each.level in (ERROR, WARNING)]
    if answer.headers.get("Location", "").startswith("/login/"):
        refusals.append("Sign in first.")
    if answer.status_code == 200 and "<title>Error:" in answer.content.decode():
        refusals.append("The form says why.")
    return answer, refusals


def stored() -> dict[str, list[tuple[Any, ...]]]:
    """All that the database holds, but for what is `NOTED`."""
    found = {}
    with connection.cursor() as cursor:
        for label, statement in _statements().items():
            cursor.execute(statement)
            found[label] = sorted(cursor.fetchall(), key=repr)
    return found


@cache
def _statements() -> dict[str, str]:
    """What reads each table: made once, since making it takes much longer than reading."""
    found = {}
    for model in all_models():
        columns = [each.attname for each in model._meta.fields if each.attname not in NOTED]
        if model is not Session:
            found[model._meta.label] = str(model._base_manager.values_list(*columns).query)
    return found
