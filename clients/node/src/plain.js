/**
 * Text as a person reads it who looks for a secret, with nothing between its characters.
 *
 * `grep --color` puts color codes into a token, an editor zero-width spaces, Markdown a backslash,
 * a page entities, a terminal a line end. All of these are dropped here, for searching only. A title
 * makes one line of a text, so it is searched like that, too.
 */

import { table } from "./contract.js";

const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f\u115f\u1160]|[^\x00-\x7f\p{L}\p{N}]/gu;
const SPACE = /(?:[^\S\ufeff]|[\x1c-\x1f\x85])+/u; // what Python splits at
const MARKS = /\p{M}/gu; // or NFKD sorts them all
let patterns;

/**
 * `text` in plain ASCII letters and signs, with escapes decoded. Letters and digits of
 * other scripts stay.
 */
export function plain(text) {
  const shared = table("secrets.json");
  patterns ??= { ansi: new RegExp(shared.ansi, "gu"), written: new RegExp(shared.written, "gu") };
  const letters = text.replace(patterns.ansi, "").replace(MARKS, "");
  const seen = letters.normalize("NFKD").replace(UNSEEN, "");
  return seen.replace(patterns.written, (whole, ...groups) => meant(whole, groups, shared.names));
}

/** `text` as a title has it: all white space between its words is one space. */
export function inOneLine(text) {
  return text.split(SPACE).filter(Boolean).join(" ");
}

/** The one character that an entity or an escape stands for; nothing for what only separates. */
function meant(whole, [decimal, hexEntity, hexUrl, hexJson, name, itself], names) {
  const hex = hexEntity ?? hexUrl ?? hexJson;
  if (decimal) return Number(decimal) < 0x80 ? String.fromCharCode(Number(decimal)) : whole;
  if (hex) return String.fromCharCode(parseInt(hex, 16));
  if (name) return Object.hasOwn(names, name) ? names[name] : whole;
  return itself ?? "";
}
