/** The open problems of a page that are known, as `GET /v1/pages` gives them. */

import { ownerAnswerOf } from "./answers.js";
import { message } from "./contract.js";
import { objectsOf, textOf, wholeOf } from "./document.js";
import { REPORTS, linkOf } from "./settings.js";
import { quoted } from "./visible.js";
import { ACCEPT } from "./web.js";
import * as words from "./words.js";

const PATH = "/v1/pages";

/** The question about the page at `url`; `endpoint` is where the Hub takes reports. */
export function questionFor(url, endpoint, publicOnly = false) {
  const hub = endpoint.slice(0, -REPORTS.length);
  // encodeURIComponent leaves some signs that Python's quote does not
  const escaped = encodeURIComponent(url).replace(/[!'()*]/g, (it) => `%${hex(it)}`);
  return { method: "GET", url: `${hub}${PATH}?url=${escaped}`, headers: ACCEPT, publicOnly };
}

/** Whether it is what a Hub answers to this question. */
export const hasProblems = (body) => Array.isArray(body.problems);

/** The answer, without problems that lack what makes them one, or whose issue is no link. */
export function knownOf(body, url) {
  const found = objectsOf(body.problems, "issue_url", "kind").filter((it) => linkOf(it.issue_url));
  return {
    url: textOf(body.url) || url,
    problems: found.map((it) => ({
      issue_url: it.issue_url,
      title: textOf(it.title),
      kind: it.kind,
      times_reported: wholeOf(it.times_reported),
      first_reported_at: textOf(it.first_reported_at),
      last_reported_at: textOf(it.last_reported_at),
      answer: ownerAnswerOf(it.answer),
    })),
  };
}

/** What a person reads. */
export function knownLines({ problems }, url) {
  if (!problems.length) return [message("no_problems", { url })];
  const lines = [message("problems_line", { url, number: problems.length })];
  for (const { title, kind, issue_url: issue, answer, ...counts } of words.first(problems)) {
    const shown = title ? words.quote(title) : message("erased_summary");
    lines.push(message("problem_title", { title: shown }));
    lines.push(message("problem_issue", { kind: words.state(kind), url: words.link(issue) }));
    lines.push(...counted(counts), ...said(answer).map((line) => `  ${line}`));
  }
  return [...lines, ...words.more(problems)];
}

/** What the page's owner says, as a quotation, and their link. */
export function said(answer) {
  if (answer === null) return [];
  const { text, link } = answer;
  const line = message("answer_line", { text: quoted(text) });
  return link === null ? [line] : [line, message("answer_link", { url: words.link(link) })];
}

function counted({ times_reported: times, last_reported_at: time }) {
  if (times === null || time === null) return [];
  return [message("problem_times", { times, time: words.time(time) })];
}

const hex = (sign) => sign.charCodeAt(0).toString(16).toUpperCase();
