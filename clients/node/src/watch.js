/** `status --watch`: what changes about a report, until it is no longer being delivered. */

import { setTimeout as sleep } from "node:timers/promises";
import { message } from "./contract.js";
import { RateLimited, ServerError, Unreachable } from "./errors.js";
import { changedLines, receiptData, receiptLines } from "./outcome.js";
import { clearProgress, showProgress, write } from "./terminal.js";
import { jsonLine } from "./visible.js";

const SETTLED = ["received", "forwarded"]; // what changes then, if anything, a person does
const FIRST_PAUSE_SECONDS = 2;
const MAX_PAUSE_SECONDS = 60;
const MAX_WAIT_SECONDS = 3600; // even if the Hub says more
const TIMES_AWAY = 12; // without an answer, one after the other

/**
 * Print the receipt and what changes about it, until the report is delivered or only kept. A Hub that
 * cannot be reached meanwhile is asked again, ever more seldom.
 */
export async function follow(client, report, asJson) {
  let receipt = await client.receipt(report);
  await show(receipt, receiptLines(receipt), asJson);
  let pause = FIRST_PAUSE_SECONDS;
  while (!SETTLED.includes(receipt.status)) {
    const now = await next(client, report, pause);
    if (JSON.stringify(now) === JSON.stringify(receipt)) {
      pause = longer(pause);
      continue;
    }
    const time = new Date().toTimeString().slice(0, 8);
    const changes = changedLines(now, receipt);
    await show(now, changes.map((change) => message("change_line", { time, change })), asJson);
    [receipt, pause] = [now, FIRST_PAUSE_SECONDS];
  }
  const isKept = receipt.status === "received";
  return { lines: isKept && !asJson ? [message("nothing_to_watch")] : [], data: null };
}

/** The next receipt, or the Hub's error once it was away for too long, or says that it is of no use. */
async function next(client, report, firstPause) {
  let pause = firstPause;
  for (let times = 1; ; times += 1) {
    showProgress(message("watching"));
    await sleep(pause * 1000);
    clearProgress();
    try {
      return await client.receipt(report);
    } catch (error) {
      const isAway = [Unreachable, ServerError, RateLimited].some((kind) => error instanceof kind);
      if (!isAway || times === TIMES_AWAY) throw error;
      if (times === 1) {
        const text = message("hub_away", { reason: error.message });
        await write(process.stderr, [message("note", { text })]);
      }
      pause = Math.max(longer(pause), askedFor(error));
    }
  }
}

function longer(pause) {
  return Math.min(2 * pause, MAX_PAUSE_SECONDS);
}

/** The seconds in `Retry-After`, within reason. */
function askedFor(error) {
  return Math.min(error.fields.retry_after || 0, MAX_WAIT_SECONDS);
}

async function show(receipt, lines, asJson) {
  const at = new Date().toISOString().replace(/\.[0-9]+/, "");
  const data = { at, ...receiptData(receipt) };
  await write(process.stdout, asJson ? [jsonLine(data)] : lines);
}
