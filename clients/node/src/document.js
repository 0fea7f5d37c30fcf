/** JSON from outside, read by the same rules as in Python, and its values only if the type is right. */

const MAX_DEPTH = 20;

/** Why the JSON is not accepted: `code` is its message in `messages.json`. */
export class NoDocument extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/** JSON in UTF-8 (RFC 8259), nested 20 times at most and with finite numbers, or NoDocument. */
export function parse(data) {
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    throw new NoDocument("not_json");
  }
  check(value, MAX_DEPTH);
  return value;
}

/** Whether `value` is a JSON object. */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is a string, else null. */
export function textOf(value) {
  return typeof value === "string" ? value : null;
}

/** The value if it is true or false, else null. */
export function yesOrNo(value) {
  return typeof value === "boolean" ? value : null;
}

/** The value if it is a whole number from 0, else null. */
export function wholeOf(value) {
  return Number.isInteger(value) && value >= 0 ? value : null;
}

/** The objects in a list that have all these strings. */
export function objectsOf(value, ...texts) {
  const items = Array.isArray(value) ? value : [];
  return items.filter((it) => isObject(it) && texts.every((name) => typeof it[name] === "string"));
}

/** The value if it is an object that has all these strings, else null. */
export function objectOf(value, ...texts) {
  return objectsOf([value], ...texts)[0] ?? null;
}

function check(value, depth) {
  if (typeof value === "object" && value !== null) {
    if (depth === 0) throw new NoDocument("too_deep");
    for (const item of Object.values(value)) check(item, depth - 1);
  } else if (typeof value === "number" && !Number.isFinite(value)) {
    throw new NoDocument("not_json_value");
  }
}
