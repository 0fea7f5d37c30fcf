/** Asks git about a repository: without a network, and so that nothing in the repository can run a program. */

import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { devNull } from "node:os";
import * as programs from "./programs.js";

const MAX_BYTES = 64 * 1024;
const MILLISECONDS = 5000;
const SHELL = "/bin/sh";
// Memory in KiB, in which the packs that git maps do not count, and seconds of a processor.
const LIMITED = 'ulimit -d 524288 2>/dev/null; ulimit -t 5 2>/dev/null; exec "$@"';
const HAS_GROUPS = process.platform !== "win32"; // of processes
const KEPT = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"];
const OURS = {
  GIT_ALLOW_PROTOCOL: "none", // else what is not there may be fetched, by a program of the repository's
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
};
const SAFE = [
  ...["--no-pager", "--literal-pathspecs"],
  ...["-c", "safe.bareRepository=explicit"], // else a folder that somebody committed can be a repository
  ...["-c", "core.fsmonitor=false", "-c", `core.hooksPath=${devNull}`],
  ...["-c", "credential.helper="], // forgets those that the repository names, and git before 2.44.1 may fetch
  ...["-c", "core.askPass=", "-c", "fetch.bundleURI="],
];

/** The path of git, or null. */
export function program() {
  return programs.find("git");
}

/** What git prints; null if it fails, takes too long, needs too much memory or says too much. */
export function ask(program, folder, ...words) {
  return new Promise((resolve) => {
    const git = started(program, folder, words);
    if (git === null) return resolve(null);
    const chunks = [];
    let size = 0;
    const stop = () => kill(git); // whoever presses Ctrl-C leaves nothing behind
    const end = (output) => {
      clearTimeout(timer);
      process.removeListener("exit", stop);
      stop();
      git.stdout?.destroy();
      resolve(output);
    };
    const timer = setTimeout(end, MILLISECONDS, null);
    process.once("exit", stop);
    git.stdout?.on("data", (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) end(null);
    });
    git.on("error", () => end(null));
    // What git has started may have the pipe when git has ended, and then this waits for the timer.
    git.on("close", (status) => end(status === 0 ? decoded(Buffer.concat(chunks)) : null));
  });
}

/** The process, or null. */
function started(program, folder, words) {
  const options = {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "pipe", "ignore"],
    detached: HAS_GROUPS, // a process group of its own, see kill
    windowsHide: true,
  };
  const [first, ...rest] = [...limit(), program, ...SAFE, ...words];
  try {
    return spawn(first, rest, options);
  } catch {
    return null;
  }
}

/**
 * What starts a program with limits: 2 MB of a repository can be gigabytes and hours to git. The time is for
 * a git that is left behind, since who is killed ends nobody.
 */
function limit() {
  try {
    if (process.platform === "win32") return [];
    accessSync(SHELL, constants.X_OK);
  } catch {
    return [];
  }
  return [SHELL, "-c", LIMITED, "sh"];
}

/** End git and, where there are process groups, what it has started and left running. */
function kill(git) {
  if (!git.pid) return; // it could not be started
  try {
    if (HAS_GROUPS) process.kill(-git.pid, "SIGKILL");
    else git.kill("SIGKILL");
  } catch {
    return; // all of them have ended
  }
}

function decoded(output) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(output);
  } catch {
    return null;
  }
}

/** Ours, without what a hook that called us was told about its own repository. */
function environment() {
  const kept = Object.entries(programs.environment()).filter(
    ([name]) => !name.toUpperCase().startsWith("GIT_") || KEPT.includes(name),
  );
  return { ...Object.fromEntries(kept), ...OURS };
}
