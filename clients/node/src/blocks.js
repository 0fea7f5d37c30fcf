/**
 * The instruction blocks: finds one in a text, adds it or removes it.
 *
 * Pure. A text is bytes read as Latin-1, so that whatever surrounds a block stays as it is, byte
 * for byte; the blocks themselves are ASCII.
 */

import { text } from "./contract.js";
import { trim, trimEnd } from "./trim.js";

const BOM = "\xef\xbb\xbf"; // in UTF-8, read as Latin-1
const VERSION = "v0";
const LAST_LINE = "Docs Feedback Hub:";
const LINE_THAT_MATTERS = new RegExp(
  `(?<![^\\n])(?:^${BOM})?(?:${LAST_LINE}|#{1,6}[ \\t]| {0,3}(?:\`\`\`|~~~)|[ \\t]*<!--)[^\\n]*`,
  "g",
);
// An address has no blanks; the other was written where no Hub was set.
const HUB_LINE = /^Docs Feedback Hub:[ \t]*(?:[!-~]*|the one in DOCFEEDBACK_HUB_URL)$/;
const RELEASE = /^v[0-9]{1,9}(?:\.[0-9]{1,9}){0,9}$/;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,}(?!~))(.*)$/s;
const HEADING = /^(#{1,6})[ \t]+/;
const BLANKS = " \t";
const MARKER =
  /^[ \t]*<!-- docfeedback:(begin|end) (first-party|consumer)(?: (v[0-9][0-9A-Za-z.-]*))? -->[ \t]*$/;

/** The markers do not match; `code` is the message in `messages.json`. */
export class Damaged extends Error {
  constructor(code, line) {
    super(code);
    this.code = code;
    this.line = line;
  }
}

/**
 * The block `name` (first-party or consumer) as `{start, end, line, state}`, without its last line
 * end; null where there is none, or Damaged. `state`: `current`, `older` or `newer` by its marker;
 * `pasted` or `pasted_older` without one.
 */
export function find(document, name) {
  return marked(document, name) ?? pasted(document, name);
}

/** What a block names as its Hub, in its last such line, or null. */
export function hubUrlOf(document, place) {
  const line = hubLine(document, place);
  return line ? trim(line.text.slice(LAST_LINE.length), BLANKS) : null;
}

/** The text with another Hub in that line; all else stays as it is. */
export function nameHub(document, place, hubUrl) {
  const line = hubLine(document, place);
  if (!line) return document;
  const rest = document.slice(place.start + line.end);
  return `${document.slice(0, place.start + line.start)}${LAST_LINE} ${hubUrl}${rest}`;
}

/** The numbers of the lines where blocks of other tools begin that are about feedback, too. */
export function foreign(document) {
  const numbers = [];
  for (const { number, text: line, fence, marker } of linesOf(document)) {
    if (!fence && !marker && isForeign(line)) numbers.push(number);
  }
  return numbers;
}

/** Whether this is a marker such as `<!-- docs-feedback:start -->`. */
function isForeign(line) {
  const text = trim(line, BLANKS).toLowerCase();
  if (!text.startsWith("<!--") || !text.endsWith("-->")) return false;
  return text.includes("doc") && text.includes("feedback") && /begin|start/.test(text);
}

function hubLine(document, { start, end }) {
  let named;
  for (const line of linesOf(document.slice(start, end))) {
    if (line.text.startsWith(LAST_LINE) && !line.fence) named = line;
  }
  return named;
}

/**
 * The text with the current block: in its old place, else at the end; Damaged if the end is
 * inside a code sample.
 */
export function put(document, place, name, { hubUrl }) {
  const lineEnd = 2 * count(document, "\r\n") > count(document, "\n") ? "\r\n" : "\n";
  const block = blockOf(name, hubUrl).join(lineEnd);
  if (place) return document.slice(0, place.start) + block + document.slice(place.end);
  let fence;
  for (const line of linesOf(`${document}\n${LAST_LINE}`)) fence = line.fence;
  if (fence) throw new Damaged("code_without_end", fence);
  if (document === "" || document === BOM) return document + block + lineEnd;
  if (document.endsWith("\n")) return document + lineEnd + block + lineEnd;
  return document + lineEnd + lineEnd + block;
}

/** The text as it was before `put` put the block at its end. */
export function takeOut(document, place) {
  const before = document.slice(0, place.start);
  const after = document.slice(place.end);
  if (!after) return chop(chop(before));
  return (/\n\r?\n$/.test(before) ? chop(before) : before) + after.replace(/^\r?\n/, "");
}

/** The block between its markers; Damaged where they are not one begin and one end. */
function marked(document, name) {
  let begin = null;
  let end = null;
  for (const line of linesOf(document)) {
    if (!line.marker) continue;
    const [, word, owner] = line.marker;
    if (owner !== name) {
      if (begin && !end) throw new Damaged("blocks_mixed", line.number);
    } else if (line.fence || /^(?:\t| {4})/.test(line.text)) {
      throw new Damaged("marker_in_code", line.number);
    } else if (word === "begin") {
      if (begin) throw new Damaged("block_twice", line.number);
      begin = line;
    } else if (end || !begin) {
      throw new Damaged("end_without_begin", line.number);
    } else {
      end = line;
    }
  }
  if (!begin) return null;
  if (!end) throw new Damaged("begin_without_end", begin.number);
  const state = stateOf(document, begin, end, name);
  return { start: begin.start, end: end.end, line: begin.number, state };
}

function stateOf(document, begin, end, name) {
  const version = begin.marker[3];
  if (version === VERSION) {
    const block = textOf(name);
    const same = inside(document.slice(begin.end, end.start), block) === inside(block, block);
    return same ? "current" : "edited";
  }
  return isLater(numbers(version ?? ""), numbers(VERSION)) ? "newer" : "older";
}

/** `v1.2` as [1, 2]; nothing for what is no release, such as `v0-draft`. */
function numbers(version) {
  return RELEASE.test(version) ? version.slice(1).split(".").map(Number) : [];
}

function isLater(one, other) {
  for (let i = 0; i < Math.max(one.length, other.length); i += 1) {
    const [left, right] = [one[i] ?? -1, other[i] ?? -1];
    if (left !== right) return left > right;
  }
  return false;
}

/**
 * A block without markers, known by its heading. It goes on to its last line, else to the next
 * heading of its level or the next marker.
 */
function pasted(document, name) {
  const block = textOf(name);
  const { title } = linesOf(block).next().value.heading;
  const lines = linesOf(document);
  let first = lines.next().value;
  while (first && first.heading?.title !== title) first = lines.next().value;
  if (!first) return null;
  const { start, number: line, heading } = first;
  const end = endOf(document, lines, heading.level);
  const same = essence(document.slice(start, end), block) === essence(block, block);
  return { start, end, line, state: same ? "pasted" : "pasted_older" };
}

/** Where a pasted block ends, without blank lines; `level` is that of its heading. */
function endOf(document, rest, level) {
  let stop = document.length;
  for (const line of rest) {
    if (line.text.startsWith(LAST_LINE) && !line.fence) return line.end;
    if (line.marker || line.heading?.level <= level) {
      stop = line.start;
      break;
    }
  }
  let end = trimEnd(document.slice(0, stop), " \t\r\n").length;
  while (end < stop && BLANKS.includes(document[end])) end += 1;
  return end;
}

/**
 * What makes two blocks the same: all but the heading's level and the Hub address. Of a section with
 * more lines than `block` has, a part that is no longer the same.
 */
function essence(section, block) {
  const texts = section.split("\n", count(block, "\n") + 3).slice(1);
  return texts
    .map((text) => trimEnd(trimEnd(text, "\r\n"), BLANKS))
    .map((text) => (HUB_LINE.test(text) ? LAST_LINE : text))
    .join("\n");
}

/** The same for what stands between markers, heading included, without blank lines around it. */
function inside(section, block) {
  const texts = [section, block].map((text) => trim(text, " \t\r\n").replace(/^#+/, ""));
  return essence(`\n${texts[0]}`, `\n${texts[1]}`);
}

/** What stands between the markers, for no Hub. */
function textOf(name) {
  return blockOf(name, "").slice(1, -1).join("\n");
}

/** The lines of a block, markers included. */
function blockOf(name, hubUrl) {
  return [
    `<!-- docfeedback:begin ${name} ${VERSION} -->`,
    ...text(`blocks/${name}.md`).replace("{hub_url}", () => hubUrl).trimEnd().split("\n"),
    `<!-- docfeedback:end ${name} -->`,
  ];
}

/** Those that matter, one after the other, since a document may have hundreds of thousands. */
function* linesOf(document) {
  let fence = "";
  let opened = 0; // the number of the line that opens the code sample
  let number = 1;
  let counted = 0;
  for (const { 0: line, index } of document.matchAll(LINE_THAT_MATTERS)) {
    for (; counted < index; counted += 1) if (document[counted] === "\n") number += 1;
    const start = index + (line.startsWith(BOM) ? BOM.length : 0);
    const text = trimEnd(document.slice(start, index + line.length), "\r");
    const found = FENCE.exec(text);
    const begins = found && !fence;
    if (begins) [fence, opened] = [found[1], number];
    const around = fence ? opened : 0;
    if (!begins && found?.[1].startsWith(fence) && !/[^ \t]/.test(found[2])) fence = "";
    yield {
      number,
      start,
      end: start + text.length,
      text,
      fence: around,
      marker: MARKER.exec(text),
      heading: around ? null : headingOf(text),
    };
  }
}

function headingOf(text) {
  const found = HEADING.exec(text);
  return found && { level: found[1].length, title: trimEnd(text.slice(found[0].length), BLANKS) };
}

function count(text, part) {
  return text.split(part).length - 1;
}

/** Without its last line end. */
function chop(text) {
  return text.replace(/\r?\n$/, "");
}
