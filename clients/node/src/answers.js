/** What a Hub answers, by our names; what is of a wrong type counts as absent. */

import { objectOf, objectsOf, textOf, wholeOf, yesOrNo } from "./document.js";
import { linkOf } from "./settings.js";
import { isBlank } from "./visible.js";

/** What the Hub answers to a report. */
export function sentReport({ status, body }) {
  const capabilities = Array.isArray(body.server_capabilities) ? body.server_capabilities : [];
  return {
    id: body.id,
    isDuplicate: yesOrNo(body.is_duplicate) ?? status === 200,
    receivedAt: textOf(body.received_at),
    protocolVersion: textOf(body.protocol_version),
    serverCapabilities: capabilities.filter((it) => typeof it === "string"),
    receiptUrl: textOf(body.receipt_url),
    notices: objectsOf(body.notices, "field", "kind"),
    status: textOf(body.status),
    claimed: yesOrNo(body.claimed),
    issueUrl: linkOf(body.issue_url),
    knownIssue: knownIssueOf(body.known_issue),
    answer: ownerAnswerOf(body.answer),
  };
}

/** What it answers about one. */
export function receiptOf({ body }) {
  return {
    id: body.id,
    status: textOf(body.status) || "received",
    receivedAt: textOf(body.received_at),
    timesReported: wholeOf(body.times_reported),
    issueUrl: linkOf(body.issue_url),
    issueState: textOf(body.issue_state),
    knownIssue: knownIssueOf(body.known_issue),
    answer: ownerAnswerOf(body.answer),
  };
}

/** The issue of a problem that was known before, as `{url, state}`, or null. */
function knownIssueOf(value) {
  const found = objectOf(value, "url", "state");
  const url = linkOf(found?.url);
  return url === null ? null : { url, state: found.state };
}

/** What the page's owner says, as `{text, link}`, or null if that is nothing. */
export function ownerAnswerOf(value) {
  const found = objectOf(value, "text");
  if (found === null || isBlank(found.text)) return null;
  return { text: found.text, link: linkOf(found.link) };
}

/** An organization, without claims and the like that lack what makes them one. */
export function organizationOf(body) {
  const integration = objectOf(body.integration, "provider", "status");
  return {
    ...body,
    name: textOf(body.name),
    caller: objectOf(body.caller, "login"),
    integration: integration && {
      ...integration,
      repo_owner: textOf(integration.repo_owner),
      repo_name: textOf(integration.repo_name),
      problem: textOf(integration.problem),
    },
    domains: objectsOf(body.domains, "domain", "status").map((domain) => ({
      ...domain,
      dns_record: objectOf(domain.dns_record, "name", "value"),
    })),
    sites: objectsOf(body.sites, "url", "status"),
  };
}
