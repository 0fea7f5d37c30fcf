/**
 * Texts without some characters at their ends, in linear time: a regular expression such as `/x+$/`
 * starts anew at each `x`.
 */

/** `text` without those of `characters` at its end. */
export function trimEnd(text, characters) {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1])) end -= 1;
  return text.slice(0, end);
}

/** The same at both ends. */
export function trim(text, characters) {
  const rest = trimEnd(text, characters);
  let start = 0;
  while (start < rest.length && characters.includes(rest[start])) start += 1;
  return rest.slice(start);
}
