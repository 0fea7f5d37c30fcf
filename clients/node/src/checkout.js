/** The address of a file in a repository, by the remote that git knows; no network is used. */

import { readlinkSync, realpathSync } from "node:fs";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { check, isPath } from "./address.js";
import { message } from "./contract.js";
import { DocFeedbackError, ValidationError } from "./errors.js";
import { MOST_LINKS } from "./files.js";
import { ask, program } from "./git.js";
import { repository } from "./remotes.js";
import { quote } from "./words.js";

const REMOTES = ["upstream", "origin"]; // the first of them counts
const MAX_LENGTH = 2048;
const OUTSIDE = "..";
const HERE = /^\.\.?(?:\/|$)/;

/** Why a path has no address: `reason` is its message in `messages.json`, filled in. */
class Stays extends Error {
  constructor(code, values) {
    super(code);
    this.reason = message(code, values);
  }
}

/**
 * The address of a file or folder of the repository around `folder` (default: the current one), as
 * `{url, path, note}`: `url` may be null, `note` is what to tell a person, with both in quotes, `path` as given.
 *
 * What is an address already comes back without a note. Throws ValidationError if the path can mean
 * two files, if it has no address and is a whole path or leads out of the repository (without one,
 * out of the folder), or if the code host that is set is none.
 */
export async function locate(path, folder = ".", { allowPrivate = false } = {}) {
  const slashed = sep === "\\" ? path.replaceAll("\\", "/") : path;
  // Unlike an address, a path may have spaces.
  if ([...path].length > MAX_LENGTH || !isPath(slashed.replaceAll(" ", "_"))) {
    return { url: null, path, note: null };
  }
  let prefix = "";
  try {
    const checkout = await checkoutAt(folder);
    ({ prefix } = checkout);
    const url = await urlOf(slashed, checkout, allowPrivate);
    return { url, path, note: message("path_located", { path: quote(path), url: quote(url) }) };
  } catch (error) {
    if (!(error instanceof Stays)) throw error;
    refuseOutside(slashed, prefix, error.reason);
    const note = message("path_stays", { path: quote(path), reason: error.reason });
    return { url: null, path, note };
  }
}

/** Refuse what may have a person's name, as the folders above a repository do. */
function refuseOutside(path, prefix, reason) {
  if (path.startsWith("/")) throw ValidationError.of("whole_path", { reason });
  if (posix.normalize(prefix + path).split("/")[0] === "..") {
    throw new ValidationError("whole_path", message("leaving_path", { reason }));
  }
}

async function urlOf(path, checkout, allowPrivate) {
  const url = (await repositoryOf(checkout)) + (await placeOf(checkout, path));
  try {
    check(url, allowPrivate);
  } catch (error) {
    throw error instanceof DocFeedbackError ? new Stays("path_private_host") : error;
  }
  return url;
}

/** `prefix` leads from `root` to the current folder, and ends with a slash unless it is empty. */
async function checkoutAt(folder) {
  const git = program();
  if (git === null) throw new Stays("path_no_git");
  const answer = await ask(git, folder, "rev-parse", "--show-toplevel", "--show-prefix");
  const lines = (answer ?? "").split("\n");
  if (lines.length !== 3) throw new Stays("path_no_repository");
  return { root: lines[0], prefix: lines[1], folder, ask: (...words) => ask(git, folder, ...words) };
}

/** The address of the repository, by its remote as configured, else as git rewrites it. */
async function repositoryOf(checkout) {
  for (const remote of REMOTES) {
    const configured = await checkout.ask("config", "--null", "--get-all", `remote.${remote}.url`);
    if (!configured) continue;
    const rewritten = (await checkout.ask("ls-remote", "--get-url", remote)) ?? "";
    const found = repository(configured.split("\0")[0]) ?? repository(rewritten.slice(0, -1));
    if (found) return found;
    throw new Stays("path_not_github", { remote });
  }
  throw new Stays("path_no_remote");
}

/** What follows the address of the repository. A fragment is kept, unless it belongs to the name. */
async function placeOf(checkout, path) {
  const [file, ...rest] = path.split("#");
  const [whole, part] = [namesOf(checkout, path), file ? namesOf(checkout, file) : []];
  const kinds = await committed(checkout, [...whole, ...part]);
  let found = whole.filter((name) => kinds.has(name));
  let anchor = "";
  if (!found.length && rest.length) {
    found = part.filter((name) => kinds.has(name));
    const fragment = quoted(rest.join("#"));
    anchor = fragment && `#${fragment}`;
  }
  if (!found.length) {
    const isOutside = isAbsolute(path) && !whole.length && !part.length;
    throw new Stays(isOutside ? "path_outside" : "path_not_committed");
  }
  if (found.length > 1) throw ambiguous(checkout, path, found);
  const place = found[0].split("/").map(quoted).join("/");
  return (place && `/${kinds.get(found[0])}/HEAD/${place}`) + anchor;
}

function ambiguous({ prefix }, path, [here, root]) {
  const up = "../".repeat(prefix.split("/").length - 1) + path;
  return ValidationError.of("ambiguous_path", { path, here, root, up });
}

/** What the path can mean, from the root on: in the current folder, and from the root. */
function namesOf(checkout, path) {
  const candidates = isAbsolute(path)
    ? [fromRoot(checkout, path)]
    : [checkout.prefix + path, ...(HERE.test(path) ? [] : [path])];
  const names = candidates.map((candidate) => posix.normalize(candidate).replace(/\/$/, ""));
  const inside = [...new Set(names)].filter((name) => name.split("/")[0] !== "..");
  return inside.map((name) => (name === "." ? "" : name));
}

/**
 * What a whole path means from the root on, if it begins with that, else `..`; nothing outside is looked
 * at: where an automounter runs, looking at `/net/<host>/x` would already tell the host.
 */
function fromRoot(checkout, path) {
  for (const root of rootsOf(checkout)) {
    const name = relative(root, path);
    if (isAbsolute(name) || name.split(sep)[0] === "..") continue;
    return throughLinks(root, name.replaceAll(sep, "/"));
  }
  return OUTSIDE;
}

/** The root as git writes it, and as the current folder does, if links lead there. */
function rootsOf({ root, prefix, folder }) {
  const real = realPath(root);
  const here = folder === "." ? (process.env.PWD ?? "") : folder;
  const end = sep + prefix.replace(/\/$/, "").replaceAll("/", sep);
  const written = here.endsWith(end) ? here.slice(0, -end.length) : here;
  const isRoot = isAbsolute(written) && realPath(written) === real;
  return [root, real, ...(isRoot ? [written] : [])];
}

/** The name from the root on, through links in its folders; `..` if one leads out or has a whole path. */
function throughLinks(root, name) {
  const found = [];
  const left = name.split("/");
  for (let links = 0; left.length; ) {
    const part = left.shift();
    if (part === ".." && !found.length) return OUTSIDE;
    if (part === "..") found.pop();
    else if (part && part !== ".") {
      const target = left.length ? targetOf(join(root, ...found, part)) : null;
      if (target === null) found.push(part);
      else if (isAbsolute(target) || ++links > MOST_LINKS) return OUTSIDE;
      else left.unshift(...target.replaceAll(sep, "/").split("/"));
    }
  }
  return found.join("/") || ".";
}

/** Where a symbolic link leads, or null if it is none. */
function targetOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** The path without links, or as it is where there is nothing. */
function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Those names that the current commit has, as `blob` or `tree`; the root has the name "". */
async function committed(checkout, names) {
  const kinds = new Map(names.includes("") ? [["", "tree"]] : []);
  const asked = names.filter(Boolean);
  if (!asked.length) return kinds;
  const listed = await checkout.ask("ls-tree", "-tz", "--full-tree", "HEAD", "--", ...asked);
  for (const entry of (listed ?? "").split("\0")) {
    const [, kind, name] = /^[0-9]+ (blob|tree) [0-9a-f]+\t(.*)$/s.exec(entry) ?? [];
    if (asked.includes(name)) kinds.set(name, kind);
  }
  return kinds;
}

/** Percent-encoded, as Python does it. */
function quoted(text) {
  const hex = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, hex);
}
