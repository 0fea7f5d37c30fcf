"""FastAPI with asyncpg: a pydantic model of the report, and one `INSERT … ON CONFLICT`.

It checks the types and lengths that the Hub checks. It leaves out rate limits, the canonical URL, the
owner of the page, removing secrets, and the other words of a repeat.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import asyncpg
from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field

from tests.bench.peers import schema

INSERT = schema.insert(*(f"${n + 1}" for n in range(len(schema.COLUMNS))))
POOL = {"min_size": 1, "max_size": 36}  # as many as the Hub has in each process


class Strict(BaseModel):
    """No other fields, and no other types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Agent(Strict):
    """Who reports."""

    name: Annotated[str, Field(min_length=1, max_length=120)]
    version: Annotated[str | None, Field(max_length=64)] = None
    vendor: Annotated[str | None, Field(max_length=128)] = None


class Evidence(Strict):
    """One piece of evidence."""

    kind: Literal[
        "error_message", "attempted_action", "expected", "observed", "code_snippet", "quote"
    ]
    text: Annotated[str, Field(min_length=1, max_length=4000)]


class Substance(Strict):
    """What is wrong."""

    kind: Literal["broken", "incorrect", "outdated", "missing", "unclear", "other"]
    summary: Annotated[str, Field(min_length=1, max_length=500)]
    details: Annotated[str | None, Field(max_length=8000)] = None
    evidence: Annotated[list[Evidence] | None, Field(max_length=20)] = None
    suggested_fix: Annotated[str | None, Field(max_length=4000)] = None


class TaskContext(Strict):
    """What the reporter was doing."""

    task_summary: Annotated[str | None, Field(max_length=500)] = None
    transcript_excerpt: Annotated[str | None, Field(max_length=4000)] = None


class ReportBody(Strict):
    """A report as sent."""

    protocol_version: Literal["0"]
    doc_url: Annotated[str, Field(max_length=2048)]
    agent: Agent
    report: Substance
    task_context: TaskContext | None = None
    idempotency_key: Annotated[str | None, Field(min_length=1, max_length=128)] = None
    submitted_at: Annotated[str | None, Field(max_length=64)] = None
    locale: Annotated[str | None, Field(max_length=35)] = None
    client_capabilities: Annotated[list[str] | None, Field(max_length=32)] = None


class Receipt(BaseModel):
    """The response."""

    id: str
    is_duplicate: bool
    received_at: str


@asynccontextmanager
async def pool(app: FastAPI) -> AsyncIterator[None]:
    """The connections of this process."""
    async with asyncpg.create_pool(os.environ["DATABASE_URL"], **POOL) as app.state.pool:
        yield


application = FastAPI(lifespan=pool)


@application.post("/v1/reports", status_code=201, response_model=Receipt)
async def receive(body: ReportBody, request: Request) -> Any:
    """Store a report, or count it once more."""
    values = schema.values(body.model_dump(exclude_none=True))
    row = await request.app.state.pool.fetchrow(INSERT, *values)
    return Receipt(**schema.answer(row))
