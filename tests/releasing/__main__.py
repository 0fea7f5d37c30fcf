"""`python -m tests.releasing 0.1.0`: writes the version and the date; `script/release` does the rest."""

import sys
from datetime import UTC, datetime

from tests.releasing import changelog, versions
from tests.rooms import ROOT

LOG = ROOT / "CHANGELOG.md"


def main(version: str) -> None:
    """Nothing is written if there can be no release."""
    if not versions.VERSION.fullmatch(version):
        sys.exit(f"{version!r} is no version: write it as 0.1.0.")
    try:
        text = changelog.released(
            LOG.read_text(encoding="utf-8"), version, datetime.now(UTC).date()
        )
    except changelog.CannotRelease as error:
        sys.exit(str(error))
    versions.write(version)
    LOG.write_text(text, encoding="utf-8")


main(*sys.argv[1:2] or [""])
