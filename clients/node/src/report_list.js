/** An organization's reports, newest first, in pages, as `GET /v1/orgs/me/reports` gives them. */

import { setTimeout as pause } from "node:timers/promises";
import { message } from "./contract.js";
import { isObject, objectOf, objectsOf, textOf, wholeOf } from "./document.js";
import { RateLimited, ServerError, ValidationError } from "./errors.js";
import { call } from "./hub.js";
import { linkOf } from "./settings.js";
import { isBlank } from "./visible.js";
import { ACCEPT } from "./web.js";

const PATH = "/v1/orgs/me/reports";
const FILTERS = ["status", "kind", "q", "page", "agent", "claim", "since", "until"];
const REQUIRED = ["id", "received_at", "doc_url", "kind", "summary", "agent_name"];
const CURSOR = /^[\x21-\x7e]{1,200}$/;
const MAX_PAGES = 20_000; // a million reports
const MAX_EMPTY_PAGES = 10; // in a row
const MAX_WAIT_SECONDS = 60; // before a page, where so many were asked for that the Hub takes no more for now

const PATIENCE_SECONDS = 120; // for all pages together
const PATIENCE_FOR_A_REPORT = 0.1; // more for each that came: a Hub of ours gives 1,000 in a minute

/**
 * The filters that are given, or ValidationError, since a wrong one would list everything. `flags`:
 * what the person who gave them knows them by.
 */
export function checkedFilters(filters, flags = {}) {
  if (!isObject(filters ?? {})) throw ValidationError.of("wrong_type", { name: "filters" });
  const isGiven = ([, value]) => value !== undefined && value !== null;
  const given = Object.entries(filters ?? {}).filter(isGiven);
  for (const [name, value] of given) {
    if (!FILTERS.includes(name)) {
      throw ValidationError.of("unknown_filter", { name, known: FILTERS.join(", ") });
    }
    if (typeof value !== "string" || isBlank(value) || !value.isWellFormed()) {
      throw ValidationError.of("invalid_filter", { name: flags[name] ?? name });
    }
  }
  return Object.fromEntries(given);
}

/** One page as `{reports, following}`; `following` is the next page's cursor, null on the last one. */
export async function fetchPage(hubUrl, token, asked, milliseconds, way) {
  const query = new URLSearchParams(asked).toString();
  const url = `${hubUrl}${PATH}${query ? `?${query}` : ""}`;
  const headers = { ...ACCEPT, Authorization: `Bearer ${token}` };
  const isAnswer = (body) => Array.isArray(body.reports);
  const request = { method: "GET", url, headers };
  const { status, body } = await call(request, milliseconds, way, isAnswer);
  const following = body.next_cursor ?? null;
  if (following !== null && !(typeof following === "string" && CURSOR.test(following))) {
    throw endless(hubUrl, status);
  }
  return { reports: objectsOf(body.reports, ...REQUIRED).map(shaped), following };
}

/**
 * All pages; `ask` fetches one. ServerError if the list does not end, RateLimited if the Hub has one wait for
 * too long before a page, or before all of them together. `signal` ends a pause.
 */
export async function* pages(hubUrl, filters, ask, signal) {
  const seen = new Set();
  let empty = 0;
  let patience = PATIENCE_SECONDS;
  let page = await ask(filters);
  while (true) {
    yield page;
    const { following } = page;
    if (following === null) return;
    empty = page.reports.length ? 0 : empty + 1;
    const isLong = seen.size === MAX_PAGES || empty === MAX_EMPTY_PAGES;
    if (isLong || seen.has(following)) throw endless(hubUrl, 200);
    seen.add(following);
    patience += PATIENCE_FOR_A_REPORT * page.reports.length;
    const options = { most: Math.min(MAX_WAIT_SECONDS, patience), signal };
    const found = await next(ask, { ...filters, cursor: following }, options);
    page = found.page;
    patience -= found.waited;
  }
}

/**
 * A page after the first, as soon as the Hub takes another request, and how many seconds that took, as
 * `{page, waited}`; RateLimited if these are more than `most`.
 */
async function next(ask, asked, { most, signal }) {
  let waited = 0;
  try {
    return { page: await ask(asked), waited };
  } catch (error) {
    waited = error instanceof RateLimited ? error.retryAfter : null;
    if (typeof waited !== "number" || waited > most) throw error;
    await pause(waited * 1000, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  return { page: await ask(asked), waited };
}

function endless(url, status) {
  return new ServerError("endless_list", message("endless_list", { url }), { status });
}

function shaped(report) {
  return {
    ...report,
    times_reported: wholeOf(report.times_reported),
    further_accounts: wholeOf(report.further_accounts),
    erased_at: textOf(report.erased_at),
    delivery: deliveryOf(objectOf(report.delivery, "status")),
  };
}

function deliveryOf(delivery) {
  return (
    delivery && {
      ...delivery,
      held_for: textOf(delivery.held_for),
      reason: textOf(delivery.reason),
      waits_for: objectOf(delivery.waits_for, "cause", "message"),
      issue_url: linkOf(delivery.issue_url),
      attempts: wholeOf(delivery.attempts),
    }
  );
}
