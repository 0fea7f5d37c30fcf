"""Loaded by Python at its start, see `World.hurried`: pauses take a sixteenth of their time."""

import time

_sleep = time.sleep
time.sleep = lambda seconds: _sleep(seconds / 16)
