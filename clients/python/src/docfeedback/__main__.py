"""The command `docfeedback`, also as `python -m docfeedback`."""

import sys


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from .cli import run  # here, since Ctrl-C may come while it loads

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
