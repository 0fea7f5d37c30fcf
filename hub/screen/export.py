"""The export: all that the Hub stores for one organization and its members may read, as JSON."""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, Model, Prefetch, QuerySet

from core import batches
from integrations.models import Alert, Answer, Delivery, Integration, Verdict
from orgs.models import Organization, PersonalToken, Terminal
from reports.models import Account, Report

LIKE = {  # the reports of the deliveries that one may be like
    f"{name}_report_id": F(f"{name}__report_id") for name in ("lead", "maybe_lead", "follows")
}
Found = TypeVar("Found", bound=Model)
BATCH = 20  # reports read at once: with accounts and issue, one may take a megabyte of memory


def as_json(organization: Organization) -> Generator[str, None, None]:
    """`{organization, members, invitations, tokens, terminals, domains, earlier_challenges, sites,
    former_addresses, integrations, alerts, notices, verdicts, reports}`, piece by piece.
    """
    integrations = Integration.objects.select_related("installation")
    said = Verdict.objects.readable().noting_words()
    parts: dict[str, Iterable[dict[str, Any]]] = {
        "members": _rows(organization.memberships.order_by("pk")),
        "invitations": _rows(organization.invitations.order_by("pk")),
        "tokens": _tokens(organization),
        "terminals": _rows(
            Terminal.objects.filter(user__membership__organization=organization).order_by("pk")
        ),
        "domains": _rows(organization.domains.order_by("name")),
        "earlier_challenges": _rows(organization.earlier_challenges.order_by("pk")),
        "sites": _rows(organization.sites.order_by("host", "path")),
        "former_addresses": _rows(organization.former_addresses.order_by("pk")),
        "integrations": (
            _row(each) | {"installation": _row(each.installation)}
            for each in integrations.of(organization)
        ),
        "alerts": _rows(Alert.objects.of(organization)),
        "notices": _rows(organization.notices.all()),
        "verdicts": map(_verdict, _in_batches(said.of(organization).order_by("pk"))),
        "reports": _reports(organization),
    }
    yield f'{{"organization": {_dumped(_row(organization))}'
    for name, rows in parts.items():
        yield f',\n"{name}": ['
        for number, row in enumerate(rows):
            yield f"{',' if number else ''}\n{_dumped(row)}"
        yield "]"
    yield "}\n"


def _tokens(organization: Organization) -> Iterator[dict[str, Any]]:
    """The names and permissions of the members' personal tokens, never their values."""
    mine = PersonalToken.objects.filter(token__user__membership__organization=organization)
    for each in mine.select_related("token").order_by("pk"):
        scopes, expires_at = each.token.get_scopes(), each.token.expires_at
        yield _row(each) | {
            "user_id": each.token.user_id,
            "scopes": scopes,
            "expires_at": expires_at,
        }


def _reports(organization: Organization) -> Iterator[dict[str, Any]]:
    """Oldest first, each with its accounts, delivery, attempts and what it is like; a few queries per batch."""
    accounts = Prefetch("accounts", Account.objects.readable(), to_attr="shown")  # lists:
    rows = Report.objects.newest_first(organization)  # a queryset for each row took longer
    while batch := list(rows.reverse().prefetch_related(accounts)[:BATCH]):
        deliveries = {each.report_id: each for each in _deliveries(batch)}
        said = _verdicts(batch)
        for report in batch:
            yield _row(report) | {
                "accounts": [_row(each) for each in report.shown],
                "delivery": _delivery(deliveries.get(report.pk)),
                "verdicts": said[report.pk],
            }
        last = batch[-1]
        rows = Report.objects.newest_first(organization, after=(last.received_at, last.pk))


def _deliveries(reports: Sequence[Report]) -> QuerySet[Delivery]:
    """With their attempts, comments and answer, and the reports of those that they are like."""
    found = Delivery.objects.filter(report__in=reports).with_attempts()
    return found.select_related("answer").prefetch_related("comments").annotate(**LIKE)


def _delivery(delivery: Delivery | None) -> dict[str, Any] | None:
    if delivery is None:
        return None
    return _row(delivery) | {
        **{name: getattr(delivery, name) for name in LIKE},
        "answer": _answer(getattr(delivery, "answer", None)),
        "comments": [_row(each) for each in delivery.comments.all()],
        "attempts": [_row(each) for each in delivery.shown_attempts()],
    }


def _verdicts(reports: Sequence[Report]) -> dict[str, list[dict[str, Any]]]:
    """What members have said of each report and another one."""
    found: dict[str, list[dict[str, Any]]] = {each.pk: [] for each in reports}
    said = Verdict.objects.readable().noting_words()
    for verdict in said.filter(report__in=reports).order_by("pk"):
        found[verdict.report_id].append(_verdict(verdict))
    return found


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return _row(verdict) | {"words": verdict.words_told}


def _answer(answer: Answer | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    return _row(answer) | {"changed_at": answer.changed_at}


def _rows(found: QuerySet) -> Iterator[dict[str, Any]]:
    return map(_row, _in_batches(found))


def _in_batches(found: QuerySet[Found]) -> Iterator[Found]:
    """In their order, read a batch at a time: there may be very many verdicts."""
    for some in batches.of(list(found.values_list("pk", flat=True))):
        rows = found.in_bulk(some)
        yield from (rows[pk] for pk in some if pk in rows)


def _row(row: Model) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _columns(type(row))}


@cache
def _columns(model: type[Model]) -> list[str]:
    """All columns, except those that a model hides from forms, such as hashes."""
    fields = model._meta.concrete_fields
    return [each.attname for each in fields if each.editable or each.primary_key]


def _dumped(row: dict[str, Any]) -> str:
    return json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False)
