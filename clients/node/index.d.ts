/** Reports problems in documentation pages to a Docs Feedback Hub. */

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
  evidence?: Evidence[] | null;
  agentVersion?: string | null;
  agentVendor?: string | null;
  taskSummary?: string | null;
  /** RFC 3339. */
  submittedAt?: string | null;
  locale?: string | null;
}

/** A report as JSON, as it is sent. */
export interface Report {
  $comment?: string;
  protocol_version: string;
  doc_url: string;
  agent: { name: string; version?: string; vendor?: string };
  report: {
    kind: Kind;
    summary: string;
    details?: string;
    evidence?: Evidence[];
    suggested_fix?: string;
  };
  task_context?: { task_summary?: string; transcript_excerpt?: string };
  idempotency_key?: string;
  submitted_at?: string;
  locale?: string;
  client_capabilities?: string[];
}

/** The JSON of a complete report, or ValidationError. */
export declare function buildReport(fields: ReportFields): Report;

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
}

/** The status of a report. */
export interface Receipt {
  id: string;
  status: "received" | "forwarding" | "forwarded";
  receivedAt: string | null;
  timesReported: number | null;
  issueUrl: string | null;
  issueState: string | null;
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
  /** For `me`; default: DOCFEEDBACK_TOKEN or the configuration file. Never sent with a report. */
  token?: string | null;
  /** Milliseconds for a whole call; default: 10,000. */
  timeout?: number;
  /** Also report http and private pages, to a Hub of your own. */
  allowPrivate?: boolean;
}

export interface SendOptions {
  /** Identifies repeats of a report; by default the Hub uses page, agent and summary. */
  idempotencyKey?: string | null;
}

/** Talks to one Hub. All calls reject with a DocFeedbackError only. */
export declare class Client {
  constructor(options?: ClientOptions);
  /** Send a report, unless a safety check stops it. */
  send(report: Report, options?: SendOptions): Promise<SentReport>;
  /** What `send` would send, or the error that would stop it; uses no network. */
  draft(report: Report, options?: SendOptions): Draft;
  /** The status of a report. */
  receipt(reportId: string): Promise<Receipt>;
  /** Your organization, as `GET /v1/orgs/me` answers. */
  me(): Promise<Record<string, unknown> & { id: string }>;
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
