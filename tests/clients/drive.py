"""Drives the Python SDK by JSON: a list of calls on standard input, their outcomes on standard output.

`drive.mjs` does the same with the Node SDK, so that one test can hold both to one behavior.
"""

import asyncio
import dataclasses
import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import docfeedback
from docfeedback import (
    address,
    blocks,
    files,
    login,
    oauth,
    private_files,
    remotes,
    secret_patterns,
    sign_ins,
    terminal,
    web,
)

NOBODY = 65534
sockets = []
sys.addaudithook(
    lambda event, args: (
        sockets.append(event)
        if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname")
        else None
    )
)


def send(call):
    client = docfeedback.Client(**call.get("client", {}))
    return dataclasses.asdict(client.send(call["report"], call.get("key")))


def send_async(call):
    client = docfeedback.AsyncClient(**call.get("client", {}))
    return dataclasses.asdict(asyncio.run(client.send(call["report"], call.get("key"))))


def judge(call):
    return "path" if address.check(call["url"]) is None else "public"


def resolve_as(call):
    socket.getaddrinfo = lambda host, port, *args, **more: [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in call["ips"]
    ]


def resolve_slowly(call):
    def late(host, port, *args, **more):
        time.sleep(call["seconds"])
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    socket.getaddrinfo = late


def connections(call):
    """Those that are still at work, a moment later."""
    time.sleep(call["after"])
    return threading.active_count() - 1


def become_nobody(call):
    if os.geteuid() == 0:
        folder = Path(call["folder"])
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def forbid_chown(call):
    def refuse(*args):
        raise PermissionError(errno.EPERM, "no")

    os.chown = refuse


def watch_drafts(call):
    """Each draft when it is written: its name and who may do what with it."""
    seen, fsync = [], os.fsync

    def watch(handle):
        seen.extend([path.name, path.stat().st_mode & 0o777] for path in Path().glob(".*"))
        fsync(handle)

    os.chdir(call["folder"])
    os.fsync = watch
    return seen


def load_the_dice(call):
    os.urandom = bytes


def keep_sign_in(call):
    sign_ins.replace(call["hub_url"], oauth.Tokens("a", 1, "r", None, None))


def skip_pauses(call):
    """The pauses that are asked for, and which take no time."""
    slept = []
    time.sleep = slept.append
    return slept


def wait(call):
    hub = call["hub_url"]
    code = oauth.Code("device-1", "BCDF-GHJK", hub, None, 600, 5)
    login._wait(oauth.Endpoints(hub, f"{hub}/oauth/token", None), code, hub, 10)


def lock(call):
    """What the lock is in its folder at each pause, and whether it is there in the end.

    At a pause its holder gives it back (`then` is `free`), another takes it (`taken`), or nothing
    happens. `first`: another takes it just before this one would take away what was left behind.
    """
    path, seen, rename = Path(call["path"]), [], os.rename

    def take():
        path.unlink()
        path.touch()

    def pause(seconds):
        seen.append([seconds, os.path.lexists(path)])
        {"free": path.unlink, "taken": take}.get(call.get("then"), lambda: None)()

    def late(source, target):
        os.rename = rename
        take()
        rename(source, target)

    time.sleep = pause
    if call.get("first"):
        os.rename = late
    with private_files.locked(path):
        if call.get("inside"):
            take()
            os.utime(path, (1, 1))
    return {"seen": seen, "left": path.exists(), "files": len(list(path.parent.iterdir()))}


def open_browser(call):
    """What is started on such a system, by a person at a terminal."""
    started = []
    os.startfile = lambda url: started.append(["os.startfile", url])
    subprocess.Popen = lambda command, **more: started.append(command)
    terminal.is_terminal = lambda stream: True
    sys.platform = call["platform"]
    terminal.open_browser("https://hub.acme.com/device/")
    return started


def interval(call):
    hub = call["hub_url"]
    return oauth.request_code(oauth.Endpoints(f"{hub}/oauth", hub, None), hub, 10).interval


def replace(call):
    files.replace(call["path"], b"new")


def proxied(call):
    os.environ["no_proxy"] = call["no_proxy"]
    return web._goes_through_a_proxy(call["url"])


def put(call):
    place = blocks.find(call["document"], call["name"])
    written = blocks.put(call["document"], place, call["name"], hub_url="https://hub.acme.com")
    again = blocks.find(written, call["name"])
    removed = blocks.take_out(written, again)
    named = place and blocks.name_hub(call["document"], place, "https://elsewhere.acme.com")
    found = {"written": written, "removed": removed, "foreign": blocks.foreign(call["document"])}
    return {"place": place and place._asdict(), "named": named, **found}


def draft(call):
    client = docfeedback.Client(**call.get("client", {}))
    return client.draft(call["report"]).body


DO = {
    "send": send,
    "draft": draft,
    "send_async": send_async,
    "build": lambda call: docfeedback.Report.create(**call["fields"]).body(),
    "defaults": lambda call: {"seconds": docfeedback.Client().timeout},
    "repository": lambda call: remotes.repository(call["url"]),
    "find_secrets": lambda call: [found._asdict() for found in secret_patterns.find(call["text"])],
    "judge": judge,
    "ascii": lambda call: address.check(call["url"]).ascii_url(),
    "resolve_as": resolve_as,
    "become_nobody": become_nobody,
    "forbid_chown": forbid_chown,
    "watch_drafts": watch_drafts,
    "load_the_dice": load_the_dice,
    "replace": replace,
    "keep_sign_in": keep_sign_in,
    "skip_pauses": skip_pauses,
    "wait": wait,
    "interval": interval,
    "open_browser": open_browser,
    "lock": lock,
    "resolve_slowly": resolve_slowly,
    "connections": connections,
    "sockets": lambda call: len(sockets),
    "put": put,
    "proxied": proxied,
}


def outcome(call):
    try:
        return {"result": DO[call["do"]](call)}
    except docfeedback.DocFeedbackError as error:
        return {
            "raises": type(error).__name__,
            "code": error.code,
            "message": str(error),
            "status": error.status,
            "fields": error.fields,
        }
    except files.Unusable as error:
        return {"unusable": error.reason}
    except blocks.Damaged as damage:
        return {"damaged": damage.code, "line": damage.line}


json.dump([outcome(call) for call in json.load(sys.stdin)], sys.stdout)
