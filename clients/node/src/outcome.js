/** What became of a report, in words. */

import { message } from "./contract.js";
import { said } from "./known.js";
import { isPage } from "./remotes.js";
import * as words from "./words.js";

const NAME = "[A-Za-z0-9._-]{1,100}";
const ISSUE = new RegExp(`^https?://[^/]+/(${NAME}/${NAME})/issues/([1-9][0-9]{0,9})/?$`);

/**
 * What the Hub says of a report that was just sent; its ID where an older Hub says nothing. It never
 * says of a private repository whether it is claimed.
 */
export function outcomeOf({ id, status, claimed, issueUrl, knownIssue }, docUrl) {
  if (knownIssue !== null) return knownAlready(knownIssue);
  if (issueUrl !== null) return issueLine(issueUrl);
  if (status === "forwarded") return message("forwarded_outcome");
  if (status === "forwarding") return message("forwarding_outcome");
  if (claimed === false) {
    return message(isPage(docUrl) ? "unclaimed_repository_outcome" : "unclaimed_outcome");
  }
  if (claimed && status === "received") return message("claimed_outcome");
  return reportLine(id);
}

/** What a receipt says. */
export function receiptLines(receipt) {
  const { id, status, receivedAt, timesReported, issueUrl, issueState, knownIssue } = receipt;
  const lines = [message("status_line", { id: words.ulid(id), status: words.state(status) })];
  if (receivedAt !== null) lines.push(message("received_line", { time: words.time(receivedAt) }));
  if (timesReported !== null) lines.push(message("times_line", { times: timesReported }));
  if (knownIssue !== null) lines.push(knownAlready(knownIssue));
  else if (issueUrl !== null) lines.push(issueLine(issueUrl, issueState));
  return [...lines, ...said(receipt.answer)];
}

/** A report by its ID. */
export function reportLine(id) {
  return message("report_outcome", { id: words.ulid(id) });
}

/** The issue that is there already. */
function knownAlready({ url, state }) {
  return message("known_outcome", { url: words.link(url), state: words.state(state) });
}

/** A receipt for programs, by the names that the Hub uses. */
export function receiptData(receipt) {
  const { id, status, receivedAt, timesReported, issueUrl, issueState, knownIssue, answer } = receipt;
  const data = { id, status, received_at: receivedAt, times_reported: timesReported };
  return { ...data, issue_url: issueUrl, issue_state: issueState, known_issue: knownIssue, answer };
}

/** What a receipt says that the one before did not say. */
export function changedLines(now, before) {
  const known = receiptLines(before);
  return receiptLines(now).filter((line) => !known.includes(line));
}

/** An issue by its number and repository, as far as its URL names them. */
function issueLine(url, state = null) {
  const shown = state === null ? "" : message("issue_state", { state: words.state(state) });
  const match = ISSUE.exec(url);
  if (match === null) return message("plain_issue_outcome", { state: shown, url: words.link(url) });
  const [, repository, number] = match;
  return message("issue_outcome", { number, repository, state: shown, url: words.link(url) });
}
