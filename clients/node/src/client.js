/** The client of one Hub. */

import { check as checkAddress } from "./address.js";
import { organizationOf, receiptOf, sentReport } from "./answers.js";
import { cached, endpoint, lookUp, refuseOptedOut } from "./discovery.js";
import { isObject } from "./document.js";
import { ValidationError } from "./errors.js";
import { call } from "./hub.js";
import { hasProblems, knownOf, questionFor } from "./known.js";
import { requestFor } from "./receipts.js";
import { encode } from "./report.js";
import { checkedFilters, fetchPage, pages } from "./report_list.js";
import { check as checkSecrets } from "./secret_patterns.js";
import {
  DEFAULT_TIMEOUT,
  REPORTS,
  hubUrl,
  isTimeout,
  noHubUrl,
  requiredHubUrl,
  token,
} from "./settings.js";
import { checked } from "./shape.js";
import { turns } from "./turns.js";
import { ACCEPT } from "./web.js";

const MOST_CALLS = 16; // that may look a name up, each by one process at a time: 40 MB, of which it shares a half
const inTurn = turns(MOST_CALLS);

/**
 * Talks to one Hub.
 *
 * `hubUrl`: else DOCFEEDBACK_HUB_URL, the configuration file, or what the page's host names.
 * `token`: for `me` and `reports`; else DOCFEEDBACK_TOKEN or the configuration file. Never sent with a report.
 * `timeout`: milliseconds for a whole call. `allowPrivate`: report http and private pages too.
 * `fetch`: sends the requests in place of ours; it gets what the global `fetch` gets.
 * All calls reject with the errors of `errors.js`, and no others, but for the reason of a `signal`
 * that aborts one.
 */
export class Client {
  #token; // private, so that nothing shows it
  #fetch;
  #isClosed = false;

  constructor(options = {}) {
    if (!isObject(options)) throw ValidationError.of("wrong_type", { name: "options" });
    const { hubUrl, token, timeout = DEFAULT_TIMEOUT, allowPrivate = false, fetch } = options;
    this.hubUrl = hubUrl;
    this.token = token;
    this.timeout = timeout;
    this.allowPrivate = allowPrivate;
    this.#fetch = fetch ?? undefined;
    this.#check();
  }

  /** To be set, and not to be seen. */
  set token(value) {
    this.#token = value;
  }

  /** Refuse further calls. There is nothing to wait for: each request has its own connection. */
  close() {
    this.#isClosed = true;
  }

  /**
   * Send a report (the JSON of one, as `buildReport` gives it) unless a safety check stops it. Without
   * `idempotencyKey` the Hub recognizes repeats by page, agent and summary.
   */
  async send(report, options) {
    const way = this.#way(options);
    const draft = this.draft(report, options);
    return this.#inTurn(draft.page, way, async (deadline, endTurn) => {
      const request = this.#request(draft, await this.#listing(draft.page, way));
      if (!request.publicOnly) endTurn();
      return sentReport(await call(request, deadline - performance.now(), way));
    });
  }

  /**
   * What `send` would send, or the error that would stop it; uses no network. `hubUrl` is null
   * where only the page's host can name one, `page` where the report is about a path.
   */
  draft(report, options) {
    this.#check();
    const { idempotencyKey } = given(options);
    const body = checked(report, idempotencyKey);
    const page = checkAddress(body.doc_url, this.allowPrivate);
    const data = encode(body);
    const headers = headersOf(body, idempotencyKey);
    checkSecrets(body, idempotencyKey);
    if (page) refuseOptedOut(page, cached(page) ?? {});
    return { body, data, headers, hubUrl: hubUrl(this.hubUrl), page };
  }

  /** The status of a report, by its ID or the URL of its receipt. */
  async receipt(report, options) {
    const way = this.#way(options);
    const request = requestFor(report, this.hubUrl, this.allowPrivate);
    const ask = () => call(request, this.timeout, way);
    return receiptOf(await this.#inTurn(request.publicOnly, way, ask));
  }

  /**
   * The open problems of a page that are known, as `GET /v1/pages` answers: url, problems. The page's
   * host is looked up as for a report, unless `lookUp` is false and a Hub is set; then the page's address
   * goes to the Hub, and nothing else. NotFound if its owner does not show them.
   */
  async known(url, { lookUp: isLookedUp = true, ...options } = {}) {
    const way = this.#way(options);
    const page = this.#page(url);
    const hub = hubUrl(this.hubUrl);
    const mayLookUp = isLookedUp || hub === null;
    const ask = async (deadline, endTurn) => {
      const listing = mayLookUp ? await this.#listing(page, way) : {};
      const request = this.#question({ url, page, hub }, listing);
      if (!request.publicOnly) endTurn();
      return call(request, deadline - performance.now(), way, hasProblems);
    };
    return knownOf((await this.#inTurn(mayLookUp, way, ask)).body, url);
  }

  /** Your organization, as `GET /v1/orgs/me` answers: name, integration, domains, sites. */
  async me(options) {
    const way = this.#way(options);
    const hub = requiredHubUrl(this.hubUrl);
    const headers = { ...ACCEPT, Authorization: `Bearer ${token(this.#token, hub)}` };
    const request = { method: "GET", url: `${hub}/v1/orgs/me`, headers };
    return organizationOf((await call(request, this.timeout, way)).body);
  }

  /**
   * Your organization's reports, newest first, as `GET /v1/orgs/me/reports` lists them, for `for await`.
   * The filters are those of the API: status, kind, q, page, agent, claim, since and until. Pages are
   * fetched as they are needed; `timeout` is for each of them. Where there are more than the Hub takes
   * requests for in a minute, the next one waits for as long as it says.
   */
  async *reports(filters = {}, options) {
    const way = this.#way(options);
    const chosen = checkedFilters(filters);
    const hub = requiredHubUrl(this.hubUrl);
    const found = token(this.#token, hub);
    const ask = (asked) => fetchPage(hub, found, asked, this.timeout, way);
    for await (const { reports } of pages(hub, chosen, ask, way.signal)) yield* reports;
  }

  /**
   * What `work` gives, its time beginning at its turn if it may look a name up. It is given the end of its
   * time, and what ends its turn once it looks no name up any more.
   */
  #inTurn(mayLookUp, { fetch, signal }, work) {
    const begin = (endTurn) => work(performance.now() + this.timeout, endTurn);
    return mayLookUp && !fetch && !this.allowPrivate ? inTurn(begin, signal) : begin(() => {});
  }

  /** The document of the page's host; OptedOut if it wants no reports. */
  async #listing(page, way) {
    if (!page) return {};
    const { timeout: milliseconds, allowPrivate } = this;
    const listing = await lookUp(page, { milliseconds, allowPrivate, way });
    refuseOptedOut(page, listing);
    return listing;
  }

  /** The page that a question is about, or the error that stops it. */
  #page(url) {
    if (!isText(url)) throw ValidationError.of("wrong_type", { name: "url" });
    const page = checkAddress(url, this.allowPrivate);
    if (!page) throw ValidationError.of("not_a_page", { name: url });
    checkSecrets({ doc_url: url });
    return page;
  }

  /** The question about a page, to the Hub that the user names, else to the one that its host names. */
  #question({ url, page, hub }, listing) {
    if (hub !== null) return questionFor(url, hub + REPORTS);
    const found = endpoint(page, listing, this.allowPrivate);
    if (!found?.endsWith(REPORTS)) throw noHubUrl();
    return questionFor(url, found, !this.allowPrivate);
  }

  /** To the Hub that the user names, else to the one that the page's host names. */
  #request({ data, headers, hubUrl, page }, listing) {
    const request = { method: "POST", headers, body: data };
    if (hubUrl !== null) return { ...request, url: hubUrl + REPORTS };
    const url = page && endpoint(page, listing, this.allowPrivate);
    if (!url) throw noHubUrl();
    return { ...request, url, publicOnly: !this.allowPrivate };
  }

  /** How the requests of one call leave; its `signal` stops them. */
  #way(options) {
    this.#check();
    const { signal } = given(options);
    const isSignal = signal === undefined || signal === null || signal instanceof AbortSignal;
    if (!isSignal) throw ValidationError.of("wrong_type", { name: "signal" });
    signal?.throwIfAborted();
    return { fetch: this.#fetch, signal: signal ?? undefined };
  }

  /** Throw ValidationError if it is closed, or what it was given cannot be used. */
  #check() {
    if (this.#isClosed) throw ValidationError.of("closed");
    if (!isTimeout(this.timeout)) throw ValidationError.of("invalid_timeout");
    const isAbsent = (value) => value === undefined || value === null;
    const areRight = {
      hubUrl: isAbsent(this.hubUrl) || isText(this.hubUrl),
      token: isAbsent(this.#token) || isText(this.#token),
      allowPrivate: typeof this.allowPrivate === "boolean",
      fetch: isAbsent(this.#fetch) || typeof this.#fetch === "function",
    };
    const name = Object.keys(areRight).find((it) => !areRight[it]);
    if (name) throw ValidationError.of("wrong_type", { name });
  }
}

// Before Node 20.5 there are no such symbols.
if (Symbol.dispose) Client.prototype[Symbol.dispose] = Client.prototype.close;
if (Symbol.asyncDispose) {
  Client.prototype[Symbol.asyncDispose] = async function close() {
    this.close();
  };
}

const isText = (value) => typeof value === "string";

/** The options of a call, or ValidationError. */
function given(options) {
  if (options === undefined || options === null) return {};
  if (!isObject(options)) throw ValidationError.of("wrong_type", { name: "options" });
  return options;
}

function headersOf(report, idempotencyKey) {
  const headers = {
    ...ACCEPT,
    "Content-Type": "application/json",
    "X-Docs-Feedback-Protocol-Version": report.protocol_version,
  };
  if (idempotencyKey === undefined || idempotencyKey === null) return headers;
  return { ...headers, "Idempotency-Key": idempotencyKey };
}
