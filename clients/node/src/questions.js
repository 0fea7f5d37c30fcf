/** What `report` asks the person at a terminal: the required flags that are missing, and whether to send. */

import { check } from "./address.js";
import { usageError } from "./arguments.js";
import { message, table } from "./contract.js";
import { DocFeedbackError, ValidationError } from "./errors.js";
import { ask, forgetTyped, isAttended, write } from "./terminal.js";
import { jsonLines } from "./visible.js";

const QUESTIONS = {
  "--doc-url": "ask_doc_url",
  "--kind": "ask_kind",
  "--summary": "ask_summary",
  "--agent": "ask_agent",
};
const TRIES = 3;
const YES = ["y", "yes"];

/** The flags with what was missing; null if nothing is, or nobody can be asked. */
export async function completed(flags) {
  const missing = Object.keys(QUESTIONS).filter((flag) => !flags.has(flag));
  const readsInput = flags.has("--file") || flags.get("--details") === "-";
  if (!missing.length || readsInput || flags.has("--json") || !isAttended()) return null;
  const all = new Map(flags);
  for (const flag of missing) all.set(flag, await answerTo(flag, flags));
  return all;
}

/** Show the whole report, and ask whether to send it; ValidationError if not. */
export async function confirm({ body, hubUrl: url }) {
  await write(process.stderr, jsonLines(body));
  await forgetTyped();
  const answer = await ask(url ? message("ask_to_send_to", { url }) : message("ask_to_send"));
  if (!YES.includes(answer?.toLowerCase())) throw ValidationError.of("not_confirmed");
}

async function answerTo(flag, flags) {
  for (let left = TRIES; left > 0; left -= 1) {
    const answer = await ask(message(QUESTIONS[flag]));
    if (answer === null) break;
    const fault = faultOf(flag, answer, flags);
    if (fault === null) return answer;
    await write(process.stderr, [message("error", { text: fault })]);
  }
  throw usageError("missing_flags", { names: flag });
}

function kinds() {
  return table("report.json").body.properties.report.properties.kind.enum;
}

/** What is wrong with an answer, in words; null if nothing is. */
function faultOf(flag, answer, flags) {
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
