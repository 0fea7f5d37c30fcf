"""The command line: its output and exit status."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Any, Callable, Dict, Iterator, List

from . import arguments, commands, hub, terminal, verbose, visible, words
from .contract import message, table, text
from .errors import DocFeedbackError
from .result import Result
from .version import __version__

DONE, FAILED, NOTHING_SENT, INTERRUPTED = 0, 1, 2, 130
FIELDS: Dict[str, Callable[[Any], str]] = {
    "since": words.time,
    "retry_after": str,
    "request_id": words.name,
}


def run(words: List[str]) -> int:
    """Run a command line and print its result; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        return _print(_result(words), as_json=arguments.asks(words, "--json"))
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError:  # our output cannot be written: a closed pipe, a full disk
        nowhere = os.open(os.devnull, os.O_WRONLY)  # for what Python still writes at its end
        for stream in filter(None, (sys.stdout, sys.stderr)):
            os.dup2(nowhere, stream.fileno())
        return FAILED


def _result(words: List[str]) -> Result:
    """What to print; every exception has become words here."""
    try:
        if arguments.asks(words, "--help", "-h"):
            return _help(words[0])
        if arguments.asks(words, "--version"):
            return Result([f"docfeedback {__version__}"], {"version": __version__})
        parsed = arguments.parse(words)
        if "--verbose" in parsed.flags:
            verbose.turn_on()
        return commands.COMMANDS[parsed.command](parsed)
    except DocFeedbackError as error:
        return _failure(error)
    except KeyboardInterrupt:
        sentence = message("interrupted")
        return Result([sentence], _error("interrupted", sentence), exit_code=INTERRUPTED)
    except terminal.Unwritable:
        raise
    except Exception as error:
        return _internal(type(error).__name__)


def _print(result: Result, *, as_json: bool) -> int:
    terminal.write(sys.stderr, [message("note", text=note) for note in result.notes])
    if as_json and not result.data:
        return result.exit_code
    if as_json:
        terminal.write(sys.stdout, [visible.json_line(result.data)])
    else:
        terminal.write(sys.stderr if result.exit_code else sys.stdout, result.lines)
    return result.exit_code


def _help(word: str) -> Result:
    known = table("commands.json")["commands"]
    page = text(f"help/{word if word in known else 'docfeedback'}.txt")
    return Result(page.splitlines(), {"help": page})


def _failure(error: DocFeedbackError) -> Result:
    lines = [message("error", text=str(error)), *_faults(error)]
    has_failed = (error.status or 0) >= 500  # and its operator can look the request up
    for name in ("since", "retry_after", *(["request_id"] if has_failed else [])):
        if name in error.fields:
            lines.append(message(f"{name}_line", value=FIELDS[name](error.fields[name])))
    return Result(
        lines,
        {**_error(error.code, str(error)), **error.fields},
        exit_code=NOTHING_SENT if error.nothing_was_sent else FAILED,
    )


def _internal(name: str) -> Result:
    key = "internal_error" if hub.was_asked() else "internal_error_before"
    sentence = message(key, name=name)
    code = FAILED if hub.was_asked() else NOTHING_SENT
    return Result([sentence], _error("internal_error", sentence), exit_code=code)


def _faults(error: DocFeedbackError) -> Iterator[str]:
    for fault in words.first(error.details):
        path, sentence = fault["path"], fault["message"]
        if error.status is not None:  # then they are the Hub's
            path, sentence = words.name(path) if path else "", words.quote(sentence)
        yield f"  {path}: {sentence}" if path else f"  {sentence}"
    yield from (f"  {line}" for line in words.more(error.details))


def _error(code: str, sentence: str) -> Dict[str, Any]:
    return {"error": code, "message": sentence}
