"""The settings of hub/settings.py and their defaults, whatever the tests set."""

import ast

from tests.rooms import ROOT


def settings() -> dict[str, object]:
    """The variables that are read, with their defaults."""
    calls = [
        node
        for node in ast.walk(ast.parse((ROOT / "hub/settings.py").read_text()))
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
    ]
    read = [call for call in calls if _reads_the_environment(call.func)]
    return {call.args[0].value: _default(*call.args[1:]) for call in read}


def _default(given: ast.expr | None = None, *_: ast.expr) -> object:
    """Of words to choose from, the first."""
    value = ast.literal_eval(given) if given else ""
    return value[0] if isinstance(value, tuple) else value


def _reads_the_environment(function: ast.expr) -> bool:
    readers = ("_address", "_one_of", "_rate", "_number", "_switch", "_text", "_url")
    return isinstance(function, ast.Name) and function.id in readers
