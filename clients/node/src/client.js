/** The client of one Hub. */

import { check as checkAddress } from "./address.js";
import { ACCEPT, cached, endpoint, lookUp, refuseOptedOut } from "./discovery.js";
import { objectOf, objectsOf, textOf, wholeOf, yesOrNo } from "./document.js";
import { ValidationError } from "./errors.js";
import { call } from "./hub.js";
import { check as checkReport, encode } from "./report.js";
import { check as checkSecrets } from "./secret_patterns.js";
import {
  DEFAULT_TIMEOUT,
  REPORTS,
  hubUrl,
  linkOf,
  noHubUrl,
  requiredHubUrl,
  token,
} from "./settings.js";

const KEY = /^[\x21-\x7e]{1,128}$/;
const REPORT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Talks to one Hub.
 *
 * `hubUrl`: else DOCFEEDBACK_HUB_URL, the configuration file, or what the page's host names.
 * `token`: for `me`; else DOCFEEDBACK_TOKEN or the configuration file. Never sent with a report.
 * `timeout`: milliseconds for a whole call. `allowPrivate`: report http and private pages too.
 * All calls reject with the errors of `errors.js`, and no others.
 */
export class Client {
  constructor({ hubUrl, token, timeout = DEFAULT_TIMEOUT, allowPrivate = false } = {}) {
    this.hubUrl = hubUrl;
    this.token = token;
    this.timeout = timeout;
    this.allowPrivate = allowPrivate;
  }

  /**
   * Send a report (the JSON of one, as `buildReport` gives it) unless a safety check stops it. Without
   * `idempotencyKey` the Hub recognizes repeats by page, agent and summary.
   */
  async send(report, { idempotencyKey } = {}) {
    const deadline = performance.now() + this.timeout;
    const draft = this.draft(report, { idempotencyKey });
    const request = this.#request(draft, await this.#listing(draft.page));
    return sentReport(await call(request, deadline - performance.now()));
  }

  /**
   * What `send` would send, or the error that would stop it; uses no network. `hubUrl` is null
   * where only the page's host can name one, `page` where the report is about a path.
   */
  draft(report, { idempotencyKey } = {}) {
    checkReport(report);
    const page = checkAddress(report.doc_url, this.allowPrivate);
    const data = encode(report);
    const headers = headersOf(report, idempotencyKey);
    checkSecrets(report, idempotencyKey);
    if (page) refuseOptedOut(page, cached(page) ?? {});
    return { body: report, data, headers, hubUrl: hubUrl(this.hubUrl), page };
  }

  /** The status of a report. */
  async receipt(reportId) {
    if (!REPORT_ID.test(reportId)) throw ValidationError.of("not_a_report_id", { name: reportId });
    const url = `${requiredHubUrl(this.hubUrl)}${REPORTS}/${reportId}`;
    return receiptOf(await call({ method: "GET", url, headers: ACCEPT }, this.timeout));
  }

  /** Your organization, as `GET /v1/orgs/me` answers: name, integration, domains, sites. */
  async me() {
    const hub = requiredHubUrl(this.hubUrl);
    const headers = { ...ACCEPT, Authorization: `Bearer ${token(this.token, hub)}` };
    const request = { method: "GET", url: `${hub}/v1/orgs/me`, headers };
    return organizationOf((await call(request, this.timeout)).body);
  }

  /** The document of the page's host; OptedOut if it wants no reports. */
  async #listing(page) {
    if (!page) return {};
    const { timeout: milliseconds, allowPrivate } = this;
    const listing = await lookUp(page, { milliseconds, allowPrivate });
    refuseOptedOut(page, listing);
    return listing;
  }

  /** To the Hub that the user names, else to the one that the page's host names. */
  #request({ data, headers, hubUrl, page }, listing) {
    const request = { method: "POST", headers, body: data };
    if (hubUrl !== null) return { ...request, url: hubUrl + REPORTS };
    const url = page && endpoint(page, listing, this.allowPrivate);
    if (!url) throw noHubUrl();
    return { ...request, url, publicOnly: !this.allowPrivate };
  }
}

function headersOf(report, idempotencyKey) {
  const headers = {
    ...ACCEPT,
    "Content-Type": "application/json",
    "X-Docs-Feedback-Protocol-Version": report.protocol_version,
  };
  if (idempotencyKey === undefined || idempotencyKey === null) return headers;
  if (!KEY.test(idempotencyKey)) throw ValidationError.of("invalid_key");
  return { ...headers, "Idempotency-Key": idempotencyKey };
}

function sentReport({ status, body }) {
  const capabilities = Array.isArray(body.server_capabilities) ? body.server_capabilities : [];
  return {
    id: body.id,
    isDuplicate: yesOrNo(body.is_duplicate) ?? status === 200,
    receivedAt: textOf(body.received_at),
    protocolVersion: textOf(body.protocol_version),
    serverCapabilities: capabilities.filter((it) => typeof it === "string"),
    receiptUrl: textOf(body.receipt_url),
    notices: objectsOf(body.notices, "field", "kind"),
    status: textOf(body.status),
    claimed: yesOrNo(body.claimed),
    issueUrl: linkOf(body.issue_url),
  };
}

function receiptOf({ body }) {
  return {
    id: body.id,
    status: textOf(body.status) ?? "received",
    receivedAt: textOf(body.received_at),
    timesReported: wholeOf(body.times_reported),
    issueUrl: linkOf(body.issue_url),
    issueState: textOf(body.issue_state),
  };
}

/** The answer, without claims and the like that lack what makes them one. */
function organizationOf(body) {
  const integration = objectOf(body.integration, "provider", "status");
  return {
    ...body,
    name: textOf(body.name),
    caller: objectOf(body.caller, "login"),
    integration: integration && {
      ...integration,
      repo_owner: textOf(integration.repo_owner),
      repo_name: textOf(integration.repo_name),
      problem: textOf(integration.problem),
    },
    domains: objectsOf(body.domains, "domain", "status").map((domain) => ({
      ...domain,
      dns_record: objectOf(domain.dns_record, "name", "value"),
    })),
    sites: objectsOf(body.sites, "url", "status"),
  };
}
