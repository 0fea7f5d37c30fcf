"""Sliding-window counters in Redis, which all processes share."""

import os
import socket
import struct
import sys
import threading
from functools import cache
from importlib import import_module
from typing import Any

from core import redis_client
from core.windows import Window

# `Windows.wait`, counted for all processes: KEYS are lists of the times of hits, in milliseconds, the
# oldest first; the one argument has an amount and a duration for each. Returns the milliseconds to wait
# for each, as one text; 0 for all of them if this hit was counted. Every command takes constant time. The
# client takes as long for a number, to send it or to read it, as for all of them.
COUNT = """
local time = redis.call('TIME')
local now, waits, refused = time[1] * 1000 + math.floor(time[2] / 1000), {}, false
local amounts, durations = {}, {}
for amount, duration in string.gmatch(ARGV[1], '(%d+)/(%d+)') do
    table.insert(amounts, tonumber(amount))
    table.insert(durations, tonumber(duration))
end
for i, key in ipairs(KEYS) do
    waits[i] = 0
    if redis.call('LLEN', key) >= amounts[i] then
        local oldest = tonumber(redis.call('LINDEX', key, 0) or now)
        if oldest > now then -- the clock was put back
            redis.call('DEL', key)
            oldest = 0
        end
        waits[i] = math.max(0, oldest + durations[i] - now)
        refused = refused or waits[i] > 0
    end
end
if not refused then
    for i, key in ipairs(KEYS) do
        if redis.call('RPUSH', key, now) > amounts[i] then
            redis.call('LPOP', key)
        end
        redis.call('PEXPIRE', key, durations[i])
    end
end
return table.concat(waits, ' ')
"""


# Counts hits that processes have taken already, also where there is no room: KEYS as above; the one argument
# has a number of hits, an amount and a duration for each. Returns the milliseconds until there is room again.
ADD = """
local time = redis.call('TIME')
local now, waits = time[1] * 1000 + math.floor(time[2] / 1000), {}
for hits, amount, duration in string.gmatch(ARGV[1], '(%d+)/(%d+)/(%d+)') do
    local key, amount = KEYS[#waits + 1], tonumber(amount)
    for _ = 1, math.min(tonumber(hits), amount) do
        redis.call('RPUSH', key, now)
    end
    local length, wait = redis.call('LLEN', key), 0
    if length > amount then
        redis.call('LTRIM', key, length - amount, -1)
    end
    if length >= amount then
        local oldest = tonumber(redis.call('LINDEX', key, 0) or now)
        if oldest > now then -- the clock was put back
            redis.call('DEL', key)
            oldest = 0
        end
        wait = math.max(0, oldest + tonumber(duration) - now)
    end
    redis.call('PEXPIRE', key, duration)
    waits[#waits + 1] = wait
end
return table.concat(waits, ' ')
"""
AT_ONCE = 500  # windows in one call: Redis does nothing else meanwhile
TRIED = Window("tried", 1, 1)
TRIED_ENTRY = "hub:tried"


class SharedWindows:
    """`Windows`, counted by the Redis at `url` (any that `limits` knows) for all processes.

    Connects on first use. Redis expires the keys.
    """

    def __init__(self, url: str) -> None:
        self.client: Any = redis_client.client(url)
        self._redis = import_module("redis")
        self._scripts = {each: self.client.register_script(each) for each in (COUNT, ADD)}
        self._own = threading.local()
        self._times_renewed = 0

    def waits(self, windows: list[Window]) -> list[float]:
        """Seconds until there is room in each of these windows; 0 if there is in all: then each counts a hit.

        Raises what the client raises.
        """
        sizes = [f"{each.amount}/{each.seconds * 1000}" for each in windows]
        return self._waits(COUNT, windows, sizes)

    def add(self, hits: dict[Window, int]) -> list[float]:
        """Count as many hits of each of these windows, whether or not there is room.

        Returns the seconds until there is room again for the next; 0 if there is. Raises as `waits` does.
        """
        found: list[float] = []
        every = list(hits)
        for some in (every[at : at + AT_ONCE] for at in range(0, len(every), AT_ONCE)):
            sizes = [f"{hits[each]}/{each.amount}/{each.seconds * 1000}" for each in some]
            found += self._waits(ADD, some, sizes)
        return found

    def try_all(self) -> None:
        """Do once all that a Hub does with Redis: one that may only be read answers, too. Raises as `waits` does."""
        self.add({TRIED: 1})
        self.client.set(TRIED_ENTRY, "", ex=TRIED.seconds)
        self.client.get(TRIED_ENTRY)
        for each in (TRIED_ENTRY, _key_of(TRIED)):
            self.client.delete(each)

    def renew(self) -> None:
        """Connect anew from now on, in all threads: another machine may have the address of this Redis now."""
        self._times_renewed += 1
        self.client.connection_pool.disconnect(inuse_connections=False)

    def close(self) -> None:
        """Close the connection of this thread."""
        if connection := getattr(self._own, "connection", None):
            connection.disconnect()

    def _waits(self, script: str, windows: list[Window], sizes: list[str]) -> list[float]:
        keys = [_key_of(each) for each in windows]
        answer = self._asked(script, keys, " ".join(sizes).encode())
        waits = zip(windows, answer.split(), strict=True)
        return [min(int(wait) / 1000, window.seconds) for window, wait in waits]

    def _asked(self, script: str, keys: list[bytes], sizes: bytes) -> bytes:
        """What the script returns.

        Over a connection of this thread, if the client is a plain one: for a command, that looks after its
        pool, its retries and its figures, which costs as much as all the rest.
        """
        if type(self.client) is not self._redis.Redis:
            return self._scripts[script](keys, [sizes])
        connection, has_answered = self._connection()
        try:
            answer = self._answered(connection, script, keys, sizes)
        except self._redis.exceptions.ConnectionError as error:
            if isinstance(error.__context__, BlockingIOError):  # the kernel has waited long enough
                raise self._redis.exceptions.TimeoutError("Timeout reading from Redis") from error
            if not has_answered:
                raise
            # Redis was restarted since it answered.
            answer = self._answered(connection, script, keys, sizes)
        self._own.has_answered = True
        return answer

    def _answered(self, connection: Any, script: str, keys: list[bytes], sizes: bytes) -> bytes:
        sha = self._scripts[script].sha.encode()
        command = (b"EVALSHA", sha, b"%d" % len(keys), *keys, sizes)
        try:
            return _sent(connection, command)
        except self._redis.exceptions.NoScriptError:
            _sent(connection, (b"SCRIPT", b"LOAD", script.encode()))
            return _sent(connection, command)

    def _connection(self) -> tuple[Any, bool]:
        """This thread's, and whether it has answered; not one from before a fork, or before `renew`."""
        own, now = self._own, (os.getpid(), self._times_renewed)
        if getattr(own, "made", None) != now:
            self.close()
            pool = self.client.connection_pool
            kind = _waiting_in_the_kernel(pool.connection_class)
            own.connection, own.made = kind(**pool.connection_kwargs), now
            own.has_answered = False
        return own.connection, own.has_answered


def _key_of(window: Window) -> bytes:
    """The braces keep all of them in one slot of a cluster."""
    return b"{hub}/" + window.key.encode()


@cache
def _waiting_in_the_kernel(kind: Any) -> Any:
    """The same kind of connection, with timeouts that are the kernel's; itself where it has others.

    With Python's own, each call for a socket is two, and with each another thread goes on. Then this one waits.
    """
    if kind is not redis_client.plain() or sys.platform != "linux":  # not encrypted
        return kind

    class Waiting(kind):
        def _connect(self) -> socket.socket:
            found = super()._connect()
            found.settimeout(None)
            whole, rest = divmod(int(redis_client.TIMEOUT * 1e6), 1_000_000)
            timeout = struct.pack("ll", whole, rest)  # a timeval
            for which in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                found.setsockopt(socket.SOL_SOCKET, which, timeout)
            return found

    return Waiting


def _sent(connection: Any, words: tuple[bytes, ...]) -> Any:
    """The answer to a command. After an error of the network it is closed, or the next one would be another's."""
    connection.connect()  # if it is not; one of a sentinel asks it for the address only here
    parts = [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    connection.send_packed_command([b"*%d\r\n" % len(words) + b"".join(parts)])  # RESP: an array
    return connection.read_response(disconnect_on_error=True)  # a sentinel's does not by itself
