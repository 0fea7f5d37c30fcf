/** What `report` asks the person at a terminal: what is missing, and whether to send. */

import { asciiHost, check, hostNote } from "./address.js";
import { usageError } from "./arguments.js";
import { message } from "./contract.js";
import { DocFeedbackError, ValidationError } from "./errors.js";
import { kinds } from "./report.js";
import { hubUrl, isHubUrl, noHubUrl, withoutUserInfo } from "./settings.js";
import { ask, forgetTyped, isAttended, write } from "./terminal.js";
import { jsonLines } from "./visible.js";

const QUESTIONS = {
  "--doc-url": "ask_doc_url",
  "--kind": "ask_kind",
  "--summary": "ask_summary",
  "--agent": "ask_agent",
  "--hub-url": "ask_which_hub",
};
const REQUIRED = Object.keys(QUESTIONS).filter((flag) => flag !== "--hub-url");
const TRIES = 3;
const YES = ["y", "yes"];

/** The flags with what was missing, the Hub too; null if no required flag is, or nobody can be asked. */
export async function completed(flags) {
  const missing = REQUIRED.filter((flag) => !flags.has(flag));
  const isGiven = flags.has("--file") || flags.has("--base64");
  if (!missing.length || isGiven || flags.get("--details") === "-") return null;
  if ( flags.has("--json") || !isAttended()) return null;
  if (!flags.has("--dry-run") && !hubUrl(flags.get("--hub-url"))) missing.push("--hub-url");
  const all = new Map(flags);
  for (const flag of missing) all.set(flag, await answerTo(flag, flags));
  return all;
}

/** Whether the person at this terminal could not read the report in their own command. */
export function isUnread(flags) {
  return flags.has("--base64") && !flags.has("--json") && isAttended();
}

/** Show the whole report, and ask whether to send it; ValidationError if not. */
export async function confirm(draft) {
  const question = toSend(draft);
  await write(process.stderr, jsonLines(draft.body));
  const note = hostNote(draft.page);
  if (note) await write(process.stderr, [message("note", { text: note })]);
  await forgetTyped();
  const answer = await ask(question);
  if (!YES.includes(answer?.toLowerCase())) throw ValidationError.of("not_confirmed");
}

/** Whether to send it, and where; ValidationError if neither the user nor a page can name the Hub. */
function toSend({ hubUrl: url, page }) {
  if (url !== null) return message("ask_to_send_to", { url });
  const host = page && asciiHost(page.host); // other letters may look like these
  if (!host) throw noHubUrl();
  return message("ask_to_send", { host });
}

async function answerTo(flag, flags) {
  for (let left = TRIES; left > 0; left -= 1) {
    const answer = await ask(message(QUESTIONS[flag]));
    if (answer === null) break;
    const fault = faultOf(flag, answer, flags);
    if (fault === null) return answer;
    await write(process.stderr, [message("error", { text: fault })]);
  }
  throw REQUIRED.includes(flag) ? usageError("missing_flags", { names: flag }) : noHubUrl();
}

/** What is wrong with an answer, in words; null if nothing is. */
function faultOf(flag, answer, flags) {
  if (flag === "--hub-url") {
    return !answer || isHubUrl(answer) ? null : message("invalid_hub_url", { url: withoutUserInfo(answer) });
  }
  if (!answer) return message("field_required");
  if (flag === "--kind" && !kinds().includes(answer)) return message("unknown_kind", { name: answer });
  if (flag !== "--doc-url") return null;
  try {
    check(answer, flags.has("--allow-private"));
    return null;
  } catch (error) {
    if (error instanceof DocFeedbackError) return error.message;
    throw error;
  }
}
