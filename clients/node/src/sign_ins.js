/**
 * The sign-ins that `login` keeps, one file for each Hub, and their refreshing.
 *
 * The Python package uses the same files under the same locks.
 */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { message } from "./contract.js";
import { objectOf, parse, textOf, wholeOf } from "./document.js";
import { AuthError, ValidationError } from "./errors.js";
import { Unusable, realPath } from "./files.js";
import { Refused, discover, refresh } from "./oauth.js";
import { Exposed, drafts, isThere, locked, read, refuseOtherUsers, remove, write } from "./private_files.js";
import { TOKEN, configPath, oneSpelling, signInsFolder } from "./settings.js";

const LAST_SECOND = 253402300799; // of the year 9999
const REFRESH_TIME = 10_000; // for all requests under a lock; less than LOCK_SECONDS

/**
 * The sign-in at this Hub, or null; AuthError if others can read or change the file, ValidationError if
 * another user can say where it is.
 */
export function stored(hubUrl, { evenExposed = false } = {}) {
  const path = pathOf(hubUrl);
  try {
    const data = read(path, { evenExposed });
    if (data !== null) refuseOthers(path);
    return data === null ? null : parsed(data, hubUrl);
  } catch (error) {
    if (error instanceof Exposed) throw AuthError.of("exposed_sign_in", { path });
    throw named("unreadable_file", path, error);
  }
}

/** Keep the sign-in at this Hub; the one before, or null. */
export function replace(hubUrl, tokens) {
  return changing(hubUrl, () => {
    const before = stored(hubUrl, { evenExposed: true });
    keep(hubUrl, tokens);
    return before;
  });
}

/** The sign-in at this Hub, or null; it is kept no longer. ValidationError if that is not known. */
export async function take(hubUrl) {
  const path = pathOf(hubUrl);
  try {
    if (!isThere(path) && !drafts(path).length) return null;
  } catch (error) {
    throw named("unreadable_file", path, error);
  }
  return changing(hubUrl, () => {
    const before = stored(hubUrl, { evenExposed: true });
    forget(hubUrl);
    return before;
  });
}

/** ValidationError if no sign-in can be kept here, or what is in its place cannot be replaced. */
export async function checkPlace(hubUrl) {
  await changing(hubUrl, () => stored(hubUrl, { evenExposed: true }));
}

/**
 * A sign-in that is newer than `old`: that of another command, or a new one from the Hub. AuthError if
 * the sign-in has ended; then it is forgotten.
 */
export async function refreshed(hubUrl, old, milliseconds) {
  const found = await changing(hubUrl, async () => {
    const now = stored(hubUrl);
    if (now && now.access_token !== old.access_token) return now;
    const tokens = now && (await newTokens(hubUrl, now, Math.min(milliseconds, REFRESH_TIME) / 2));
    if (tokens) keep(hubUrl, tokens);
    else forget(hubUrl);
    return tokens;
  });
  if (found) return found;
  throw AuthError.of("sign_in_ended", { url: hubUrl }); // as for whoever is not signed in
}

/** New tokens from the Hub, with this time for each of two requests; null if it gives none. */
async function newTokens(hubUrl, now, milliseconds) {
  if (now.refresh_token === null) return null;
  const endpoints = await discover(hubUrl, milliseconds);
  keep(hubUrl, now); // tells a full disk while the token, which works once, is not used up
  try {
    return await refresh(endpoints, now.refresh_token, hubUrl, milliseconds);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === "invalid_grant") return null;
    throw error.error(hubUrl);
  }
}

/** The file for this Hub, however its address is spelled. */
function pathOf(hubUrl) {
  const name = createHash("sha256").update(oneSpelling(hubUrl)).digest("hex").slice(0, 32);
  return join(signInsFolder(), `${name}.json`);
}

/** What `work` gives while no other command changes the sign-in: refresh tokens work once. */
async function changing(hubUrl, work) {
  const path = pathOf(hubUrl);
  try {
    refuseOthers(path);
    return await locked(path.replace(/json$/, "lock"), work);
  } catch (error) {
    throw named("unwritable_file", path, error);
  }
}

function refuseOthers(path) {
  refuseOtherUsers(path, dirname(configPath()));
}

function keep(hubUrl, tokens) {
  write(pathOf(hubUrl), `${JSON.stringify({ hub_url: hubUrl, ...tokens }, null, 2)}\n`);
}

/**
 * Delete the sign-in, where a link leads, too, and what is left of it where writing it was cut short. What a
 * link leads to, and is no sign-in at this Hub, stays.
 */
function forget(hubUrl) {
  const path = pathOf(hubUrl);
  const ends = stored(hubUrl, { evenExposed: true }) ? [realPath(path)] : [];
  [...drafts(path), ...ends, path].forEach(remove);
}

/** The sign-in in the file; null if it is damaged, or is that at another Hub. */
function parsed(data, hubUrl) {
  let found;
  try {
    found = objectOf(parse(data), "access_token", "hub_url");
  } catch {
    return null;
  }
  if (!found || oneSpelling(found.hub_url) !== oneSpelling(hubUrl)) return null;
  if (!TOKEN.test(found.access_token)) return null;
  const endsAt = wholeOf(found.ends_at);
  const refreshToken = textOf(found.refresh_token);
  return {
    access_token: found.access_token,
    expires_at: wholeOf(found.expires_at) ?? 0,
    refresh_token: TOKEN.test(refreshToken ?? "") ? refreshToken : null,
    ends_at: endsAt === null ? null : Math.min(endsAt, LAST_SECOND),
    scope: textOf(found.scope),
  };
}

/** Say which file cannot be used. */
function named(code, path, error) {
  if (!(error instanceof Unusable)) return error;
  return ValidationError.of(code, { path, reason: message(error.reason) });
}
