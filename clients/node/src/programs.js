/** Finds the programs of this computer, and none of the folder in which a command runs; says what they are given. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The path of a program, or null. Folders of PATH that depend on the current one do not count. */
export function find(program) {
  const name = process.platform === "win32" ? `${program}.exe` : program;
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

/** Ours for a program, without the token: what it starts in turn can outlive us. */
export function environment() {
  const kept = Object.entries(process.env).filter(([name]) => name.toUpperCase() !== "DOCFEEDBACK_TOKEN");
  return Object.fromEntries(kept);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
