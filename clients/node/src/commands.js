/** The commands: each takes parsed arguments and returns `{lines, data, notes?, exitCode?}` to print. */

import { checkCommand, usageError } from "./arguments.js";
import { locate } from "./checkout.js";
import { Client } from "./client.js";
import { config } from "./config.js";
import { message, text } from "./contract.js";
import { isObject } from "./document.js";
import { readBase64, readJson, readText } from "./files.js";
import { init } from "./init.js";
import { knownLines, said } from "./known.js";
import { login, logout, organizationOf, usedData, usedLine } from "./login.js";
import { outcomeOf, receiptData, receiptLines, reportLine } from "./outcome.js";
import { completed, confirm, isUnread } from "./questions.js";
import { bodyOf } from "./report.js";
import { reports } from "./reports.js";
import * as settings from "./settings.js";
import { write } from "./terminal.js";
import { jsonLines } from "./visible.js";
import { follow } from "./watch.js";
import * as words from "./words.js";

const SHELLS = ["bash", "zsh", "fish"];
const REQUIRED = ["--doc-url", "--summary", "--agent", "--kind"];
const OPTIONAL = ["--details", "--suggested-fix"];
const WHOLE = { "--file": readJson, "--base64": readBase64 };

export const COMMANDS = {
  report,
  status,
  known,
  reports,
  login,
  logout,
  me,
  init,
  config,
  completion,
  help,
};

/** Send a report, or show it (`--dry-run`). */
async function report({ flags: given }) {
  const asked = await completed(given);
  const flags = asked ?? given;
  const { body: draft, notes } = await bodyFrom(flags);
  const body = await addressed(draft, flags);
  const client = clientFrom(flags);
  const options = { idempotencyKey: flags.get("--idempotency-key") };
  if (flags.has("--dry-run")) return dryRun(client.draft(body, options), notes);
  if (asked || isUnread(flags)) await confirm(client.draft(body, options));
  return sent(await client.send(body, options), client, body.doc_url, notes);
}

/** What became of a report, once or (`--watch`) until it is no longer being delivered. */
async function status({ flags, argument }) {
  const client = clientFrom(flags);
  if (flags.has("--watch")) return follow(client, argument, flags.has("--json"));
  const receipt = await client.receipt(argument);
  return { lines: receiptLines(receipt), data: receiptData(receipt) };
}

/** The open problems of a page that are known, if its owner shows them. */
async function known({ flags, argument }) {
  const { doc_url: url } = await addressed({ doc_url: argument }, flags);
  const data = await clientFrom(flags).known(url);
  return { lines: knownLines(data, url), data };
}

/** Where and as whom you are signed in, and what is set up. */
async function me({ flags }) {
  const client = clientFrom(flags);
  const hubUrl = settings.requiredHubUrl(client.hubUrl);
  const { organization, used } = await organizationOf(client);
  const { name, id, caller, integration, domains, sites } = organization;
  const lines = [
    message("hub_line", { url: hubUrl }),
    ...(caller ? [message("user_line", { name: words.name(caller.login) })] : []), // an older Hub does not say
    usedLine(used),
    message("organization_line", { name: words.name(name || "-"), id: words.ulid(id) }),
    ...integrationLines(integration),
  ];
  for (const { domain, status, dns_record: record } of words.first(domains)) {
    lines.push(message("domain_line", { name: words.name(domain), status: words.state(status) }));
    if (record) {
      const shown = { name: words.name(record.name), value: words.name(record.value) };
      lines.push(message("record_line", shown));
    }
  }
  lines.push(...words.more(domains));
  for (const { url, status } of words.first(sites)) {
    lines.push(message("site_line", { name: words.site(url), status: words.state(status) }));
  }
  lines.push(...words.more(sites));
  return { lines, data: { ...organization, hub_url: hubUrl, ...usedData(used) } };
}

/** A script for the shell that is named. */
function completion({ argument }) {
  if (!SHELLS.includes(argument)) throw usageError("unknown_shell", { name: argument });
  const script = text(`completion/docfeedback.${argument}`);
  return { lines: script.trimEnd().split("\n"), data: { script } };
}

/** The help of a command, or of all. */
function help({ argument }) {
  if (argument) checkCommand(argument);
  const page = text(`help/${argument || "docfeedback"}.txt`);
  return { lines: page.trimEnd().split("\n"), data: { help: page } };
}

function clientFrom(flags) {
  return new Client({
    hubUrl: flags.get("--hub-url"),
    timeout: settings.timeout(),
    allowPrivate: flags.has("--allow-private"),
  });
}

/** The report as JSON, from the file or from the flags, and notes about it. */
async function bodyFrom(flags) {
  const given = [...REQUIRED, ...OPTIONAL].filter((flag) => flags.has(flag));
  const [whole, ...others] = Object.keys(WHOLE).filter((flag) => flags.has(flag));
  if (!whole) return { body: await bodyFromFlags(flags, given), notes: [] };
  const names = [...others, ...given].join(", ");
  if (names) throw usageError("file_and_flags", { flag: whole, names });
  return withoutTranscript(await WHOLE[whole](flags.get(whole)));
}

async function bodyFromFlags(flags, given) {
  const missing = REQUIRED.filter((flag) => !given.includes(flag));
  if (missing.length) throw usageError("missing_flags", { names: missing.join(", ") });
  const details = flags.get("--details");
  return bodyOf({
    docUrl: flags.get("--doc-url"),
    summary: flags.get("--summary"),
    kind: flags.get("--kind"),
    agent: flags.get("--agent"),
    details: details === "-" ? await readText("-") : details,
    suggestedFix: flags.get("--suggested-fix"),
  });
}

/** The report with the address of its file, which is shown before anything is sent. */
async function addressed(body, flags) {
  const path = isObject(body) ? body.doc_url : null;
  if (typeof path !== "string") return body;
  const options = { allowPrivate: flags.has("--allow-private") };
  const { url, path: stays, note } = await locate(path, ".", options);
  if (note !== null) await write(process.stderr, [message("note", { text: note })]);
  return { ...body, doc_url: url ?? stays };
}

/** Transcripts are never sent, whatever a file holds. */
function withoutTranscript(body) {
  const context = isObject(body) ? body.task_context : null;
  if (!isObject(context) || !("transcript_excerpt" in context)) return { body, notes: [] };
  const { task_context: _, ...kept } = body;
  const { transcript_excerpt: __, ...rest } = context;
  const remaining = Object.keys(rest).length ? { task_context: rest } : {};
  return { body: { ...kept, ...remaining }, notes: [message("transcript_dropped")] };
}

function dryRun({ body, hubUrl }, notes) {
  const outcome = hubUrl ? message("dry_run_to", { url: hubUrl }) : message("dry_run");
  return {
    lines: jsonLines(body),
    data: { dry_run: true, hub_url: hubUrl, report: body },
    notes: [...notes, outcome],
  };
}

function sent(answer, client, docUrl, notes) {
  const outcome = outcomeOf(answer, docUrl);
  const lines = [message(answer.isDuplicate ? "duplicate" : "sent", { outcome })];
  const receipt = answer.receiptUrl;
  const where = receipt ? words.link(receipt, settings.hubUrl(client.hubUrl)) : reportLine(answer.id);
  lines.push(...said(answer.answer));
  if (where !== outcome) lines.push(where);
  const removed = words.first(answer.notices).map(({ field, kind }) => {
    return message("removed", { field: words.name(field), kind: words.quote(kind) });
  });
  const data = {
    id: answer.id,
    is_duplicate: answer.isDuplicate,
    received_at: answer.receivedAt,
    protocol_version: answer.protocolVersion,
    server_capabilities: answer.serverCapabilities,
    receipt_url: answer.receiptUrl,
    notices: answer.notices,
    status: answer.status,
    claimed: answer.claimed,
    issue_url: answer.issueUrl,
    known_issue: answer.knownIssue,
    answer: answer.answer,
  };
  return { lines, data, notes: [...notes, ...removed, ...words.more(answer.notices)] };
}

function integrationLines(integration) {
  if (!integration) return [message("no_integration_line")];
  const { provider, status, repo_owner: owner, repo_name: name, problem } = integration;
  const shown = {
    provider: words.name(provider),
    status: words.state(status),
    repository: owner && name ? words.name(`${owner}/${name}`) : "no repository",
  };
  const lines = [message("integration_line", shown)];
  return problem ? [...lines, message("problem_line", { problem: words.quote(problem) })] : lines;
}
