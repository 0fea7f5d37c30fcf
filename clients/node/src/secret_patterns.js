/** Secrets in a report: what looks like one stops the report before it is sent. */

import { message, table } from "./contract.js";
import { PolicyRejected } from "./errors.js";
import { inOneLine, plain } from "./plain.js";
import { texts } from "./report.js";
import { KEY_HEADER } from "./shape.js";

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

/**
 * What is in a text as it stands, hidden in it by what divides or escapes, or in one line. What two
 * families find in one place has the kind of the first.
 */
function* kinds(text) {
  const line = inOneLine(text);
  const readings = new Set([text, plain(text), line, inOneLine(plain(line))]);
  const all = [...readings].map((each) => [each, each.toLowerCase(), new Set()]);
  for (const family of patterns().families) {
    for (const [each, lower, seen] of all) {
      if (!family.signs.some((sign) => lower.includes(sign))) continue;
      const found = starts(family, each).filter((start) => !seen.has(start));
      for (const start of found) seen.add(start);
      if (found.length) yield family.kind;
    }
  }
}

/** Where the secrets of a family begin. */
function starts(family, text) {
  return [...text.matchAll(family.pattern)]
    .filter((match) => !isPlaceholder(match, family))
    .map((match) => match.index + match[0].lastIndexOf(match[1] ?? match[0]));
}

/** Throw PolicyRejected if the report or its key seems to contain a secret. */
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
      placeholder: new RegExp(shared.placeholder, "i"), // with `u`, ſ would be an s
      sample: new RegExp(shared.sample, "u"),
      name: new RegExp(shared.name, "u"),
      families: shared.kinds.map((entry) => ({
        ...entry,
        pattern: new RegExp(whole(entry.pattern, shared.parts), "gu"),
      })),
    };
  }
  return compiled;
}

/** The pattern with each part that several have, such as `{gap}`, written out. */
function whole(pattern, parts) {
  const written = (found, [name, part]) => found.replaceAll(`{${name}}`, () => part);
  return Object.entries(parts).reduce(written, pattern);
}

/** Whether this only stands for a secret, as in documentation. */
function isPlaceholder(match, { names = true }) {
  const { placeholder, sample, name } = patterns();
  const secret = match[1] ?? match[0];
  if (sample.test(match[0]) || (!names && name.test(secret))) return true;
  return [...match[0]].length <= LONGEST_PLACEHOLDER && placeholder.test(secret);
}
