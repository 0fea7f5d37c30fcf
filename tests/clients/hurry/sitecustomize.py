"""Loaded by Python at its start, see `World.hurried`: pauses take a sixteenth of their time."""

import threading
import time

_sleep = time.sleep
time.sleep = lambda seconds: _sleep(seconds / 16)

_wait = threading.Event.wait
threading.Event.wait = lambda event, seconds=None: _wait(event, seconds and seconds / 16)
