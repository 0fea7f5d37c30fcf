"""What Django does between two requests, and the server does not."""

import subprocess
import sys

import pytest

from tests.hub_process import ROOT

KNOWN = """
import django; django.setup()
from hub.server import between_requests
from django.core.signals import request_finished, request_started

for signal, receivers in between_requests.DJANGOS.items():
    assert len(signal.receivers) == len(receivers), signal.receivers
between_requests.keep_connections()
assert [len(each.receivers) for each in (request_started, request_finished)] == [1, 1]
"""


@pytest.mark.slow
def test_all_that_django_does_then_is_known():
    command = [sys.executable, "-c", KNOWN]
    environment = {"DJANGO_SETTINGS_MODULE": "hub.settings", "HUB_SECRET_KEY": "x"}

    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    assert not ended.returncode, ended.stderr
