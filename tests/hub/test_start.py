"""What a process loads when it starts, and what it has loaded before the first request comes."""

import json
import subprocess
import sys

import pytest
from django.db import connection

from tests import build
from tests.hub_process import ROOT, HubProcess

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

FIRST_REQUEST = """
import io, json, sys
from hub.wsgi import application
before = set(sys.modules)
body = sys.argv[1].encode()
answers = []
environ = {
    "REQUEST_METHOD": "POST", "PATH_INFO": "/v1/reports", "QUERY_STRING": "", "SERVER_NAME": "localhost",
    "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost", "CONTENT_LENGTH": str(len(body)),
    "CONTENT_TYPE": "application/json", "wsgi.input": io.BytesIO(body), "wsgi.url_scheme": "http",
    "REMOTE_ADDR": "127.0.0.1", "wsgi.errors": sys.stderr,
}
application(environ, lambda status, headers, *rest: answers.append(status))
from orgs.domains import hosts
loaded = sorted(set(sys.modules) - before)
print(json.dumps([answers[0], loaded, hosts._list.cache_info()._asdict()]))
"""
NO_FURTHER_FILE = """
import resource
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (0, most))
application(environ,"""
MAINTAIN = """
import json, sys
import django
django.setup(set_prefix=False)
from hub.management.commands import maintain
print(json.dumps(sorted(sys.modules)))
"""


def run(program: str, *more: str) -> list:
    environment = HubProcess().environment() | {"DJANGO_SETTINGS_MODULE": "hub.settings"}
    ended = subprocess.run(
        [sys.executable, "-c", program, *more],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(ended.stdout)


def test_the_first_request_loads_nothing_that_threads_would_wait_for():
    """Several come at once: each would parse the list of public suffixes, and wait for the same modules."""
    status, loaded, suffixes = run(FIRST_REQUEST, json.dumps(build.report()))

    assert status == "201 Created"
    assert suffixes["misses"] == 1
    assert suffixes["hits"] >= 1
    assert len(loaded) <= 5, loaded


@pytest.mark.sqlite
def test_a_report_is_refused_in_words_where_no_further_file_may_be_opened():
    """Such as a file of SQLite, or a module that only a refusal needs."""
    program = FIRST_REQUEST.replace("application(environ,", NO_FURTHER_FILE)

    status, _, _ = run(program, json.dumps(build.report()))

    assert status == "503 Service Unavailable"


def test_maintain_loads_no_views():
    loaded = set(run(MAINTAIN))

    assert "hub.maintenance" in loaded
    assert not loaded & {"hub.urls", "hub.screen", "pydantic", "allauth.idp.oidc.views"}


@pytest.mark.sqlite
def test_the_driver_of_postgresql_is_not_loaded_for_sqlite():
    assert connection.vendor == "sqlite"
    program = "import json, sys, hub.wsgi; print(json.dumps(sorted(sys.modules)))"

    assert not {"psycopg", "redis", "sandbox"} & set(run(program))
