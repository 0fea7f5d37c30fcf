/** Parses the command line by the table that both packages share: `commands.json`. */

import { message, table } from "./contract.js";
import { ValidationError } from "./errors.js";
import { meant } from "./spelling.js";

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
  const { flags, found } = split(rest, takesOf(command));
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

/** Whether one of these flags is given, and not as the value of another one or behind `--`. */
export function asks(words, ...flags) {
  return withoutValues(words).some((word) => flags.includes(word));
}

/** The flags of a command, and what each takes; of an unknown one those that all have. */
function takesOf(command) {
  const { commands, common } = table("commands.json");
  return { ...(Object.hasOwn(commands, command) ? commands[command].flags : {}), ...common };
}

function withoutValues(words) {
  const takes = words.length ? takesOf(words[0]) : {};
  const left = [...words];
  const found = [];
  while (left.length && left[0] !== "--") {
    const word = left.shift();
    found.push(word);
    const wants = Object.hasOwn(takes, word) && takes[word] !== null;
    if (wants && left.length && !isFlag(left[0], takes)) left.shift();
  }
  return found;
}

/** Whether a word where a value is due is a flag: the value was forgotten. */
function isFlag(word, takes) {
  return Object.hasOwn(takes, word.split("=")[0]) && !word.includes(" ");
}

function split(words, takes) {
  const flags = new Map();
  const found = [];
  const left = [...words];
  while (left.length) {
    const word = left.shift();
    if (word === "--") return { flags, found: [...found, ...left] };
    if (!word.startsWith("-") || word === "-") {
      found.push(word);
      continue;
    }
    const [, name, equals, value] = /^([^=]*)(=?)(.*)$/s.exec(word);
    if (!Object.hasOwn(takes, name)) throw unknown("unknown_flag", name, Object.keys(takes));
    if (flags.has(name)) throw usageError("repeated_flag", { name });
    if (takes[name] === null && equals) throw usageError("unwanted_value", { name });
    flags.set(name, takes[name] === null || equals ? value : next(left, name, takes));
    if (["FILE", "PATH"].includes(takes[name]) && !flags.get(name)) {
      throw usageError("missing_value", { name });
    }
  }
  return { flags, found };
}

/** The next word is the value, whatever it looks like, unless it is a flag of this command. */
function next(left, name, takes) {
  if (!left.length) throw usageError("missing_value", { name });
  if (isFlag(left[0], takes)) {
    throw usageError("flag_for_value", { name, flag: left[0].split("=")[0] });
  }
  return left.shift();
}

function unknown(code, name, known) {
  return new ValidationError("usage", message(code, { name }) + meant(name, known));
}

/** The error for a wrong command line; `code` is its message in `messages.json`. */
export function usageError(code, values) {
  return new ValidationError("usage", message(code, values));
}
