/**
 * The address check: only public https pages, however written, and paths in a repository.
 *
 * It has its own parser, and refuses what standard parsers would repair: two parsers that disagree
 * about a URL are how private hosts get reached. The Python package uses the same steps; `contract/addresses.json` holds the lists.
 */

import { BlockList, isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { message, table } from "./contract.js";
import { PrivateAddress, ValidationError } from "./errors.js";
import { INVISIBLE } from "./visible.js";

const MAX_NAME = 253; // RFC 1035, without the trailing dot
const MAX_WRITTEN = 4 * (MAX_NAME + 1); // NFKC makes one character of four at most
const FORBIDDEN = new RegExp(`[${INVISIBLE} \\\\]`, "u");
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s;
const AUTHORITY = /^\/\/([^/?#]+)([^#]*)(?:#.*)?$/s;
const BRACKETED = "\\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\\]";
const IN_BRACKETS = new RegExp(`^${BRACKETED}$`);
const HOST_AND_PORT = new RegExp(`^(${BRACKETED}|[^[\\]:]+)(?::([0-9]{1,5}))?$`);
const LABEL = /^[a-z0-9_\x80-\u{10ffff}-]{1,63}$/u;
const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/].*)?$/i;
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const OLD_NUMBER = /^(?:0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)$/;
const DOTTED_QUAD = /^(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})$/;
const HOST_WITHOUT_SCHEME = new RegExp(
  "^(?:[a-z0-9-]+(?:\\.[a-z0-9-]+)*\\.[a-z]{2,63}(?::[0-9]+)?(?=[/?#])" +
    "|(?:www\\.[a-z0-9.-]+|[a-z0-9.-]+\\.(?:com|org|net|io|dev|app))(?![^/?#]))",
  "i",
);

let lists;
let letters;

/** Why an address is refused: `code` is its message in `messages.json`. */
export class Refused extends Error {
  constructor(code, host = "") {
    super(code);
    this.code = code;
    this.host = host;
  }
}

/**
 * The page's place on the web; null for a path in a repository. Throws ValidationError for what
 * is no address, PrivateAddress for one that is refused.
 */
export function check(docUrl, allowPrivate = false) {
  try {
    const page = parse(docUrl);
    if (page && !allowPrivate) judge(page);
    return page;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw publicError(error, docUrl);
  }
}

/** Whether this is no address but a path in a repository. */
export function isPath(text) {
  return attempt(text) === null;
}

/** Its parts, null for a path in a repository, or undefined for what is refused. */
export function attempt(text) {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return undefined;
  }
}

/** For example `https://docs.example.com:8443`. */
export function origin(page) {
  return `${page.scheme}://${page.host}${page.port === null ? "" : `:${page.port}`}`;
}

/** The whole address as HTTP sends it, or null if it cannot be written so. */
export function asciiUrl(page) {
  const host = asciiHost(page.host);
  return host && !/[^\x00-\x7f]/.test(page.rest) ? origin({ ...page, host }) + page.rest : null;
}

/** A host as DNS knows it, or null: IDNA of UTS 46, non-transitional, so that ß stays itself. */
export function asciiHost(text) {
  try {
    const host = hostOf(text);
    const ascii = /[^\x00-\x7f]/.test(host) ? domainToASCII(host) : host;
    return ascii && ascii.split(".").every((label) => label.length <= 63) ? ascii : null;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** A sentence with the host as DNS knows it, where that is not in ASCII: others may look like it. Else "". */
export function hostNote(page) {
  const host = page && /[^\x00-\x7f]/.test(page.host) ? asciiHost(page.host) : null;
  return host ? message("host_note", { host }) : "";
}

/**
 * Its parts `{scheme, host, port, rest}`, or Refused; null for a path in a repository. `host` is in
 * lower case without a trailing dot; `port` null for the scheme's own; `rest` the path and query.
 */
export function parse(docUrl) {
  if (!docUrl || FORBIDDEN.test(docUrl) || docUrl.startsWith("//")) throw new Refused("malformed");
  if (HOST_WITHOUT_SCHEME.test(docUrl)) throw new Refused("no_scheme");
  const scheme = SCHEME.exec(docUrl);
  if (!scheme) {
    judgePath(docUrl);
    return null;
  }
  const name = scheme[1].toLowerCase();
  if (name !== "https" && name !== "http") throw new Refused("scheme");
  const authority = AUTHORITY.exec(scheme[2]);
  if (!authority) throw new Refused("malformed");
  if (authority[1].includes("@")) throw new Refused("credentials");
  const parts = HOST_AND_PORT.exec(authority[1]);
  if (!parts || Number(parts[2] ?? 0) > 65535) throw new Refused("malformed");
  const port = parts[2] === undefined ? null : Number(parts[2]);
  return { scheme: name, host: hostOf(parts[1]), port, rest: authority[2] };
}

/** Throw Refused unless the page is https on a public host, as far as its name tells. */
export function judge(page) {
  const labels = page.host.split(".");
  const last = labels.at(-1);
  const isPrivate = table("addresses.json").private_suffixes.includes(last);
  if (page.scheme !== "https") throw new Refused("not_https");
  if (page.host.startsWith("[") || NUMBER.test(last)) {
    if (!isPublicIp(page.host.replace(/^\[|\]$/g, ""))) throw new Refused("private_ip", page.host);
  } else if (labels.length === 1 && !isPrivate) {
    throw new Refused("single_label", page.host);
  } else if (isPrivate) {
    throw new Refused("private_name", page.host);
  }
}

/** Whether the URL is on this machine, so that nothing is sent over a network. */
export function isLoopback(url) {
  return LOOPBACK.test(url);
}

/** Whether `text` is an IP address, in its plain spelling, that anybody can reach. */
export function isPublicIp(text) {
  const { privateIpv4, publicIpv6, privateIpv6 } = networks();
  if (DOTTED_QUAD.test(text)) return isIPv4(text) && !privateIpv4.check(text, "ipv4");
  if (/[.%]/.test(text) || !isIPv6(text)) return false;
  return publicIpv6.check(text, "ipv6") && !privateIpv6.check(text, "ipv6");
}

/** A path is fine, unless its first part is a port of a host, this machine or a private host. */
function judgePath(docUrl) {
  const first = docUrl.split(/[/?#]/)[0];
  if (first.includes(":")) throw new Refused("scheme");
  const host = spelling(first);
  if (host === "localhost" || DOTTED_QUAD.test(host)) throw new Refused("private_ip", host);
  const dot = host.lastIndexOf(".");
  if (dot > 0 && table("addresses.json").private_suffixes.includes(host.slice(dot + 1))) {
    throw new Refused("no_scheme");
  }
  const ip = oldIp(host);
  if (ip && networks().privateIpv4.check(ip, "ipv4")) throw new Refused("no_scheme");
}

/**
 * The IPv4 address that C's `inet_aton` reads (`127.1`, `0x7f.1`), or null; null too below 1.0.0.0,
 * where the names of folders are, such as `2024`.
 */
function oldIp(text) {
  const parts = text.split(".");
  if (text.length > 64 || !parts.every((part) => OLD_NUMBER.test(part))) return null;
  const octets = parts.map((part) => (/^0[0-7]/.test(part) ? parseInt(part, 8) : Number(part)));
  const last = octets.pop();
  if (octets.length > 3 || octets.some((it) => it > 255)) return null;
  if (last >= 256 ** (4 - octets.length)) return null;
  const number = octets.reduce((sum, it, place) => sum + it * 256 ** (3 - place), last);
  return number < 2 ** 24 ? null : [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join(".");
}

/** A letter of which NFKC and lower case make another one than UTS 46 does: another host. */
function unclear() {
  if (!letters) {
    const ranges = table("addresses.json").unclear_letters.map((each) => each.split("-"));
    const written = ranges.map((each) => `\\u{${each[0]}}-\\u{${each.at(-1)}}`);
    letters = new RegExp(`[${written.join("")}]`, "u");
  }
  return letters;
}

/** The host in one spelling, or Refused. */
function hostOf(text) {
  if (text.length <= MAX_NAME && IN_BRACKETS.test(text)) return text.toLowerCase();
  const host = spelling(text);
  if ([...host].length > MAX_NAME || FORBIDDEN.test(host)) throw new Refused("malformed");
  if (unclear().test(text)) throw new Refused("malformed");
  if (!host.split(".").every((label) => LABEL.test(label))) throw new Refused("malformed");
  return host;
}

/**
 * NFKC, each letter in lower case, ASCII dots, no trailing dot; or Refused for what is too long. The
 * length comes first: NFKC of heaped marks takes time that grows with its square.
 */
function spelling(text) {
  if ([...text].length > MAX_WRITTEN) throw new Refused("malformed");
  const lower = [...text.normalize("NFKC")].map((letter) => letter.toLowerCase());
  return lower.join("").replaceAll("\u3002", ".").replace(/\.$/, "");
}

function networks() {
  if (!lists) {
    const shared = table("addresses.json");
    lists = {
      privateIpv4: blockList(shared.private_ipv4, "ipv4"),
      publicIpv6: blockList(shared.public_ipv6, "ipv6"),
      privateIpv6: blockList(shared.private_ipv6, "ipv6"),
    };
  }
  return lists;
}

function blockList(subnets, family) {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address, prefix] = subnet.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function publicError(refused, docUrl) {
  const sentence = message(refused.code, { host: refused.host, url: docUrl });
  const fields = { reason: refused.code };
  if (refused.code === "malformed" || refused.code === "no_scheme") {
    return new ValidationError("invalid_doc_url", sentence, { fields });
  }
  return new PrivateAddress("private_address", sentence, { fields });
}
