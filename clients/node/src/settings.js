/** Settings from the environment and the user's configuration file; read again at each call. */

import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { attempt, isLoopback } from "./address.js";
import { message } from "./contract.js";
import { isObject, parse } from "./document.js";
import { AuthError, ValidationError } from "./errors.js";
import { Unusable } from "./files.js";
import { readOwn } from "./private_files.js";
import { trimEnd } from "./trim.js";

export const REPORTS = "/v1/reports";
const WITH_API = /\/v1(\/reports)?$/; // which people copy along with the address
export const DEFAULT_TIMEOUT = 10_000;
const MAX_TIMEOUT = 24 * 60 * 60 * 1000; // a timer of Node counts to less than 25 days
const LONGEST_LINK = 2048;
const LONGEST_ENDPOINT = 200; // which a person can judge
const HUB_URL =
  /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(?:\/[A-Za-z0-9._~%/-]*)?$/i;
const ORIGIN = /^(https?):\/\/([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(?![^/?#])/i;
const USER_INFO = /\/\/[^/?#]*@/g;
const PORTS = { http: 80, https: 443 };
export const TOKEN = /^[\x21-\x7e]+$/;

export function configPath() {
  return join(folder("XDG_CONFIG_HOME", ".config"), "config.json");
}

/** The folder for what `login` keeps, a file for each Hub. */
export function signInsFolder() {
  return join(dirname(configPath()), "sign-ins");
}

export function cacheFolder() {
  return folder("XDG_CACHE_HOME", ".cache");
}

/**
 * The home folder, or ValidationError if it is not known: an empty or relative HOME would be in the current
 * folder. `instead` is what else can be set.
 */
export function home(instead) {
  let found = "";
  try {
    found = homedir();
  } catch {
    // the system does not know this user
  }
  if (!isAbsolute(found)) throw ValidationError.of("no_home", { variable: instead });
  return found;
}

/**
 * The Hub address: as given, DOCFEEDBACK_HUB_URL, or the file's; without a slash at its end.
 * null if none is set.
 */
export function hubUrl(given) {
  const url = given || process.env.DOCFEEDBACK_HUB_URL || config().hub_url;
  return url ? base(url) : null;
}

/** The user's own code host, in its parts: DOCFEEDBACK_CODE_HOST, or the file's; null if none is set. */
export function codeHost() {
  const url = process.env.DOCFEEDBACK_CODE_HOST || config().code_host;
  return url ? codeHostAt(url) : null;
}

/** The parts of a code host's address, or ValidationError. */
export function codeHostAt(url) {
  const page = attempt(url);
  // Without it: it may hold a password.
  if (!page || !["", "/"].includes(page.rest)) throw ValidationError.of("invalid_code_host");
  return page;
}

/** The Hub address, or ValidationError if none is set. */
export function requiredHubUrl(given) {
  const url = hubUrl(given);
  if (url === null) throw noHubUrl();
  return url;
}

export function noHubUrl() {
  return ValidationError.of("no_hub_url");
}

export function isHubUrl(url) {
  const match = HUB_URL.exec(url);
  return match !== null && Number(match[1] ?? 0) <= 65535;
}

/** The URL that a page's host names, or ValidationError if it could say anything but where it leads. */
export function checkEndpoint(url) {
  if (url.length > LONGEST_ENDPOINT || !isHubUrl(url)) {
    throw ValidationError.of("invalid_endpoint", { most: LONGEST_ENDPOINT });
  }
  return url;
}

/** Scheme, host and port of a URL, in one spelling; null if they are not plain to see. */
export function origin(url) {
  const match = ORIGIN.exec(url);
  if (match === null || !TOKEN.test(url)) return null;
  const scheme = match[1].toLowerCase();
  return `${scheme}://${match[2].toLowerCase()}:${Number(match[3] ?? PORTS[scheme])}`;
}

/** The value if it is an http or https URL that shows where it leads, else null. */
export function linkOf(value) {
  const isOne = typeof value === "string" && value.length <= LONGEST_LINK && origin(value) !== null;
  return isOne ? value : null;
}

/** The Hub's URL, the same for all spellings of its scheme, host and port. */
export function oneSpelling(url) {
  const match = ORIGIN.exec(url);
  return match ? `${origin(url)}${url.slice(match[0].length)}` : url;
}

/** The text with nothing of the user names and passwords in its URLs. */
export function withoutUserInfo(text) {
  return text.replaceAll(USER_INFO, "//…@");
}

/** The address that `/v1/…` is appended to, or ValidationError. */
export function base(url) {
  if (!isHubUrl(url)) {
    throw ValidationError.of("invalid_hub_url", { url: withoutUserInfo(url) });
  }
  return trimEnd(url, "/").replace(WITH_API, "");
}

/**
 * The token for `hub`: as given, DOCFEEDBACK_TOKEN, or the file's; AuthError without one.
 * That of the environment belongs to the Hub that is set, if one is, and the file's to the Hub in the
 * file. No token is sent unencrypted.
 */
export function token(given, hub) {
  const found = given || environmentToken(hub) || configToken(hub);
  if (!found) {
    refuseTokenOfAnother(hub, "no_token");
    throw AuthError.of("no_token", { path: configPath() });
  }
  if (!TOKEN.test(found)) throw AuthError.of("invalid_token");
  refuseInsecure(hub);
  return found;
}

/** The token in DOCFEEDBACK_TOKEN, which comes before all others; null without one for `hub`. */
export function environmentToken(hub) {
  const found = process.env.DOCFEEDBACK_TOKEN;
  return found && mayGetIt(hub) ? found : null;
}

/** Whether the environment's token is known to be for `hub`: that is the Hub that is set. */
export function hasTokenFor(hub) {
  return environmentToken(hub) !== null && hubUrl() !== null;
}

/** Throw AuthError, which says what to do, if the environment has a token, and it is not for `hub`. */
export function refuseTokenOfAnother(hub, code) {
  if (process.env.DOCFEEDBACK_TOKEN && !mayGetIt(hub)) {
    throw new AuthError(code, message("token_for_another", { url: hub, own: hubUrl() }));
  }
}

/** Whether the environment's token is for `hub`: no other Hub is set, there or in the file. */
function mayGetIt(hub) {
  const own = hubUrl();
  return own === null || oneSpelling(own) === oneSpelling(hub);
}

/** Throw AuthError if a token for `hub` would be sent unencrypted over a network. */
export function refuseInsecure(hub) {
  if (!/^https:/i.test(hub) && !isLoopback(hub)) {
    throw AuthError.of("insecure_hub", { url: hub });
  }
}

/** Milliseconds: DOCFEEDBACK_TIMEOUT, which is in seconds, or 10 seconds. */
export function timeout() {
  const text = process.env.DOCFEEDBACK_TIMEOUT;
  if (!text) return DEFAULT_TIMEOUT;
  if (!/^[0-9]{1,4}(\.[0-9]{1,3})?$/.test(text) || Number(text) === 0) {
    throw ValidationError.of("bad_timeout");
  }
  return Number(text) * 1000;
}

/** Whether a client can have this time-out. */
export function isTimeout(milliseconds) {
  return typeof milliseconds === "number" && milliseconds > 0 && milliseconds <= MAX_TIMEOUT;
}

/** The token in the file, if the file's Hub is `hub`; else undefined. */
export function configToken(hub) {
  const { hub_url: owner, token } = config();
  return owner && base(owner) === hub ? token : undefined;
}

/** What is in the file, an empty object without one; ValidationError if it is broken or another user's. */
export function config() {
  let path;
  try {
    path = configPath();
  } catch {
    return {}; // without a home folder there is no file
  }
  let found;
  try {
    const data = readOwn(path, dirname(path));
    found = data === null ? {} : parse(data);
  } catch (error) {
    if (error instanceof Unusable) {
      throw ValidationError.of("unreadable_file", { path, reason: message(error.reason) });
    }
  }
  const isText = (value) => value === undefined || typeof value === "string";
  if (!isObject(found) || !["hub_url", "token", "code_host"].every((name) => isText(found[name]))) {
    throw ValidationError.of("invalid_config", { path });
  }
  return found;
}

/** The XDG Base Directory Specification: only an absolute path counts. ValidationError without one. */
function folder(variable, otherwise) {
  const given = process.env[variable] ?? "";
  return join(isAbsolute(given) ? given : join(home(variable), otherwise), "docfeedback");
}
