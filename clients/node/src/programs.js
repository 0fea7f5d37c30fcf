/** Finds the programs of this computer, and none of the folder in which a command runs. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The path of a program, or null. Folders of PATH that depend on the current one do not count. */
export function find(program) {
  const name = process.platform === "win32" ? `${program}.exe` : program;
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
