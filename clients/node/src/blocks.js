/**
 * The instruction blocks: finds one in a text, adds it or removes it.
 *
 * Pure. A text is bytes read as Latin-1, so that whatever surrounds a block stays as it is, byte
 * for byte; the blocks themselves are ASCII.
 */

import { text } from "./contract.js";

const BOM = "\xef\xbb\xbf"; // in UTF-8, read as Latin-1
const VERSION = "v0";
const LAST_LINE = "Docs Feedback Hub:";
const LINE = /[^\n]*\n|[^\n]+/g;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,}(?!~))(.*)$/s;
const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*$/s;
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
  const lines = linesOf(document);
  return marked(lines, name) ?? pasted(lines, name);
}

/** What a block names as its Hub, in its last such line, or null. */
export function hubUrlOf(document, place) {
  const line = hubLine(document, place);
  return line ? line.text.slice(LAST_LINE.length).replace(/^[ \t]+|[ \t]+$/g, "") : null;
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
  const lines = linesOf(document).filter((line) => !line.fence && !line.marker);
  return lines.filter((line) => isForeign(line.text)).map((line) => line.number);
}

/** Whether this is a marker such as `<!-- docs-feedback:start -->`. */
function isForeign(line) {
  const text = line.replace(/^[ \t]+|[ \t]+$/g, "").toLowerCase();
  if (!text.startsWith("<!--") || !text.endsWith("-->")) return false;
  return text.includes("doc") && text.includes("feedback") && /begin|start/.test(text);
}

function hubLine(document, { start, end }) {
  const lines = linesOf(document.slice(start, end));
  return lines.filter(({ text, fence }) => text.startsWith(LAST_LINE) && !fence).at(-1);
}

/**
 * The text with the current block: in its old place, else at the end; Damaged if the end is
 * inside a code sample.
 */
export function put(document, place, name, { hubUrl }) {
  const ends = document.match(/\r?\n/g) ?? [];
  const dos = ends.filter((end) => end === "\r\n").length;
  const lineEnd = 2 * dos > ends.length ? "\r\n" : "\n";
  const block = blockOf(name, hubUrl).join(lineEnd);
  if (place) return document.slice(0, place.start) + block + document.slice(place.end);
  const { fence } = linesOf(`${document}\n.`).at(-1);
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
function marked(lines, name) {
  let begin = null;
  let end = null;
  for (const line of lines) {
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
  return { start: begin.start, end: end.end, line: begin.number, state: age(begin.marker[3]) };
}

function age(version) {
  if (version === VERSION) return "current";
  return isLater(numbers(version ?? ""), numbers(VERSION)) ? "newer" : "older";
}

/** `v1.2` as [1, 2]; nothing for what is no release, such as `v0-draft`. */
function numbers(version) {
  return /^v[0-9]+(\.[0-9]+)*$/.test(version) ? version.slice(1).split(".").map(Number) : [];
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
function pasted(lines, name) {
  const block = linesOf(blockOf(name, "").slice(1, -1).join("\n"));
  const title = block[0].heading[2];
  const index = lines.findIndex((line) => line.heading?.[2] === title);
  if (index < 0) return null;
  const section = sectionOf(lines.slice(index), lines[index].heading[1].length);
  const state = essence(section) === essence(block) ? "pasted" : "pasted_older";
  const { start, number: line } = section[0];
  return { start, end: section.at(-1).end, line, state };
}

/** The lines of a pasted block, from its heading to its last that is not blank. */
function sectionOf([first, ...others], level) {
  const section = [first];
  for (const line of others) {
    if (line.marker || line.heading?.[1].length <= level) break;
    section.push(line);
    if (line.text.startsWith(LAST_LINE) && !line.fence) break;
  }
  while (/^[ \t]*$/.test(section.at(-1).text)) section.pop();
  return section;
}

/** What makes two blocks the same: all but the heading's level and the Hub address. */
function essence(section) {
  const texts = section.slice(1).map((line) => line.text.replace(/[ \t]+$/, ""));
  return texts.map((it) => (it.startsWith(LAST_LINE) ? LAST_LINE : it)).join("\n");
}

/** The lines of a block, markers included. */
function blockOf(name, hubUrl) {
  return [
    `<!-- docfeedback:begin ${name} ${VERSION} -->`,
    ...text(`blocks/${name}.md`).replace("{hub_url}", () => hubUrl).trimEnd().split("\n"),
    `<!-- docfeedback:end ${name} -->`,
  ];
}

function linesOf(document) {
  let fence = "";
  let opened = 0; // the number of the line that opens the code sample
  return [...document.matchAll(LINE)].map((match, index) => {
    const start = match.index + (index === 0 && document.startsWith(BOM) ? BOM.length : 0);
    const text = document.slice(start, match.index + match[0].length).replace(/[\r\n]+$/, "");
    const found = FENCE.exec(text);
    const number = index + 1;
    const begins = found && !fence;
    if (begins) [fence, opened] = [found[1], number];
    const around = fence ? opened : 0;
    if (!begins && found?.[1].startsWith(fence) && !/[^ \t]/.test(found[2])) fence = "";
    return {
      number,
      start,
      end: start + text.length,
      text,
      fence: around,
      marker: MARKER.exec(text),
      heading: around ? null : HEADING.exec(text),
    };
  });
}

/** Without its last line end. */
function chop(text) {
  return text.replace(/\r?\n$/, "");
}
