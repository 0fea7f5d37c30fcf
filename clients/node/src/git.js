/** Asks git about a repository: without a network, and so that nothing in the repository can run a program. */

import { execFile } from "node:child_process";
import { devNull } from "node:os";
import { find } from "./programs.js";

const MAX_BYTES = 64 * 1024;
const MILLISECONDS = 5000;
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
  return find(process.platform === "win32" ? "git.exe" : "git");
}

/** What git prints; null if it fails, takes too long or says too much. */
export function ask(program, folder, ...words) {
  const options = {
    cwd: folder,
    env: environment(),
    encoding: "buffer",
    timeout: MILLISECONDS,
    maxBuffer: MAX_BYTES,
    killSignal: "SIGKILL",
    windowsHide: true,
  };
  return new Promise((resolve) => {
    const started = execFile(program, [...SAFE, ...words], options, (error, output) => {
      process.removeListener("exit", stop);
      resolve(error ? null : decoded(output));
    });
    const stop = () => started.kill("SIGKILL"); // whoever presses Ctrl-C leaves nothing behind
    process.once("exit", stop);
    started.stdin?.on("error", () => {}).end();
  });
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
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.toUpperCase().startsWith("GIT_") || KEPT.includes(name),
  );
  return { ...Object.fromEntries(kept), ...OURS };
}
