"""Reports of every kind, with the longest, the emptiest and the strangest values."""

from django.test import Client

from reports.models import Report, Statement
from tests import build
from tests.upgrades.filling.people import client_of
from tests.upgrades.filling.world import Team

WORDS = "Läuft nicht: 手順三が失敗する، الخطوة الثالثة لا تعمل 🙃 \u202e"
LONGEST = {
    "agent__name": "ж" * 120,
    "agent__version": "v" * 64,
    "agent__vendor": "🙂" * 128,
    "report__details": "{details} {{x}} `a\\b` 'q' \"d\" %s\n\t" * 200,
    "report__suggested_fix": "fi\x7fx " * 800,
    "report__evidence": [{"kind": "quote", "text": "<b>&amp;\\u0041" * 250}] * 2,
    "task_context__task_summary": "s" * 500,
    "task_context__transcript_excerpt": "t" * 4000,
    "submitted_at": "2026-01-31T23:59:59.123456+14:00",
    "locale": "zh-Hant-TW",
    "client_capabilities": ["a" * 64] * 32,
}


def send(docs: Team) -> None:
    """All that is received, by somebody or by nobody."""
    for kind in Statement.Kind.values:
        docs.send(f"A page that is {kind}", report__kind=kind)
    docs.send("字" * 500, doc_url=f"https://{docs.domain}/" + "p" * 2000, **LONGEST)
    docs.send(WORDS, doc_url=f"https://{docs.domain}/Straße?q=%C3%A4#x", agent__name="Ägent 漢")
    docs.send("It prints `ghp_" + "a" * 36 + "`", report__details="A secret that is removed")
    for number, kind in enumerate(Statement.Kind.values):
        page = f"https://{docs.domain}/again/{number % 2}"
        _send("It came again", page)
        _send("It came again", page, report__kind=kind, report__details=WORDS + kind)
    for page in ("https://nobody.example.org/x", "docs/install.md", "http://localhost:3000/"):
        _send("Nobody has claimed it", page)
    _send("With a key", "https://nobody.example.org/key", idempotency_key="k" * 128)
    build.send(Client(), build.report("https://nobody.example.org/key", idempotency_key="other"))
    erased = docs.send("To be erased")
    erase = f"/settings/reports/{erased.report_id}/erase/"
    client_of("alice").post(erase, {"confirm": "erase"})
    assert Report.objects.exclude(erased_at=None).exists()


def _send(summary: str, page: str, **changes: object) -> None:
    answer = build.send(Client(), build.report(page, report__summary=summary, **changes))
    assert answer.status_code == 201, answer.content
