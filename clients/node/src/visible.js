/** Invisible characters, and those that control a terminal: what is shown must be what is sent. */

// Controls, white space but the space, invisible and bidirectional marks, half surrogate pairs.
export const UNSEEN =
  "\\x00-\\x1f\\x7f-\\xa0\\xad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f" +
  "\\ufeff\\uffa0\\ufff0-\\ufff8" +
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const LONGEST_QUOTE = 500;
const ANY = new RegExp(`[${UNSEEN}]`, "gu");
const BLANK = new RegExp(`^[ ${UNSEEN}]*$`, "u");

export function isBlank(text) {
  return BLANK.test(text);
}

/** A line for a terminal, with a space for each of them. */
export function plain(line) {
  return line.replace(ANY, " ");
}

/** A text from outside as one line of at most `most` characters, with one space between its words. */
export function line(text, most) {
  const words = plain(text).split(" ").filter(Boolean).join(" ");
  const characters = [...words];
  return characters.length <= most ? words : `${characters.slice(0, most - 1).join("")}…`;
}

/** Others' words for quotes that nothing in them can close. */
export function quoted(text) {
  return line(text, LONGEST_QUOTE).replaceAll('"', "'");
}

/** A value as a line of JSON in which each of them is an escape, so that nothing is lost or hidden. */
export function jsonLine(value) {
  return escaped(JSON.stringify(value));
}

/** The same for people, in indented lines. */
export function jsonLines(value) {
  return JSON.stringify(value, null, 2).split("\n").map(escaped);
}

function escaped(line) {
  return line.replace(ANY, (character) =>
    character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}
