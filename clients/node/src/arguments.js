/** Parses the command line by the table that both packages share: `commands.json`. */

import { message, table } from "./contract.js";
import { ValidationError } from "./errors.js";

/**
 * The command line as `{command, flags, words, argument}`, or ValidationError with what to type
 * instead. `flags` is a Map by name; a flag without a value holds an empty text. `words` are the
 * others, and `argument` is the first of these, or empty.
 */
export function parse(words) {
  if (!words.length) throw usageError("no_command");
  const { commands, common } = table("commands.json");
  const [command, ...rest] = words;
  if (Object.hasOwn(common, command.split("=")[0])) throw usageError("flag_first", { name: command });
  if (command.startsWith("-")) throw unknown("unknown_flag", command, ["--help", "--version"]);
  checkCommand(command);
  const { flags, found } = split(rest, { ...commands[command].flags, ...common });
  checkWords(command, found, commands[command].argument?.split(" ") ?? []);
  return { command, flags, words: found, argument: found[0] ?? "" };
}

/** ValidationError unless there is such a command. */
export function checkCommand(name) {
  const { commands } = table("commands.json");
  if (!Object.hasOwn(commands, name)) throw unknown("unknown_command", name, Object.keys(commands));
}

/** ValidationError unless the words are as many as wanted; those in brackets may be missing. */
export function checkWords(command, words, wanted) {
  const required = wanted.filter((name) => !name.startsWith("["));
  if (words.length < required.length) {
    throw usageError("missing_argument", { name: required[words.length], command });
  }
  if (words.length > wanted.length) throw usageError("unexpected_argument", { name: words.at(-1) });
}

function split(words, takes) {
  const flags = new Map();
  const found = [];
  const left = [...words];
  while (left.length) {
    const word = left.shift();
    if (!word.startsWith("-") || word === "-") {
      found.push(word);
      continue;
    }
    const [, name, equals, value] = /^([^=]*)(=?)(.*)$/s.exec(word);
    if (!Object.hasOwn(takes, name)) throw unknown("unknown_flag", name, Object.keys(takes));
    if (flags.has(name)) throw usageError("repeated_flag", { name });
    if (takes[name] === null && equals) throw usageError("unwanted_value", { name });
    flags.set(name, takes[name] === null || equals ? value : next(left, name));
    if (["FILE", "PATH"].includes(takes[name]) && !flags.get(name)) {
      throw usageError("missing_value", { name });
    }
  }
  return { flags, found };
}

function next(left, name) {
  if (!left.length || left[0].startsWith("--")) throw usageError("missing_value", { name });
  return left.shift();
}

function unknown(code, name, known) {
  const distances = known.map((candidate) => distance(name, candidate));
  const least = Math.min(...distances);
  const nearest = known[distances.indexOf(least)];
  const hint = least * 3 <= nearest.length ? message("did_you_mean", { name: nearest }) : "";
  return new ValidationError("usage", message(code, { name }) + hint);
}

/** The error for a wrong command line; `code` is its message in `messages.json`. */
export function usageError(code, values) {
  return new ValidationError("usage", message(code, values));
}

/** How many letters to insert, delete or replace to make `other` of `one` (Levenshtein). */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i += 1) {
    const above = row;
    row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = above[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      row.push(Math.min(above[j] + 1, row[j - 1] + 1, change));
    }
  }
  return row.at(-1);
}
