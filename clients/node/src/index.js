/** Reports problems in documentation pages to a Docs Feedback Hub. */

export { Client } from "./client.js";
export {
  AuthError,
  DocFeedbackError,
  NotFound,
  OptedOut,
  PayloadTooLarge,
  PolicyRejected,
  PrivateAddress,
  RateLimited,
  ServerError,
  Unreachable,
  ValidationError,
} from "./errors.js";
export { buildReport } from "./report.js";
export { VERSION } from "./version.js";
