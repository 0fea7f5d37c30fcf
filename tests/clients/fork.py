"""A Python that has started already, and forks itself for each command line that it is told of.

Each line on its standard input is one, as JSON; its answer is how that one ended. See `forked.py`.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import sys
from pathlib import Path

import docfeedback

for _, name, _ in pkgutil.iter_modules(docfeedback.__path__, "docfeedback."):
    if name != "docfeedback.__main__":
        importlib.import_module(name)


def next_child():
    """What a child has been told; the parent stays here until nobody tells it anything."""
    with open(0, "rb", buffering=0, closefd=False) as lines:
        while line := lines.readline():
            child = os.fork()
            if not child:
                return json.loads(line)
            _, status = os.waitpid(child, 0)
            os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
    sys.exit()


def become(told):
    """A process that was started in this folder, with this environment and these streams."""
    for name in set(os.environ) - set(told["env"]) - {"LC_CTYPE"}:  # which Python has set itself
        del os.environ[name]
    os.environ.update(told["env"])
    os.chdir(told["cwd"])
    os.umask(told["umask"])
    for number, path in enumerate(told["streams"]):
        opened = os.open(path, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)


def run(program, *arguments):
    """As `python program` and `python -m program` do."""
    if program == "-m":
        sys.path[0] = str(Path.cwd())
        sys.argv = list(arguments)
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program).parent)
        sys.argv = [program, *arguments]
        runpy.run_path(program, run_name="__main__")


gc.freeze()
told = next_child()
become(told)
run(*told["words"])
