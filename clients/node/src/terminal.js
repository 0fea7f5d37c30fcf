/** What is written while a command runs, and the browser of the person at the terminal. */

import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { environment, find } from "./programs.js";
import { plain } from "./visible.js";

const REMOTE = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"];
const DISPLAYS = ["DISPLAY", "WAYLAND_DISPLAY"];
const MOMENT = 50; // milliseconds, in which arrives what waits already
const INTERRUPT = "\x03"; // Ctrl-C, which a raw terminal passes on
let width = 0; // of the line of progress that stands on the terminal

/** Line by line, without characters that control a terminal. */
export function write(stream, lines) {
  const output = lines.map((line) => `${plain(line)}\n`).join("");
  return new Promise((resolve) => stream.write(output, resolve));
}

/** One line, written before this returns, if it can be. */
export function writeNow({ fd }, line) {
  try {
    writeSync(fd, `${plain(line)}\n`);
  } catch {
    // nobody reads it
  }
}

/** Write the line of progress over the one before, on a terminal's standard error. */
export function showProgress(line) {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r${plain(line).padEnd(width)}`);
  width = line.length;
}

/** Take the line of progress away. */
export function clearProgress() {
  if (width) process.stderr.write(`\r${" ".repeat(width)}\r`);
  width = 0;
}

/** Whether a person can be asked: they type and read here, and it is no job of a CI. */
export function isAttended() {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY && !process.env.CI);
}

/**
 * What the person answers, without spaces around it; null if nobody can be asked, or nobody answers: only
 * Enter ends an answer, not Ctrl-D.
 */
export async function ask(question) {
  if (!isAttended() || process.stdin.readableEnded) return null;
  process.prependListener("SIGINT", endLine);
  process.stderr.write(`${plain(question)} `);
  const lines = createInterface({ input: process.stdin, terminal: false });
  const answer = await new Promise((resolve) => {
    const end = (line) => resolve(process.stdin.readableEnded ? null : line);
    lines.once("line", end).once("close", () => resolve(null));
  });
  lines.close();
  process.removeListener("SIGINT", endLine);
  if (answer === null) endLine(); // Ctrl-D
  return answer && answer.trim();
}

/**
 * Forget what was typed or pasted before now: it cannot be an answer to what comes now. The terminal is
 * raw meanwhile, since it keeps a line without its end until somebody ends it.
 */
export async function forgetTyped() {
  process.stdin.on("data", forget).resume();
  setRaw(true);
  await pause(MOMENT);
  setRaw(false);
  await pause(1); // for what came last
  process.stdin.removeListener("data", forget).pause();
}

function forget(data) {
  if (data.includes(INTERRUPT)) process.kill(process.pid, "SIGINT");
}

function setRaw(isRaw) {
  try {
    process.stdin.setRawMode(isRaw);
  } catch {
    // the terminal is gone
  }
}

function endLine() {
  process.stderr.write("\n");
}

/** Open the URL in the person's browser, if they sit at this machine; whether it was tried. */
export function openBrowser(url) {
  const [program, ...words] = process.stdin.isTTY && process.stdout.isTTY ? opener() : [];
  if (!program || REMOTE.some((name) => process.env[name])) return Promise.resolve(false);
  const options = { stdio: "ignore", detached: true, env: environment() };
  return new Promise((resolve) => {
    const started = spawn(program, [...words, url], options);
    started.on("spawn", () => resolve(true)).on("error", () => resolve(false));
    started.unref();
  });
}

/** The program that opens a URL here; nothing without a screen. */
function opener() {
  if (process.platform === "darwin") return ["/usr/bin/open"];
  if (process.platform === "win32") {
    // By its whole path: a bare name would be looked for in the current folder first.
    const root = process.env.SystemRoot || "C:\\Windows";
    return [`${root}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
  }
  const found = DISPLAYS.some((name) => process.env[name]) ? find("xdg-open") : null;
  return found ? [found] : [];
}
