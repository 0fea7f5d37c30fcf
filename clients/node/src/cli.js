/** The command line: its output and exit status. */

import { asks, parse } from "./arguments.js";
import { COMMANDS } from "./commands.js";
import { message, table, text } from "./contract.js";
import { DocFeedbackError } from "./errors.js";
import { wasAsked } from "./hub.js";
import { clearProgress, write, writeNow } from "./terminal.js";
import { turnOn } from "./verbose.js";
import { VERSION } from "./version.js";
import { jsonLine } from "./visible.js";
import * as words from "./words.js";

const FAILED = 1;
const NOTHING_SENT = 2;
const INTERRUPTED = 130;
const FIELDS = { since: words.time, retry_after: String, request_id: words.name };

/** Run a command line and print its result; ends the process with its exit status. */
export async function run(words) {
  const asJson = asks(words, "--json");
  process.stdout.on("error", () => process.exit(FAILED)); // whoever reads our output has enough of it
  process.on("SIGINT", () => interrupt(asJson));
  await end(await resultOf(words), asJson);
}

/** What to print; every exception has become words here. Without `data`, it was written already. */
async function resultOf(words) {
  try {
    if (asks(words, "--help", "-h")) return help(words[0]);
    if (asks(words, "--version")) {
      return { lines: [`docfeedback ${VERSION}`], data: { version: VERSION } };
    }
    const parsed = parse(words);
    if (parsed.flags.has("--verbose")) turnOn();
    return await COMMANDS[parsed.command](parsed);
  } catch (error) {
    if (error instanceof DocFeedbackError) return failure(error);
    return internal(error?.name);
  }
}

async function end({ lines, data, notes = [], exitCode = 0 }, asJson) {
  clearProgress();
  await write(process.stderr, notes.map((note) => message("note", { text: note })));
  if (asJson && data === null) process.exit(exitCode); // it was written already
  if (asJson) await write(process.stdout, [jsonLine(data)]);
  else await write(exitCode ? process.stderr : process.stdout, lines);
  process.exit(exitCode);
}

function help(word) {
  const known = Object.hasOwn(table("commands.json").commands, word);
  const page = text(`help/${known ? word : "docfeedback"}.txt`);
  return { lines: page.trimEnd().split("\n"), data: { help: page } };
}

function failure(error) {
  const lines = [message("error", { text: error.message })];
  for (const { path, message: sentence } of words.first(error.details)) {
    const isByHub = error.status !== null;
    const [place, fault] = isByHub ? [path && words.name(path), words.quote(sentence)] : [path, sentence];
    lines.push(place ? `  ${place}: ${fault}` : `  ${fault}`);
  }
  lines.push(...words.more(error.details).map((line) => `  ${line}`));
  const hasFailed = error.status >= 500; // and its operator can look the request up
  for (const name of ["since", "retry_after", ...(hasFailed ? ["request_id"] : [])]) {
    if (name in error.fields) lines.push(message(`${name}_line`, { value: FIELDS[name](error.fields[name]) }));
  }
  return {
    lines,
    data: { ...fault(error.code, error.message), ...error.fields },
    exitCode: error.nothingWasSent ? NOTHING_SENT : FAILED,
  };
}

function internal(name) {
  const sentence = message(wasAsked() ? "internal_error" : "internal_error_before", { name });
  const exitCode = wasAsked() ? FAILED : NOTHING_SENT;
  return { lines: [sentence], data: fault("internal_error", sentence), exitCode };
}

/** End the process in this very turn: whatever waits for another one is no longer sent. */
function interrupt(asJson) {
  const sentence = message("interrupted");
  clearProgress();
  if (asJson) writeNow(process.stdout, jsonLine(fault("interrupted", sentence)));
  else writeNow(process.stderr, sentence);
  process.exit(INTERRUPTED);
}

function fault(error, sentence) {
  return { error, message: sentence };
}
