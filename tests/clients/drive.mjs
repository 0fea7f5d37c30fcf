// Drives the Node SDK by JSON; see drive.py, which does the same with the Python SDK.

import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import crypto from "node:crypto";
import dns from "node:dns";
import { EventEmitter } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import timers from "node:timers/promises";

const load = (name) => import(`${process.env.NODE_CLIENT}/src/${name}`);

const NOBODY = 65534;
let sockets = 0;
createHook({
  init: (id, type) => {
    if (/^(TCP|TCPCONNECT|GETADDRINFOREQ|UDP)/.test(type)) sockets += 1;
  },
}).enable();

const { Client, DocFeedbackError, buildReport } = await load("index.js");
const { asciiUrl, check } = await load("address.js");
const { Damaged, find, foreign, nameHub, put, takeOut } = await load("blocks.js");
const files = await load("files.js");
const { proxyFor } = await load("proxy.js");
const { waitFor } = await load("login.js");
const privateFiles = await load("private_files.js");
const { repository } = await load("remotes.js");
const { requestCode } = await load("oauth.js");
const secrets = await load("secret_patterns.js");
const { openBrowser } = await load("terminal.js");
const signIns = await load("sign_ins.js");

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name) => name.replace(/_[a-z]/g, (pair) => pair[1].toUpperCase());
const renamed = (fields, rename) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));

const send = async ({ client = {}, report, key }) => {
  const options = renamed(client, camel);
  if (options.timeout) options.timeout *= 1000;
  return renamed(await new Client(options).send(report, { idempotencyKey: key }), snake);
};

const draft = ({ client = {}, report }) => new Client(renamed(client, camel)).draft(report).body;

const DO = {
  send,
  draft,
  send_async: send,
  build: ({ fields }) => buildReport(renamed(fields, camel)),
  defaults: () => ({ seconds: new Client().timeout / 1000 }),
  find_secrets: ({ text }) => secrets.find(text),
  judge: ({ url }) => (check(url) ? "public" : "path"),
  ascii: ({ url }) => asciiUrl(check(url)),
  resolve_as: ({ ips }) => {
    dns.lookup = (host, options, callback) =>
      callback(null, ips.map((address) => ({ address, family: 4 })));
    syncBuiltinESMExports();
    return null;
  },
  become_nobody: ({ folder }) => {
    if (process.geteuid() !== 0) return null;
    for (const name of [".", ...fs.readdirSync(folder)]) {
      fs.chownSync(join(folder, name), NOBODY, NOBODY);
    }
    process.setgid(NOBODY);
    process.setuid(NOBODY);
    return null;
  },
  forbid_chown: () => {
    fs.chownSync = () => {
      throw Object.assign(new Error("no"), { code: "EPERM" });
    };
    syncBuiltinESMExports();
    return null;
  },
  watch_drafts: ({ folder }) => {
    const { fsyncSync } = fs;
    const seen = [];
    process.chdir(folder);
    fs.fsyncSync = (handle) => {
      for (const name of fs.readdirSync(".").filter((it) => it.startsWith("."))) {
        seen.push([name, fs.statSync(name).mode & 0o777]);
      }
      fsyncSync(handle);
    };
    syncBuiltinESMExports();
    return seen;
  },
  load_the_dice: () => {
    crypto.randomBytes = (count) => Buffer.alloc(count);
    syncBuiltinESMExports();
    return null;
  },
  replace: ({ path }) => files.replace(path, "new") ?? null,
  keep_sign_in: async ({ hub_url: hubUrl }) => {
    const ends = { expires_at: 1, ends_at: null };
    await signIns.replace(hubUrl, { access_token: "a", refresh_token: "r", scope: null, ...ends });
    return null;
  },
  skip_pauses: () => {
    const slept = [];
    timers.setTimeout = async (milliseconds) => {
      slept.push(milliseconds / 1000);
    };
    syncBuiltinESMExports();
    return slept;
  },
  wait: async ({ hub_url: hubUrl }) => {
    const code = { deviceCode: "device-1", seconds: 600, interval: 5 };
    await waitFor({ token: `${hubUrl}/oauth/token` }, code, hubUrl, 10_000);
    return null;
  },
  lock: async ({ path, then, first, inside }) => {
    const seen = [];
    const { renameSync } = fs;
    const take = () => {
      fs.unlinkSync(path);
      fs.writeFileSync(path, "");
    };
    const acts = { free: () => fs.unlinkSync(path), taken: take };
    timers.setTimeout = async (milliseconds) => {
      seen.push([milliseconds / 1000, Boolean(fs.lstatSync(path, { throwIfNoEntry: false }))]);
      acts[then]?.();
    };
    if (first) {
      fs.renameSync = (...names) => {
        fs.renameSync = renameSync;
        syncBuiltinESMExports();
        take();
        renameSync(...names);
      };
    }
    syncBuiltinESMExports();
    await privateFiles.locked(path, () => {
      if (!inside) return;
      take();
      fs.utimesSync(path, 1, 1);
    });
    return { seen, left: fs.existsSync(path), files: fs.readdirSync(join(path, "..")).length };
  },
  open_browser: ({ platform }) => {
    const started = [];
    childProcess.spawn = (program, words) => {
      started.push([program, ...words]);
      return Object.assign(new EventEmitter(), { unref: () => {} });
    };
    syncBuiltinESMExports();
    Object.defineProperty(process, "platform", { value: platform });
    process.stdin.isTTY = process.stdout.isTTY = true;
    openBrowser("https://hub.acme.com/device/");
    return started;
  },
  interval: async ({ hub_url: hubUrl }) => {
    const code = await requestCode({ device: `${hubUrl}/oauth` }, hubUrl, 10_000);
    return code.interval;
  },
  resolve_slowly: ({ seconds }) => {
    dns.lookup = (host, options, callback) => {
      const found = { address: "127.0.0.1", family: 4 };
      const answer = () => (options.all ? callback(null, [found]) : callback(null, "127.0.0.1", 4));
      setTimeout(answer, seconds * 1000);
    };
    syncBuiltinESMExports();
    return null;
  },
  connections: async ({ after }) => {
    await new Promise((resolve) => setTimeout(resolve, after * 1000));
    return process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length;
  },
  sockets: () => sockets,
  put: ({ document, name }) => {
    const place = find(document, name);
    const written = put(document, place, name, { hubUrl: "https://hub.acme.com" });
    const removed = takeOut(written, find(written, name));
    const named = place && nameHub(document, place, "https://elsewhere.acme.com");
    return { place, named, written, removed, foreign: foreign(document) };
  },
  repository: ({ url }) => repository(url),
  proxied: ({ url, no_proxy }) => {
    process.env.no_proxy = no_proxy;
    return proxyFor(url) !== null;
  },
};

async function outcome(call) {
  try {
    return { result: await DO[call.do](call) };
  } catch (error) {
    if (error instanceof files.Unusable) return { unusable: error.reason };
    if (error instanceof Damaged) return { damaged: error.code, line: error.line };
    if (!(error instanceof DocFeedbackError)) throw error;
    const { name, code, message, status, fields } = error;
    return { raises: name, code, message, status, fields };
  }
}

const outcomes = [];
for (const call of JSON.parse(fs.readFileSync(0, "utf8"))) outcomes.push(await outcome(call));
process.stdout.write(JSON.stringify(outcomes));
