/** The user's files: read completely, and replaced completely or not at all. */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, isAbsolute, join, parse as parsePath, relative, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { message } from "./contract.js";
import { NoDocument, parse } from "./document.js";
import { ValidationError } from "./errors.js";

const REASONS = {
  ENOENT: "no_such_file",
  ENOTDIR: "not_a_directory",
  EEXIST: "not_a_directory",
  EISDIR: "is_a_directory",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  EROFS: "read_only",
  ELOOP: "symlink_loop",
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  ENAMETOOLONG: "name_too_long",
};
const MAX_BYTES = 1024 * 1024; // a report has 64 KiB
const BASE64 = /^[A-Za-z0-9_-]+$/;
const CHUNK = 64 * 1024;
const STANDARD_INPUT = "-";
const MOMENT = 20; // milliseconds: an interrupt that ended the writer of half a text comes before we send that
const GIT = [".git", "git~1"]; // its own folder, as Windows abbreviates it too; disks may ignore case
// Without waiting for the writer of a FIFO; Windows has neither flag.
const NO_LINK = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);
export const MOST_LINKS = 40; // in one path, as Linux has it

/** A file that cannot be read or written; `reason` is its message in `messages.json`. */
export class Unusable extends Error {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

/** Others have changed the file, or what leads to it, since it was read. */
export class Changed extends Unusable {
  constructor() {
    super("other_reason");
  }
}

/** The UTF-8 text, up to 1 MiB, of a file, of a pipe, or of standard input for `-`. */
export async function readText(path) {
  const name = nameOf(path);
  let data;
  try {
    data = path === STANDARD_INPUT ? await readStandardInput() : contentOf(path, "report_too_large");
  } catch (error) {
    const reason = message(error instanceof Unusable ? error.reason : reasonOf(error));
    throw ValidationError.of("unreadable_file", { path: name, reason });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    throw ValidationError.of("not_utf8", { path: name });
  }
}

/** The JSON in a file, or on standard input for `-`. */
export async function readJson(path) {
  const text = await readText(path);
  try {
    return parse(Buffer.from(text), { unique: true });
  } catch (error) {
    if (!(error instanceof NoDocument)) throw error;
    throw ValidationError.of(error.code, { path: nameOf(path), key: error.key });
  }
}

/** The JSON that is written as base64url (RFC 4648) without padding. */
export function readBase64(text) {
  try {
    if (!BASE64.test(text) || text.length % 4 === 1) throw new NoDocument("not_json");
    return parse(Buffer.from(text, "base64url"), { unique: true });
  } catch (error) {
    if (!(error instanceof NoDocument)) throw error;
    throw ValidationError.of(error.code, { path: "--base64", key: error.key });
  }
}

/** The content of the file at a path without links; null where there is none, or Unusable. */
export function read(path) {
  return look(path)?.data ?? null;
}

/** The file as `{data, state}`, of one and the same file, not through a symbolic link; null where there is none. */
function look(path) {
  return attempt(() => {
    let handle;
    try {
      handle = fs.openSync(path, NO_LINK);
      const state = fs.fstatSync(handle);
      if (state.isDirectory()) throw new Unusable("is_a_directory");
      if (!state.isFile()) throw new Unusable("not_a_regular_file");
      return { data: bounded(handle, "document_too_large"), state };
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    } finally {
      if (handle !== undefined) fs.closeSync(handle);
    }
  });
}

/** At most 1 MiB of a file or pipe, or Unusable (`tooLarge`). */
function contentOf(path, tooLarge) {
  const found = fs.statSync(path);
  if (found.isDirectory()) throw new Unusable("is_a_directory");
  if (!found.isFile() && !found.isFIFO()) throw new Unusable("not_a_regular_file");
  const handle = fs.openSync(path, "r");
  try {
    return bounded(handle, tooLarge);
  } finally {
    fs.closeSync(handle);
  }
}

/** At most 1 MiB, or Unusable (`tooLarge`). */
export function bounded(handle, tooLarge) {
  const chunks = [];
  let size = 0;
  while (true) {
    const chunk = Buffer.alloc(CHUNK);
    const count = fs.readSync(handle, chunk);
    if (!count) return Buffer.concat(chunks);
    size += count;
    if (size > MAX_BYTES) throw new Unusable(tooLarge);
    chunks.push(chunk.subarray(0, count));
  }
}

/** What is known of a file, undefined where there is none; newer Nodes tell no ENOTDIR if asked not to throw. */
export function stateOf(path) {
  try {
    return fs.statSync(path);
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a path without links is not below the folder, or is git's. */
export function isOutside(real, folder) {
  const names = way(realPath(folder), real);
  return !names || names.some((name) => GIT.includes(name.toLowerCase()));
}

/** Whether a link on the way to the file leads to what is neither the folder nor below it. */
export function leadsOut(path, folder) {
  const inside = realPath(folder);
  const real = placeOf(path, folder);
  return real !== inside && !way(inside, real);
}

/**
 * Where the links on the way to the file lead; what is outside the folder is not looked at, but text: where
 * an automounter runs, looking at `/net/<host>/x` would already tell the host.
 */
export function placeOf(path, folder) {
  return attempt(() => {
    const inside = realPath(folder);
    const isNear = (step) => step === inside || way(inside, step) || way(step, inside);
    return lastOf(steps(path, isNear));
  });
}

/** The first link on the way to the file, or folder below the folder, of another user than root; else null. */
export function ofAnotherUser(path, folder) {
  if (!process.geteuid) return null;
  return attempt(() => {
    const inside = realPath(folder);
    for (const { step, found } of steps(path)) {
      const leads = found?.isSymbolicLink() || (found?.isDirectory() && way(inside, step));
      if (leads && ![0, process.geteuid()].includes(found.uid)) return step;
    }
    return null;
  });
}

/** The names between a folder and a file below it, or null if it is not below it. */
function way(folder, path) {
  const names = relative(folder, path);
  return !names || names.split(sep)[0] === ".." || isAbsolute(names) ? null : names.split(sep);
}

/**
 * Replace the content of the file at a path without links, or Unusable: an interrupted write leaves the old one.
 * `before`: what was read there, null without a file, else Changed. Mode and owner are kept, and a link that
 * has come there is not followed.
 */
export function replace(path, data, before) {
  const seen = unchanged(path, before);
  attempt(() => {
    fs.mkdirSync(dirname(path), { recursive: true });
    if (seen) refuseReadOnly(path);
    write(path, data, { before: seen?.state });
  });
}

/** Delete the file at a path without links, in which `before` was read; else Unusable or Changed. */
export function remove(path, before) {
  unchanged(path, before);
  attempt(() => {
    refuseReadOnly(path);
    fs.unlinkSync(path);
  });
}

/** The file as it is, or Changed if others have written it, or made a link of it or its folders. */
function unchanged(path, before) {
  if (realPath(path) !== path) throw new Changed();
  const seen = look(path);
  const isSame = seen && before ? seen.data.equals(before) : !seen && !before;
  if (!isSame) throw new Changed();
  return seen;
}

/** Refuse read-only files, because replacing a file does not need permission to write it. */
function refuseReadOnly(path) {
  if (!(fs.statSync(path).mode & 0o222)) throw new Unusable("read_only");
  try {
    fs.accessSync(path, fs.constants.W_OK);
  } catch {
    throw new Unusable("read_only");
  }
}

/** Or Unusable if it is too large, or closed or empty: that was not meant to be sent. */
async function readStandardInput() {
  const chunks = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Unusable("report_too_large");
    chunks.push(chunk);
  }
  if (!chunks.length) throw new Unusable("empty_file");
  await pause(MOMENT);
  return Buffer.concat(chunks);
}

/**
 * By a draft beside it, which is never open to more people than the file; no folder on the way is a link, and
 * Changed if others move it meanwhile. `before`: the file whose owner and mode it gets; without one, its mode is
 * `mode`.
 */
export function write(target, data, { before, mode = 0o666 } = {}) {
  const suffix = randomBytes(6).toString("hex");
  const draft = join(dirname(target), `.${basename(target)}.docfeedback-${suffix}`);
  const handle = fs.openSync(draft, "wx", before ? 0o600 : mode);
  try {
    try {
      fs.writeFileSync(handle, data);
      fs.fsyncSync(handle);
      if (before) handOver(handle, before);
      refuseMoved(draft, handle);
    } finally {
      fs.closeSync(handle);
    }
    fs.renameSync(draft, target);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
}

/** Changed if another file than the open draft is at its path, or a link is on the way there. */
function refuseMoved(draft, handle) {
  if (realPath(draft) !== draft) throw new Changed();
  if (!process.geteuid) return; // Windows numbers files otherwise
  const [there, ours] = [fs.lstatSync(draft, { bigint: true }), fs.fstatSync(handle, { bigint: true })];
  if (there.ino !== ours.ino || there.dev !== ours.dev) throw new Changed();
}

/** Give the open draft its owner and mode: at its path, another user may have put a link. */
function handOver(handle, { uid, gid, mode }) {
  fs.fchownSync(handle, uid, gid);
  fs.fchmodSync(handle, mode & 0o777);
}

/** Where the file is or would be, through symbolic links, its folders' and dangling ones too; or Unusable. */
export function realPath(path) {
  return attempt(() => lastOf(steps(path)));
}

function lastOf(walked) {
  return [...walked].filter(({ found }) => !found?.isSymbolicLink()).at(-1).step;
}

/**
 * Each folder and link on the way to the file, and the file: `{step, found}`, `found` undefined where
 * there is none. One part of the path after the other, as the system does: `link/..` is beside what
 * the link leads to. The first that `mayLook` refuses is the last, and has the rest of the path behind it.
 */
function* steps(path, mayLook = () => true) {
  const whole = isAbsolute(path) ? path : `${process.cwd()}${sep}${path}`;
  let { root: real } = parsePath(whole);
  const parts = partsOf(whole);
  for (let links = 0; parts.length; ) {
    const step = join(real, parts.shift());
    if (!mayLook(step)) return yield { step: join(step, ...parts) };
    const found = fs.lstatSync(step, { throwIfNoEntry: false });
    yield { step, found };
    if (!found?.isSymbolicLink()) {
      real = step;
    } else if (++links > MOST_LINKS) {
      throw new Unusable("symlink_loop");
    } else {
      const target = fs.readlinkSync(step);
      if (isAbsolute(target)) real = parsePath(target).root;
      parts.unshift(...partsOf(target));
    }
  }
}

function partsOf(path) {
  return path.slice(parsePath(path).root.length).split(sep === "/" ? "/" : /[\\/]/);
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof Unusable ? error : new Unusable(reasonOf(error));
  }
}

function nameOf(path) {
  return path === STANDARD_INPUT ? message("standard_input") : path;
}

/** The name in `messages.json` of why a file cannot be used. */
export function reasonOf(error) {
  return REASONS[error.code] ?? "other_reason";
}
