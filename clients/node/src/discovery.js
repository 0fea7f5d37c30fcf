/** The file `/.well-known/docs-feedback.json` of a page's host: it can opt out, or name its Hub. */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { asciiHost, asciiUrl, check, origin } from "./address.js";
import { message } from "./contract.js";
import { objectOf, parse } from "./document.js";
import { DocFeedbackError, OptedOut, PrivateAddress } from "./errors.js";
import { Unusable } from "./files.js";
import { keep as keepPrivate, read as readPrivate, refuseOtherUsers } from "./private_files.js";
import { PROTOCOL_VERSION } from "./report.js";
import { REPORTS, cacheFolder, checkEndpoint } from "./settings.js";
import { ACCEPT, Failed, NotPublic, exchange } from "./web.js";

const PATH = "/.well-known/docs-feedback.json";
const FRESH_SECONDS = 24 * 60 * 60;
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];
const MAX_BYTES = 64 * 1024;
const SHARE_OF_TIME = 0.3; // of the time for the whole report: a silent doc host must not eat it up

/**
 * The host's document, `{}` if it has none or cannot be reached. Cached on disk for 24 hours, unless
 * the network failed; with `allowPrivate` or another transport not at all, since others believe of what is
 * cached that its host is public. Throws PrivateAddress if the host's name resolves to a private address, or did not resolve in time.
 */
export async function lookUp(page, { milliseconds, allowPrivate, way = {} }) {
  const kept = cached(page);
  const url = asciiUrl({ ...page, rest: PATH });
  if (kept || url === null) return kept ?? {};
  try {
    const deadline = performance.now() + milliseconds * SHARE_OF_TIME;
    const listing = await fetchDocument(url, deadline, allowPrivate, way);
    if (!way.fetch && !allowPrivate) keep(page, listing);
    return listing;
  } catch (error) {
    if (error instanceof Failed) return {};
    if (!(error instanceof NotPublic)) throw error;
    if (error.host !== new URL(url).hostname) return {}; // a redirect led there, and is not followed
    const sentence = message(error.code, { host: page.host });
    throw new PrivateAddress("private_address", sentence);
  }
}

/** Throw OptedOut if the host's document says `"opt_in": false`. */
export function refuseOptedOut(page, listing) {
  if (listing.opt_in !== false) return;
  const fields = typeof listing.since === "string" ? { since: listing.since } : {};
  throw new OptedOut("opted_out", message("opted_out", { host: page.host }), { fields });
}

/**
 * The full URL that takes reports about the page, if its host names a public one; else null.
 * ValidationError if nobody could judge it.
 */
export function endpoint(page, listing, allowPrivate) {
  const { endpoint: url, doc_domains: domains } = listing;
  const speaksOurs = listing.protocol_version === PROTOCOL_VERSION;
  if (!speaksOurs || listing.opt_in !== true || typeof url !== "string") return null;
  if (Array.isArray(domains) && !isNamed(page.host, domains)) return null;
  const place = placeOf(url, allowPrivate);
  if (!place) return null;
  const full = asciiUrl(/^\/*$/.test(place.rest) ? { ...place, rest: REPORTS } : place);
  return full && checkEndpoint(full);
}

function isNamed(host, domains) {
  const texts = domains.filter((domain) => typeof domain === "string");
  return texts.map(asciiHost).includes(asciiHost(host));
}

/**
 * The document that was kept less than 24 hours ago, or null. Nor what others can write: it names who
 * gets the reports.
 */
export function cached(page) {
  try {
    const { fetched_at: fetchedAt, document } = parse(readPrivate(cacheFile(page)));
    const age = typeof fetchedAt === "number" ? Date.now() / 1000 - fetchedAt : -1;
    return age >= 0 && age < FRESH_SECONDS ? objectOf(document) : null;
  } catch {
    return null;
  }
}

/** The document, or Failed, or NotPublic. */
async function fetchDocument(start, deadline, allowPrivate, way) {
  let url = start;
  for (let hop = 0; hop <= MAX_REDIRECTS && url !== null; hop += 1) {
    const request = { method: "GET", url, headers: ACCEPT, publicOnly: !allowPrivate };
    const answer = await exchange(request, deadline - performance.now(), way);
    if (!REDIRECTS.includes(answer.status)) return documentOf(answer);
    url = target(url, answer.headers.location ?? "", allowPrivate);
  }
  throw new Failed("broken");
}

/** The document in a response; Failed if the response does not tell. */
function documentOf({ status, json, size }) {
  if (status >= 500 || status === 429) throw new Failed("broken");
  return (status === 200 && size <= MAX_BYTES && objectOf(json)) || {};
}

/** Where a redirect leads, or null if it must not be followed. */
function target(url, location, allowPrivate) {
  const absolute = URL.canParse(location, url) ? placeOf(new URL(location, url).href, allowPrivate) : null;
  return absolute && asciiUrl(absolute);
}

/** The parsed address, or null if it must not be requested. */
function placeOf(url, allowPrivate) {
  try {
    return check(url, allowPrivate);
  } catch (error) {
    if (error instanceof DocFeedbackError) return null;
    throw error;
  }
}

/** Cache the document, if the cache can be written. */
function keep(page, listing) {
  const kept = { fetched_at: Math.floor(Date.now() / 1000), document: listing };
  try {
    keepPrivate(cacheFile(page), JSON.stringify(kept));
  } catch (error) {
    if (!(error instanceof Unusable || error instanceof DocFeedbackError)) throw error;
  }
}

/** The file for this host; Unusable if another user can say where it is. */
function cacheFile(page) {
  const name = createHash("sha256").update(origin(page)).digest("hex").slice(0, 32);
  const folder = cacheFolder();
  const path = join(folder, "well-known", `${name}.json`);
  refuseOtherUsers(path, folder);
  return path;
}
