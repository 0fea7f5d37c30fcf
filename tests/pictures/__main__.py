"""Draws every picture anew."""

import sys

from tests.pictures import FILES

for path, drawn in FILES.items():
    path.write_text(drawn(), encoding="utf-8")
    sys.stdout.write(f"{path}\n")
