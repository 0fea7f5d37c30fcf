"""The command `docfeedback`, also as `python -m docfeedback`."""

import sys

from .cli import run


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
