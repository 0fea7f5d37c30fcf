/** The root of the repository around the current folder. */

import { closeSync, lstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { leadsOut, realPath } from "./files.js";

/**
 * The way there, such as `../..`; `.` without a repository; Unusable if the current folder is gone.
 *
 * The home folder counts only as the current folder, since a repository of settings is not what
 * stands in its sub-folders; and as git does it, nobody else's repository counts, nor their link to one.
 * A link of one's own that leads out of the folder counts without a look at what is there.
 */
export function root() {
  let folder = realPath(".");
  const home = homeFolder();
  for (let steps = 0; ; steps += 1) {
    if (steps && folder === home) return ".";
    if (isRoot(folder)) return Array(steps).fill("..").join("/") || ".";
    if (dirname(folder) === folder) return ".";
    folder = dirname(folder);
  }
}

function homeFolder() {
  try {
    return realpathSync(homedir());
  } catch {
    return null; // it is not known, or not there
  }
}

function isRoot(folder) {
  const mark = join(folder, ".git");
  try {
    if (!isOurs(lstatSync(mark))) return false;
    if (leadsOut(mark, folder)) return true;
    const found = statSync(mark);
    if (!isOurs(found)) return false;
    if (found.isDirectory()) return Boolean(lstatSync(join(mark, "HEAD")));
    return found.isFile() && startsWith(mark, "gitdir:");
  } catch {
    return false;
  }
}

function isOurs({ uid }) {
  return !process.geteuid || uid === process.geteuid();
}

function startsWith(path, word) {
  const handle = openSync(path, "r");
  try {
    const start = Buffer.alloc(word.length);
    readSync(handle, start);
    return start.toString("latin1") === word;
  } finally {
    closeSync(handle);
  }
}
