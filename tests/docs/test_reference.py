"""The reference names what there is, and nothing else."""

import ast
import inspect
import re
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, get_commands, load_command_class
from django.urls import URLPattern
from rest_framework.exceptions import MethodNotAllowed

from core import json_body
from core.errors import ApiError
from hub import maintenance
from hub.urls import urlpatterns
from integrations.api import acts, receipts, report_filters, setup
from integrations.api.answers import AnswerBody
from integrations.api.reports import Chosen, Named, Split
from integrations.delivery import waiting
from integrations.github_sync import webhooks
from integrations.issue import rendering
from integrations.models import Attempt, Delivery
from orgs.api.authentication import MaintainerView
from orgs.api.domains import DomainBody
from orgs.api.request_body import OptOutBody
from orgs.people import account_pages, tokens
from reports import canonical, screening, shape, views
from reports.shape import ReportBody
from tests.docs import defaults, tables, written
from tests.rooms import MODULES, ROOT

ON_PAGES_ONLY = {  # there people read the message, and no program reads the code
    ("already_a_member", 409),
    ("cannot_approve", 409),
    ("claims_changed", 409),
    ("form_refused", 403),
    ("last_owner", 409),
    ("moved", 409),
    ("no_such_account", 422),
    ("organization_in_use", 409),
    ("too_many_invitations", 409),
    ("too_many_tokens", 409),
    ("used_code", 400),
    ("withdrawn", 409),
    ("wrong_code", 400),
}


def test_every_error_code_of_the_api_is_in_the_table():
    rows = tables.rows("errors", "code", "status", "when", "what to do")
    named = [(tables.codes(code)[0], int(status)) for code, status, *_ in rows]

    assert named == sorted(_errors() - ON_PAGES_ONLY)


def test_the_further_fields_of_errors_belong_to_codes():
    known = {code for code, _ in _errors()}

    assert set(tables.column("errors", "code", "status")) <= known
    fields = tables.rows("errors", "code", "field")
    assert {tables.codes(code)[0] for code, *_ in fields} <= known
    by_itself = {"request_id"}  # `body_of` adds it
    assert {tables.codes(field)[0] for _, field, _ in fields} == _extra_fields() | by_itself


def test_every_setting_is_in_a_table_with_its_default():
    named = tables.rows("settings", "variable", "default", "meaning")

    assert {tables.codes(name)[0]: default for name, default, _ in named} == _settings()


def test_every_status_of_a_report_names_an_error_that_there_is():
    rows = tables.rows("reports-api", "status", "when")

    refused = {
        (tables.codes(when)[0], int(tables.codes(status)[0]))
        for status, when in rows
        if int(tables.codes(status)[0]) >= 400
    }
    assert refused <= _errors()


def test_every_status_of_a_receipt_is_in_the_table():
    assert set(tables.column("reports-api", "`status`")) == set(receipts.STATUS.values())


def test_the_messages_of_validation_are_said_by_the_code():
    sources = [json_body, shape, canonical, screening, views]
    said = "".join(Path(inspect.getfile(module)).read_text() for module in sources)
    messages = [
        text for cell, _ in tables.rows("errors", "`message`") for text in tables.codes(cell)
    ]

    parts = [part for text in messages for part in text.split("…") if len(part) > 1]
    assert [
        part for part in parts if part not in said.replace("{body.protocol_version}", "0")
    ] == []


def test_the_bodies_of_the_maintainers_api_are_in_tables():
    every = {}
    reports = (AnswerBody, Chosen, Split, Named)
    for model in (setup.ConfigureBody, DomainBody, OptOutBody, setup.SiteBody, *reports):
        every |= {name: field.is_required() for name, field in model.model_fields.items()}
    named = tables.rows("maintainer-api", "body", "required")

    assert {tables.codes(name)[0]: required == "yes" for name, required, *_ in named} == every


def test_every_field_of_a_report_is_in_the_table_with_its_limit():
    rows = tables.rows("reports-api", "field", "required", "limit")

    named = {tables.codes(field)[0]: (required, limit) for field, required, limit, _ in rows}
    assert named == written.fields(ReportBody.model_json_schema(by_alias=True))


def test_every_route_of_the_api_is_in_a_table():
    public = [_call(cell) for cell, *_ in tables.rows("reports-api", "call", "what it does")]
    maintainers = [_call(cell) for cell, *_ in tables.rows("maintainer-api", "call", "scope")]

    assert sorted(public + maintainers) == sorted(_scopes())


def test_every_call_names_the_scope_that_it_needs():
    calls = tables.rows("maintainer-api", "call", "scope")

    named = {
        _call(call): tables.codes(scope)[0] if scope != "none" else "" for call, scope, *_ in calls
    }
    assert named == {call: scope for call, scope in _scopes().items() if call in named}


def test_every_scope_is_in_the_table():
    named = tables.rows("maintainer-api", "scope", "on the page", "allows")

    assert [(tables.codes(scope)[0], name, allows) for scope, name, allows in named] == [
        (scope, tokens.NAMES[scope], tokens.ALLOWS[scope]) for scope in tokens.SCOPES
    ]


def test_the_lifetimes_of_a_token_are_named():
    days = account_pages.TokenForm.base_fields["days"]
    *some, last = [number for number, _ in days.choices]

    said = f"{', '.join(map(str, some))} or {last} days; {days.initial} unless you choose otherwise"
    assert said in tables.page("maintainer-api").read_text()


def test_every_status_cause_and_outcome_of_a_delivery_is_in_a_table():
    assert tables.column("maintainer-api", "status") == report_filters.STATUSES
    assert tables.column("maintainer-api", "cause") == Delivery.Cause.values
    assert tables.column("maintainer-api", "cause in `waits_for`") == [*waiting.Cause]
    assert tables.column("maintainer-api", "outcome") == Attempt.Outcome.values


def test_every_act_and_filter_is_in_a_table():
    assert tables.column("maintainer-api", "act", "codes") == list(acts.ACTS)
    assert set(tables.column("maintainer-api", "parameter")) == report_filters.FILTERS | {"cursor"}


def test_every_placeholder_is_in_the_table():
    named = tables.column("maintainer-api", "placeholder")

    assert {name.strip("{}") for name in named} == set(rendering.PLACEHOLDERS)


def test_every_webhook_that_is_used_is_in_the_table():
    rows = tables.rows("maintainer-api", "event", "actions")

    named = {
        (tables.codes(event)[0], action) for event, cell in rows for action in tables.codes(cell)
    }
    assert named == set(webhooks.ACTIONS)


def test_every_code_that_a_call_names_is_an_error():
    text = tables.page("maintainer-api").read_text()
    sentences = re.findall(r"Codes?: (.*?)\.(?=\s)", text)
    cells = [codes for _, codes, _ in tables.rows("maintainer-api", "act", "codes")]

    named = {code for each in [*sentences, *cells] for code in tables.codes(each)}
    assert named <= {code for code, _ in _errors()}


def test_every_command_and_its_options_are_in_a_table():
    options = tables.rows("commands", "command", "option")

    assert tables.column("commands", "command", "what it does") == sorted(_commands())
    named = [(tables.codes(command)[0], tables.codes(option)[0]) for command, option, _ in options]
    assert sorted(named) == sorted(
        (name, option) for name, parser in _commands().items() for option in _options(parser)
    )


def test_every_job_is_in_the_table_with_its_interval():
    named = {tables.codes(job)[0]: every for job, every, _ in tables.rows("commands", "job")}

    assert named == {job.name: written.span(job.every) for job in maintenance.JOBS}


def test_every_script_is_in_the_table():
    scripts = sorted(path.name for path in (ROOT / "script").iterdir() if path.name != "_venv")

    assert tables.column("commands", "script") == [f"script/{name}" for name in scripts]


def _errors() -> set[tuple[str, int]]:
    """The code and the status of every error that the code can raise."""
    for path in MODULES:
        if "default_code" in (ROOT / path).read_text():
            import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    kinds = {MethodNotAllowed, *_below(ApiError)}
    return {(each.default_code, each.status_code) for each in kinds if each.default_code != "error"}


def _below(kind: type) -> set[type]:
    return {each for child in kind.__subclasses__() for each in (child, *_below(child))}


def _extra_fields() -> set[str]:
    """The further fields that errors are raised with: the names of the arguments, except of headers."""
    names = {each.__name__ for each in _below(ApiError)}
    calls = [
        call
        for path in MODULES
        for call in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(call, ast.Call) and _name(call.func) in names
    ]
    return {keyword.arg for call in calls for keyword in call.keywords if keyword.arg} - {"headers"}


def _name(function: ast.expr) -> str:
    return getattr(function, "id", getattr(function, "attr", ""))


def _settings() -> dict[str, str]:
    return {name: _as_written(default) for name, default in defaults.settings().items()}


def _as_written(default: object) -> str:
    if default == "":
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _call(cell: str) -> str:
    return tables.codes(cell)[0]


def _scopes() -> dict[str, str]:
    """Each call of the API, as method and path, with the scope that it needs; empty if it needs none."""
    routes = [each for each in urlpatterns if str(each.pattern).startswith("v1/")]
    return {
        f"{method} /{_path(route)}": _scope(route.callback, method)
        for route in routes
        for method in _methods(route.callback)
    }


def _path(route: URLPattern) -> str:
    names = {"<str:report_id>": "<id>", "<str:site_id>": "<id>", "<str:name>": "<domain>"}
    path = str(route.pattern)
    for pattern, name in names.items():
        path = path.replace(pattern, name)
    return path


def _methods(view: Any) -> list[str]:
    kind = getattr(view, "cls", setup.Callback)  # which answers for the one that is a function
    named = ("get", "post", "put", "patch", "delete")
    return [name.upper() for name in named if hasattr(kind, name)]


def _scope(view: Any, method: str) -> str:
    kind = getattr(view, "cls", setup.Callback)
    if not issubclass(kind, MaintainerView):
        return ""
    return tokens.READ if method in kind.reading else tokens.WRITE


def _commands() -> dict[str, ArgumentParser]:
    """Our commands, with their parsers."""
    ours = {
        name: app for name, app in get_commands().items() if app in ("hub", "orgs", "integrations")
    }
    return {
        name: load_command_class(app, name).create_parser("manage.py", name)
        for name, app in ours.items()
    }


def _options(parser: ArgumentParser) -> list[str]:
    """The options and arguments of a command that Django's own commands do not have."""
    return sorted(_named(parser) - _named(BaseCommand().create_parser("manage.py", "")))


def _named(parser: ArgumentParser) -> set[str]:
    return {(action.option_strings or [action.dest])[0] for action in parser._actions}
