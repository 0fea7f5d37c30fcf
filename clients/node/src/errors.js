/**
 * The errors, as one tree:
 *
 * DocFeedbackError
 * ├── ValidationError     the report is not valid (`details`), or an argument is wrong
 * ├── PrivateAddress      the page is not a public https page; nothing was sent
 * ├── PolicyRejected      the report seems to contain a secret (`details`), or a policy refuses it
 * ├── OptedOut            the owner of the page does not want reports (`since`)
 * ├── AuthError           no token, a wrong one, or one without the right scope
 * ├── NotFound            there is no report with this id
 * ├── PayloadTooLarge     over `maxBytes`
 * ├── RateLimited         too many; try again in `retryAfter` seconds
 * ├── ServerError         the Hub failed, or the server is not a Hub
 * └── Unreachable         no response: refused, lost, or not in time
 */

import { message } from "./contract.js";
import { isObject, objectsOf, textOf, wholeOf } from "./document.js";
import { quoted } from "./visible.js";

/**
 * The base class. `code` is for programs, `message` for people: one line, which quotes what a Hub says.
 * `status` is the HTTP status if the Hub answered, else null; `fields` is what else is known, by the
 * names that the Hub uses.
 */
export class DocFeedbackError extends Error {
  constructor(code, sentence, { status = null, fields = {} } = {}) {
    super(sentence);
    this.name = this.constructor.name;
    this.code = code;
    this.status = status;
    Object.defineProperty(this, "fields", { value: fields, enumerable: false }); // Node prints all others
  }

  /** This error with the message that `messages.json` has for `code`. */
  static of(code, values) {
    return new this(code, message(code, values));
  }

  /** What JSON.stringify writes. */
  toJSON() {
    const { name, code, message: sentence, status, fields } = this;
    return { name, code, message: sentence, status, fields };
  }

  /** By which the operator of the Hub finds the request in the log, if the Hub said so. */
  get requestId() {
    return this.fields.request_id;
  }

  /** The faults: `[{path: <JSON Pointer or header:Name>, message}]`, may be empty. */
  get details() {
    return this.fields.details ?? [];
  }

  /** Whether the input or a safety check stopped the report before it was sent. */
  get nothingWasSent() {
    const onTheWay = this instanceof Unreachable || this instanceof ServerError;
    return this.status === null && !onTheWay;
  }
}

export class ValidationError extends DocFeedbackError {}
export class PrivateAddress extends DocFeedbackError {}
export class PolicyRejected extends DocFeedbackError {}
export class AuthError extends DocFeedbackError {}
export class NotFound extends DocFeedbackError {}
export class ServerError extends DocFeedbackError {}
export class Unreachable extends DocFeedbackError {}

export class OptedOut extends DocFeedbackError {
  /** RFC 3339, if known. */
  get since() {
    return this.fields.since;
  }
}

export class PayloadTooLarge extends DocFeedbackError {
  get maxBytes() {
    return this.fields.max_bytes;
  }
}

export class RateLimited extends DocFeedbackError {
  /** Seconds to wait, if the Hub said so. */
  get retryAfter() {
    return this.fields.retry_after;
  }
}

const BY_STATUS = {
  400: ValidationError,
  401: AuthError,
  403: AuthError,
  404: NotFound,
  410: OptedOut,
  413: PayloadTooLarge,
  422: PolicyRejected,
  429: RateLimited,
};

const CODE = /^[a-z0-9_]{1,64}$/;
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const requestIdOf = (value) => (REQUEST_ID.test(textOf(value) ?? "") ? value : null);

const READ = {
  details: (faults) => objectsOf(faults, "path", "message"),
  since: textOf,
  retry_after: wholeOf,
  max_bytes: wholeOf,
  request_id: requestIdOf,
};

/** The error for a response of 400 and above; `body` is its parsed JSON, or undefined. */
export function fromAnswer(status, body, { retryAfter = null, requestId } = {}) {
  const { error: code, message: sentence, ...fields } = isObject(body) ? body : {};
  if (requestIdOf(requestId)) fields.request_id = requestId;
  for (const name of Object.keys(READ).filter((it) => it in fields)) {
    fields[name] = READ[name](fields[name]);
    if (fields[name] === null) delete fields[name];
  }
  if (retryAfter !== null) fields.retry_after = retryAfter;
  const Kind = BY_STATUS[status] ?? (status >= 500 ? ServerError : DocFeedbackError);
  return new Kind(
    CODE.test(textOf(code) ?? "") ? code : `http_${status}`,
    typeof sentence === "string" ? byHub(sentence) : message("answered", { status }),
    { status, fields },
  );
}

/** The words of a Hub, which may say anything, as a message: an error that nobody catches is shown as it is. */
export function byHub(sentence) {
  return message("hub_says", { text: quoted(sentence) });
}
