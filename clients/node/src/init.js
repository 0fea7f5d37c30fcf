/** `init`: the instruction blocks in the files of a repository, or of a person. */

import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { usageError } from "./arguments.js";
import { Damaged, find, foreign, hubUrlOf, nameHub, put, takeOut } from "./blocks.js";
import { message } from "./contract.js";
import { DocFeedbackError } from "./errors.js";
import { Changed, Unusable, isOutside, ofAnotherUser, placeOf, read, realPath, remove, replace } from "./files.js";
import { root } from "./roots.js";
import { base, home, hubUrl, isHubUrl, noHubUrl, oneSpelling } from "./settings.js";
import { ask } from "./terminal.js";
import { quoted } from "./visible.js";

const RULES = ".cursor/rules";
const CANDIDATES = ["AGENTS.md", "CLAUDE.md", RULES, ".github/copilot-instructions.md"];
const IN_RULES_FOLDER = ".cursor/rules/docfeedback.mdc";
const RULE_HEAD = "---\ndescription: How to report problems of documentation\nalwaysApply: true\n---\n";
const MOST_NOTES = 3;
const UTF_16 = ["fffe", "feff"]; // its byte order marks, little end first and big end first
const STATES = { older: "outdated", pasted_older: "outdated", pasted: "current" };

/** Write the block, check whether it is there (`--check`), or remove it (`--remove`). */
export async function init({ flags }) {
  if (flags.has("--check") && flags.has("--remove")) throw usageError("exclusive_flags");
  const given = flags.get("--hub-url");
  const hub = given ? base(given) : null;
  const target = targetOf(flags);
  if (flags.has("--check")) return check(target, hub);
  if (flags.has("--remove")) return takeAway(target);
  if (["current", "edited"].includes(target.state) && hub) return renameHub(target, hub);
  return write(target, hub);
}

async function write(target, hub) {
  const { path, name, document, place, state } = target;
  if (["current", "edited", "newer"].includes(state)) return said(target, state);
  const before = document ?? (path.endsWith(".mdc") ? RULE_HEAD : "");
  const options = { hubUrl: hub ?? (await hubFor(target)) };
  save(target, undamaged(target, () => put(before, place, name, options)));
  if (document === null) return said(target, "created");
  return said(target, place ? "refreshed" : "added");
}

/** The Hub that is set, that the block to be updated names, or that a person types. */
async function hubFor({ document, place }) {
  const named = place && hubUrlOf(document, place);
  const found = hubUrl() ?? (named && isHubUrl(named) ? named : null);
  const answer = found ?? (await ask(message("ask_hub_url")));
  if (!answer) throw noHubUrl();
  return base(answer);
}

/** Change the line of a block of this version that names the Hub, and nothing else. */
function renameHub(target, hub) {
  const { document, place, state } = target;
  if (!namesOther(target, hub)) return said(target, state);
  save(target, nameHub(document, place, hub));
  const changed = said(target, "hub_changed", hub);
  if (state === "edited") changed.notes.push(...said(target, "edited").lines);
  return changed;
}

/** Whether the block names another Hub than this, or what is no Hub. */
function namesOther({ document, place, state }, hub) {
  const named = place && hubUrlOf(document, place);
  if (named === null) return state === "newer"; // else somebody has taken that line out
  return !isHubUrl(named) || oneSpelling(base(named)) !== oneSpelling(hub);
}

function check(target, hub) {
  const differs = hub && namesOther(target, hub);
  const { lines, data, notes } = said(target, differs ? "other_hub" : target.state, hub);
  const isDone = ["current", "newer"].includes(target.state) && !differs;
  if (isDone) return { lines, data, notes };
  return { lines, data: { error: data.result, message: lines[0], ...data }, notes, exitCode: 1 };
}

function takeAway(target) {
  const { path, real, name, document, place } = target;
  if (!place) return said(target, "not_there");
  if (place.state === "pasted_older") {
    throw damaged(path, name, new Damaged("edited_by_hand", place.line));
  }
  const rest = takeOut(document, place);
  const isLink = look(() => lstatSync(path))?.isSymbolicLink(); // which stays, and leads to an empty file
  if (rest !== RULE_HEAD) save(target, rest);
  else if (isLink) save(target, "");
  else attempt("unwritable_file", path, () => remove(real, bytesOf(document))); // nobody else makes such a file
  return said(target, "removed");
}

function said({ path, name, state, others = [] }, what, url = "") {
  const flags = name === "consumer" ? " --global" : "";
  const isNewer = state === "newer" && what === "other_hub";
  const key = isNewer ? "newer_names_other_hub" : `block_${what}`;
  const sentence = message(key, { path, block: name, flags, url });
  const notes = others.slice(0, MOST_NOTES).map((line) => message("foreign_block", { path, line }));
  const more = others.length - notes.length;
  if (more) notes.push(message("more_foreign_blocks", { path, number: more }));
  return { lines: [sentence], data: { file: path, block: name, result: what }, notes };
}

/**
 * The file that is named, else the first with the block, else the first of the candidates:
 * `{path, real, name, document, place, state}`. `path` is what a person calls the file, and `real` where it is,
 * which is decided once: links that come later are not followed. `document` is null without a file, `place`
 * without the block, `state` one of `absent`, `outdated`, `current`, `edited` and `newer`, and `others` the lines
 * where blocks of other tools begin.
 *
 * The candidates are at the root of the repository, without one in the current folder. One whose
 * links lead out of there, into `.git`, or are another user's, as the root may be, is not read: somebody
 * else chose where to. A file that is named may be anywhere, and that of a person where their own links lead.
 */
function targetOf(flags) {
  const name = flags.has("--global") ? "consumer" : "first-party";
  const path = flags.get("--file") ?? (name === "consumer" ? globalPath() : null);
  if (path !== null) return examine(path, attempt("unreadable_file", path, () => realPath(path)), name);
  const folder = attempt("unreadable_file", ".", root);
  const found = [...candidates(folder)];
  for (const candidate of found) {
    const real = placeIn(folder, candidate);
    const target = refusal(candidate, real, folder) ? null : examine(candidate, real, name);
    if (target?.place) return target;
  }
  const chosen = found[0] ?? below(folder, CANDIDATES[0]);
  const real = placeIn(folder, chosen);
  const refused = refusal(chosen, real, folder);
  if (refused) throw refused;
  return examine(chosen, real, name);
}

function placeIn(folder, path) {
  return attempt("unreadable_file", path, () => placeOf(path, folder));
}

/** The file of a person; an error without a home folder, or if another user chose where it is. */
function globalPath() {
  const folder = home("--file");
  const path = join(folder, ".claude", "CLAUDE.md");
  const refused = refusalOfOthers(path, folder);
  if (refused) throw refused;
  return path;
}

/** Why a file that was found is not used, if its links lead out or another user may choose where to; else null. */
function refusal(path, real, folder) {
  if (isOutside(real, folder)) {
    const words = { path, real: quoted(real), folder: realpathSync(folder) };
    return DocFeedbackError.of("outside_folder", words);
  }
  return refusalOfOthers(path, folder);
}

function refusalOfOthers(path, folder) {
  const aboveRoot = () => dirname(realPath(folder)); // so the root itself counts
  const link = attempt("unreadable_file", path, () => ofAnotherUser(path, aboveRoot()));
  return link ? DocFeedbackError.of("another_users_link", { path, link: quoted(link) }) : null;
}

function below(folder, name) {
  return folder === "." ? name : `${folder}/${name}`;
}

function* candidates(folder) {
  for (const name of CANDIDATES) {
    const path = below(folder, name);
    const isOut = look(() => isOutside(placeOf(path, folder), folder)); // and is not looked at
    if (name === RULES && (isOut || look(() => statSync(path))?.isDirectory())) {
      yield below(folder, IN_RULES_FOLDER);
    } else if (isOut || look(() => lstatSync(path))) {
      yield path;
    }
  }
}

/** What is found; undefined where nothing is, or where that cannot be found out. */
function look(find) {
  try {
    return find();
  } catch {
    return undefined;
  }
}

function examine(path, real, name) {
  const document = documentAt(path, real);
  if (document === null) return { path, real, name, document, place: null, state: "absent" };
  const place = undamaged({ path, name }, () => find(document, name));
  const state = place ? (STATES[place.state] ?? place.state) : "absent";
  return { path, real, name, document, place, state, others: foreign(document) };
}

function documentAt(path, real) {
  const data = attempt("unreadable_file", path, () => read(real));
  if (data === null) return null;
  if (UTF_16.includes(data.toString("hex", 0, 2))) throw DocFeedbackError.of("not_utf8", { path });
  return data.toString("latin1");
}

function undamaged({ path, name }, work) {
  try {
    return work();
  } catch (error) {
    throw error instanceof Damaged ? damaged(path, name, error) : error;
  }
}

function save({ path, real, document }, text) {
  const before = document === null ? null : bytesOf(document);
  attempt("unwritable_file", path, () => replace(real, bytesOf(text), before));
}

function bytesOf(document) {
  return Buffer.from(document, "latin1");
}

/** Tell why a file is not used, such as that others wrote it while a person was asked for the Hub. */
function attempt(code, path, work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Changed) throw DocFeedbackError.of("changed_meanwhile", { path });
    if (!(error instanceof Unusable)) throw error;
    throw DocFeedbackError.of(code, { path, reason: message(error.reason) });
  }
}

function damaged(path, name, { code, line }) {
  const marker = `<!-- docfeedback:end ${name} -->`;
  const sentence = message(code, { path, line, block: name, marker });
  return new DocFeedbackError("damaged_block", sentence);
}
