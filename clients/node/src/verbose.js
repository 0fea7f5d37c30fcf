/** `--verbose`: shows on standard error what is sent and answered, without secrets. */

import { message } from "./contract.js";
import { isObject, parse } from "./document.js";
import { withoutUserInfo } from "./settings.js";
import { write } from "./terminal.js";

const SECRET_HEADER =
  /^(proxy-)?authorization$|cookie|token|secret|password|session|credential|signature|api-?key/i;
const SECRET_FIELD = /(^|_)(token|secret|password|code)$/i;
const SECRET_IN_TEXT = /((?:token|secret|password|code)["']?[ ]?[:=][ ]?["']?)[^\s"'&,;<>]+/gi;
const SHORTEST_SECRET = 8; // what is shorter may stand in any text
const LONGEST_BODY = 65536; // characters that are shown
let isOn = false;

/** Show all requests from now on. */
export function turnOn() {
  isOn = true;
}

/** The same exchange of a request for an answer, which is shown while `turnOn` has been called. */
export function shown(exchange) {
  return async (request, ...others) => {
    if (!isOn) return exchange(request, ...others);
    const look = new Look(request);
    const answer = await exchange(request, ...others).catch(async (error) => {
      await look.failed(error.reason);
      throw error;
    });
    await look.answered(answer);
    return answer;
  };
}

/** One request, and what comes of it. */
class Look {
  #since = performance.now();
  #secrets;

  constructor({ method, url, headers, body = "" }) {
    this.#secrets = secretsOf(headers, String(body));
    this.#write(">", `${method} ${url}`, headers, String(body));
  }

  answered({ status, headers, text }) {
    return this.#write("<", message("verbose_answer", { status, time: this.#time() }), headers, text);
  }

  failed(reason) {
    const known = message(typeof reason === "string" ? reason : "broken");
    return this.#write("<", message("verbose_failure", { reason: known, time: this.#time() }), {}, "");
  }

  #time() {
    return Math.round(performance.now() - this.#since);
  }

  #write(sign, first, headers, body) {
    const texts = [first, ...headerLines(headers), ...(body ? ["", ...shownBody(body).split("\n")] : [])];
    const lines = texts.map((text) => `${sign} ${this.#withoutSecrets(text)}`.trimEnd());
    return write(process.stderr, lines);
  }

  #withoutSecrets(text) {
    const hidden = message("verbose_hidden");
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, () => hidden), text);
  }
}

/** What this request proves itself by; an answer may repeat it. */
function secretsOf(headers, body) {
  const named = Object.entries(headers).filter(([name]) => SECRET_HEADER.test(name));
  const fields = body.startsWith("{") ? [] : [...new URLSearchParams(body)];
  return [
    ...named.map(([, value]) => String(value).split(" ").at(-1)),
    ...fields.filter(([name]) => SECRET_FIELD.test(name)).map(([, value]) => value),
  ].filter((secret) => secret.length >= SHORTEST_SECRET);
}

/** One line for each, in the order of their names. */
function headerLines(headers) {
  const pairs = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return pairs
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => {
      const shownValue = withoutUserInfo(String(value));
      return `${name}: ${SECRET_HEADER.test(name) ? message("verbose_hidden") : shownValue}`;
    });
}

/** The body as it is, but for secrets, and at most `LONGEST_BODY` of it. */
function shownBody(body) {
  const found = parsed(body);
  const whole = JSON.stringify(found);
  const hidden = JSON.stringify(withoutSecrets(found));
  const text =
    found === undefined
      ? body.replace(SECRET_IN_TEXT, (_, before) => before + message("verbose_hidden"))
      : hidden === whole
        ? body
        : hidden;
  return text.length <= LONGEST_BODY ? text : `${text.slice(0, LONGEST_BODY)}…`;
}

function parsed(body) {
  try {
    return parse(Buffer.from(body));
  } catch {
    return undefined;
  }
}

/** The same JSON without the values of secret fields. */
function withoutSecrets(value) {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const hidden = (name, item) =>
    SECRET_FIELD.test(name) && item ? message("verbose_hidden") : withoutSecrets(item);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hidden(name, item)]));
}
