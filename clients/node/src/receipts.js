/** Where to ask for the receipt of a report: by its ID at the Hub that is set, or at its own address. */

import { Refused, isLoopback, judge, parse } from "./address.js";
import { message } from "./contract.js";
import { PrivateAddress, ValidationError } from "./errors.js";
import {
  REPORTS,
  TOKEN,
  base,
  hubUrl,
  isHubUrl,
  oneSpelling,
  requiredHubUrl,
  withoutUserInfo,
} from "./settings.js";
import { ACCEPT } from "./web.js";

const REPORT_ID = /^[A-Za-z0-9_-]{1,64}$/;
const RECEIPT = /^(https?:\/\/[^?#]+?)\/(?:r|v1\/reports)\/([A-Za-z0-9_-]{1,64})\/?(?:[?#].*)?$/i;

/**
 * The request for the receipt; `report` is an ID, or the URL of a receipt. A URL that is not at the Hub
 * that is set, nor on this machine, must be https and public.
 */
export function requestFor(report, givenHub, allowPrivate) {
  if (typeof report !== "string") throw ValidationError.of("not_a_report_id", { name: report });
  if (REPORT_ID.test(report)) return at(requiredHubUrl(givenHub), report, false);
  const [, start, id] = (TOKEN.test(report) && RECEIPT.exec(report)) || [];
  if (!start || !isHubUrl(start)) {
    throw ValidationError.of("not_a_report_id", { name: withoutUserInfo(report) });
  }
  const hub = base(start);
  const known = allowPrivate || isLoopback(hub) || isSet(hub, givenHub);
  if (!known) refusePrivate(hub);
  return at(hub, id, !known);
}

function at(hub, id, publicOnly) {
  return { method: "GET", url: `${hub}${REPORTS}/${id}`, headers: ACCEPT, publicOnly };
}

function isSet(hub, givenHub) {
  const known = hubUrl(givenHub);
  return known !== null && oneSpelling(known) === oneSpelling(hub);
}

function refusePrivate(hub) {
  try {
    judge(parse(hub));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const fields = { reason: error.code };
    throw new PrivateAddress("private_address", message("private_receipt", { url: hub }), { fields });
  }
}
