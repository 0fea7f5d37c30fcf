/**
 * Looks names up, each in a process of its own, since only a process can be ended at any time. A look-up
 * of `dns.lookup` takes one of the four threads of its process until the name server has answered or the
 * system gives up, and the process cannot exit before.
 */

import { execFile } from "node:child_process";
import dns from "node:dns";
import { basename, dirname } from "node:path";
import { environment } from "./programs.js";
import { turns } from "./turns.js";

const MAX_BYTES = 1024 * 1024; // for all the addresses that a name can have
const IS_NODE = /^node(js)?[-.\d]*(\.exe)?$/i.test(basename(process.execPath));
const NO_ANSWER = { error: null, found: null };
const WANTED = "DOCFEEDBACK_LOOK_UP"; // the environment of a process is its user's, its words are everybody's
const SCRIPT = `
  const [host, options] = JSON.parse(process.env.${WANTED});
  require("node:dns").lookup(host, options, (error, found) => {
    process.stdout.write(JSON.stringify({ error, found }));
  });
`;

const inTurn = turns(4); // as many as there are threads
const atWork = new Set(); // the processes
// Whoever presses Ctrl-C leaves nothing behind.
process.on("exit", () => atWork.forEach((started) => started.kill("SIGKILL")));

/**
 * The addresses of a host as by `dns.lookup` with `all`; throws its error. null if the process was ended
 * before it had an answer: when the signal aborts, it is.
 *
 * Where no such process can be started, the name is looked up in this one, once there is a thread for it.
 */
export async function lookUp(host, options, signal) {
  const wanted = { ...options, all: true, verbatim: dns.getDefaultResultOrder?.() !== "ipv4first" };
  const here = () => inTurn(() => askHere(host, wanted), signal);
  const { error, found } = await ask(host, wanted, signal).catch(here);
  if (error) throw Object.assign(new Error(error.code), error);
  return found;
}

/** `{error, found}` by another process; rejects if it cannot be started. */
function ask(host, options, signal) {
  const how = {
    cwd: dirname(process.execPath), // the current folder may be gone
    env: {
      ...environment(),
      NODE_OPTIONS: undefined, // what is loaded into this process takes its time
      [WANTED]: JSON.stringify([host, options]),
    },
    maxBuffer: MAX_BYTES,
    killSignal: "SIGKILL",
    windowsHide: true,
    signal,
  };
  return new Promise((resolve, reject) => {
    if (!IS_NODE) throw new Error("another program, which would do what it does");
    const started = execFile(process.execPath, ["-e", SCRIPT], how, (error, output) => {
      atWork.delete(started);
      try {
        resolve(signal.aborted ? NO_ANSWER : JSON.parse(output));
      } catch (fault) {
        reject(error ?? fault); // it has not started, or not done its work
      }
    });
    atWork.add(started);
  });
}

function askHere(host, options) {
  return new Promise((resolve) => dns.lookup(host, options, (error, found) => resolve({ error, found })));
}
