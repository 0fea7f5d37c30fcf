/** The report: its JSON, and the check that it is complete (the Hub checks the rest). */

import { message } from "./contract.js";
import { isObject } from "./document.js";
import { PayloadTooLarge, ValidationError } from "./errors.js";
import { isBlank } from "./visible.js";

export const PROTOCOL_VERSION = "0";
export const KINDS = ["broken", "incorrect", "outdated", "missing", "unclear", "other"];
const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 20;
const REQUIRED = [
  ["/protocol_version", [PROTOCOL_VERSION]],
  ["/doc_url", []],
  ["/agent/name", []],
  ["/report/kind", KINDS],
  ["/report/summary", []],
];

/** The JSON of a complete report, or ValidationError; what is absent is left out, never null. */
export function buildReport(fields) {
  const body = bodyOf(fields);
  check(body);
  return body;
}

/** The same, unchecked. */
export function bodyOf(fields) {
  const taskContext = present({ task_summary: fields.taskSummary });
  return present({
    protocol_version: PROTOCOL_VERSION,
    doc_url: fields.docUrl,
    agent: present({
      name: fields.agent,
      version: fields.agentVersion,
      vendor: fields.agentVendor,
    }),
    report: present({
      kind: fields.kind,
      summary: fields.summary,
      details: fields.details,
      evidence: fields.evidence,
      suggested_fix: fields.suggestedFix,
    }),
    task_context: Object.keys(taskContext).length ? taskContext : null,
    submitted_at: fields.submittedAt,
    locale: fields.locale,
  });
}

/** Throw ValidationError with every fault, unless the required fields are there. */
export function check(body) {
  if (!isObject(body)) throw invalid([fault("", "not_an_object")]);
  const faults = REQUIRED.flatMap(([pointer, choices]) => {
    const code = wrong(body, pointer, choices);
    return code ? [fault(pointer, code)] : [];
  });
  faults.push(...faultsOfEvidence(body.report?.evidence ?? null));
  if (faults.length) throw invalid(faults);
}

/** The text to send, or ValidationError, or PayloadTooLarge. */
export function encode(body) {
  for (const [pointer, text] of texts(body)) {
    if (!text.isWellFormed()) throw invalid([fault(pointer, "half_a_character")]);
  }
  const data = stringify(body);
  if (Buffer.byteLength(data) > MAX_BYTES) {
    const sentence = message("too_large", { max_bytes: MAX_BYTES });
    throw new PayloadTooLarge("payload_too_large", sentence, { fields: { max_bytes: MAX_BYTES } });
  }
  return data;
}

function stringify(body) {
  try {
    return JSON.stringify(body, finite);
  } catch {
    throw ValidationError.of("not_json_value");
  }
}

/** The value, since JSON.stringify would write null for a number that JSON does not have. */
function finite(key, value) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(key);
  return value;
}

/** Every text in a JSON value, with its JSON Pointer (RFC 6901); a key with that of its object. */
export function* texts(value, pointer = "", depth = 0) {
  if (depth > MAX_DEPTH) throw ValidationError.of("too_deep");
  if (typeof value === "string") {
    yield [pointer, value];
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield [pointer, key];
      const step = key.replaceAll("~", "~0").replaceAll("/", "~1");
      yield* texts(item, `${pointer}/${step}`, depth + 1);
    }
  }
}

/** The code of what is wrong with a required text, or null. */
function wrong(body, pointer, choices) {
  let value = body;
  for (const step of pointer.split("/").slice(1)) {
    value = isObject(value) ? value[step] : undefined;
  }
  if (value === undefined || value === null) return "field_required";
  if (typeof value !== "string" || isBlank(value)) return "not_a_text";
  if (choices.length && !choices.includes(value)) {
    return choices === KINDS ? "not_a_kind" : "version_not_0";
  }
  return null;
}

function faultsOfEvidence(evidence) {
  if (evidence === null) return [];
  if (!Array.isArray(evidence)) return [fault("/report/evidence", "not_a_list")];
  return evidence.flatMap((item, index) =>
    isObject(item) ? [] : [fault(`/report/evidence/${index}`, "not_an_object")],
  );
}

function fault(path, code) {
  return { path, message: message(code) };
}

function invalid(details) {
  return new ValidationError("invalid_report", message("invalid_report"), { fields: { details } });
}

function present(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}
