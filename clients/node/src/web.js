/** One request and its response, within a time limit; redirects and retries are up to the caller. */

import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { isPublicIp } from "./address.js";
import { parse } from "./document.js";
import { DocFeedbackError } from "./errors.js";
import { lookUp } from "./look_up.js";
import { connectThrough, proxyFor } from "./proxy.js";
import { shown } from "./verbose.js";
import { VERSION } from "./version.js";

const MAX_ANSWER = 1024 * 1024;
const MAX_INTERIM = 20; // responses of status 1xx before the final one
const MAX_ADDRESSES = 4; // of IPv4 and of IPv6, of a name that may have a hundred
export const ACCEPT = { Accept: "application/json" };
const USER_AGENT = `docfeedback-node/${VERSION}`;
const REASONS = { ECONNREFUSED: "refused", ENOTFOUND: "unknown_host", EAI_AGAIN: "unknown_host" };

/** No complete response. `reason` is its message in `messages.json`. */
export class Failed extends Error {
  constructor(reason, options) {
    super(reason, options);
    this.reason = reason;
  }
}

/**
 * The name of `host` resolves to an address that is not public, or did not resolve in time; nothing was
 * connected. `code` is its message in `messages.json`: `resolves_private` or `unresolved`.
 */
export class NotPublic extends Error {
  constructor(host, code) {
    super(host);
    this.host = host;
    this.code = code;
  }
}

const OURS = [Failed, NotPublic, DocFeedbackError];

/**
 * The answer of any status as `{status, headers, json, text, size}`, or Failed, or NotPublic.
 *
 * `request`: `{method, url, headers, body?, publicOnly?}`; with `publicOnly` nothing is sent
 * if the host's name resolves to a private address or not in time, through a proxy either. The third is how it leaves: `fetch` sends it in
 * place of ours, and when `signal` aborts, this rejects with its reason, and nothing more is sent.
 */
export const exchange = shown(async (request, milliseconds, { fetch, signal } = {}) => {
  signal?.throwIfAborted();
  if (milliseconds <= 0) throw new Failed("timed_out");
  const headers = { ...request.headers, "User-Agent": USER_AGENT };
  const stop = new AbortController(); // AbortSignal.any is not in Node 20.0
  const timer = setTimeout(() => stop.abort(), Math.ceil(milliseconds));
  const follow = () => stop.abort(signal.reason);
  const name = { unresolved: null }; // of the host, if it must be public
  signal?.addEventListener("abort", follow);
  try {
    const whole = { ...request, headers };
    const work = fetch
      ? sendBy(fetch, whole, stop.signal)
      : send(whole, stop.signal, { patience: milliseconds / 2, name });
    return await unlessAborted(work, stop.signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (stop.signal.aborted && name.unresolved) throw new NotPublic(name.unresolved, "unresolved");
    if (stop.signal.aborted) throw new Failed("timed_out", { cause: error });
    if (OURS.some((kind) => error instanceof kind)) throw error;
    throw new Failed(reason(error), { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", follow);
  }
});

/** The same as `work`, but it rejects when the signal aborts, even if `work` does not. */
function unlessAborted(work, signal) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** By the transport that was given: it gets what the global `fetch` gets, and returns a `Response`. */
async function sendBy(fetch, { method, url, headers, body }, signal) {
  const response = await fetch(url, { method, headers, body, signal, redirect: "manual" });
  return { ...headOf(response), ...(await bodyOf(response.body ?? [])) };
}

/** Status and headers of what a transport returned, or Failed if that is no response. */
function headOf(response) {
  try {
    const { status, headers } = response;
    return { status: known(status), headers: Object.fromEntries(new Headers(headers)) };
  } catch (error) {
    throw new Failed("no_response", { cause: error });
  }
}

/**
 * A connection of its own for each request, to the proxy or to the addresses that it may go to. Until the
 * name of a host that must be public is resolved, `name.unresolved` is that name.
 */
async function send(request, signal, { patience, name }) {
  const proxy = proxyFor(request.url);
  const host = bareHost(request.url);
  if (proxy && request.publicOnly) await refusePrivate(host, patience, signal);
  if (!proxy && request.publicOnly && !isIP(host)) name.unresolved = host;
  const lookup = (wanted, options, callback) =>
    publicLookup(wanted, options, signal, (...found) => {
      if (!signal.aborted) name.unresolved = null;
      callback(...found);
    });
  const direct = request.publicOnly ? { lookup } : {};
  const how = proxy ? await connectThrough(proxy, request.url, signal) : { agent: false, ...direct };
  const { method, url, headers, body } = request;
  const open = url.startsWith("https:") ? requestHttps : requestHttp;
  const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
  const options = { ...how, method, headers: { ...headers, ...how.headers, ...length }, signal };
  const response = await new Promise((resolve, reject) => {
    const sent = open(url, options, resolve).on("error", reject);
    boundInterim(sent, reject);
    sent.end(body);
  });
  return answer(response);
}

/** End the request after too many responses that are not the final one. */
function boundInterim(sent, reject) {
  let count = 0;
  sent.on("information", () => {
    count += 1;
    if (count <= MAX_INTERIM) return;
    reject(new Failed("too_long"));
    sent.destroy();
  });
}

/** The status of a response, or Failed if no response has it. */
function known(status) {
  if (!Number.isInteger(status) || status < 100 || status > 599) throw new Failed("no_response");
  return status;
}

async function answer(response) {
  const { statusCode: status, headers } = response;
  return { status: known(status), headers, ...(await bodyOf(response)) };
}

async function bodyOf(stream) {
  const chunks = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER) throw new Failed("too_long");
  }
  const data = Buffer.concat(chunks);
  return { json: parsed(data), text: data.toString(), size };
}

/** The JSON of a response, or undefined if it is not JSON. */
function parsed(data) {
  try {
    return parse(data);
  } catch {
    return undefined;
  }
}

/**
 * As `dns.lookup`, or NotPublic if any of the addresses is not public. The connection is
 * made to the very addresses that were checked, so that a second lookup cannot differ.
 */
function publicLookup(host, options, signal, callback) {
  const pass = (found) => {
    if (options.all) callback(null, few(found));
    else callback(null, found[0].address, found[0].family);
  };
  publicAddresses(host, options, signal).then(
    (found) => process.nextTick(pass, found), // what throws there is no failure of the lookup
    (error) => process.nextTick(callback, error),
  );
}

/** All addresses of the host; throws NotPublic if any of them is not public, or if no answer came. */
async function publicAddresses(host, options, signal) {
  const found = await lookUp(host, options, signal);
  if (found === null) throw new NotPublic(host, "unresolved");
  if (!found.every(({ address }) => isPublicIp(address))) throw new NotPublic(host, "resolves_private");
  return found;
}

/** The first ones of IPv4 and of IPv6: one of both may lead nowhere. */
function few(found) {
  const first = [4, 6].flatMap((family) =>
    found.filter((each) => each.family === family).slice(0, MAX_ADDRESSES),
  );
  return found.filter((each) => first.includes(each));
}

/**
 * NotPublic if the host's name resolves here to a private address, or takes longer to resolve. In some
 * networks only the proxy resolves names, so a lookup that fails ends nothing.
 */
async function refusePrivate(host, milliseconds, signal) {
  const stop = new AbortController();
  const end = () => stop.abort();
  const timer = setTimeout(end, milliseconds);
  signal.addEventListener("abort", end, { once: true });
  try {
    await unlessAborted(publicAddresses(host, {}, stop.signal), stop.signal);
  } catch (error) {
    if (stop.signal.aborted) throw new NotPublic(host, "unresolved");
    if (error instanceof NotPublic) throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/** The host of a URL; an IPv6 address without its brackets. */
function bareHost(url) {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/** The name in `messages.json` of why there was no answer. */
function reason(error) {
  const code = error?.code ?? error?.cause?.code ?? "";
  return REASONS[code] ?? (/CERT|SIGNATURE|ERR_TLS/.test(code) ? "untrusted" : "broken");
}
