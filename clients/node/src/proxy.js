/** Proxies from the environment: `https_proxy`, `http_proxy` and `no_proxy`, in either case. */

import { request } from "node:http";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { isLoopback } from "./address.js";
import { DocFeedbackError } from "./errors.js";

/**
 * The proxy for `url`, a URL, or null. A Hub on this machine needs none. Throws DocFeedbackError for one
 * that would be sent a password without TLS, against its address.
 */
export function proxyFor(url) {
  const { protocol, hostname, host } = new URL(url);
  const name = `${protocol.slice(0, -1)}_proxy`;
  const named = variable(name);
  if (!named || isLoopback(url) || isExempt(hostname, host)) return null;
  const proxy = new URL(named.includes("://") ? named : `http://${named}`);
  const hasSecret = proxy.username || proxy.password;
  if (proxy.protocol === "https:" && hasSecret) throw DocFeedbackError.of("insecure_proxy", { name });
  return proxy;
}

/** The options for `http.request` that take the request through `proxy`. */
export async function connectThrough(proxy, url, signal) {
  const target = new URL(url);
  const port = proxy.port || (proxy.protocol === "https:" ? 443 : 80);
  const door = { agent: false, hostname: bare(proxy.hostname), port };
  const headers = authorization(proxy);
  if (target.protocol === "http:") {
    return { ...door, path: url, headers: { ...headers, Host: target.host } };
  }
  const socket = await tunnel({ ...door, headers, signal }, target);
  const host = bare(target.hostname);
  return {
    createConnection: () => connect({ socket, host, servername: isIP(host) ? "" : host }),
  };
}

/** An IPv6 address without its brackets. */
function bare(hostname) {
  return hostname.replace(/^\[|\]$/g, "");
}

function tunnel(options, target) {
  const path = `${target.hostname}:${target.port || 443}`;
  const headers = { ...options.headers, Host: path };
  return new Promise((resolve, reject) => {
    request({ ...options, method: "CONNECT", path, headers })
      .on("connect", ({ statusCode }, socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        return reject(new Error(`The proxy answered CONNECT with status ${statusCode}.`));
      })
      .on("error", reject)
      .end();
  });
}

function authorization({ username, password }) {
  if (!username) return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "Proxy-Authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** Whether `no_proxy` names the host: itself, a parent domain, with or without the port, or all (`*`). */
function isExempt(hostname, host) {
  const names = variable("no_proxy");
  return names.split(",").some((entry) => {
    const name = entry.trim().toLowerCase().replace(/^\.+/, "");
    return (
      name === "*" ||
      (name && [hostname, host].some((it) => it === name || it.endsWith(`.${name}`)))
    );
  });
}

/**
 * In lower case, or else in upper case; but HTTP_PROXY of a CGI program is a header of the request that it
 * answers (CVE-2016-5385).
 */
function variable(name) {
  const isHeader = name === "http_proxy" && process.env.REQUEST_METHOD !== undefined;
  return process.env[name] ?? (isHeader ? undefined : process.env[name.toUpperCase()]) ?? "";
}
