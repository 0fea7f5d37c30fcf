"""The Hub's settings for tests: nothing of the developer's environment, keys made at run time."""

import os
import secrets

for name in [
    n
    for n in os.environ
    if n.startswith("HUB_")
    and n not in ("HUB_TEST_DATABASE", "HUB_SANITISE_DIR", "HUB_PROTOCOL_DIR", "HUB_FAIL_ON_SKIP")
]:
    del os.environ[name]
os.environ.pop("REDIS_URL", None)
os.environ.pop("DATABASE_URL", None)
os.environ["HUB_SECRET_KEY"] = secrets.token_urlsafe(50)
os.environ["HUB_BASE_URL"] = "https://hub.example"
os.environ["HUB_GITHUB_CREDENTIALS"] = ""  # not the app of the developer

if os.environ.get("HUB_TEST_DATABASE") == "postgresql":
    from tests.postgresql import start

    if "POSTGRESQL_OF_THIS_RUN" not in os.environ:  # one server for all workers
        os.environ["POSTGRESQL_OF_THIS_RUN"] = start()
    os.environ["DATABASE_URL"] = os.environ["POSTGRESQL_OF_THIS_RUN"]

from hub.settings import *  # noqa: E402, F403
from hub.settings import DATABASES, STORAGES, VAR_DIR  # noqa: E402

RUN = os.environ.setdefault("PROCESS_OF_THIS_RUN", str(os.getpid()))  # its workers inherit it
VAR_DIR.mkdir(exist_ok=True)

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": VAR_DIR / f"test-{RUN}.sqlite3"}  # threads share a file
    # No test outlives the machine, so nothing has to wait for its disk.
    DATABASES["default"]["OPTIONS"]["init_command"] += ";PRAGMA synchronous=OFF"
HUB_REPORT_RATE = HUB_HOST_RATE = HUB_TOTAL_RATE = HUB_ISSUE_RATE = "1000000/minute"
HUB_NETWORK_RATE = HUB_SIGN_IN_RATE = HUB_ASKING_RATE = "1000000/minute"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
STATIC_ROOT = VAR_DIR / "no-static"  # empty: each test client would read all that is in it
STATIC_ROOT.mkdir(exist_ok=True)  # whitenoise warns otherwise
