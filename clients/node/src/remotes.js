/** What a remote of git says about where its repository can be read in a browser. */

import { attempt, origin } from "./address.js";
import { DocFeedbackError } from "./errors.js";
import { codeHost, origin as originOfUrl } from "./settings.js";

const OWNER_AND_NAME = "([A-Za-z0-9][A-Za-z0-9_-]{0,99})/([A-Za-z0-9._-]{1,100})/*$";
const USER_INFO = "(?:[^\\x00-\\x20/?#@\\\\\\x7f-\\uffff]*@)?";
const URL_FORM = new RegExp(
  `^(https?|ssh|git|git\\+ssh|ssh\\+git)://${USER_INFO}([A-Za-z0-9.-]+)(?::([0-9]{1,5}))?/+${OWNER_AND_NAME}`,
  "i",
);
const SCP_FORM = new RegExp(`^(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):/*${OWNER_AND_NAME}`);
const PORTS = { http: "80", https: "443" };
const SAME_HOST = { "ssh.github.com": "github.com", "www.github.com": "github.com" };
const GITHUB = /^(?:github\.com|[a-z0-9-]+\.ghe\.com)$/;
const ON_GITHUB = /^https:\/\/(?:github\.com|[a-z0-9-]+\.ghe\.com):443$/;
const RAW = "raw.githubusercontent.com";
const IN_A_REPOSITORY = /^\/[^/?#]+\/[^/?#]/;

/** The address of the repository, without user info; null unless its host is one of GitHub's or ours. */
export function repository(url) {
  const parts = URL_FORM.exec(url)?.slice(1) ?? scpParts(url);
  if (!parts) return null;
  const [scheme, host, port, owner, fullName] = parts;
  const name = fullName.replace(/\.git$/, "");
  const place = originOf(scheme.toLowerCase(), host.toLowerCase(), port);
  if (!place || ["", ".", ".."].includes(name) || name.endsWith(".wiki")) return null;
  return `${place}/${owner}/${name}`;
}

/** Whether the address of a page is in a repository, on GitHub or on the code host that is set. */
export function isPage(docUrl) {
  const page = attempt(docUrl);
  if (!page || !IN_A_REPOSITORY.test(page.rest)) return false;
  if (GITHUB.test(page.host) || [RAW, ...Object.keys(SAME_HOST)].includes(page.host)) return true;
  return ownHost()?.host === page.host.replace(/^raw\./, "");
}

/** Whether an http or https URL is on GitHub, or on the code host that is set. */
export function isOnCodeHost(url) {
  const place = originOfUrl(url);
  if (place === null || ON_GITHUB.test(place)) return place !== null;
  const own = ownHost();
  return own !== null && originOfUrl(origin(own)) === place;
}

/** The code host that is set, in its parts; null if it is none. */
function ownHost() {
  try {
    return codeHost();
  } catch (error) {
    if (error instanceof DocFeedbackError) return null; // the report did not need it, and was sent
    throw error;
  }
}

function scpParts(url) {
  const found = SCP_FORM.exec(url);
  return found && ["ssh", found[1], undefined, found[2], found[3]];
}

/** Scheme and host of the repository's pages. Only over HTTP has the port of the remote to be theirs. */
function originOf(scheme, remoteHost, remotePort) {
  const host = SAME_HOST[remoteHost] ?? remoteHost;
  const port = scheme in PORTS ? (remotePort ?? PORTS[scheme]) : null;
  if (GITHUB.test(host)) return port === null || port === PORTS[scheme] ? `https://${host}` : null;
  const own = codeHost();
  if (own?.host !== host) return null;
  return port === null || port === String(own.port ?? PORTS[own.scheme]) ? origin(own) : null;
}
