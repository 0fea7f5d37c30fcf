/** `reports`: a table of an organization's reports, or a line of JSON for each. */

import { usageError } from "./arguments.js";
import { message } from "./contract.js";
import { signedIn } from "./login.js";
import { kinds } from "./report.js";
import { checkedFilters, fetchPage, pages } from "./report_list.js";
import * as settings from "./settings.js";
import { write } from "./terminal.js";
import { cut, jsonLine, plain, quoted, width } from "./visible.js";
import * as words from "./words.js";

const FLAGS = {
  "--status": "status",
  "--kind": "kind",
  "--query": "q",
  "--page": "page",
  "--agent": "agent",
  "--claim": "claim",
  "--since": "since",
  "--until": "until",
};
const STATUSES = ["none", "pending", "sending", "sent", "folded", "held", "failed", "discarded"];
const DEFAULT_LIMIT = 50;
const COLUMNS = ["id_column", "received_column", "status_column", "summary_column"];
const WIDTHS = [26, 10, 9, 29]; // with two spaces between them, 80
const SHAPES = [words.ULID, words.TIME, words.STATE];

/** Your organization's reports, newest first, as the Hub sends them. */
export async function reports({ flags }) {
  const limit = limitOf(flags.get("--limit"));
  check(flags);
  const asJson = flags.has("--json");
  let shown = 0;
  for await (const page of pagesFor(flags)) {
    const some = page.reports.slice(0, limit - shown);
    if (some.length && !shown && !asJson) {
      await write(process.stdout, [row(COLUMNS.map((name) => message(name)))]);
    }
    await write(process.stdout, some.map(asJson ? jsonLine : lineOf));
    shown += some.length;
    if (shown === limit && (page.following || some.length < page.reports.length)) {
      return { lines: [], data: null, notes: [message("more_reports", { count: shown })] };
    }
    if (shown === limit) break;
  }
  return { lines: shown ? [] : [message("no_reports")], data: null };
}

/** An error for a kind or a status that there is not; a blank one is refused like other filters. */
function check(flags) {
  const [kind, status] = [flags.get("--kind"), flags.get("--status")];
  if (kind && !kinds().includes(kind)) throw usageError("unknown_kind", { name: kind });
  if (status && !STATUSES.includes(status)) throw usageError("unknown_status", { name: status });
}

function pagesFor(flags) {
  const hubUrl = settings.requiredHubUrl(flags.get("--hub-url"));
  const time = settings.timeout();
  const given = Object.entries(FLAGS).map(([flag, name]) => [name, flags.get(flag)]);
  const names = Object.fromEntries(Object.entries(FLAGS).map(([flag, name]) => [name, flag]));
  const filters = checkedFilters(Object.fromEntries(given), names);
  const ask = async (asked) =>
    (await signedIn(hubUrl, time, (token) => fetchPage(hubUrl, token, asked, time))).answer;
  return pages(hubUrl, filters, ask);
}

/** How many reports to show. */
function limitOf(value) {
  if (value === undefined) return DEFAULT_LIMIT;
  if (value === "all") return Infinity;
  if (!/^[1-9][0-9]{0,8}$/.test(value)) throw usageError("bad_limit", { name: value });
  return Number(value);
}

function lineOf({ id, received_at: receivedAt, erased_at: erasedAt, delivery, summary }) {
  const said = erasedAt ? message("erased_summary") : summary;
  const found = [id, receivedAt, statusOf(delivery)];
  return row([...found.map((text, column) => checked(text, SHAPES[column], WIDTHS[column])), said]);
}

/** The text, up to `most` columns of it, and in quotes unless it has this shape. */
function checked(text, shape, most) {
  return shape.test(text) ? text.slice(0, most) : `"${cut(quoted(text), most - 2)}"`;
}

/** As the filter `--status` names it. */
function statusOf(delivery) {
  if (!delivery) return "none";
  return delivery.held_for === "discarded" ? "discarded" : delivery.status;
}

function row(cells) {
  return cells.map((cell, column) => fitted(plain(cell), WIDTHS[column])).join("  ").trimEnd();
}

/** The cell, as wide as its column. */
function fitted(cell, most) {
  const shown = cut(cell, most);
  return shown + " ".repeat(most - width(shown));
}
