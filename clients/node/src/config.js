/** `config`: shows and changes the user's configuration file, and never shows a token. */

import * as fs from "node:fs";
import { join, dirname } from "node:path";
import { origin } from "./address.js";
import { checkWords, usageError } from "./arguments.js";
import { message } from "./contract.js";
import { DocFeedbackError, ValidationError } from "./errors.js";
import { Unusable, read, realPath, reasonOf, replace } from "./files.js";
import * as privateFiles from "./private_files.js";
import * as settings from "./settings.js";
import { trimEnd } from "./trim.js";

const NAMES = ["hub_url", "code_host", "token"];
const CHECKS = { hub_url: settings.base, code_host: codeHost };
const WORDS = { get: "[NAME]", set: "NAME VALUE", unset: "NAME" };
const ACTIONS = { get: show, set, unset };
const FAILED = 1;

/** Show, set or remove a setting of the file. */
export async function config({ words: [action, ...words] }) {
  if (!Object.hasOwn(ACTIONS, action)) throw usageError("unknown_action", { name: action });
  checkWords("config", words, WORDS[action].split(" "));
  if (words.length && !NAMES.includes(words[0])) {
    throw usageError("unknown_setting", { name: words[0] });
  }
  return ACTIONS[action](words);
}

/**
 * Make a Hub the one of the file, if none is set anywhere: a note about that, or null.
 * A token that is there without a Hub would be this one's from then on.
 */
export async function remember(hubUrl) {
  try {
    const path = settings.configPath();
    if (settings.hubUrl() !== null || settings.config().token) return null;
    if (settings.environmentToken(hubUrl)) return message("hub_not_remembered", { url: hubUrl });
    await change("hub_url", hubUrl);
    return message("hub_remembered", { url: hubUrl, path });
  } catch (error) {
    if (error instanceof DocFeedbackError) return null; // who has signed in is signed in
    throw error;
  }
}

function show(words) {
  if (words[0] === "token") throw usageError("token_not_shown");
  if (words.length) return showOne(words[0]);
  const path = settings.configPath();
  const urls = { hub_url: stored("hub_url"), code_host: stored("code_host") };
  const hasToken = Boolean(settings.config().token);
  const shown = { ...urls, token: hasToken ? message("set_not_shown") : null };
  const line = (name) => message("setting_line", { name, value: shown[name] ?? message("not_set") });
  const lines = [message("config_line", { path }), ...NAMES.map(line)];
  return { lines, data: { path, ...urls, has_token: hasToken }, notes: notesOn(...NAMES) };
}

function showOne(name) {
  const [url, notes] = [stored(name), notesOn(name)];
  if (url !== null) return { lines: [url], data: { [name]: url }, notes };
  const sentence = message("setting_not_set", { name, path: settings.configPath() });
  const data = { error: "not_set", message: sentence };
  return { lines: [message("error", { text: sentence })], data, notes, exitCode: FAILED };
}

/** The address in the file, null without one; ValidationError if it is none. */
function stored(name) {
  const found = settings.config()[name];
  return found ? CHECKS[name](found) : null;
}

/** A code host's address in one spelling, or ValidationError. */
function codeHost(url) {
  return origin(settings.codeHostAt(url));
}

async function set([name, value]) {
  if (name === "token") throw usageError("token_not_set_here");
  const url = CHECKS[name](value);
  await change(name, url);
  const path = settings.configPath();
  const line = message("setting_set", { name, value: url, path });
  return { lines: [line], data: { path, [name]: url }, notes: notesOn(name) };
}

async function unset([name]) {
  const wasSet = await change(name, null);
  const path = settings.configPath();
  const line = message(wasSet ? "setting_removed" : "setting_not_set", { name, path });
  return { lines: [line], data: { path, removed: wasSet ? name : null }, notes: notesOn(name) };
}

/** The environment wins over the file, which surprises whoever changes that. */
function notesOn(...names) {
  const variables = names.map((name) => `DOCFEEDBACK_${name.toUpperCase()}`);
  return variables.filter((it) => process.env[it]).map((name) => message("environment_wins", { name }));
}

/** Change a setting, or remove it where `value` is null; all others stay. Whether it was set. */
async function change(name, value) {
  const path = settings.configPath();
  try {
    privateFiles.refuseOtherUsers(path, dirname(path));
    return await privateFiles.locked(join(dirname(path), "config.lock"), () => {
      const { [name]: before, ...others } = settings.config();
      if (value === null && before === undefined) return false;
      const config = value === null ? others : { ...settings.config(), [name]: value };
      if (name === "hub_url") refuseForTheToken(before, others, value);
      write(path, config);
      privateFiles.drafts(realPath(path)).forEach(privateFiles.remove); // with a token
      return before !== undefined;
    });
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    throw ValidationError.of("unwritable_file", { path, reason: message(error.reason) });
  }
}

/** The file's token belongs to the file's Hub, and must not be sent to another. */
function refuseForTheToken(owner, { token }, hubUrl) {
  if (token && hubUrl === null) {
    throw ValidationError.of("token_without_its_hub", { path: settings.configPath() });
  }
  if (token && owner && trimEnd(owner, "/") !== hubUrl) {
    throw ValidationError.of("token_of_another", { path: settings.configPath() });
  }
}

/** Replace the file, which only its owner can read afterwards; a symbolic link stays one. */
function write(path, config) {
  const data = `${JSON.stringify(config, null, 2)}\n`;
  if (!fs.lstatSync(path, { throwIfNoEntry: false })) return privateFiles.write(path, data);
  const real = realPath(path);
  replace(real, data, read(real));
  try {
    fs.chmodSync(path, 0o600);
  } catch (error) {
    throw new Unusable(reasonOf(error));
  }
}
