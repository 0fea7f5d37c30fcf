"""Drives the Python SDK by JSON: a list of calls on standard input, their outcomes on standard output.

`drive.mjs` does the same with the Node SDK, so that one test can hold both to one behavior.
"""

import asyncio
import contextlib
import copy
import dataclasses
import errno
import io
import itertools
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import docfeedback
from docfeedback import (
    address,
    arguments,
    blocks,
    checkout,
    files,
    init,
    login,
    oauth,
    private_files,
    remotes,
    secret_patterns,
    sign_ins,
    terminal,
    web,
)
from docfeedback.watch import follow

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


def receipt(call):
    client = docfeedback.Client(**call.get("client", {}))
    return dataclasses.asdict(client.receipt(call["report"]))


def known(call):
    client = docfeedback.Client(**call.get("client", {}))
    return client.known(call["url"], **call.get("options", {}))


def known_async(call):
    client = docfeedback.AsyncClient(**call.get("client", {}))
    return asyncio.run(client.known(call["url"], **call.get("options", {})))


def reports(call):
    """The ids of the reports, or of the first ones, and what ended them."""
    found = docfeedback.Client(**call.get("client", {})).reports(**call.get("filters", {}))
    ids = []
    try:
        ids.extend(report["id"] for report in itertools.islice(found, call.get("first")))
    except docfeedback.DocFeedbackError as error:
        return {"ids": ids, "code": error.code}
    return {"ids": ids}


def reports_async(call):
    async def ids():
        found = docfeedback.AsyncClient(**call["client"]).reports(**call.get("filters", {}))
        return [report["id"] async for report in found]

    return {"ids": asyncio.run(ids())}


def judge(call):
    return "path" if address.check(call["url"]) is None else "public"


def ascii_host(call):
    return address.ascii_host(call["host"])


def longest_normalized(call):
    """How long the longest text is that is normalized for the host."""
    lengths = [0]

    class Watched:
        @staticmethod
        def normalize(form, text):
            lengths.append(len(text))
            return unicodedata.normalize(form, text)

    address.unicodedata = Watched
    address.ascii_host(call["host"])
    return max(lengths)


def resolve_as(call):
    socket.getaddrinfo = lambda host, port, *args, **more: [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in call["ips"]
    ]


def resolve_nothing(call):
    """As in a network where only the proxy resolves names."""
    found = socket.getaddrinfo

    def by_number(host, port, *args, **more):
        if not host[-1].isdigit():
            raise socket.gaierror(socket.EAI_AGAIN, "no")
        return found(host, port, *args, **more)

    socket.getaddrinfo = by_number


def resolve_slowly(call):
    def late(host, port, *args, **more):
        sockets.append("late")
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

    os.fchown = refuse


def fill_disk(call):
    def refuse(handle):
        raise OSError(getattr(errno, call["code"]), "no")

    os.fsync = refuse


def watch_drafts(call):
    """Each draft when it is written: its name and who may do what with it."""
    seen, fsync = [], os.fsync

    def watch(handle):
        seen.extend([path.name, path.stat().st_mode & 0o777] for path in Path().glob(".*"))
        fsync(handle)

    os.chdir(call["folder"])
    os.fsync = watch
    return seen


def watch_looks(call):
    """Each path whose file, folder or link is looked at, and whether a link is followed there."""
    seen = []

    def watched(look):
        def watch(path, *args, **more):
            seen.append([str(path), look is stat and more.get("follow_symlinks", True)])
            return look(path, *args, **more)

        return watch

    stat = os.stat
    for name in ("lstat", "readlink", "stat"):
        setattr(os, name, watched(getattr(os, name)))
    return seen


LOOKS = {name: getattr(os, name) for name in ("access", "lstat", "open", "readlink", "stat")}


def become_link(call):
    """A file or folder becomes a link to another after so many looks at it or below it."""
    path, left = Path(call["path"]), itertools.count(call["after"], -1)

    def watched(look):
        def watch(seen, *args, **more):
            try:
                return look(seen, *args, **more)
            finally:
                if path.name in Path(str(seen)).parts and not next(left):
                    path.rename(path.with_name("before"))
                    path.symlink_to(call["target"])

        return watch

    for name, look in LOOKS.items():
        setattr(os, name, watched(look))


def run_init(call):
    os.chdir(call["folder"])
    return init.run(arguments.Arguments("init", call.get("flags", {}), [])).lines


def swap_drafts(call):
    """Each draft is replaced by a link once it is written."""
    fsync = os.fsync

    def swap(handle):
        fsync(handle)
        for draft in Path(call["folder"]).glob(".*.docfeedback-*"):
            draft.unlink()
            draft.symlink_to(call["target"])

    os.fsync = swap


def load_the_dice(call):
    os.urandom = bytes


def keep_sign_in(call):
    sign_ins.replace(call["hub_url"], oauth.Tokens("a", 1, "r", None, None))


def skip_pauses(call):
    """The pauses that are asked for, and which take no time."""
    slept = []
    time.sleep = slept.append
    web.Way.pause = lambda way, seconds: slept.append(seconds) if seconds else None
    return slept


def wait(call):
    hub = call["hub_url"]
    code = oauth.Code("device-1", "BCDF-GHJK", hub, None, 600, 5)
    login._wait(oauth.Endpoints(hub, f"{hub}/oauth/token", None), code, hub, 10)


def watch(call):
    client = docfeedback.Client()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        follow(client, "01J9ZK3V5T8Q2M4N6P7R8S9T0V", as_json=False)


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
    files.replace(call["path"], b"new", files.read(call["path"]))


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


def lines_read(call):
    """How many lines are looked at to find the block and those of others."""
    count = itertools.count()
    fence = blocks.FENCE

    class Watched:
        @staticmethod
        def fullmatch(text):
            next(count)
            return fence.fullmatch(text)

    blocks.FENCE = Watched
    blocks.find(call["document"], call["name"])
    blocks.foreign(call["document"])
    blocks.FENCE = fence
    return next(count)


def draft(call):
    client = docfeedback.Client(**call.get("client", {}))
    return client.draft(call["report"], call.get("key")).body


class Turning(str):
    """Says of itself what it is not."""

    def __str__(self):
        return "another"

    __repr__ = __format__ = __str__

    def __len__(self):
        return 0

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Fields(Mapping):
    """A mapping of its own, whose values are asked for."""

    def __init__(self, names, value):
        self.names, self.value = names, value

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, name):
        return self.value(name)


def odd(call):
    """What would be sent of a report that is no plain JSON."""
    report = call["report"]
    round_about = dict(report)
    round_about["report"] = round_about
    asked = []

    def again(name):
        asked.append(name)
        return {"kind": "other", "summary": "x" * len(asked)}[name]

    def refuse(name):
        raise LookupError(name, 7)

    odd_one = {
        "says otherwise": {**report, "doc_url": Turning("docs/a.md"), Turning("locale"): "en"},
        "another each time": {**report, "report": Fields(["kind", "summary"], again)},
        "throws": {**report, "report": Fields(["kind"], refuse)},
        "endless": Fields(range(10**9), {}.__getitem__),
        "many fields": {str(number): number for number in range(10**5)},
        "around itself": round_about,
        "huge": {**report, "locale": "x" * 10**8},
        "a huge name": {**report, "x" * 10**7: 1},
        "another kind of thing": {**report, "submitted_at": Path(), "agent": {1: 1, b"": 1}},
        "tuples": {**report, "client_capabilities": ("a", "b")},
    }[call["odd"]]
    draft = docfeedback.Client(**call.get("client", {})).draft(odd_one)
    return [draft.body, json.loads(draft.data)]


def send_until_interrupted(call):
    """A send that is cancelled by Ctrl-C."""

    async def cancelled():
        client = docfeedback.AsyncClient(**call["client"])
        task = asyncio.ensure_future(client.send(call["report"]))
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"

    return asyncio.run(cancelled())


def cancel_at(call):
    """A send that is cancelled once the host's name is being looked up."""

    async def cancelled():
        client = docfeedback.AsyncClient(**call["client"])
        task = asyncio.ensure_future(client.send(call["report"]))
        while not sockets:
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"

    return asyncio.run(cancelled())


def send_by(call):
    """A send by a transport that answers by a script; what it was given, and what came of it."""
    seen, script = [], iter(call["answers"])

    def transport(request):
        seen.append(
            {
                "method": request.method,
                "url": request.url,
                "body": json.loads(request.body) if request.body else None,
                "headers": {name.lower(): value for name, value in request.headers.items()},
            }
        )
        answer = next(script)
        if answer == "raise":
            raise RuntimeError("no")
        if answer == "refuse":
            raise docfeedback.PrivateAddress("private_address", "Not there.")
        if answer == "hang":
            threading.Event().wait(30)
        if answer == "nothing":
            return None
        body = "x" * 2**21 if answer == "flood" else json.dumps(answer.get("body"))
        status, headers = (201, {}) if answer == "flood" else (answer["status"], answer["headers"])
        return docfeedback.Response(status, headers, body.encode())

    make = docfeedback.AsyncClient if call.get("awaited") else docfeedback.Client
    sent = attempt(
        lambda: awaited(make(**call["client"], transport=transport).send(call["report"]))
    )
    return {"seen": seen, "outcome": sent}


def awaited(result):
    sent = asyncio.run(result) if asyncio.iscoroutine(result) else result
    return dataclasses.asdict(sent)


ODD = {
    "none": None,
    "infinite": float("inf"),
    "nan": float("nan"),
    "negative": -1,
    "zero": 0,
    "huge": 1e300,
    "true": True,
    "text": "5",
    "number": 7,
    "bytes": b"https://hub.acme.com",
    "object": object(),
    "a value that is none of JSON": {1j: object()},
}


def misuse(call):
    """A call with one argument that is odd."""
    name, value = call["name"], ODD[call["value"]]
    report, key, receipt, options = call["report"], None, "x", {}
    if name == "report":
        report = value
    elif name == "doc_url":
        report = {**report, "doc_url": value}
    elif name == "extra":
        report = {**report, "extra": value}
    elif name == "idempotency_key":
        key = value
    elif name == "report_id":
        receipt = value
    else:
        options = {name: value}
    client = docfeedback.Client(**{"hub_url": "http://127.0.0.1:9", **options})
    if name == "report_id":
        return client.receipt(receipt)
    return client.send(report, key)


def shown(call):
    """All that shows what a client has."""
    client = docfeedback.Client("http://127.0.0.1:9", call["token"])
    awaited = docfeedback.AsyncClient("http://127.0.0.1:9", call["token"])
    try:
        client.send({})
    except docfeedback.ValidationError as raised:
        error = raised
    return [
        str([client, awaited, vars(client), vars(awaited), vars(error), client._way]),
        *[pickle.dumps(each).decode("latin1") for each in (client, awaited, error)],
        str(web.Request("GET", "https://hub.acme.com", {"Authorization": call["token"]})),
        str(vars(copy.deepcopy(client))),
    ]


def copied(call):
    """An error of the Hub, and what its copies have."""
    try:
        docfeedback.Client().send(call["report"])
    except docfeedback.DocFeedbackError as error:
        copies = [pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)]
        return [told(each) for each in (error, *copies)]


def after_the_end(call):
    """What a client that is closed says, however it was closed."""

    async def of_async():
        async with docfeedback.AsyncClient() as client:
            pass
        return await client.send(call["report"])

    with docfeedback.Client() as client:
        pass
    calls = [
        lambda: client.send(call["report"]),
        lambda: client.draft(call["report"]),
        lambda: client.receipt("x"),
        lambda: client.known("https://docs.acme.com/"),
        client.me,
        lambda: asyncio.run(of_async()),
    ]
    return [attempt(each) for each in calls]


DO = {
    "odd": odd,
    "send_until_interrupted": send_until_interrupted,
    "cancel_at": cancel_at,
    "send_by": send_by,
    "misuse": misuse,
    "shown": shown,
    "copied": copied,
    "after_the_end": after_the_end,
    "send": send,
    "draft": draft,
    "send_async": send_async,
    "receipt": receipt,
    "known": known,
    "known_async": known_async,
    "reports": reports,
    "reports_async": reports_async,
    "build": lambda call: docfeedback.Report.create(**call["fields"]).body(),
    "defaults": lambda call: {"seconds": docfeedback.Client().timeout},
    "repository": lambda call: remotes.repository(call["url"]),
    "find_secrets": lambda call: [found._asdict() for found in secret_patterns.find(call["text"])],
    "judge": judge,
    "lines_read": lines_read,
    "ascii_host": ascii_host,
    "ascii_hosts": lambda call: [address.ascii_host(each) for each in call["hosts"]],
    "ascii": lambda call: address.check(call["url"]).ascii_url(),
    "longest_normalized": longest_normalized,
    "resolve_as": resolve_as,
    "resolve_nothing": resolve_nothing,
    "become_nobody": become_nobody,
    "forbid_chown": forbid_chown,
    "fill_disk": fill_disk,
    "watch_drafts": watch_drafts,
    "watch_looks": watch_looks,
    "become_link": become_link,
    "locate": lambda call: checkout.locate(call["path"], call["folder"]).url,
    "init": run_init,
    "load_the_dice": load_the_dice,
    "swap_drafts": swap_drafts,
    "replace": replace,
    "keep_sign_in": keep_sign_in,
    "skip_pauses": skip_pauses,
    "wait": wait,
    "watch": watch,
    "interval": interval,
    "open_browser": open_browser,
    "lock": lock,
    "resolve_slowly": resolve_slowly,
    "connections": connections,
    "sockets": lambda call: len(sockets),
    "put": put,
    "proxied": proxied,
}


def told(error):
    return {
        "raises": type(error).__name__,
        "code": error.code,
        "message": str(error),
        "status": error.status,
        "fields": error.fields,
    }


def attempt(work):
    try:
        return {"result": work()}
    except docfeedback.DocFeedbackError as error:
        return told(error)


def outcome(call):
    try:
        return attempt(lambda: DO[call["do"]](call))
    except files.Unusable as error:
        return {"unusable": error.reason}
    except blocks.Damaged as damage:
        return {"damaged": damage.code, "line": damage.line}


json.dump([outcome(call) for call in json.load(sys.stdin)], sys.stdout)
