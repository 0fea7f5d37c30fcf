/** JSON from outside, read by the same rules as in Python, and its values only if the type is right. */

const MAX_DEPTH = 20;

/** Why the JSON is not accepted: `code` is its message in `messages.json`, `key` the key it is about. */
export class NoDocument extends Error {
  constructor(code, key = "") {
    super(code);
    this.code = code;
    this.key = key;
  }
}

/**
 * JSON in UTF-8 (RFC 8259), nested 20 times at most and with finite numbers, or NoDocument. `unique`:
 * no object may have a key twice, of which a parser may take either.
 */
export function parse(data, { unique = false } = {}) {
  let text;
  let value;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(data);
    value = JSON.parse(text);
  } catch {
    throw new NoDocument("not_json");
  }
  if (unique) refuseRepeatedKeys(text);
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

/** The value if it is a whole number from 0 that is exact, else null. */
export function wholeOf(value) {
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
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

/** Looks at JSON that is valid; JSON.parse takes the last of several values. */
function refuseRepeatedKeys(text) {
  const open = [];
  let string = "";
  for (const token of tokens(text)) {
    if (token === "{" || token === "[") open.push({ seen: new Set(), repeated: null });
    else if (token === ":") note(open.at(-1), JSON.parse(string));
    else if (token !== "}" && token !== "]") string = token;
    else {
      const { repeated } = open.pop();
      if (repeated !== null) throw new NoDocument("duplicate_key", repeated);
    }
  }
}

/** Its strings, brackets and colons; without a pattern, whose stack a long string would fill. */
function* tokens(text) {
  for (let at = 0; at < text.length; at += 1) {
    const start = at;
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"'; at += text[at] === "\\" ? 2 : 1);
      yield text.slice(start, at + 1);
    } else if ("{[:]}".includes(text[at])) {
      yield text[at];
    }
  }
}

function note(object, key) {
  if (object.seen.has(key)) object.repeated ??= key;
  object.seen.add(key);
}

function check(value, depth) {
  if (typeof value === "object" && value !== null) {
    if (depth === 0) throw new NoDocument("too_deep");
    for (const item of Object.values(value)) check(item, depth - 1);
  } else if (typeof value === "number" && !Number.isFinite(value)) {
    throw new NoDocument("not_json_value");
  }
}
