"""The page of limits has every number as the code has it."""

from datetime import timedelta
from fractions import Fraction

from allauth.idp.oidc import app_settings
from allauth.socialaccount.internal.statekit import STATE_TTL
from django.conf import settings
from limits import parse_many

from core import (
    at_once,
    batches,
    client_address,
    deadlines,
    json_body,
    page_rates,
    rates,
    telling,
)
from core.redis_client import TIMEOUT as REDIS_TIMEOUT
from hub import limits as sign_in_limits
from hub import logs, pruning, scrape
from hub.management.commands import serve
from hub.screen import downloads, integration, inviting, report_page
from hub.screen import reports as report_pages
from hub.server import answers, bodies, bridge, door, listening, noted, spool, turns, untaken
from hub.settings import POSTGRESQL_PATIENCE
from integrations.alerts import causes
from integrations.answers import known
from integrations.api import acts, report_filters, report_list
from integrations.api import reports as report_calls
from integrations.comments import again, listing
from integrations.delivery import discarding, forwarding, holds, pacing
from integrations.folding import candidates
from integrations.github_api import asking, installations, transport
from integrations.github_sync import reconciling, webhooks
from integrations.issue import rendering, template_limits
from integrations.issue import tables as issue_tables
from integrations.likeness import choosing, comparing
from integrations.models import answer, attempt, comment, delivery, one_time_state, webhook
from integrations.models import integration as rights
from integrations.ownership import push_access, site_claims
from integrations.setup import configuration, installing, labels, trial_report
from orgs.discovery import checking, fetching
from orgs.domains import claiming, hosts, txt_records, verification
from orgs.models import domain, organization
from orgs.people import account_pages, counted, github_account, tokens
from orgs.terminals import codes, endpoints, protocol
from reports import accounts, admission
from tests.docs import defaults, tables
from tests.docs.written import span

DEFAULT = defaults.settings()


def test_rates():
    asking_rate = DEFAULT["HUB_ASKING_RATE"]
    in_code = {
        "reports from an address": DEFAULT["HUB_REPORT_RATE"],
        "reports from an IPv6 /48": times(DEFAULT["HUB_REPORT_RATE"], client_address.WIDER),
        "reports from a network": DEFAULT["HUB_NETWORK_RATE"],
        "large reports from a network": times(DEFAULT["HUB_NETWORK_RATE"], admission.LARGE_SHARE),
        "reports about one claim": DEFAULT["HUB_HOST_RATE"],
        "reports about one claim from a network": times(
            DEFAULT["HUB_HOST_RATE"], client_address.SHARE
        ),
        "all reports": DEFAULT["HUB_TOTAL_RATE"],
        "all reports from a network": times(DEFAULT["HUB_TOTAL_RATE"], client_address.SHARE),
        "questions about pages from an address": DEFAULT["HUB_REPORT_RATE"],
        "questions about pages from an IPv6 /48": times(
            DEFAULT["HUB_REPORT_RATE"], client_address.WIDER
        ),
        "questions about pages from a network": DEFAULT["HUB_NETWORK_RATE"],
        "all questions about pages": DEFAULT["HUB_TOTAL_RATE"],
        "all questions about pages from a network": times(
            DEFAULT["HUB_TOTAL_RATE"], client_address.SHARE
        ),
        "searches in these docs": page_rates.RATE,
        "pages of receipts": page_rates.RATE,
        "issues": DEFAULT["HUB_ISSUE_RATE"],
        "sign-ins": DEFAULT["HUB_SIGN_IN_RATE"],
        "sign-ins from a network": times(DEFAULT["HUB_SIGN_IN_RATE"], client_address.WIDER),
        "sign-ins that end altogether": sign_in_limits.SIGN_INS_ENDED,
        "sign-ins that end altogether from a network": times(
            sign_in_limits.SIGN_INS_ENDED, client_address.SHARE
        ),
        "sign-ins that one account ends": github_account.OF_ONE,
        "codes of sign-ins that GitHub calls wrong or expired": github_account.REFUSED,
        "sign-ins that GitHub refuses for another reason": github_account.REFUSED_OTHERWISE,
        "codes for terminals": DEFAULT["HUB_SIGN_IN_RATE"],
        "codes for terminals altogether": times(DEFAULT["HUB_SIGN_IN_RATE"], protocol.TOTAL),
        "codes for terminals altogether from a network": times(
            DEFAULT["HUB_SIGN_IN_RATE"], protocol.TOTAL * client_address.SHARE
        ),
        "codes that a person types at `/device/`": DEFAULT["HUB_SIGN_IN_RATE"],
        "questions of terminals for tokens": times(DEFAULT["HUB_SIGN_IN_RATE"], endpoints.POLLS),
        "questions to GitHub": asking_rate,
        "questions to GitHub through an installation": times(asking_rate, asking.TIMES_THROUGH),
        "checks of DNS records": asking_rate,
        "claims of domains": asking_rate,
        "checks of what a claimed site publishes": asking_rate,
        "starts of an installation": asking_rate,
        "ends of an installation": installing.ENDED_BY_ONE,
        "ends of an installation altogether": installing.ENDED,
        "ends of an installation altogether from a network": times(
            installing.ENDED, client_address.SHARE
        ),
        "codes of installations that GitHub calls wrong or expired": github_account.REFUSED,
        "attempts to try again": asking_rate,
        "choices of earlier reports to send": asking_rate,
        "lists of repositories": configuration.LISTS,
        "lists of repositories of an installation": times(configuration.LISTS, 2),
        "searches in reports": report_list.SEARCHES,
        "lists of reports with other filters": report_list.LOOKS,
        "pages of reports": report_page.PAGES,
        "changes of any kind": counted.CHANGES,
        "discarding or restoring several reports": acts.TOGETHER,
        "test reports": trial_report.RATE,
        "previews of the issue template": integration.PREVIEWS,
        "changes between Pause and Resume": integration.PRESSES,
        "discarding, restoring or trying again all that match": report_pages.CHANGES,
        "downloads": downloads.RATE,
        "look-ups of GitHub logins to invite": inviting.NAMELESS,
        "further accounts": accounts.OF_ONE_SOURCE,
        "further accounts of all reports": accounts.OF_ALL,
        "signed webhooks": webhooks.INSTALLATION_RATE,
        "unsigned webhooks": webhooks.FORGED_RATE,
        "lines of the log about reports": f"{noted.OF_CHANGES}/second",
        "lines of the log about what members, operators and GitHub change": (
            f"{noted.OF_CHANGES}/second"
        ),
        "lines of the log about other requests": f"{noted.OF_OTHERS}/second",
    }

    assert named("rate") == {name: f"`{rate}`" for name, rate in in_code.items()}
    assert pacing.SHARE == 3
    settings_named = {
        code for *_, cell in tables.rows("limits", "rate") for code in tables.codes(cell)
    }
    assert settings_named == {name for name in DEFAULT if name.endswith("_RATE")}


def test_what_may_happen_at_once():
    each = "{} for each process"

    assert named("limit at once") == {
        "requests of one person in the browser, and with tokens": f"{at_once.MOST} each for each process",
        "requests of all members of an organization who are no owners": each.format(
            at_once.MOST_OF_MEMBERS
        ),
        "questions to GitHub of one owner, and of all other members of an organization": each.format(
            asking.looks._most
        ),
        "checks of DNS records and of sites of one owner, and of all other members of an organization": each.format(
            verification.looks._most
        ),
        "downloads of one owner, and of all other members of an organization": each.format(
            downloads.downloads._most
        ),
        "downloads altogether": each.format(downloads.altogether._most),
        "searches in reports, lists with filters, and changes of all that match, of one owner, and of all "
        "other members of an organization": each.format(report_list.searches._most),
        "the same, of one organization": each.format(report_list.of_one._most),
        "the same altogether": each.format(report_list.altogether._most),
        "checks of DNS records and of sites altogether": "a quarter of `HUB_THREADS`",
        "of these, checks of sites": "an eighth of `HUB_THREADS`",
        "calls to GitHub altogether": "half of `HUB_THREADS`",
        "requests that wait for a thread: pages to read, and others": f"{bridge.WAITING} times `HUB_THREADS` each",
        "pages to read (the docs, files for agents, forms)": "a sixteenth of `HUB_THREADS`, which are no others'",
        f"answers over {answers.PIECE} bytes that are being sent": (
            f"{untaken.AT_ONCE} for each process, or a quarter of its open files"
        ),
        "threads for one network (/24, or /48)": "a quarter of `HUB_THREADS`",
        f"threads for all networks whose requests have cost more than {turns.LITTLE} seconds of the processor lately": (
            "a quarter of `HUB_THREADS`, in equal parts of 1 at least, and what some leave of theirs for the others"
        ),
        f"threads for signed webhooks of up to {bridge.QUICKLY_READ} bytes, whatever they cost": (
            "a quarter of `HUB_THREADS`"
        ),
        "lists of all claims of an organization (`GET /v1/orgs/me`)": each.format(1),
        "scrapes of `/metrics`": each.format(scrape.AT_ONCE),
        "connections": f"{serve.MOST_CONNECTIONS} for each process, or half of its open files",
    }
    assert (turns.SHARE, untaken.SHARE, bridge.SHARE) == (4, 4, 16)
    assert at_once.long_answers._patience == 1
    assert deadlines.slots() == settings.HUB_THREADS // 2
    assert verification.slots()._initial_value == settings.HUB_THREADS // 4
    assert checking._slots()._initial_value == settings.HUB_THREADS // 8


def test_sizes():
    assert named("size") == {
        "body of a call under `/v1/`": f"{json_body.MAX_BYTES} bytes",
        "body of a webhook": f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes",
        "form of somebody who is signed in": f"{bodies.LARGEST_FORM} bytes",
        "report form at `/report/`": f"{bodies._most({'path': bodies.REPORT_FORM})} bytes",
        "other form of a visitor": f"{bodies.SMALL_FORM} bytes",
        "form of a terminal": f"{endpoints.MAX_BYTES} bytes",
        "one header": f"{door.LONGEST} bytes",
        "header `Cookie`": f"{door.SHORTER[b'cookie']} bytes",
        "header `Content-Type`": f"{door.SHORTER[b'content-type']} bytes",
        "header `Accept`": f"{door.SHORTER[b'accept']} bytes",
        "backslashes in the header `Cookie`": f"{door.ESCAPES}",
        "first line and headers together": f"{serve.LONGEST_HEADERS} bytes",
        "page to go to after a sign-in (`next`)": f"{github_account.LONGEST_NEXT} characters",
        "parameters of an address": f"{settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}",
        "digits of a whole number in JSON": f"{json_body.MAX_DIGITS}",
        "bodies that arrive, wait or are worked on": f"{bodies.ALTOGETHER} bytes for each process",
        "long responses that wait for their readers": (
            f"{spool.ON_DISK} bytes on disk for each process, or what is free there"
        ),
        "what the system keeps of a response that is not read": (
            f"{listening.UNTAKEN_BYTES} bytes for each connection, on Linux"
        ),
        "lines of the log that nobody has read": (
            f"{logs.UNREAD} characters for each process, a quarter of them for warnings and errors alone"
        ),
        "problems named in one response": f"{json_body.MAX_FAULTS}",
    }


def test_times():
    assert named("time") == {
        "headers of a request": f"{serve.HEADERS_PATIENCE} seconds",
        "body of a request": f"{bodies.BODY_TIMEOUT} seconds",
        f"reading {answers.PIECE} bytes of a response": f"{answers.SEND_TIMEOUT} seconds",
        "GitHub: connecting, and each read": f"{transport.TIMEOUT} seconds",
        "GitHub: one delivery": f"{forwarding.DEADLINE} seconds",
        "GitHub: one call of a maintainer": f"{asking.DEADLINE} seconds",
        "GitHub: one sign-in": f"{github_account.DEADLINE} seconds",
        "DNS: one query": f"{txt_records.QUERY_TIMEOUT:.0f} seconds",
        "DNS: one check": (
            f"{txt_records.MAX_SECONDS:.0f} seconds and {txt_records.MAX_QUERIES} queries; "
            f"{txt_records.THOROUGH} where the name servers of the domain are asked"
        ),
        "a file of a claimed site": (
            f"{fetching.MAX_SECONDS:.0f} seconds, {fetching.MAX_BYTES} bytes, "
            f"{fetching.MAX_REDIRECTS} redirects on the same host"
        ),
        "PostgreSQL: connecting, or a lock": (f"{POSTGRESQL_PATIENCE['connect_timeout']} seconds"),
        "SQLite: a lock": "5 seconds",
        "telling other processes which reports were counted": f"{telling.GATHER} seconds",
        "Redis": f"{REDIS_TIMEOUT} seconds",
        "sign-in that has begun at `/login/`": span(timedelta(seconds=STATE_TTL)),
        "link of an installation": span(one_time_state.LIFETIME),
        "code for a terminal": span(timedelta(seconds=codes.LIFETIME)),
        "access token of a terminal": span(timedelta(seconds=app_settings.ACCESS_TOKEN_EXPIRES_IN)),
        "sign-in of a terminal": span(protocol.LIFETIME),
        "token": f"{span(tokens.LIFETIME)} unless you choose otherwise",
    }
    assert (
        f"lock_timeout={POSTGRESQL_PATIENCE['connect_timeout']}s" in POSTGRESQL_PATIENCE["options"]
    )
    after = {name: cell for name, _, cell in tables.rows("limits", "time")}
    assert f"{rates.REDIS_PAUSE:.0f} seconds" in after["Redis"]


def test_further_accounts():
    assert named("further accounts of one report") == {
        "number": f"{accounts.MOST}",
        "size together": f"{accounts.BYTES} bytes",
        "first ones that stay": f"{accounts.FIRST}, of at most {accounts.SHORT} bytes each",
        "shorter ones that make room for a longer one": f"{accounts.SHORTER} bytes together, and any that is larger "
        "than that",
    }


def test_deliveries():
    assert named("delivery") == {
        "first retry": f"after {span(delivery.FIRST_WAIT)}",
        "longest wait between two tries": span(delivery.LONGEST_WAIT),
        "tries end, and it has failed": f"after {span(delivery.GIVE_UP)}",
        "without GitHub's answer, the issue is looked for until": (
            f"{span(delivery.SETTLE)} after the attempt"
        ),
        "one attempt counts as lost": f"after {span(delivery.LEASE)}",
        "held for a problem at GitHub, one is tried": f"every {span(holds.PROBE_EVERY)}",
        "attempts that are kept": f"the first and the latest, {attempt.KEPT} together",
        "discarded or restored by one request of a page": f"{discarding.AT_ONCE}",
        "tried again by one request of a page": f"{batches.AT_ONCE}",
        "ids in one call of the API": f"{report_calls.AT_ONCE}",
    }


def test_one_problem_one_issue():
    assert named("of reports alike") == {
        "issues of a page that a report is compared with, the newest": f"{choosing.MOST_LEADS}",
        "two reports of one agent (name and network) stay apart if they come in within": span(
            candidates.APART
        ),
        "a report waits for one like it that is being sent, after it came in": (
            f"up to {span(candidates.AT_ONCE)}"
        ),
        "reports that the comment below an issue lists, the newest": f"{listing.LISTED}",
        "that comment is edited at most every": span(comment.EDITED_APART),
        "a problem comes back if it is reported after its issue was closed by": span(again.AFTER),
        "length of an answer to reporters": f"{answer.LONGEST} characters",
    }


def test_the_points_of_the_rule_are_those_of_the_code():
    page = tables.page("../explanation/one-problem-one-issue")
    text = page.read_text(encoding="utf-8")

    assert f"From {comparing.SAME_AT:g} points on, two reports are the same problem" in text
    assert f"it takes {comparing.APART_AT:g} points" in text
    assert f"From {comparing.NEAR_AT:g} points on, it is a hint" in text


def test_issues_and_templates():
    assert named("issue") == {
        "title": f"{rendering.TITLE_LIMIT} characters",
        "body, without the Hub's footer": f"{rendering.BODY_LIMIT} characters",
    }
    assert named("template") == {
        "length": f"{template_limits.CHARACTERS} characters",
        "placeholders": f"{template_limits.PLACEHOLDERS}",
        "times that `{details}`, `{suggested_fix}` or `{evidence}` may be used": (
            f"{template_limits.REPEATS} each"
        ),
        "quotes, list items and indentation before a line's text": (
            f"{template_limits.CONTAINER_WIDTH} characters"
        ),
        "cells of all tables together": f"{issue_tables.CELLS}",
    }
    assert {"details", "suggested_fix", "evidence"} == template_limits.LONG


def test_labels_assignees_and_type():
    assert named("of new issues") == {
        "labels of every kind, and of one kind": f"{labels.LABELS} each",
        "length of a label": f"{labels.LONGEST_LABEL} characters",
        "assignees": f"{labels.ASSIGNEES}",
        "length of a login": f"{labels.LONGEST_LOGIN} characters",
        "length of the name of a type": f"{labels.LONGEST_TYPE} characters",
    }


def test_claims_and_organizations():
    assert named("claim or organization") == {
        "domains": f"{claiming.MOST}",
        "domains that wait for their DNS records": f"{claiming.MOST_UNPROVED}",
        "claims of sites, with those that have lapsed": f"{site_claims.MOST}",
        "open invitations": f"{inviting.MOST}",
        "length of a domain": f"{hosts.MAX_NAME} characters",
        "a claim of a domain that is not proved, or has lapsed, is removed": (
            f"after {span(domain.CHALLENGE_LIFETIME)}"
        ),
        "a verified domain is checked": f"every {span(domain.LOOK_EVERY)}",
        "a domain whose record was missing is checked": f"every {span(domain.LOOK_AGAIN)}",
        "the grace period begins after": (
            f"{domain.ABSENCES} checks without the record, over at least {span(domain.ABSENT_FOR)}"
        ),
        "grace period": span(domain.GRACE),
        "open issues about bad news": f"{causes.UNFINISHED}",
        "a lapse is told by an issue": f"for {span(causes.NEWS)}",
        "closing such an issue is tried": f"for {span(delivery.GIVE_UP)}",
        "the `docs-feedback.json` of its host is read": f"every {span(checking.EVERY)}",
        "push access is checked": f"every {span(reconciling.EVERY)}",
        "everything is held after": (
            f"{rights.ABSENCES} checks that find no push access, "
            f"over at least {span(rights.ABSENT_FOR)}"
        ),
        "the claims of sites lapse, if nobody has push access": f"{span(domain.GRACE)} later",
        "members asked about in one check of push access": f"{push_access.MOST}",
        "valid tokens of one person": f"{tokens.MOST}",
        "terminals in which one person is signed in": f"{protocol.MOST}",
        "name of a token": (f"{account_pages.TokenForm.base_fields['name'].max_length} characters"),
    }


def test_lists():
    assert named("list") == {
        "reports in one page": f"{report_list.PAGE_SIZE}; in the settings {report_pages.SHOWN}",
        "reports that one page with filters looks at": f"{report_list.LOOKED_AT}",
        "known problems of a page": f"{known.MOST}, of the newest {known.NEWEST} leads and {known.NEWEST} reports of "
        f"the page, and the newest {known.NEWEST} issues of the repository",
        "reports that have joined an issue and are counted": f"the newest {known.JOINED}",
        "search text": f"{report_filters.LONGEST_SEARCH} characters",
        "search for a whole address": f"{report_filters.LONGEST_ADDRESS} characters",
        "repositories in one call": f"{installations.PAGE_SIZE}",
    }


def test_retention():
    kept = f"{DEFAULT['HUB_RETENTION_DAYS']} days, `HUB_RETENTION_DAYS`"

    assert named("what is kept") == {
        "reports that are in no issue, after they were last sent": kept,
        "attempts and invitations": kept,
        "notices to an organization": f"the latest {organization.NOTICES_KEPT} of each kind",
        "values that an organization's DNS records had before": f"the latest {domain.MOST_EARLIER}",
        "what an issue about bad news said, after the cause was gone": kept,
        "the time in which the same report is a duplicate": (
            f"{DEFAULT['HUB_DEDUP_DAYS']} days, `HUB_DEDUP_DAYS`"
        ),
        "the keyed hash of a sender's network": span(pacing.SOURCES_KEPT),
        "ids of webhooks": span(webhook.KEPT),
        "ids of webhooks about what no organization has": span(webhook.OF_NOBODY),
        "links of installations": span(one_time_state.KEPT),
        "expired tokens, and sign-ins of terminals": span(pruning.EXPIRED_TOKENS_KEPT),
        "tasks of the queue, since they were finished, begun or queued": span(pruning.TASKS_KEPT),
    }


def named(header: str) -> dict[str, str]:
    """The first two cells of each row in the tables with this header."""
    return {name: value for name, value, *_ in tables.rows("limits", header)}


def times(rate: str, factor: int | Fraction) -> str:
    """A rate, multiplied."""
    return ";".join(
        f"{int(each.amount * factor)}/{each.GRANULARITY.name}" for each in parse_many(rate)
    )
