/** The files under `contract/`, which this package shares with the Python package. */

import { readFileSync } from "node:fs";

const FOLDER = new URL("../contract/", import.meta.url);
const tables = new Map();

/** The shared file at `path`, for example `help/report.txt`. */
export function text(path) {
  return readFileSync(new URL(path, FOLDER), "utf8");
}

/** The shared JSON file at `path`, parsed once. */
export function table(path) {
  if (!tables.has(path)) tables.set(path, JSON.parse(text(path)));
  return tables.get(path);
}

/** The message with this `code` in `messages.json`, with `values` filled in. */
export function message(code, values = {}) {
  return table("messages.json")[code].replace(/\{([a-z_]+)\}/g, (_, name) => String(values[name]));
}
