/** What a Hub says, on the command line: as it stands if it has its fixed shape, else in quotes. */

import { message } from "./contract.js";
import { isOnCodeHost } from "./remotes.js";
import { origin } from "./settings.js";
import { quoted } from "./visible.js";

export const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const TIME = // RFC 3339, or the day alone
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2}))?$/;
export const STATE = /^[a-z_]{1,20}$/;
const NAME = /^(?!.{0,99}\/\/)[A-Za-z0-9._:=/-]{1,100}$/; // no sentence (no space), and no address
const ADDRESS = /^[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%-]{1,300}$/; // RFC 3986
const SITE = /^https:\/\/[A-Za-z0-9-]{1,39}\.github\.io(\/[A-Za-z0-9._-]{1,100})?\/?$/;
const MOST = 100; // of a list, each of which may take several lines

const shownIf = (shape) => (text) => (shape.test(text) ? text : quote(text));

/** The id of a report or an organization. */
export const ulid = shownIf(ULID);

export const time = shownIf(TIME);

/** A state or a kind. */
export const state = shownIf(STATE);

/** A name, of a person, a domain or a field. */
export const name = shownIf(NAME);

/** What has no shape, such as a title. */
export function quote(text) {
  return `"${quoted(text)}"`;
}

/** The URL if it is on a code host that is known here, or on the Hub that the user names, else in quotes. */
export function link(url, hubUrl = null) {
  const isKnown = hubUrl === null ? isOnCodeHost(url) : origin(url) === origin(hubUrl);
  return isKnown && ADDRESS.test(url) ? url : quote(url);
}

/** The URL of a site if it is on GitHub Pages, else as for `link`. */
export function site(url) {
  return SITE.test(url) ? url : link(url);
}

/** Those of a list that are shown. */
export function first(items) {
  return items.slice(0, MOST);
}

/** A line with the number of those that are not, if any. */
export function more(items) {
  const number = items.length - MOST;
  return number > 0 ? [message("more_line", { number })] : [];
}
