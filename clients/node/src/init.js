/** `init`: the instruction blocks in the files of a repository, or of a person. */

import { lstatSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { usageError } from "./arguments.js";
import { Damaged, find, hubUrlOf, put, takeOut } from "./blocks.js";
import { message } from "./contract.js";
import { DocFeedbackError } from "./errors.js";
import { Unusable, outside, read, remove, replace } from "./files.js";
import { hubUrl, isHubUrl } from "./settings.js";

const RULES = ".cursor/rules";
const CANDIDATES = ["AGENTS.md", "CLAUDE.md", RULES, ".github/copilot-instructions.md"];
const IN_RULES_FOLDER = ".cursor/rules/docfeedback.mdc";
const RULE_HEAD = "---\ndescription: How to report problems of documentation\nalwaysApply: true\n---\n";
const UTF_16 = ["fffe", "feff"]; // its byte order marks, little end first and big end first
const STATES = { older: "outdated", pasted_older: "outdated", pasted: "current" };

/** Write the block, check whether it is there (`--check`), or remove it (`--remove`). */
export function init({ flags }) {
  if (flags.has("--check") && flags.has("--remove")) throw usageError("exclusive_flags");
  const target = targetOf(flags);
  if (flags.has("--check")) return check(target);
  if (flags.has("--remove")) return takeAway(target);
  return write(target, hubUrl(flags.get("--hub-url")));
}

function write(target, hub) {
  const { path, name, document, place, state } = target;
  if (state === "current" || state === "newer") return said(target, state);
  const before = document ?? (path.endsWith(".mdc") ? RULE_HEAD : "");
  const options = { hubUrl: hub ?? hubOfOld(target) ?? message("hub_not_named") };
  save(path, undamaged(target, () => put(before, place, name, options)));
  if (document === null) return said(target, "created");
  return said(target, place ? "refreshed" : "added");
}

/** The Hub that the block names which is to be refreshed, or null. */
function hubOfOld({ document, place }) {
  const named = place && hubUrlOf(document, place);
  return named && isHubUrl(named) ? named : null;
}

function check(target) {
  const { lines, data } = said(target, target.state);
  if (target.state === "current" || target.state === "newer") return { lines, data };
  return { lines, data: { error: target.state, message: lines[0], ...data }, exitCode: 1 };
}

function takeAway(target) {
  const { path, name, document, place } = target;
  if (!place) return said(target, "not_there");
  if (place.state === "pasted_older") {
    throw damaged(path, name, new Damaged("edited_by_hand", place.line));
  }
  const rest = takeOut(document, place);
  if (rest === RULE_HEAD) { // nobody else makes such a file
    attempt("unwritable_file", path, () => remove(path));
  } else {
    save(path, rest);
  }
  return said(target, "removed");
}

function said({ path, name }, what) {
  const flags = name === "consumer" ? " --global" : "";
  const sentence = message(`block_${what}`, { path, block: name, flags });
  return { lines: [sentence], data: { file: path, block: name, result: what } };
}

/**
 * The file that is named, else the first with the block, else the first of the candidates:
 * `{path, name, document, place, state}`, with `document` null without a file, `place` without the
 * block, and `state` one of `absent`, `outdated`, `current` and `newer`.
 *
 * A candidate whose links lead out of the current folder is not read: whoever made the repository
 * chose where to. A file that is named may be anywhere.
 */
function targetOf(flags) {
  const name = flags.has("--global") ? "consumer" : "first-party";
  const path = flags.get("--file");
  if (path !== undefined) return examine(path, name);
  if (name === "consumer") return examine(join(homedir(), ".claude", "CLAUDE.md"), name);
  const found = [...candidates()];
  for (const candidate of found) {
    const target = outsideOf(candidate) ? null : examine(candidate, name);
    if (target?.place) return target;
  }
  const chosen = found[0] ?? CANDIDATES[0];
  const real = outsideOf(chosen);
  if (real) throw DocFeedbackError.of("outside_folder", { path: chosen, real });
  return examine(chosen, name);
}

function outsideOf(path) {
  return attempt("unreadable_file", path, () => outside(path));
}

function* candidates() {
  for (const path of CANDIDATES) {
    if (path === RULES && statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      yield IN_RULES_FOLDER;
    } else if (lstatSync(path, { throwIfNoEntry: false })) {
      yield path;
    }
  }
}

function examine(path, name) {
  const data = attempt("unreadable_file", path, () => read(path));
  if (data === null) return { path, name, document: null, place: null, state: "absent" };
  if (UTF_16.includes(data.toString("hex", 0, 2))) throw DocFeedbackError.of("not_utf8", { path });
  const document = data.toString("latin1");
  const place = undamaged({ path, name }, () => find(document, name));
  const state = place ? (STATES[place.state] ?? place.state) : "absent";
  return { path, name, document, place, state };
}

function undamaged({ path, name }, work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof Damaged ? damaged(path, name, error) : error;
  }
}

function save(path, document) {
  attempt("unwritable_file", path, () => replace(path, Buffer.from(document, "latin1")));
}

function attempt(code, path, work) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    throw DocFeedbackError.of(code, { path, reason: message(error.reason) });
  }
}

function damaged(path, name, { code, line }) {
  const marker = `<!-- docfeedback:end ${name} -->`;
  const sentence = message(code, { path, line, block: name, marker });
  return new DocFeedbackError("damaged_block", sentence);
}
