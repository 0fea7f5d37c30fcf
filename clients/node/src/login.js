/** `login`, `logout`, and the token of the person who is signed in. */

import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "./client.js";
import { remember } from "./config.js";
import { message } from "./contract.js";
import { textOf } from "./document.js";
import {
  AuthError,
  DocFeedbackError,
  RateLimited,
  ServerError,
  Unreachable,
  byHub,
} from "./errors.js";
import { Refused, discover, redeem, requestCode, revoke } from "./oauth.js";
import * as settings from "./settings.js";
import * as signIns from "./sign_ins.js";
import { clearProgress, openBrowser, showProgress, write } from "./terminal.js";
import { jsonLine } from "./visible.js";
import * as words from "./words.js";

const SLOW_DOWN_SECONDS = 5; // by RFC 8628
const MAX_PAUSE_SECONDS = 60;
const EARLY_SECONDS = 60; // so long before its end a token is refreshed

/** Sign in at the Hub: a person approves a code in a browser. */
export async function login({ flags }) {
  const hubUrl = settings.requiredHubUrl(flags.get("--hub-url"));
  const time = settings.timeout();
  const endpoints = await discover(hubUrl, time);
  await signIns.checkPlace(hubUrl); // before somebody approves a sign-in that cannot be kept
  const tokens = await approved(endpoints, flags, hubUrl, time);
  const end = (ended) => attempt(() => revokeAll(endpoints, ended, hubUrl, time)); // it ends by itself, too
  const before = await signIns.replace(hubUrl, tokens).catch(async (error) => {
    await end(tokens); // nobody can use it: a full disk
    throw error;
  });
  if (before) await end(before);
  const { line, whose, notes } = await whoseIs(hubUrl, tokens, time);
  if (settings.hasTokenFor(hubUrl)) notes.push(message("token_wins"));
  const remembered = await remember(hubUrl);
  if (remembered) notes.push(remembered);
  const data = { hub_url: hubUrl, signed_in: true, ...whose, scope: tokens.scope };
  return { lines: [line], data: { ...data, signed_in_until: timeOf(tokens.ends_at) }, notes };
}

/** End the sign-in here and at the Hub, or only here if the Hub cannot be reached. */
export async function logout({ flags }) {
  const hubUrl = settings.requiredHubUrl(flags.get("--hub-url"));
  const time = settings.timeout();
  const tokens = await signIns.take(hubUrl);
  if (!tokens) {
    const data = { hub_url: hubUrl, signed_out: false, revoked: false };
    return { lines: [message("was_not_signed_in", { url: hubUrl })], data };
  }
  const error = await attempt(async () =>
    revokeAll(await discover(hubUrl, time), tokens, hubUrl, time),
  );
  const data = { hub_url: hubUrl, signed_out: true, revoked: !error };
  const notes = error ? [message("not_revoked", { reason: error.message })] : [];
  return { lines: [message("signed_out", { url: hubUrl })], data, notes };
}

/**
 * The organization of the person who is signed in, or to whom the token belongs, and which of these was
 * used: `{organization, used: {place, until}}`, `place` null for a sign-in, which ends `until`.
 */
export async function organizationOf(client) {
  const hubUrl = settings.requiredHubUrl(client.hubUrl);
  const { answer: organization, used } = await signedIn(hubUrl, client.timeout, (token) => {
    client.token = token;
    return client.me();
  });
  const endsAt = textOf(organization.caller?.expires_at);
  if (used.place === null && endsAt) used.until = endsAt.replace(/\.[0-9]+/, "");
  return { organization, used };
}

/**
 * What `ask` gives with a token: DOCFEEDBACK_TOKEN, that of the sign-in, or that of the file.
 * Where no Hub is set, the sign-in comes first: DOCFEEDBACK_TOKEN may be for another Hub.
 */
export async function signedIn(hubUrl, milliseconds, ask) {
  let tokens = settings.hasTokenFor(hubUrl) ? null : signIns.stored(hubUrl);
  if (!tokens) return withAToken(hubUrl, ask);
  if (tokens.expires_at - EARLY_SECONDS < Date.now() / 1000) {
    tokens = await signIns.refreshed(hubUrl, tokens, milliseconds);
  }
  let answer;
  try {
    answer = await ask(settings.token(tokens.access_token, hubUrl));
  } catch (error) {
    if (!(error instanceof AuthError) || error.status !== 401) throw error;
    tokens = await signIns.refreshed(hubUrl, tokens, milliseconds);
    answer = await ask(settings.token(tokens.access_token, hubUrl));
  }
  return { answer, used: { place: null, until: timeOf(tokens.ends_at) } };
}

/** Which token was used, for people. */
export function usedLine({ place, until }) {
  if (place !== null) return message("token_line", { place });
  return until ? message("signed_in_until_line", { time: words.time(until) }) : message("signed_in_line");
}

/** Which token was used, for programs. */
export function usedData({ place, until }) {
  return { token_from: place ?? "sign_in", signed_in_until: until };
}

async function withAToken(hubUrl, ask) {
  const fromEnvironment = settings.environmentToken(hubUrl);
  const token = fromEnvironment ?? settings.configToken(hubUrl);
  if (!token) {
    settings.refuseTokenOfAnother(hubUrl, "not_signed_in");
    throw AuthError.of("not_signed_in", { url: hubUrl });
  }
  const place = fromEnvironment ? "DOCFEEDBACK_TOKEN" : basename(settings.configPath());
  try {
    return { answer: await ask(settings.token(token, hubUrl)), used: { place, until: null } };
  } catch (error) {
    if (!(error instanceof AuthError) || error.status !== 401) throw error;
    const { code, status, fields } = error;
    throw new AuthError(code, message("wrong_token", { place, url: hubUrl }), { status, fields });
  }
}

/**
 * Whose sign-in it is: `{line, whose, notes}`, for people, for programs, and a note if that is not
 * known. A person must see it, because somebody else may have approved the code (RFC 8628, 5.5).
 */
async function whoseIs(hubUrl, { access_token: token }, timeout) {
  const unknown = (note) => ({
    line: message("signed_in", { url: hubUrl }),
    whose: { login: null, organization: null },
    notes: [note],
  });
  let found;
  try {
    found = await new Client({ hubUrl, token, timeout }).me();
  } catch (error) {
    if (!(error instanceof DocFeedbackError)) throw error;
    return unknown(message("not_asked_whose", { reason: error.message }));
  }
  if (!found.caller) return unknown(message("not_said_whose"));
  const { caller, name } = found;
  const values = { url: hubUrl, login: words.name(caller.login), organization: words.name(name || "-") };
  const whose = { login: caller.login, organization: name };
  return { line: message("signed_in_as", values), whose, notes: [] };
}

/** The tokens of a person who was shown a code, and has approved it. */
async function approved(endpoints, flags, hubUrl, time) {
  try {
    const code = await requestCode(endpoints, hubUrl, time);
    await show(code, flags, hubUrl);
    return await waitFor(endpoints, code, hubUrl, time);
  } catch (error) {
    throw error instanceof Refused ? error.error(hubUrl) : error;
  }
}

/** The code, for which Hub it is and where to enter it, on standard error; as one line of JSON with `--json`. */
async function show({ userCode, address, link, seconds }, flags, hubUrl) {
  if (flags.has("--json")) {
    const event = {
      event: "code",
      hub_url: hubUrl,
      user_code: userCode,
      verification_uri: address,
      verification_uri_complete: link,
      expires_in: Math.trunc(seconds),
    };
    await write(process.stderr, [jsonLine(event)]);
  } else {
    const lines = [
      message("sign_in_code", { url: hubUrl, user_code: words.name(userCode) }),
      message("sign_in_check"),
      message("sign_in_address", { address }),
    ];
    if (link) lines.push(message("sign_in_link", { address: link }));
    await write(process.stderr, lines);
  }
  if (!flags.has("--no-browser") && (await openBrowser(link || address))) {
    await write(process.stderr, [message("browser_opened")]);
  }
}

/**
 * The tokens, once the person has approved. Exported for its tests. A Hub that cannot be reached is asked again, ever more
 * seldom, until the code has expired.
 */
export async function waitFor(endpoints, code, hubUrl, time) {
  const ends = performance.now() + code.seconds * 1000;
  let { interval } = code;
  let pause = interval;
  let failure = null;
  try {
    for (let left = code.seconds; left > 0; left = (ends - performance.now()) / 1000) {
      const rest = String(Math.trunc(left) % 60).padStart(2, "0");
      showProgress(message("waiting", { time: `${Math.trunc(left / 60)}:${rest}` }));
      await sleep(Math.min(pause, left) * 1000);
      try {
        return await redeem(endpoints, code, hubUrl, time);
      } catch (error) {
        failure = null;
        if (error instanceof Refused) {
          interval = pause = nextInterval(error, interval);
        } else if ([Unreachable, ServerError, RateLimited].some((kind) => error instanceof kind)) {
          const longer = Math.min(2 * pause, Math.max(MAX_PAUSE_SECONDS, interval));
          pause = error.fields.retry_after || longer;
          failure = error;
        } else throw error;
      }
    }
  } finally {
    clearProgress();
  }
  throw failure ?? expired();
}

/** Seconds until the Hub may be asked again; AuthError if that is of no use. */
function nextInterval(refused, interval) {
  const { code, description, status } = refused;
  if (code === "authorization_pending") return interval;
  if (code === "slow_down") return interval + SLOW_DOWN_SECONDS;
  if (code === "access_denied") {
    const sentence = description ? byHub(description) : message("sign_in_denied");
    throw new AuthError("sign_in_denied", sentence, { status });
  }
  throw ["expired_token", "invalid_grant"].includes(code) ? expired() : refused;
}

function expired() {
  return new AuthError("code_expired", message("code_expired"), { status: 400 });
}

async function revokeAll(endpoints, tokens, hubUrl, time) {
  const { refresh_token: refreshToken, access_token: accessToken } = tokens;
  if (refreshToken !== null) {
    await revoke(endpoints, refreshToken, "refresh_token", hubUrl, time);
  }
  await revoke(endpoints, accessToken, "access_token", hubUrl, time);
}

/** The error of an attempt that may fail, or null. */
async function attempt(work) {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof DocFeedbackError) return error;
    throw error;
  }
}

/** RFC 3339, in UTC, as the Hub writes times; null where there is none. */
function timeOf(second) {
  return second === null ? null : new Date(second * 1000).toISOString().replace(".000", "");
}
