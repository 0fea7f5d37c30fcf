/** What a Hub accepts: a report against the table `contract/report.json`, with all its faults at once. */

import { message, table } from "./contract.js";
import { isObject } from "./document.js";
import { ValidationError } from "./errors.js";
import { meant } from "./spelling.js";
import { isBlank } from "./visible.js";

export const KEY_HEADER = "header:Idempotency-Key";
const LONGEST_NAME = 100; // of an unknown field, in a fault
const TIME =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Z}]/u; // not Cn: the Hub may know a newer Unicode

const READERS = { object: readObject, array: readList, string: readText };
const FORMATS = {
  address: addressFault,
  line: (text) => (isBlank(text) ? "not_a_line" : null),
  name: (text) => (HIDDEN.test(text.replaceAll(" ", "")) || isBlank(text) ? "not_a_name" : null),
  "date-time": (text) => (isTime(text) ? null : "not_a_time"),
};

/**
 * A copy of the report in plain values, its fields in the order of the table, or ValidationError with its faults and those of the key.
 * `others` are faults that are known already. Each value is read once, so that what is sent is what
 * was checked.
 */
export function checked(body, key, others = []) {
  const { body: spec, max_faults: most } = table("report.json");
  const faults = [...others];
  let copy;
  try {
    copy = readObject(body, spec, "", faults);
  } catch {
    throw ValidationError.of("not_json_value"); // by a getter or a proxy of the caller's own
  }
  if (key !== undefined && key !== null && faultOfText(key, spec.properties.idempotency_key)) {
    faults.push(fault(KEY_HEADER, "not_a_key"));
  }
  if (!faults.length) return copy;
  throw new ValidationError("invalid_report", message("invalid_report"), {
    fields: { details: faults.slice(0, most) },
  });
}

/** The faults of the fields that are none of `known`; undefined counts as absent. */
export function unknownFields(fields, known, pointer) {
  const faults = [];
  for (const name of Object.keys(fields)) {
    if (faults.length === table("report.json").max_faults) break;
    const isUnknown = !known.includes(name) && fields[name] !== undefined;
    if (isUnknown) faults.push(unknownField(name, known, pointer));
  }
  return faults;
}

function unknownField(name, known, pointer) {
  if (!name.isWellFormed()) return fault(pointer, "half_a_character");
  const shown = [...name.slice(0, 2 * LONGEST_NAME)].slice(0, LONGEST_NAME).join("");
  const step = shown.replaceAll("~", "~0").replaceAll("/", "~1");
  const cut = shown.length < name.length ? "…" : "";
  return fault(`${pointer}/${step}${cut}`, "unknown_field", {}, meant(name, known) || elsewhere(name));
}

/** Where a field with this name belongs, such as `summary` in `report`. */
function elsewhere(name) {
  const { properties } = table("report.json").body;
  const parent = Object.keys(properties).find((each) =>
    Object.hasOwn(properties[each].properties ?? {}, name),
  );
  return parent ? message("did_you_mean", { name: `/${parent}/${name}` }) : "";
}

function fault(path, code, values, hint = "") {
  return { path, message: message(code, values) + hint };
}

function readObject(value, { properties, required }, pointer, faults) {
  if (!isObject(value)) {
    faults.push(fault(pointer, "not_an_object"));
    return null;
  }
  const known = Object.keys(properties);
  const copy = {};
  for (const name of known) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const path = `${pointer}/${name}`;
    if (given !== undefined) {
      const absent = given === null && !required.includes(name);
      const spec = properties[name];
      copy[name] = absent ? null : READERS[spec.type](given, spec, path, faults);
    } else if (required.includes(name)) {
      faults.push(fault(path, "field_required"));
    }
  }
  faults.push(...unknownFields(value, known, pointer));
  return copy;
}

function readList(value, { items, maxItems: most }, pointer, faults) {
  if (!Array.isArray(value)) {
    faults.push(fault(pointer, "not_a_list"));
    return null;
  }
  if (value.length > most) {
    faults.push(fault(pointer, "list_too_long", { most }));
    return null;
  }
  return Array.from(value, (item, place) => READERS[items.type](item, items, `${pointer}/${place}`, faults));
}

function readText(value, spec, pointer, faults) {
  const found = faultOfText(value, spec);
  if (found) faults.push({ path: pointer, message: found });
  return value;
}

/** What is wrong with a text, or null; its length is counted in code points. */
function faultOfText(text, { enum: choices, minLength = 0, maxLength, pattern, format }) {
  if (typeof text !== "string") return choices ? notOneOf(text, choices) : message("not_a_text");
  if (text.length < minLength) return message("text_empty");
  if (maxLength !== undefined && isLonger(text, maxLength)) {
    return message("text_too_long", { most: maxLength });
  }
  if (!text.isWellFormed()) return message("half_a_character");
  if (choices) return choices.includes(text) ? null : notOneOf(text, choices);
  if (pattern) return new RegExp(pattern).test(text) ? null : message("no_match", { pattern });
  if (text.includes("\0")) return message("has_nul");
  const code = format ? FORMATS[format](text) : null;
  return code && message(code);
}

/** Whether it has more code points than that; a character has two units at most. */
function isLonger(text, most) {
  return text.length > 2 * most || (text.length > most && [...text].length > most);
}

function notOneOf(value, choices) {
  const quoted = choices.map((each) => `'${each}'`);
  const last = quoted.pop();
  const values = quoted.length ? `${quoted.join(", ")} or ${last}` : last;
  return message("not_one_of", { values }) + (typeof value === "string" ? meant(value, choices) : "");
}

/** Only whether there is one: `check` of `address.js` judges it, and names the host. */
function addressFault(text) {
  if (!text) return "not_an_address";
  return text.startsWith("#") ? "only_a_fragment" : null;
}

function isTime(text) {
  const parts = TIME.exec(text);
  if (!parts) return false;
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number);
  const days = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  const isDay = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= days;
  return isDay && hour <= 23 && minute <= 59 && second <= 59;
}
