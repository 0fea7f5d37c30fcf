/** How a Hub signs a program in: the OAuth device flow (RFC 8628), refreshing (6749) and revoking (7009). */

import { message } from "./contract.js";
import { isObject, textOf } from "./document.js";
import { AuthError, ServerError } from "./errors.js";
import { ask, refusal, unlikeAHub } from "./hub.js";
import { TOKEN, origin, refuseInsecure } from "./settings.js";
import { quoted } from "./visible.js";
import { ACCEPT } from "./web.js";
import { quote } from "./words.js";

const PATH = "/.well-known/openid-configuration";
const CLIENT_ID = "docfeedback-cli";
const SCOPE = "orgs:read"; // all that our commands need
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const USER_CODE = /^[\x21-\x7e]{1,64}$/;
// A browser is opened with it: RFC 3986, but for what a shell would run.
const LINK = /^(?:[A-Za-z0-9._~:/?#[\]@!&*+,;=-]|%[0-9A-Fa-f]{2}){1,2048}$/;
const DEFAULT_INTERVAL = 5; // seconds, by RFC 8628
const MIN_INTERVAL = 1;
const MAX_CODE_SECONDS = 3600;
const MAX_TOKEN_SECONDS = 10 * 365 * 24 * 3600;
const DEFAULT_TOKEN_SECONDS = 3600;

/** The Hub's answer is an OAuth error, such as `access_denied`; `description` is for people. */
export class Refused extends Error {
  constructor(code, description, status) {
    super(code);
    this.code = code;
    this.description = description;
    this.status = status;
  }

  /** What a person is told. */
  error(url) {
    const reason = quoted(this.description || this.code);
    const sentence = message("sign_in_refused", { url, reason });
    return new AuthError("sign_in_refused", sentence, { status: this.status });
  }
}

/**
 * Where to ask, all on the Hub's own origin: `{device, token, revocation}`, the last null if the Hub
 * has none. ServerError if it signs nobody in, or names another server.
 */
export async function discover(hubUrl, milliseconds) {
  refuseInsecure(hubUrl);
  const request = { method: "GET", url: hubUrl + PATH, headers: ACCEPT };
  const answer = await ask(request, milliseconds, hubUrl);
  if (![200, 404, 405, 410].includes(answer.status)) throw refusal(answer, hubUrl);
  const named = answer.status === 200 && isObject(answer.json) ? answer.json : {};
  const { device_authorization_endpoint: device, token_endpoint: token } = named;
  if (typeof device !== "string" || typeof token !== "string") {
    throw ServerError.of("no_device_flow", { url: hubUrl });
  }
  const revocation = textOf(named.revocation_endpoint);
  refuseForeign([device, token, revocation], hubUrl);
  return { device, token, revocation };
}

/**
 * A new code for a person to enter: `{deviceCode, userCode, address, link, seconds, interval}`, `link`
 * the address with the code in it, or null. Refused, or an error of `errors.js`.
 */
export async function requestCode({ device }, hubUrl, milliseconds) {
  const form = { client_id: CLIENT_ID, scope: SCOPE };
  const { status, json } = await post(device, form, hubUrl, milliseconds, { again: true });
  const [deviceCode, userCode] = [textOf(json.device_code), textOf(json.user_code)];
  const address = textOf(json.verification_uri);
  const link = textOf(json.verification_uri_complete);
  const links = [address, link].filter(Boolean);
  const isPlain = TOKEN.test(deviceCode ?? "") && USER_CODE.test(userCode ?? "");
  if (!isPlain || !address || !links.every((url) => LINK.test(url))) {
    throw unlikeAHub(status, hubUrl);
  }
  refuseForeign(links, hubUrl);
  const seconds = Math.min(secondsOf(json.expires_in) ?? MAX_CODE_SECONDS, MAX_CODE_SECONDS);
  const interval = Math.max(secondsOf(json.interval) ?? DEFAULT_INTERVAL, MIN_INTERVAL);
  return { deviceCode, userCode, address, link, seconds, interval };
}

/** The tokens, once the person has approved; Refused until then. */
export async function redeem({ token }, { deviceCode }, hubUrl, milliseconds) {
  const form = { grant_type: DEVICE_GRANT, device_code: deviceCode, client_id: CLIENT_ID };
  return tokensOf(await post(token, form, hubUrl, milliseconds), hubUrl, null);
}

/** New tokens, or Refused; the old ones are spent, so this is never tried a second time. */
export async function refresh({ token }, refreshToken, hubUrl, milliseconds) {
  const form = {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: CLIENT_ID,
  };
  return tokensOf(await post(token, form, hubUrl, milliseconds), hubUrl, refreshToken);
}

/** Make the token (`kind`: access_token, refresh_token) worthless at the Hub. */
export async function revoke({ revocation }, token, kind, hubUrl, milliseconds) {
  if (revocation === null) throw ServerError.of("no_device_flow", { url: hubUrl });
  const form = { token, token_type_hint: kind, client_id: CLIENT_ID };
  const answer = await ask(formRequest(revocation, form), milliseconds, hubUrl);
  if (answer.status !== 200) throw refusal(answer, hubUrl); // its body is of no interest
}

/** The answer with a JSON object; Refused if that is an OAuth error. */
async function post(url, form, hubUrl, milliseconds, { again = false } = {}) {
  const answer = await ask(formRequest(url, form), milliseconds, hubUrl, { again });
  const { status, json } = answer;
  if (!isObject(json)) throw refusal(answer, hubUrl);
  if ([400, 401, 403].includes(status) && typeof json.error === "string") {
    throw new Refused(json.error, textOf(json.error_description), status);
  }
  if (status !== 200) throw refusal(answer, hubUrl);
  return answer;
}

function formRequest(url, form) {
  const headers = { ...ACCEPT, "Content-Type": "application/x-www-form-urlencoded" };
  return { method: "POST", url, headers, body: new URLSearchParams(form).toString() };
}

/** A sign-in, as it is kept; times are seconds since 1970. */
function tokensOf({ status, json }, hubUrl, refreshToken) {
  const [accessToken, kind] = [textOf(json.access_token), textOf(json.token_type)];
  const newRefreshToken = textOf(json.refresh_token) || refreshToken;
  const areTokens = [accessToken ?? "", newRefreshToken ?? "none"].every((it) => TOKEN.test(it));
  if (!areTokens || (kind ?? "").toLowerCase() !== "bearer") {
    throw unlikeAHub(status, hubUrl);
  }
  const now = Date.now() / 1000;
  const lasts = secondsOf(json.expires_in) ?? DEFAULT_TOKEN_SECONDS;
  const ends = secondsOf(json.refresh_expires_in);
  return {
    access_token: accessToken,
    expires_at: Math.trunc(now + Math.min(lasts, MAX_TOKEN_SECONDS)),
    refresh_token: newRefreshToken,
    ends_at: ends === null ? null : Math.trunc(now + Math.min(ends, MAX_TOKEN_SECONDS)),
    scope: textOf(json.scope),
  };
}

/** Throw ServerError unless the URLs are on the Hub's own scheme, host and port. */
function refuseForeign(urls, hubUrl) {
  for (const url of urls.filter(Boolean)) {
    const other = origin(url);
    if (other === null || other !== origin(hubUrl)) {
      throw ServerError.of("foreign_endpoint", { url: hubUrl, other: other ?? quote(url) });
    }
  }
}

/** The value if it is a number above 0, else null. */
function secondsOf(value) {
  return typeof value === "number" && value > 0 ? value : null;
}
