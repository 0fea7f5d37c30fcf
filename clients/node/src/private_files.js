/** Files that only their owner can read, from the first moment on, and locks between processes. */

import * as fs from "node:fs";
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  Unusable,
  bounded,
  ofAnotherUser,
  realPath,
  reasonOf,
  stateOf,
  write as writeDraft,
} from "./files.js";

const LOCK_SECONDS = 15; // no lock is held for longer, so an older one was left behind
const LOOK = 50;
const LOOKS = 1200; // for a minute
// Without waiting for the writer of a FIFO, which Windows does not have.
const AT_ONCE = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);
const held = new Map(); // from paths to which file each is
process.on("exit", () => held.forEach((mine, path) => release(path, mine)));

/** The file belongs to somebody else, or others can read or change it. */
export class Exposed extends Error {}

/** The content, null if the file does not exist; Exposed or Unusable. */
export function read(path, { evenExposed = false } = {}) {
  return readIf(path, (found) => evenExposed || isPrivate(found));
}

/**
 * As `read`, but others may read and change the file if it is ours or root's. Unusable also if another user
 * can say where the file in the folder is.
 */
export function readOwn(path, folder) {
  try {
    if (!isThere(path)) return null;
    refuseOtherUsers(path, folder);
    return readIf(path, isOwn);
  } catch (error) {
    throw error instanceof Exposed ? new Unusable("of_another_user") : error;
  }
}

/**
 * Unusable if another user can say where the file in the folder is: by a link on the way, or by owning the
 * folder, what is below it, or the one that it is in.
 */
export function refuseOtherUsers(path, folder) {
  const above = dirname(realPath(dirname(folder)));
  if (ofAnotherUser(path, above)) throw new Unusable("of_another_user");
}

function readIf(path, mayBeRead) {
  return attempt(() => {
    let handle;
    try {
      handle = fs.openSync(path, AT_ONCE);
      const found = fs.fstatSync(handle);
      if (found.isDirectory()) throw new Unusable("is_a_directory");
      if (!found.isFile()) throw new Unusable("not_a_regular_file");
      if (!mayBeRead(found)) throw new Exposed();
      return bounded(handle, "document_too_large");
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    } finally {
      if (handle !== undefined) fs.closeSync(handle);
    }
  });
}

/** As `write`; makes the folder, too. */
export function keep(path, data) {
  makeFolder(dirname(path));
  write(path, data);
}

/** Replace the file completely or not at all, or Unusable; its folder exists. */
export function write(path, data) {
  const real = join(realPath(dirname(path)), basename(path));
  attempt(() => writeDraft(real, data, { mode: 0o600 }));
}

/** Whether there is such a file; Unusable where that is not known. */
export function isThere(path) {
  return Boolean(attempt(() => stateOf(path)));
}

/** Delete the file if it is there, or Unusable. */
export function remove(path) {
  attempt(() => fs.rmSync(path, { force: true }));
}

/** What is left of the file where writing it was cut short. */
export function drafts(path) {
  const start = `.${basename(path)}.docfeedback-`;
  try {
    const names = fs.readdirSync(dirname(path)).filter((name) => name.startsWith(start));
    return names.map((name) => join(dirname(path), name));
  } catch {
    return []; // there is no such folder
  }
}

/**
 * What `work` gives while the lock at `path` is held for a moment: while that file exists, others
 * wait. Makes its folder. A file, because Node has no other lock. Unusable, also if others hold it
 * for a minute.
 */
export async function locked(path, work) {
  makeFolder(dirname(path));
  const mine = await acquired(path);
  held.set(path, mine);
  try {
    return await work();
  } finally {
    attempt(() => release(path, mine));
    held.delete(path);
  }
}

/** The lock, once it is ours. Looks are counted, because the clock may be changed meanwhile. */
async function acquired(path) {
  let seen = null;
  let age = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    const mine = attempt(() => made(path));
    if (mine) return mine;
    const found = attempt(() => identity(path));
    if (!found) continue;
    if (!isSame(found, seen)) {
      seen = found;
      age = attempt(() => ageOf(path, found));
    }
    if (age > LOCK_SECONDS) attempt(() => takeAway(path, found));
    else {
      await pause(LOOK);
      age += LOOK / 1000;
    }
  }
  throw new Unusable("locked");
}

/** Delete this lock, but not one that another who waited has made in its place. */
function takeAway(path, leftBehind) {
  const aside = beside(path);
  try {
    fs.renameSync(path, aside); // one call, which only one of many can win
    if (isSame(identity(aside), leftBehind)) fs.unlinkSync(aside);
    else fs.renameSync(aside, path);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

/** Delete our lock, unless it was taken over. */
function release(path, mine) {
  if (isSame(identity(path), mine)) fs.rmSync(path, { force: true });
}

/** The folder and those above it, for their owner only (XDG Base Directory Specification), or Unusable. */
function makeFolder(path) {
  try {
    fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    // What is not there is made, so it is a link that leads nowhere.
    throw new Unusable(error.code === "ENOENT" ? "not_a_directory" : reasonOf(error));
  }
}

/** Make an empty file; null if there is one already. */
function made(path) {
  let handle;
  try {
    handle = fs.openSync(path, "wx", 0o600);
    return fs.fstatSync(handle, { bigint: true });
  } catch (error) {
    if (error.code === "EEXIST") return null;
    throw error;
  } finally {
    if (handle !== undefined) fs.closeSync(handle);
  }
}

/** How many seconds ago the lock was made, by the clock of the disk: that may not be ours. */
function ageOf(path, found) {
  const probe = beside(path);
  const now = made(probe);
  fs.rmSync(probe, { force: true });
  return now ? Math.max(0, Number(now.mtimeNs - found.mtimeNs) / 1e9) : 0;
}

function beside(path) {
  const suffix = randomBytes(6).toString("hex");
  return join(dirname(path), `.${basename(path)}.docfeedback-${suffix}`);
}

/** Which file is at `path`, a symbolic link being one; undefined if there is none. */
function identity(path) {
  return fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSame(one, other) {
  return Boolean(one && other) && one.ino === other.ino && one.mtimeNs === other.mtimeNs;
}

function isPrivate({ uid, mode }) {
  if (!process.geteuid) return true; // Windows has no such modes
  return uid === process.geteuid() && !(mode & 0o077);
}

function isOwn({ uid }) {
  return !process.geteuid || [0, process.geteuid()].includes(uid);
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unusable || error instanceof Exposed) throw error;
    throw new Unusable(reasonOf(error));
  }
}
