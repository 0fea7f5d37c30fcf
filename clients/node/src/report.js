/** The report: its JSON. */

import { message, table } from "./contract.js";
import { isObject } from "./document.js";
import { PayloadTooLarge } from "./errors.js";
import { checked, unknownFields } from "./shape.js";

export const PROTOCOL_VERSION = "0";
const FIELDS = [
  ...["docUrl", "summary", "kind", "agent", "details", "suggestedFix", "evidence"],
  ...["agentVersion", "agentVendor", "taskSummary", "submittedAt", "locale"],
];

/** What can be wrong with a page. */
export function kinds() {
  return table("report.json").body.properties.report.properties.kind.enum;
}

/** The JSON of a complete report, or ValidationError; what is absent is left out, never null. */
export function buildReport(fields) {
  if (!isObject(fields)) return checked(fields);
  return checked(bodyOf(fields), null, unknownFields(fields, FIELDS, ""));
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

/** The text to send, of a body that was checked, or PayloadTooLarge. */
export function encode(body) {
  const data = JSON.stringify(body);
  const { max_bytes: most } = table("report.json");
  if (Buffer.byteLength(data) <= most) return data;
  throw new PayloadTooLarge("payload_too_large", message("too_large", { max_bytes: most }), {
    fields: { max_bytes: most },
  });
}

/** Every text in a JSON value, with its JSON Pointer (RFC 6901); a key with that of its object. */
export function* texts(value, pointer = "") {
  if (typeof value === "string") {
    yield [pointer, value];
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield [pointer, key];
      const step = key.replaceAll("~", "~0").replaceAll("/", "~1");
      yield* texts(item, `${pointer}/${step}`);
    }
  }
}

function present(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}
