/** What somebody meant who misspelled a name. */

import { message } from "./contract.js";

/** ` Did you mean …?` if one of the known names is close to this one, else nothing. */
export function meant(name, known) {
  let nearest = null;
  let least = Infinity;
  for (const each of known) {
    const letters = name.length <= 2 * each.length ? distance(name, each) : Infinity;
    if (letters < least) [nearest, least] = [each, letters];
  }
  return least * 3 <= (nearest?.length ?? 0) ? message("did_you_mean", { name: nearest }) : "";
}

/** How many letters to insert, delete or replace to make `other` of `one` (Levenshtein). */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i += 1) {
    const above = row;
    row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = above[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      row.push(Math.min(above[j] + 1, row[j - 1] + 1, change));
    }
  }
  return row.at(-1);
}
