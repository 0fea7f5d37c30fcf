/** Reports problems of documentation pages to a Docs Feedback Hub. */

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
  /** The name of who reports. */
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
}

/** What became of a report. */
export interface Receipt {
  id: string;
  status: "received" | "forwarding" | "forwarded";
  receivedAt: string | null;
  timesReported: number | null;
  issueUrl: string | null;
}

/** A report that may be sent, as far as can be told without the network. */
export interface Draft {
  body: Report;
  data: string;
  headers: Record<string, string>;
  /** null where only the page's host can name a Hub. */
  hubUrl: string | null;
  /** null where the report is about a path in a repository. */
  page: { scheme: string; host: string; port: number | null; rest: string } | null;
}

export interface ClientOptions {
  /** Else DOCFEEDBACK_HUB_URL, the configuration file, or what the page's host names. */
  hubUrl?: string | null;
  /** For `me`; else DOCFEEDBACK_TOKEN or the configuration file. Never sent with a report. */
  token?: string | null;
  /** Milliseconds for a whole call; 10,000 unless given. */
  timeout?: number;
  /** Report http and private pages too, to a Hub of your own. */
  allowPrivate?: boolean;
}

export interface SendOptions {
  /** Marks repeats of one report; without it the Hub tells them by page, agent and summary. */
  idempotencyKey?: string | null;
}

/** Talks to one Hub. All calls reject with a DocFeedbackError, and with nothing else. */
export declare class Client {
  constructor(options?: ClientOptions);
  /** Send a report, unless a guard stops it. */
  send(report: Report, options?: SendOptions): Promise<SentReport>;
  /** What `send` would send, or the error that would stop it; uses no network. */
  draft(report: Report, options?: SendOptions): Draft;
  /** What became of a report. */
  receipt(reportId: string): Promise<Receipt>;
  /** Your organization, as `GET /v1/orgs/me` answers. */
  me(): Promise<Record<string, unknown> & { id: string }>;
}

/** One fault: where (a JSON Pointer or `header:<Name>`), and what. */
export interface Fault {
  path?: string;
  message?: string;
}

/** The root of what can go wrong. */
export declare class DocFeedbackError extends Error {
  /** The word for programs; `message` is the sentence for people. */
  readonly code: string;
  /** The HTTP status where the Hub answered. */
  readonly status: number | null;
  /** What else is known, by the Hub's names. */
  readonly fields: Record<string, unknown>;
  get details(): Fault[];
  /** Whether the input or a guard stopped the report before it left. */
  get nothingWasSent(): boolean;
}

/** The report has a wrong shape (`details`), or an argument is wrong. */
export declare class ValidationError extends DocFeedbackError {}
/** The page is not a public https page; nothing was sent. */
export declare class PrivateAddress extends DocFeedbackError {}
/** The report seems to hold a secret (`details`), or a policy refuses it. */
export declare class PolicyRejected extends DocFeedbackError {}
/** No token, a wrong one, or one without the right scope. */
export declare class AuthError extends DocFeedbackError {}
/** There is no such report. */
export declare class NotFound extends DocFeedbackError {}
/** The Hub failed, or what answers is not a Hub. */
export declare class ServerError extends DocFeedbackError {}
/** No answer: refused, broken, or not in time. */
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
