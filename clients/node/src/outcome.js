/** What became of a report, in words. */

import { message } from "./contract.js";

const NAME = "[A-Za-z0-9._-]{1,100}";
const ISSUE = new RegExp(`^https?://[^/]+/(${NAME}/${NAME})/issues/([1-9][0-9]{0,9})/?$`);

/** What the Hub says of a report that was just sent; its ID where an older Hub says nothing. */
export function outcomeOf({ id, status, claimed, issueUrl }) {
  if (issueUrl !== null) return issueLine(issueUrl);
  if (status === "forwarded") return message("forwarded_outcome");
  if (status === "forwarding") return message("forwarding_outcome");
  if (claimed === false) return message("unclaimed_outcome");
  if (claimed && status === "received") return message("claimed_outcome");
  return message("report_outcome", { id });
}

/** An issue by its number and repository, as far as its URL names them. */
export function issueLine(url, state = null) {
  const shown = state === null ? "" : message("issue_state", { state });
  const match = ISSUE.exec(url);
  if (match === null) return message("plain_issue_outcome", { state: shown, url });
  const [, repository, number] = match;
  return message("issue_outcome", { number, repository, state: shown, url });
}
