"""The table of the peers that write SQL: the columns that the Hub keeps of a report, in one table."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

TABLE = """
CREATE TABLE report (
    id text PRIMARY KEY,
    received_at timestamptz NOT NULL,
    last_received_at timestamptz NOT NULL,
    times_reported integer NOT NULL DEFAULT 1,
    dedup_key varchar(80) UNIQUE,
    doc_url text NOT NULL,
    kind varchar(10) NOT NULL,
    summary text NOT NULL,
    details text NOT NULL,
    evidence jsonb NOT NULL,
    suggested_fix text NOT NULL,
    agent_name text NOT NULL,
    agent_version text NOT NULL,
    agent_vendor text NOT NULL,
    task_context jsonb NOT NULL
);
CREATE INDEX report_received_at ON report (received_at);
"""
COLUMNS = (
    *("id", "received_at", "last_received_at", "dedup_key", "doc_url", "kind", "summary"),
    *("details", "evidence", "suggested_fix", "agent_name", "agent_version", "agent_vendor"),
    "task_context",
)
REPEATED = """
ON CONFLICT (dedup_key) DO UPDATE
    SET times_reported = report.times_reported + 1, last_received_at = excluded.last_received_at
RETURNING id, times_reported, received_at
"""


def insert(*marks: str) -> str:
    """The one statement, with these placeholders: a new report, or one more of an earlier one."""
    columns, values = ", ".join(COLUMNS), ", ".join(marks)
    return f"INSERT INTO report ({columns}) VALUES ({values}) {REPEATED}"


def values(sent: dict[str, Any]) -> list[Any]:
    """The values of `COLUMNS`, from the body of a report."""
    said, agent, now = sent["report"], sent["agent"], datetime.now(UTC)
    return [
        uuid4().hex,
        now,
        now,
        dedup_key(sent["doc_url"], agent["name"], said["summary"]),
        sent["doc_url"],
        said["kind"],
        said["summary"],
        said.get("details") or "",
        json.dumps(said.get("evidence") or []),
        said.get("suggested_fix") or "",
        agent["name"],
        agent.get("version") or "",
        agent.get("vendor") or "",
        json.dumps(sent.get("task_context") or {}),
    ]


def dedup_key(*parts: str) -> str:
    """What two reports share if one repeats the other."""
    return "auto:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def answer(row: Any) -> dict[str, Any]:
    """The response, from what the statement returns."""
    received_at = row[2] if isinstance(row[2], str) else row[2].isoformat()
    return {"id": row[0], "is_duplicate": row[1] > 1, "received_at": received_at}
