/** Reports problems in documentation pages to a Docs Feedback Hub. */

/// <reference lib="esnext.disposable" />

export declare const VERSION: string;

export type Kind = "broken" | "incorrect" | "outdated" | "missing" | "unclear" | "other";

export type EvidenceKind =
  | "error_message"
  | "attempted_action"
  | "expected"
  | "observed"
  | "code_snippet"
  | "quote";

export interface Evidence {
  kind: EvidenceKind;
  text: string;
}

export interface ReportFields {
  /** A public https address, or a path in your repository. */
  docUrl: string;
  /** What is wrong, in one line. */
  summary: string;
  kind: Kind;
  /** The name of the reporter. */
  agent: string;
  details?: string | null;
  suggestedFix?: string | null;
  evidence?: readonly Evidence[] | null;
  agentVersion?: string | null;
  agentVendor?: string | null;
  taskSummary?: string | null;
  /** RFC 3339. */
  submittedAt?: string | null;
  locale?: string | null;
}

/** A report as JSON, as it is sent. null counts as absent. */
export interface Report {
  $comment?: string | null;
  protocol_version: string;
  doc_url: string;
  agent: { name: string; version?: string | null; vendor?: string | null };
  report: {
    kind: Kind;
    summary: string;
    details?: string | null;
    evidence?: readonly Evidence[] | null;
    suggested_fix?: string | null;
  };
  task_context?: { task_summary?: string | null; transcript_excerpt?: string | null } | null;
  idempotency_key?: string | null;
  submitted_at?: string | null;
  locale?: string | null;
  client_capabilities?: readonly string[] | null;
}

/** The JSON of a report, or ValidationError with every fault, also of unknown fields. */
export declare function buildReport(fields: ReportFields): Report;

/** The issue of a problem that was known before, which everybody may see. */
export interface KnownIssue {
  url: string;
  state: "open" | "closed";
}

/** What the page's owner says to those who report a problem: their words, to be quoted. */
export interface OwnerAnswer {
  text: string;
  link: string | null;
}

/** The Hub's answer. */
export interface SentReport {
  id: string;
  isDuplicate: boolean;
  receivedAt: string | null;
  protocolVersion: string | null;
  serverCapabilities: string[];
  receiptUrl: string | null;
  /** What the Hub removed: field (a JSON Pointer) and kind of secret. */
  notices: { field: string; kind: string }[];
  /** null: an older Hub does not say. */
  status: "received" | "forwarding" | "forwarded" | null;
  /** Whether an organization receives reports about the page; null: an older Hub does not say. */
  claimed: boolean | null;
  /** The issue, if there is one and everybody may see it. */
  issueUrl: string | null;
  /** The issue, if the problem was known before and everybody may see it. */
  knownIssue: KnownIssue | null;
  /** What the page's owner says to those who report the problem. */
  answer: OwnerAnswer | null;
}

/** The status of a report. */
export interface Receipt {
  id: string;
  status: "received" | "forwarding" | "forwarded";
  receivedAt: string | null;
  timesReported: number | null;
  issueUrl: string | null;
  issueState: string | null;
  /** The issue that the report has joined, since the problem was known. */
  knownIssue: KnownIssue | null;
  /** What the page's owner says to those who report the problem. */
  answer: OwnerAnswer | null;
}

/** The open problems of a page that are known, as `GET /v1/pages` answers. */
export interface KnownProblems {
  url: string;
  problems: {
    issue_url: string;
    /** null: it was erased on the Hub. */
    title: string | null;
    kind: string;
    times_reported: number | null;
    first_reported_at: string | null;
    last_reported_at: string | null;
    answer: OwnerAnswer | null;
  }[];
}

/** Which reports to list; the filters of `GET /v1/orgs/me/reports`. */
export interface ReportFilters {
  status?: "none" | "pending" | "sending" | "sent" | "folded" | "held" | "failed" | "discarded" | null;
  kind?: Kind | null;
  q?: string | null;
  page?: string | null;
  agent?: string | null;
  claim?: string | null;
  /** A day in UTC, such as 2026-11-30. */
  since?: string | null;
  until?: string | null;
}

/** A report as `GET /v1/orgs/me/reports` lists it. */
export interface ListedReport extends Record<string, unknown> {
  id: string;
  received_at: string;
  doc_url: string;
  kind: string;
  summary: string;
  agent_name: string;
  times_reported: number | null;
  further_accounts: number | null;
  erased_at: string | null;
  /** null: it arrived before a repository was chosen. */
  delivery:
    | ({
        status: string;
        held_for: string | null;
        reason: string | null;
        waits_for: (Record<string, unknown> & { cause: string; message: string }) | null;
        issue_url: string | null;
        attempts: number | null;
      } & Record<string, unknown>)
    | null;
}

/** A report that may be sent, as far as can be checked without the network. */
export interface Draft {
  body: Report;
  data: string;
  headers: Record<string, string>;
  /** null if only the page's host can name a Hub. */
  hubUrl: string | null;
  /** null if the report is about a path in a repository. */
  page: { scheme: string; host: string; port: number | null; rest: string } | null;
}

export interface ClientOptions {
  /** Default: DOCFEEDBACK_HUB_URL, the configuration file, or the Hub that the page's host names. */
  hubUrl?: string | null;
  /** For `me` and `reports`; default: DOCFEEDBACK_TOKEN or the configuration file. Never sent with a report. */
  token?: string | null;
  /** Milliseconds for a whole call from its turn on, a day at most; default: 10,000. */
  timeout?: number;
  /** Also report http and private pages, to a Hub of your own. */
  allowPrivate?: boolean;
  /** Sends the requests in place of our own transport, such as the global `fetch`. */
  fetch?: Transport | null;
}

/** Is given a part of what the global `fetch` is given, and returns a `Response`, or a part of one. */
export type Transport = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    /** Aborts at the end of the time, and with the signal of the call. */
    signal: AbortSignal;
    redirect: "manual";
  },
) => Promise<
  | Response // named, since TypeScript 5.2 and `lib: ["dom"]` do not know that its parts are iterable
  | {
      status: number;
      headers: Iterable<[string, string]> | Record<string, string>;
      body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null;
    }
>;

export interface CallOptions {
  /** When it aborts, the call rejects with its reason, and nothing more is sent. */
  signal?: AbortSignal | null;
}

export interface KnownOptions extends CallOptions {
  /** Whether the page's host is looked up as for a report (default); false, with a Hub that is set, leaves it alone. */
  lookUp?: boolean;
}

export interface SendOptions extends CallOptions {
  /** Identifies repeats of a report; by default the Hub uses page, agent and summary. */
  idempotencyKey?: string | null;
}

/** Talks to one Hub. All calls reject with a DocFeedbackError, or with the reason of their signal. */
export declare class Client {
  constructor(options?: ClientOptions);
  /** Send a report, unless a safety check stops it. */
  send(report: Report, options?: SendOptions): Promise<SentReport>;
  /** What `send` would send, or the error that would stop it; uses no network. */
  draft(report: Report, options?: SendOptions): Draft;
  /** The status of a report, by its ID or the URL of its receipt. */
  receipt(report: string, options?: CallOptions): Promise<Receipt>;
  /** The open problems of a page that are known; NotFound if its owner does not show them. */
  known(url: string, options?: KnownOptions): Promise<KnownProblems>;
  /** Your organization, as `GET /v1/orgs/me` answers. */
  me(options?: CallOptions): Promise<Record<string, unknown> & { id: string }>;
  /** Your organization's reports, newest first: `for await (const report of client.reports())`. */
  reports(filters?: ReportFilters, options?: CallOptions): AsyncGenerator<ListedReport, void, undefined>;
  /** Refuse further calls. */
  close(): void;
  /** The same, for `using` and `await using`; not before Node 20.5. */
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** One fault: its place (a JSON Pointer or `header:<Name>`) and its message. */
export interface Fault {
  path?: string;
  message?: string;
}

/** The base class of all errors. */
export declare class DocFeedbackError extends Error {
  /** The error code, for programs; `message` is for people. */
  readonly code: string;
  /** The HTTP status, if the Hub answered. */
  readonly status: number | null;
  /** What else is known, by the names that the Hub uses. */
  readonly fields: Record<string, unknown>;
  get details(): Fault[];
  /** By which the operator of the Hub finds the request in the log, if the Hub said so. */
  get requestId(): string | undefined;
  /** Whether the input or a safety check stopped the report before it was sent. */
  get nothingWasSent(): boolean;
}

/** The report is not valid (`details`), or an argument is wrong. */
export declare class ValidationError extends DocFeedbackError {}
/** The page is not a public https page; nothing was sent. */
export declare class PrivateAddress extends DocFeedbackError {}
/** The report seems to contain a secret (`details`), or a policy refuses it. */
export declare class PolicyRejected extends DocFeedbackError {}
/** There is no token, or it is wrong or lacks the scope. */
export declare class AuthError extends DocFeedbackError {}
/** There is no report with this id. */
export declare class NotFound extends DocFeedbackError {}
/** The Hub failed, or the server is not a Hub. */
export declare class ServerError extends DocFeedbackError {}
/** No response: refused, lost, or not in time. */
export declare class Unreachable extends DocFeedbackError {}
/** The owner of the page does not want reports. */
export declare class OptedOut extends DocFeedbackError {
  get since(): string | undefined;
}
/** The report is too large. */
export declare class PayloadTooLarge extends DocFeedbackError {
  get maxBytes(): number | undefined;
}
/** Too many reports; try again in `retryAfter` seconds. */
export declare class RateLimited extends DocFeedbackError {
  get retryAfter(): number | undefined;
}
