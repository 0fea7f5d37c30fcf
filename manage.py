#!/usr/bin/env python
"""The command line of the Docs Feedback Hub."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    try:
        from hub import command_line
    except ModuleNotFoundError as error:
        sys.exit(
            f"Python has no module {error.name!r} here. Run `script/serve` once, which installs what "
            "the Hub needs, then `.venv/bin/python manage.py`."
        )
    command_line.run(sys.argv)


if __name__ == "__main__":
    main()
