/** Secrets in a report: what looks like one stops the report before it is sent. */

import { message, table } from "./contract.js";
import { PolicyRejected } from "./errors.js";
import { plain } from "./plain.js";
import { texts } from "./report.js";

const KEY_HEADER = "header:Idempotency-Key";
const LONGEST_PLACEHOLDER = 200; // in a long key such letters may stand by chance
let compiled;

/**
 * Where secrets are: `[{field: <JSON Pointer or header>, kind}]`, each once; never the secrets
 * themselves.
 */
export function find(body, idempotencyKey) {
  const found = new Map();
  for (const [field, text] of [...texts(body), [KEY_HEADER, idempotencyKey ?? ""]]) {
    for (const kind of kinds(text)) found.set(`${field}\n${kind}`, { field, kind });
  }
  return [...found.values()];
}

/** What is in a text as it stands, or hidden in it by what divides or escapes. */
function* kinds(text) {
  const all = [...new Set([text, plain(text)])].map((each) => [each, each.toLowerCase()]);
  for (const { kind, signs, pattern } of patterns().kinds) {
    for (const [each, lower] of all) {
      if (signs.some((sign) => lower.includes(sign)) && hasSecret(pattern, each)) yield kind;
    }
  }
}

function hasSecret(pattern, text) {
  return [...text.matchAll(pattern)].some((match) => !isPlaceholder(match));
}

/** Throw PolicyRejected where the report or its key seems to hold a secret. */
export function check(body, idempotencyKey) {
  const details = find(body, idempotencyKey).map(({ field, kind }) => ({
    path: field,
    message: message("secret_kind", { kind }),
  }));
  if (details.length) {
    throw new PolicyRejected("secret_found", message("secret_found"), { fields: { details } });
  }
}

function patterns() {
  if (!compiled) {
    const shared = table("secrets.json");
    compiled = {
      placeholder: new RegExp(shared.placeholder, "i"),
      words: new RegExp(shared.words),
      kinds: shared.kinds.map((entry) => ({ ...entry, pattern: new RegExp(entry.pattern, "g") })),
    };
  }
  return compiled;
}

/** Whether what was found only stands for a secret, as documentation is full of. */
function isPlaceholder(match) {
  if (match[0].length > LONGEST_PLACEHOLDER) return false;
  const secret = match[1] ?? match[0];
  return patterns().placeholder.test(secret) || patterns().words.test(match[0]);
}
