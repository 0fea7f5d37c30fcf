// Drives the Node SDK by JSON; see drive.py, which does the same with the Python SDK.

import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import crypto from "node:crypto";
import dns from "node:dns";
import { EventEmitter } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import timers from "node:timers/promises";
import { inspect } from "node:util";

const load = (name) => import(`${process.env.NODE_CLIENT}/src/${name}`);

const NOBODY = 65534;
const { execFile } = childProcess;
const { accessSync, lstatSync, openSync, readlinkSync, statSync } = fs;
const LOOKS = { accessSync, lstatSync, openSync, readlinkSync, statSync };
let sockets = 0;
createHook({
  init: (id, type) => {
    if (/^(TCP|TCPCONNECT|GETADDRINFOREQ|UDP|PROCESSWRAP)/.test(type)) sockets += 1;
  },
}).enable();

const { Client, DocFeedbackError, PrivateAddress, buildReport } = await load("index.js");
const { asciiHost, asciiUrl, check } = await load("address.js");
const { Damaged, find, foreign, nameHub, put, takeOut } = await load("blocks.js");
const { locate } = await load("checkout.js");
const files = await load("files.js");
const { init } = await load("init.js");
const { proxyFor } = await load("proxy.js");
const { waitFor } = await load("login.js");
const privateFiles = await load("private_files.js");
const { repository } = await load("remotes.js");
const { requestCode } = await load("oauth.js");
const secrets = await load("secret_patterns.js");
const { openBrowser } = await load("terminal.js");
const signIns = await load("sign_ins.js");
const { follow } = await load("watch.js");

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name) => name.replace(/_[a-z]/g, (pair) => pair[1].toUpperCase());
const renamed = (fields, rename) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));

const send = async ({ client = {}, report, key }) => {
  const options = renamed(client, camel);
  if (options.timeout) options.timeout *= 1000;
  return renamed(await new Client(options).send(report, { idempotencyKey: key }), snake);
};

const draft = ({ client = {}, report, key }) =>
  new Client(renamed(client, camel)).draft(report, { idempotencyKey: key }).body;

/** What would be sent of a report that is no plain JSON. */
const odd = ({ client = {}, report, odd: name }) => {
  const aroundItself = { ...report };
  aroundItself.report = aroundItself;
  let asked = 0;
  const names = Array.from({ length: 100_000 }, (_, number) => `x${number}`);
  const refuse = () => {
    throw new RangeError("no");
  };
  const reports = {
    "says otherwise": () => ({ ...report, doc_url: "docs/a.md", locale: "en", __proto__: { toJSON: () => 7 } }),
    "another each time": () => ({
      ...report,
      report: {
        kind: "other",
        get summary() {
          asked += 1;
          return "x".repeat(asked);
        },
      },
    }),
    throws: () => ({ ...report, get report() { return refuse(); } }),
    endless: () => new Proxy({}, { ownKeys: () => names, getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }), get: () => 1 }),
    "many fields": () => Object.fromEntries(names.map((each) => [each, 1])),
    "around itself": () => aroundItself,
    huge: () => ({ ...report, locale: "x".repeat(1e8) }),
    "a huge name": () => ({ ...report, ["x".repeat(1e7)]: 1 }),
    "another kind of thing": () => ({ ...report, submitted_at: new Date(0), agent: new Map([[1, 1]]) }),
    tuples: () => ({ ...report, client_capabilities: Object.freeze(["a", "b"]) }),
  };
  const { body, data } = new Client(renamed(client, camel)).draft(reports[name]());
  return [body, JSON.parse(data)];
};

const receipt = async ({ client = {}, report }) =>
  renamed(await new Client(renamed(client, camel)).receipt(report), snake);

const known = ({ client = {}, url, options = {} }) =>
  new Client(renamed(client, camel)).known(url, renamed(options, camel));

const reports = async ({ client = {}, filters = {}, first = Infinity }) => {
  const ids = [];
  const found = new Client(renamed(client, camel)).reports(filters);
  try {
    for await (const { id } of found) {
      if (ids.push(id) === first) break;
    }
  } catch (error) {
    if (!(error instanceof DocFeedbackError) || error.status === null) throw error;
    return { ids, code: error.code };
  }
  return { ids };
};

const optionsOf = (client) => {
  const options = renamed(client, camel);
  if (options.timeout) options.timeout *= 1000;
  return options;
};

const aborted = async ({ client, report }, arm) => {
  const controller = new AbortController();
  const sent = new Client(optionsOf(client)).send(report, { signal: controller.signal });
  arm(() => controller.abort());
  return sent.catch((error) => (error === controller.signal.reason ? "cancelled" : error));
};

const sendBy = async ({ client, report, answers }) => {
  const [seen, script] = [[], [...answers]];
  const fetch = async (url, { method, headers, body }) => {
    const names = Object.fromEntries(new Headers(headers));
    seen.push({ method, url, body: body ? JSON.parse(body) : null, headers: names });
    const answer = script.shift();
    if (answer === "raise") throw new Error("no");
    if (answer === "refuse") throw new PrivateAddress("private_address", "Not there.");
    if (answer === "hang") return new Promise(() => {});
    if (answer === "nothing") return undefined;
    if (answer === "flood") return new Response("x".repeat(2 ** 21), { status: 201 });
    return new Response(JSON.stringify(answer.body), answer);
  };
  const sent = attempt(async () => renamed(await new Client({ ...optionsOf(client), fetch }).send(report), snake));
  return { seen, outcome: await sent };
};

const ODD = {
  none: null,
  infinite: Infinity,
  nan: NaN,
  negative: -1,
  zero: 0,
  huge: 1e300,
  true: true,
  text: "5",
  number: 7,
  bytes: Buffer.from("https://hub.acme.com"),
  object: new URL("https://hub.acme.com"),
  "a value that is none of JSON": { a: 1n },
};

const misuse = ({ name, value: odd, report }) => {
  const value = ODD[odd];
  const options = { hubUrl: "http://127.0.0.1:9" };
  const client = (more) => new Client({ ...options, ...more });
  if (name === "report") return client().send(value);
  if (name === "doc_url") return client().send({ ...report, doc_url: value });
  if (name === "extra") return client().send({ ...report, extra: value });
  if (name === "idempotency_key") return client().send(report, { idempotencyKey: value });
  if (name === "report_id") return client().receipt(value);
  return client({ [name === "transport" ? "fetch" : camel(name)]: value }).send(report);
};

const shown = async ({ token }) => {
  const client = new Client({ hubUrl: "http://127.0.0.1:9", token });
  const error = await client.send({}).catch((it) => it);
  const all = [client, { client }, error, Object.entries(client)];
  const looks = [{}, { showHidden: true, depth: null, getters: true }];
  return all.flatMap((each) => [JSON.stringify(each), ...looks.map((look) => inspect(each, look))]);
};

const DO = {
  receipt,
  known,
  known_async: known,
  reports,
  reports_async: reports,
  odd,
  send_until_interrupted: (call) => aborted(call, (abort) => process.once("SIGINT", abort)),
  cancel_at: (call) => aborted(call, setImmediate),
  send_by: sendBy,
  misuse,
  shown,
  copied: async ({ report }) => {
    const error = await new Client().send(report).catch((it) => it);
    const { name: raises, ...others } = JSON.parse(JSON.stringify(error));
    return [(await attempt(() => Promise.reject(error))), { raises, ...others }];
  },
  after_the_end: async ({ report }) => {
    const clients = [new Client(), new Client()];
    clients[0].close();
    await (clients[1][Symbol.asyncDispose] ?? clients[1].close).call(clients[1]);
    const [client] = clients;
    const calls = [
      () => client.send(report),
      () => client.draft(report),
      () => client.receipt("x"),
      () => client.known("https://docs.acme.com/"),
      () => client.me(),
      () => clients[1].send(report),
    ];
    return Promise.all(calls.map(attempt));
  },
  send,
  draft,
  send_async: send,
  build: ({ fields }) => buildReport(renamed(fields, camel)),
  defaults: () => ({ seconds: new Client().timeout / 1000 }),
  find_secrets: ({ text }) => secrets.find(text),
  judge: ({ url }) => (check(url) ? "public" : "path"),
  ascii: ({ url }) => asciiUrl(check(url)),
  lines_read: ({ document, name }) => {
    const { exec } = RegExp.prototype;
    let count = 0;
    RegExp.prototype.exec = function watched(text) {
      if (this.source.includes("`{3,}")) count += 1;
      return exec.call(this, text);
    };
    find(document, name);
    foreign(document);
    RegExp.prototype.exec = exec;
    return count;
  },
  ascii_host: ({ host }) => asciiHost(host),
  ascii_hosts: ({ hosts }) => hosts.map(asciiHost),
  longest_normalized: ({ host }) => {
    const { normalize } = String.prototype;
    let longest = 0;
    String.prototype.normalize = function watched(form) {
      longest = Math.max(longest, [...this].length);
      return normalize.call(this, form);
    };
    asciiHost(host);
    return longest;
  },
  resolve_as: ({ ips }) => {
    const make = (found) => (host, options, callback) =>
      callback(null, found.map((address) => ({ address, family: 4 })));
    return resolveBy(make, ips);
  },
  resolve_nothing: () => {
    const make = () => (host, options, callback) =>
      callback(Object.assign(new Error("no"), { code: "EAI_AGAIN" }));
    return resolveBy(make, null);
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
    fs.fchownSync = () => {
      throw Object.assign(new Error("no"), { code: "EPERM" });
    };
    syncBuiltinESMExports();
    return null;
  },
  fill_disk: ({ code }) => {
    fs.fsyncSync = () => {
      throw Object.assign(new Error("no"), { code });
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
  watch_looks: () => {
    const seen = [];
    for (const name of ["lstatSync", "readlinkSync", "realpathSync", "statSync"]) {
      const look = fs[name];
      fs[name] = (path, ...more) => {
        seen.push([path, /^(stat|realpath)/.test(name)]);
        return look(path, ...more);
      };
    }
    syncBuiltinESMExports();
    return seen;
  },
  become_link: ({ path, target, after }) => {
    let left = after;
    const swap = (seen) => {
      if (!String(seen).split("/").includes(basename(path)) || left-- !== 0) return;
      fs.renameSync(path, join(dirname(path), "before"));
      fs.symlinkSync(target, path);
    };
    for (const [name, look] of Object.entries(LOOKS)) {
      fs[name] = (seen, ...more) => {
        try {
          return look(seen, ...more);
        } finally {
          swap(seen);
        }
      };
    }
    syncBuiltinESMExports();
    return null;
  },
  swap_drafts: ({ folder, target }) => {
    const { fsyncSync } = fs;
    fs.fsyncSync = (handle) => {
      fsyncSync(handle);
      for (const name of fs.readdirSync(folder).filter((it) => it.includes(".docfeedback-"))) {
        fs.unlinkSync(join(folder, name));
        fs.symlinkSync(target, join(folder, name));
      }
    };
    syncBuiltinESMExports();
    return null;
  },
  locate: async ({ path, folder }) => (await locate(path, folder)).url,
  init: async ({ folder, flags = {} }) => {
    process.chdir(folder);
    return (await init({ flags: new Map(Object.entries(flags)) })).lines;
  },
  load_the_dice: () => {
    crypto.randomBytes = (count) => Buffer.alloc(count);
    syncBuiltinESMExports();
    return null;
  },
  replace: ({ path }) => files.replace(path, "new", files.read(path)) ?? null,
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
  watch: async () => {
    const [out, err] = [process.stdout.write, process.stderr.write];
    process.stdout.write = process.stderr.write = (text, done) => done();
    try {
      await follow(new Client(), "01J9ZK3V5T8Q2M4N6P7R8S9T0V", false);
    } finally {
      [process.stdout.write, process.stderr.write] = [out, err];
    }
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
    const make = (delay) => (host, options, callback) => {
      const found = { address: "127.0.0.1", family: 4 };
      const answer = () => (options.all ? callback(null, [found]) : callback(null, "127.0.0.1", 4));
      setTimeout(answer, delay * 1000);
    };
    return resolveBy(make, seconds);
  },
  start_no_process: () => {
    childProcess.execFile = () => {
      throw Object.assign(new Error("no"), { code: "ERR_ACCESS_DENIED" });
    };
    syncBuiltinESMExports();
    return null;
  },
  most_processes: async ({ reports }) => {
    const { execFile: start } = childProcess;
    let [now, most] = [0, 0];
    childProcess.execFile = (program, words, options, done) => {
      now += 1;
      most = Math.max(most, now);
      return start(program, words, options, (...ended) => {
        now -= 1;
        done(...ended);
      });
    };
    syncBuiltinESMExports();
    await Promise.allSettled(reports.map((report) => send({ report })));
    return most;
  },
  abort_those_that_wait: async ({ reports, most }) => {
    const { execFile: start } = childProcess;
    let begun = 0;
    childProcess.execFile = (...words) => {
      begun += 1;
      return start(...words);
    };
    syncBuiltinESMExports();
    const controller = new AbortController();
    const client = new Client();
    const sent = reports.map((report, number) => {
      const options = number < most ? {} : { signal: controller.signal };
      return client.send(report, options).catch((error) => error === controller.signal.reason && "cancelled");
    });
    controller.abort();
    const ends = await Promise.all(sent);
    return [begun, ends.slice(most)];
  },
  looks_here: async ({ reports, client }) => {
    const { lookup } = dns;
    let looks = 0;
    dns.lookup = (...words) => {
      looks += 1;
      return lookup(...words);
    };
    syncBuiltinESMExports();
    await DO.send_all({ reports, client });
    return looks;
  },
  send_all: ({ reports, client }) =>
    Promise.all(reports.map((report) => attempt(() => send({ report, client })))),
  known_beside: async ({ reports, url, options, client }) => {
    const controllers = reports.map(() => new AbortController());
    let ended = 0;
    const sent = reports.map((report, number) =>
      new Client(optionsOf(client))
        .send(report, { signal: controllers[number].signal })
        .catch(() => {})
        .finally(() => {
          ended += 1;
        }),
    );
    const outcome = await attempt(() => known({ url, options }));
    const before = ended;
    for (const controller of controllers) controller.abort();
    await Promise.all(sent);
    return { outcome, ended: before };
  },
  known_all: ({ urls, client }) =>
    Promise.all(urls.map((url) => attempt(() => new Client(optionsOf(client)).known(url)))),
  resolve_all_but_silent_names: () => {
    const make = () => (host, options, callback) => {
      if (!host.startsWith("silent")) return callback(null, [{ address: "1.1.1.1", family: 4 }]);
      const silence = setTimeout(callback, 600_000);
      return process.env.DOCFEEDBACK_LOOK_UP ? silence : silence.unref();
    };
    return resolveBy(make, null);
  },
  words_of_processes: async ({ report }) => {
    const { execFile: start } = childProcess;
    const all = [];
    childProcess.execFile = (program, words, ...more) => {
      all.push([program, ...words]);
      return start(program, words, ...more);
    };
    syncBuiltinESMExports();
    await Promise.allSettled([send({ report })]);
    return all;
  },
  use_a_thread: async () => (await fs.promises.stat(".")).isDirectory(),
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

/** Look names up by the function that `make` returns, here and in the processes that do so for us. */
function resolveBy(make, value) {
  const code = `import dns from "node:dns"; dns.lookup = (${make})(${JSON.stringify(value)});`;
  const words = [`--import=data:text/javascript,${encodeURIComponent(code)}`];
  dns.lookup = make(value);
  childProcess.execFile = (program, given, ...more) => execFile(program, [...words, ...given], ...more);
  syncBuiltinESMExports();
  return null;
}

async function attempt(work) {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof DocFeedbackError)) throw error;
    const { name, code, message, status, fields } = error;
    return { raises: name, code, message, status, fields };
  }
}

async function outcome(call) {
  try {
    return await attempt(() => DO[call.do](call));
  } catch (error) {
    if (error instanceof files.Unusable) return { unusable: error.reason };
    if (error instanceof Damaged) return { damaged: error.code, line: error.line };
    throw error;
  }
}

const outcomes = [];
for (const call of JSON.parse(fs.readFileSync(0, "utf8"))) outcomes.push(await outcome(call));
process.stdout.write(JSON.stringify(outcomes));
