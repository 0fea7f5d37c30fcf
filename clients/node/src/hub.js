/** Calls to a Hub, with one retry; every response is a JSON object or an error. */

import { setTimeout as pause } from "node:timers/promises";
import { message } from "./contract.js";
import { isObject } from "./document.js";
import { PrivateAddress, ServerError, Unreachable, fromAnswer } from "./errors.js";
import { withoutUserInfo } from "./settings.js";
import { quoted } from "./visible.js";
import { Failed, NotPublic, exchange } from "./web.js";
import { quote } from "./words.js";

const PAUSE = 250;
const AGAIN_STATUSES = [502, 503, 504];
const WAIT_STATUSES = [429, 503]; // a Hub that says when to come again
const AGAIN_REASONS = ["refused", "unknown_host", "broken"];

let isAsked = false;

/** Whether this process has begun a request to a Hub, so that something may have been sent. */
export const wasAsked = () => isAsked;

/** Whether it has an `id`, like the answer of a Hub about one thing. */
const hasId = (body) => typeof body.id === "string";

/**
 * The Hub's 2xx answer within `milliseconds`, retry included, as `{status, body}`, else an error of
 * `errors.js`. `way`: see `exchange` of `web.js`; `isAnswer`: whether a body is what a Hub answers to
 * this request.
 */
export async function call(request, milliseconds, way, isAnswer = hasId) {
  const hubUrl = named(request);
  const answer = await ask(request, milliseconds, hubUrl, { way });
  const { status, json } = answer;
  if (status >= 200 && status < 300 && isObject(json) && isAnswer(json)) return { status, body: json };
  throw refusal(answer, hubUrl);
}

/** The Hub's URL, in quotes unless the user names it: its path has room for words of others. */
function named({ url, publicOnly }) {
  const [hubUrl] = url.split("/v1/");
  return publicOnly ? quote(hubUrl) : hubUrl;
}

/**
 * The answer of the Hub at `hubUrl`, whatever its status; else PrivateAddress or Unreachable.
 * `again`: whether to try a second time where the first request may have been lost.
 */
export async function ask(request, milliseconds, hubUrl, { again = true, way = {} } = {}) {
  isAsked = true;
  try {
    if (!again) return await exchange(request, milliseconds, way);
    return await exchangeTwice(request, performance.now() + milliseconds, way);
  } catch (error) {
    throw unanswered(error, hubUrl);
  }
}

async function exchangeTwice(request, deadline, way) {
  const left = () => deadline - performance.now();
  let wait;
  try {
    const answer = await exchange(request, left(), way);
    wait = pauseAfter(answer);
    if (wait === null || wait > left()) return answer;
  } catch (error) {
    if (!(error instanceof Failed && AGAIN_REASONS.includes(error.reason))) throw error;
    wait = Math.max(0, Math.min(PAUSE, left()));
  }
  await pause(wait, undefined, { signal: way.signal }).catch(() => way.signal.throwIfAborted());
  return exchange(request, left(), way);
}

/** How long to wait before the second try; null if there is none. */
function pauseAfter(answer) {
  const wished = retryAfter(answer);
  if (WAIT_STATUSES.includes(answer.status) && wished !== null) {
    return Math.max(wished * 1000, PAUSE);
  }
  return AGAIN_STATUSES.includes(answer.status) ? PAUSE : null;
}

/** The whole seconds in the header, or null. */
function retryAfter({ headers }) {
  const text = headers["retry-after"] ?? "";
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

function unanswered(error, url) {
  if (error instanceof NotPublic) {
    return new PrivateAddress("private_address", message(error.code, { host: error.host }));
  }
  if (!(error instanceof Failed)) return error;
  const sentence = message("unreachable", { url, reason: message(error.reason) });
  return new Unreachable("unreachable", sentence);
}

/** The error for an answer that is not what a Hub gives to the request. */
export function refusal(answer, url) {
  const { status, headers, json } = answer;
  if (status >= 300 && status < 400) {
    const location = quoted(withoutUserInfo(headers.location ?? ""));
    return new ServerError("redirected", message("redirected", { url, location }), { status });
  }
  if (status >= 400 && (isObject(json) || (status !== 404 && status !== 405))) {
    return fromAnswer(status, json, {
      retryAfter: retryAfter(answer),
      requestId: headers["x-request-id"],
    });
  }
  return unlikeAHub(status, url);
}

/** The error for an answer that no Hub gives. */
export function unlikeAHub(status, url) {
  return new ServerError("not_a_hub", message("not_a_hub", { url, status }), { status });
}
