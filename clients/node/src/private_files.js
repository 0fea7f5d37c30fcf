/** Files that only their owner can read, from the first moment on, and locks between processes. */

import * as fs from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Unusable, reasonOf, write as writeDraft } from "./files.js";

const LOCK_SECONDS = 15; // no lock is held for longer, so an older one was left behind
const LOOK = 50;
const held = new Set();
process.on("exit", () => held.forEach((path) => fs.rmSync(path, { force: true })));

/** The file belongs to somebody else, or others can read or change it. */
export class Exposed extends Error {}

/** The content, null if the file does not exist; Exposed or Unusable. */
export function read(path, { evenExposed = false } = {}) {
  return attempt(() => {
    let handle;
    try {
      handle = fs.openSync(path, "r");
      if (!evenExposed && !isPrivate(fs.fstatSync(handle))) throw new Exposed();
      return fs.readFileSync(handle);
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    } finally {
      if (handle !== undefined) fs.closeSync(handle);
    }
  });
}

/** Replace the file completely or not at all, or Unusable; its folder exists. */
export function write(path, data) {
  attempt(() => writeDraft(path, data, { mode: 0o600 }));
}

/** Delete the file if it is there, or Unusable. */
export function remove(path) {
  attempt(() => fs.rmSync(path, { force: true }));
}

/**
 * What `work` gives while the lock at `path` is held for a moment: while that file exists, others
 * wait. Makes its folder. A file, because Node has no other lock. Unusable.
 */
export async function locked(path, work) {
  attempt(() => fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 }));
  while (!attempt(() => isMade(path))) {
    if (age(path) > LOCK_SECONDS) remove(path);
    else await pause(LOOK);
  }
  held.add(path);
  try {
    return await work();
  } finally {
    remove(path);
    held.delete(path);
  }
}

/** Make an empty file; false if there is one already. */
function isMade(path) {
  try {
    fs.closeSync(fs.openSync(path, "wx", 0o600));
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  return true;
}

/** How many seconds ago the file was made; 0 if it is gone. */
function age(path) {
  const found = attempt(() => fs.statSync(path, { throwIfNoEntry: false }));
  return found ? Math.abs(Date.now() - found.mtimeMs) / 1000 : 0;
}

function isPrivate({ uid, mode }) {
  if (!process.geteuid) return true; // Windows has no such modes
  return uid === process.geteuid() && !(mode & 0o077);
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unusable || error instanceof Exposed) throw error;
    throw new Unusable(reasonOf(error));
  }
}
