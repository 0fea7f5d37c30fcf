/** Invisible characters, and those that control a terminal: what is shown must be what is sent. */

import { table } from "./contract.js";

const LONGEST_QUOTE = 500;
const SHARED = table("visible.json");
const ODD = /[^\n\x20-\x7e]+/gu;
const MARK = /^\p{M}$/u;
const NO_SIGN = /^[\p{C}\p{Z}]$/u;
const LONG_GAP = new RegExp(` {${SHARED.longest_gap + 1},}`, "g");

/** For a pattern with the flag `u`, between its brackets. */
function classOf(ranges) {
  return ranges.map((each) => each.split("-").map((end) => `\\u{${end}}`).join("-")).join("");
}

export const INVISIBLE = classOf(SHARED.unseen) + classOf(SHARED.blank); // some are letters or signs, with nothing to see
const ANY = new RegExp(`[${INVISIBLE}]`, "gu");
const ONE = new RegExp(`^[${INVISIBLE}]$`, "u");
const WIDE = new RegExp(`^[${classOf(SHARED.wide)}]$`, "u");
const ON_ANOTHER = new RegExp(`^[\\p{Mn}\\p{Me}${classOf(SHARED.joined)}]$`, "u");
const BLANK = new RegExp(`^[ ${INVISIBLE}]*$`, "u");

export function isBlank(text) {
  return BLANK.test(text);
}

/** A line for a terminal, with a space for each of them. */
export function plain(line) {
  return line.replace(ANY, " ");
}

/** A text from outside as one line of at most `most` characters, with one space between its words. */
export function line(text, most) {
  const beginning = [...text.slice(0, 8 * most)].slice(0, 4 * most).join(""); // or a long text takes long
  const words = plain(beginning).split(" ").filter(Boolean).join(" ");
  const characters = [...words];
  const isWhole = characters.length <= most && beginning.length === text.length;
  return isWhole ? words : `${characters.slice(0, most - 1).join("")}…`;
}

/** Others' words for quotes that nothing in them can close. */
export function quoted(text) {
  return line(text, LONGEST_QUOTE).replaceAll('"', "'");
}

/** In columns of a terminal, of what can be seen. */
export function width(text) {
  let used = 0;
  for (const [, columns] of withColumns(text)) used += columns;
  return used;
}

/** The text in at most `most` columns of a terminal; what does not fit is cut off. */
export function cut(text, most) {
  let kept = "";
  let used = 0;
  for (const [character, columns] of withColumns(text)) {
    used += columns;
    if (used < most) kept += character;
    if (used > most) return `${kept}…`;
  }
  return text;
}

/** Each character and its columns: marks stand on the one before; too many count like letters. */
function* withColumns(text) {
  let marks = 0;
  for (const character of text) {
    marks = ON_ANOTHER.test(character) ? marks + 1 : 0;
    if (marks > 0 && marks <= SHARED.most_marks) yield [character, 0];
    else yield [character, WIDE.test(character) ? 2 : 1];
  }
}

/** A value as a line of JSON in which each of them is an escape, so that nothing is lost or hidden. */
export function jsonLine(value) {
  return escaped(JSON.stringify(value));
}

/** The same for people, in indented lines. */
export function jsonLines(value) {
  const lines = JSON.stringify(value, null, 2).split("\n");
  return lines.map((line) => line.replace(/^( *)(.*)$/su, (_, indent, words) => indent + escaped(words)));
}

/** JSON with escapes for them, for marks that stack over other lines, and for gaps that push text out of sight. */
function escaped(json) {
  const withoutGaps = json.replace(LONG_GAP, (gap) => "\\u0020".repeat(gap.length));
  return withoutGaps.replace(ODD, withEscapes);
}

function withEscapes(odd) {
  let marks = 0;
  let shown = "";
  for (const character of odd) {
    marks = MARK.test(character) ? marks + 1 : 0;
    shown += marks <= SHARED.most_marks && canBeSeen(character) ? character : escape(character);
  }
  return shown;
}

function canBeSeen(character) {
  return !NO_SIGN.test(character) && !ONE.test(character);
}

function escape(character) {
  const units = character.split("");
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
