"""Settings, read from the environment at the top of this file. docs/decisions.md explains some of them."""

import os
import sys
from collections import defaultdict
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import ip_address
from math import ceil
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.contrib.messages.constants import ERROR, SUCCESS, WARNING
from django.core.management.utils import get_random_secret_key
from limits import parse_many

from core import private_files, site_url
from hub import command_line
from hub.registering import credentials

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"
PUBLIC_CODE_HOST = "https://github.com"
ON, OFF = ("true", "on", "yes", "y", "ok", "1"), ("false", "off", "no", "n", "0")
SHORTEST_FORMER = 20  # characters of a former secret
MOST_AMOUNT = 10**12  # in a rate; of 0, nobody could do what it is about

env = environ.Env()
# A password may begin with $, which would else stand for another variable.
env.ENVIRON = {name: value.replace("$", r"\$") for name, value in os.environ.items()}
env.escape_proxy = True
MISSING: list[Path] = []  # the file of SQLite, where a command only looks and it is not there
READ: set[str] = set()  # the names of all settings
MISCONFIGURED: list[str] = []  # a sentence for each setting that is missing or wrong


def _text(name: str, default: str = "") -> str:
    """A text without what a file or an editor leaves around it, such as the end of a line."""
    READ.add(name)
    return env.str(name, default).strip()


def _rate(name: str, default: str) -> str:
    """A rate such as `60/minute;400/hour`."""
    rate = _text(name, default)
    try:
        is_one = all(0 < each.amount <= MOST_AMOUNT for each in parse_many(rate))
    except ValueError:
        is_one = False
    if not is_one:
        MISCONFIGURED.append(
            f"{name} is {rate!r}: set it to a rate such as 60/minute or 20/minute;400/hour."
        )
        return default
    return rate


def _number(name: str, default: int, *, least: int = 0, most: int = 999_999_999) -> int:
    """A whole number in this range."""
    written = _text(name, str(default))
    if not (written.isascii() and written.removeprefix("-").isdigit()):
        MISCONFIGURED.append(f"{name} is {written!r}: set it to a whole number.")
        return default
    if len(written) > len(str(most)) or not least <= int(written) <= most:
        MISCONFIGURED.append(f"{name} is {written:.20}: set it to a number from {least} to {most}.")
        return default
    return int(written)


def _switch(name: str, default: bool) -> bool:
    """True or false."""
    written = _text(name).lower()
    if written in ("", *ON, *OFF):
        return written in ON if written else default
    MISCONFIGURED.append(f"{name} is {written!r}: set it to true or false.")
    return default


def _one_of(name: str, words: tuple[str, ...]) -> str:
    """One of a few words, the first unless it is set."""
    word = _text(name, words[0]).lower()
    if word not in words:
        *others, last = words
        MISCONFIGURED.append(f"{name} is {word!r}: set it to {', '.join(others)} or {last}.")
        return words[0]
    return word


def _listed(text: str) -> list[str]:
    """What is listed with commas between."""
    return [each.strip() for each in text.split(",") if each.strip()]


def _former(name: str, written: str) -> list[str]:
    """Former secrets with commas between. A secret with a comma would be several, which can be guessed."""
    secrets = _listed(written)
    if all(len(each) >= SHORTEST_FORMER for each in secrets):
        return secrets
    MISCONFIGURED.append(
        f"{name} has a secret of fewer than {SHORTEST_FORMER} characters, which can be guessed: leave it "
        "out. Commas stand between secrets, so one with a comma cannot be listed."
    )
    return []


def _url(name: str, default: str, *, example: str) -> str:
    """The address of a site, as `core.site_url` spells it."""
    written = _text(name, default)
    try:
        return site_url.normalized(written)
    except ValueError:
        shown = "an address with a user" if "@" in written else repr(written)  # and a password
        MISCONFIGURED.append(
            f"{name} is {shown}: set it to an address such as {example}, with nothing behind its host and port."
        )
        return default


def _code_host() -> str:
    """The address of the code host. Other spellings of GitHub's would be asked like an Enterprise host."""
    url = _url("HUB_GITHUB_URL", "https://github.com", example="https://github.example.com")
    host = urlsplit(url).hostname or ""
    if url != PUBLIC_CODE_HOST and f".{host}".endswith(".github.com"):
        MISCONFIGURED.append(f"HUB_GITHUB_URL is {url}: set it to {PUBLIC_CODE_HOST}, or unset it.")
        return PUBLIC_CODE_HOST
    return url


def _address(name: str, default: str) -> str:
    """An address of this machine, on which a server can listen."""
    written = _text(name, default)
    try:
        return str(ip_address(written))
    except ValueError:
        MISCONFIGURED.append(
            f"{name} is {written!r}: set it to an IP address of this machine, such as 127.0.0.1, or to 0.0.0.0 "
            "or :: for all that it has."
        )
        return default


def _redis_url() -> str:
    """The URL of Redis: another one would make every process count on its own."""
    url = _text("REDIS_URL")
    if url and not (url.startswith("redis+unix://") or _is_of_sentinels(url) or _is_of_one(url)):
        MISCONFIGURED.append("REDIS_URL must be a URL such as redis://127.0.0.1:6379/0.")
        return ""
    return url


def _is_of_one(url: str) -> bool:
    """Whether it names one host; the client knows the scheme in lower case only."""
    try:
        parts = urlsplit(url)
        return (
            url.startswith(("redis://", "rediss://")) and bool(parts.hostname) and parts.port != 0
        )
    except ValueError:  # a port that is none
        return False


def _is_of_sentinels(url: str) -> bool:
    """Whether it names sentinels with their ports, and what they watch: another one is quoted in errors, password
    and all.
    """
    try:
        parts = urlsplit(url)
        listed = parts.netloc[parts.netloc.find("@") + 1 :].split(",")  # as `limits` takes it apart
        sentinels = [urlsplit(f"redis://{each.strip()}") for each in listed]
        has_all = all(each.hostname and each.port for each in sentinels)
    except ValueError:  # a port that is none
        return False
    return parts.scheme == "redis+sentinel" and has_all and bool(parts.path.strip("/"))


def _github_app(file: str, code_host: str) -> defaultdict[str, str]:
    """The app's settings in the file of `setup_github`. It is not read where the environment has them all."""
    app: defaultdict[str, str] = defaultdict(str)
    if file and not all(_text(name) for name in credentials.NAMES):
        try:
            app.update(credentials.read(BASE_DIR / file, code_host=code_host))
        except credentials.Unusable as error:
            MISCONFIGURED.append(f"HUB_GITHUB_CREDENTIALS: {error}")
    return app


def _sentry_dsn() -> str:
    """The address of a project at a service to which errors are sent; empty for none."""
    dsn = _text("HUB_SENTRY_DSN")
    if not dsn:
        return ""
    if find_spec("sentry_sdk") is None:
        MISCONFIGURED.append(
            "HUB_SENTRY_DSN is set, and the package sentry-sdk is not installed: run script/install, "
            "or build the image with LIBRARIES=sentry. (script/serve installs it by itself.)"
        )
        return ""
    from sentry_sdk.utils import BadDsn, Dsn

    try:
        Dsn(dsn)
    except (BadDsn, ValueError) as error:
        MISCONFIGURED.append(
            f"HUB_SENTRY_DSN is no address of a project ({error}): copy it from the service, such as "
            "https://key@sentry.example.org/1."
        )
        return ""
    return dsn


HUB_DEBUG = _switch("HUB_DEBUG", False)
DEBUG = False  # Django's error pages show code and settings; the log has the traceback

HUB_BASE_URL = _url("HUB_BASE_URL", "http://localhost:8000", example="https://hub.example.com")
HUB_CONTACT = _text("HUB_CONTACT")  # an address for mail, or of a page

HUB_GITHUB_URL = _code_host()
HUB_GITHUB_CREDENTIALS = _text("HUB_GITHUB_CREDENTIALS", "var/github.json")  # empty: no file
_app = _github_app(HUB_GITHUB_CREDENTIALS, HUB_GITHUB_URL)
HUB_GITHUB_APP_ID = _text("HUB_GITHUB_APP_ID") or _app["HUB_GITHUB_APP_ID"]
HUB_GITHUB_APP_SLUG = _text("HUB_GITHUB_APP_SLUG") or _app["HUB_GITHUB_APP_SLUG"]
HUB_GITHUB_CLIENT_ID = _text("HUB_GITHUB_CLIENT_ID") or _app["HUB_GITHUB_CLIENT_ID"]
HUB_GITHUB_CLIENT_SECRET = _text("HUB_GITHUB_CLIENT_SECRET") or _app["HUB_GITHUB_CLIENT_SECRET"]
HUB_GITHUB_PRIVATE_KEY = (  # PEM, or the path of a PEM file
    _text("HUB_GITHUB_PRIVATE_KEY") or _app["HUB_GITHUB_PRIVATE_KEY"]
)
HUB_GITHUB_WEBHOOK_SECRET = _text("HUB_GITHUB_WEBHOOK_SECRET") or _app["HUB_GITHUB_WEBHOOK_SECRET"]
HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS = _former(
    "HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS", _text("HUB_GITHUB_WEBHOOK_SECRET_FALLBACKS")
)
HUB_PAGES_HOST = _text("HUB_PAGES_HOST", "github.io").lower()

HUB_DNS_SERVERS = _text("HUB_DNS_SERVERS")  # ip[:port],…; the system's where it is empty

HUB_TRUSTED_PROXIES = _number("HUB_TRUSTED_PROXIES", 0, most=100)
HUB_REPORT_RATE = _rate("HUB_REPORT_RATE", "60/minute")
HUB_NETWORK_RATE = _rate("HUB_NETWORK_RATE", "3600/hour")
HUB_HOST_RATE = _rate("HUB_HOST_RATE", "600/minute")
HUB_TOTAL_RATE = _rate("HUB_TOTAL_RATE", "6000/minute")
HUB_SIGN_IN_RATE = _rate("HUB_SIGN_IN_RATE", "30/minute")
HUB_ASKING_RATE = _rate("HUB_ASKING_RATE", "30/minute;300/hour")
HUB_ISSUE_RATE = _rate("HUB_ISSUE_RATE", "20/minute;400/hour")
HUB_FORWARDING = _one_of("HUB_FORWARDING", ("inline", "queue"))
REDIS_URL = _redis_url()

HUB_PREPARED_STATEMENTS = _switch("HUB_PREPARED_STATEMENTS", True)
HUB_HOST = _address("HUB_HOST", "127.0.0.1")
HUB_PORT = _number("PORT", 8000, least=1, most=65_535)
HUB_PROCESSES = _number("HUB_PROCESSES", 1, least=1, most=1000)
HUB_THREADS = _number("HUB_THREADS", 32, least=1, most=1000)

HUB_LOG_LEVEL = _one_of("HUB_LOG_LEVEL", ("info", "debug", "warning", "error"))
HUB_LOG_FORMAT = _one_of("HUB_LOG_FORMAT", ("json", "text"))
HUB_METRICS_TOKEN = _text("HUB_METRICS_TOKEN")
METRICS_FOLDER = BASE_DIR / (_text("PROMETHEUS_MULTIPROC_DIR") or "var/metrics")
if HUB_METRICS_TOKEN:
    try:
        METRICS_FOLDER.mkdir(mode=0o700, parents=True, exist_ok=True)
        (METRICS_FOLDER / "all").touch()
    except OSError as error:
        MISCONFIGURED.append(
            f"With HUB_METRICS_TOKEN each process counts in {METRICS_FOLDER}, which cannot be written: "
            f"{error.strerror}. Set PROMETHEUS_MULTIPROC_DIR to a folder that can."
        )
HUB_SENTRY_DSN = _sentry_dsn()

HUB_DEDUP_DAYS = _number("HUB_DEDUP_DAYS", 30, least=1, most=36_500)
HUB_RETENTION_DAYS = _number("HUB_RETENTION_DAYS", 365, least=1, most=36_500)


def _secret_key() -> str:
    """The operator's key; in debug mode, one that is generated once and kept in var/."""
    if key := _text("HUB_SECRET_KEY"):
        return key
    if not HUB_DEBUG:
        MISCONFIGURED.append(
            "Set HUB_SECRET_KEY to a long random text. "
            "(For a trial on your own machine, set HUB_DEBUG=true instead.)"
        )
        return get_random_secret_key()
    path = VAR_DIR / "secret_key"
    try:
        if not path.exists():
            with suppress(FileExistsError):  # another process has just made one
                private_files.write(path, get_random_secret_key())
        if key := path.read_text().strip():
            return key
        why = "it is empty"
    except OSError as error:
        why = str(error.strerror)
    except UnicodeDecodeError:
        why = "it is not a text"
    MISCONFIGURED.append(f"{path} cannot be used: {why}. Set HUB_SECRET_KEY, or remove the file.")
    return get_random_secret_key()


def _keep_private(path: Path) -> None:
    """Let nobody else on this machine read the database; SQLite copies the mode to the files beside it."""
    with suppress(OSError):  # another user's is theirs to protect; SQLite says what it cannot open
        if not path.exists() and path.name != ":memory:":
            path.touch(mode=0o600)
        for each in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            if each.is_file():
                each.chmod(0o600)


POSTGRESQL_PATIENCE = {  # no long waits, neither for a row nor for a server that is gone
    "connect_timeout": 5,
    "options": "-c lock_timeout=5s -c idle_in_transaction_session_timeout=60s",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}


IN_MEMORY = ("sqlite://:memory:", "sqlite:///:memory:")  # for tests
DECIDED = {"ATOMIC_REQUESTS", "AUTOCOMMIT", "CONN_MAX_AGE"}  # by the Hub
POSTGRESQL_POOL = {
    "min_size": 1,
    "max_size": HUB_THREADS + 4,
    "timeout": 5,
    "reconnect_timeout": 5,  # the next request tries at once, however long it was unavailable
}


def _database_at(url: str) -> dict:
    """What Django has to know of this database."""
    try:
        if urlsplit(url).scheme in ("postgres", "postgresql", "sqlite") and (
            found := _named_by(url)
        ):
            return found
    except ValueError:  # a port that is none
        pass
    MISCONFIGURED.append(
        "DATABASE_URL must be a URL such as postgres://user:password@host:5432/name or "
        "sqlite:////path/to/file."
    )
    return environ.Env.db_url_config(IN_MEMORY[0])


def _named_by(url: str) -> dict:
    """Its parts; nothing if it names no database, or one of SQLite with more than its file."""
    if url in IN_MEMORY:
        return environ.Env.db_url_config(url)
    parts = urlsplit(url)
    is_sqlite = parts.scheme == "sqlite"
    if is_sqlite and (parts.netloc or parts.query):
        return {}
    database = environ.Env.db_url_config(url)
    if database["NAME"] in ("", ":memory:") and "service" not in database.get("OPTIONS", {}):
        return {}
    if is_sqlite:  # `maintain` runs in the checkout, wherever `serve` does
        database["NAME"] = str(BASE_DIR / database["NAME"])
    if decided := sorted(DECIDED & {*database}):
        MISCONFIGURED.append(
            f"DATABASE_URL sets {', '.join(decided).lower()}, which the Hub decides: leave it out."
        )
    return database


def _is_missing(path: Path) -> bool:
    return path.name != ":memory:" and path.parent.is_dir() and not path.exists()


def _database() -> dict:
    """DATABASE_URL with the options that each engine needs."""
    url = _text("DATABASE_URL")
    if not url:
        with suppress(OSError):  # SQLite says what it cannot open
            VAR_DIR.mkdir(exist_ok=True)
    database = _database_at(url or f"sqlite:///{VAR_DIR / 'hub.sqlite3'}")
    options = database.setdefault("OPTIONS", {})
    if database["ENGINE"].endswith("sqlite3"):
        database["ENGINE"] = "hub.sqlite3"
        if command_line.only_looks and _is_missing(Path(database["NAME"])):
            MISSING.append(Path(database["NAME"]))
            database["NAME"] = ":memory:"  # Django's checks open it, and would make the file
        _keep_private(Path(database["NAME"]))
        options["transaction_mode"] = "IMMEDIATE"  # a writer waits its turn, and never fails midway
        options["timeout"] = 5
        options["init_command"] = "PRAGMA journal_mode=WAL"
        database["CONN_MAX_AGE"] = None  # to open the file took longer than to store a report
    else:
        database["ENGINE"] = "hub.postgresql"
        database["OPTIONS"] = options = POSTGRESQL_PATIENCE | options
        if (given := options["options"]) != (ours := POSTGRESQL_PATIENCE["options"]):
            options["options"] = f"{ours} {given}"  # of two values of one name, the later counts
        options["pool"] = POSTGRESQL_POOL
    return database


def _most_entries(rate: str) -> int:
    """More than sign-ins from terminals need, so that none pushes another one out.

    This rate lets 20 times as many wait as it says for one address, for eleven minutes, of four entries each.
    """
    each = [(limit.amount, limit.get_expiry()) for limit in parse_many(rate)]
    waiting = min(20 * amount * ceil(660 / seconds) for amount, seconds in each)
    return max(30_000, 4 * waiting + 1000)


def _cache() -> dict:
    """Where sign-ins from a terminal wait to be approved: in Redis, or in the memory of one process."""
    if not REDIS_URL:
        backend = "django.core.cache.backends.locmem.LocMemCache"
        return {"BACKEND": backend, "OPTIONS": {"MAX_ENTRIES": _most_entries(HUB_SIGN_IN_RATE)}}
    return {"BACKEND": "core.shared_cache.Shared", "LOCATION": REDIS_URL, "KEY_PREFIX": "hub"}


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = _former("HUB_SECRET_KEY_FALLBACKS", _text("HUB_SECRET_KEY_FALLBACKS"))
DATABASES = {"default": _database()}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Django REST framework looks whether its fields exist, and loads psycopg with them: 12 MB a process.
    sys.modules.setdefault("django.contrib.postgres.fields", None)  # type: ignore[arg-type]
CACHES = {"default": _cache()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "orgs.User"

LOOPBACK = ["localhost", "127.0.0.1", "::1"]
_host = urlsplit(HUB_BASE_URL).hostname or "localhost"
ALLOWED_HOSTS = [
    f"[{name}]" if ":" in name else name for name in (LOOPBACK if _host in LOOPBACK else [_host])
]

INSTALLED_APPS = [
    "hub.apps.OperatorsConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "allauth.idp.oidc",
    "rest_framework",
    "django_tasks",
    "django_tasks_db",
    "orgs",
    "reports",
    "integrations",
    "hub.apps.HubConfig",
]

MIDDLEWARE = [
    "hub.scheme.public_scheme",
    "django.middleware.security.SecurityMiddleware",
    "hub.for_pages.begin",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "hub.for_pages.end",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "hub.probes.answer_probes",
    "django.middleware.common.CommonMiddleware",
    "hub.for_pages.begin",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "hub.for_pages.end",
    "core.error_answers.DatabaseAway",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "hub.public.frame.frame",
            ]
        },
    }
]

ROOT_URLCONF = "hub.urls"
WSGI_APPLICATION = "hub.wsgi.application"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.error_answers.AlwaysJSON",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "core.error_answers.handle",
    "UNAUTHENTICATED_USER": None,
}

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "settings"
SOCIALACCOUNT_ONLY = True
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "orgs.people.github_account.Browsers"
SOCIALACCOUNT_ADAPTER = "orgs.people.github_account.GitHubAccountAdapter"
SOCIALACCOUNT_QUERY_EMAIL = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_PROVIDERS = {
    "github": {
        "provider_class": "orgs.people.github_account.Provider",
        "APP": {"client_id": HUB_GITHUB_CLIENT_ID, "secret": HUB_GITHUB_CLIENT_SECRET},
        "SCOPE": ["read:user"],
        "OAUTH_PKCE_ENABLED": True,
        # Its API is elsewhere than an Enterprise host's, which is what naming it would mean.
        **({} if HUB_GITHUB_URL == PUBLIC_CODE_HOST else {"GITHUB_URL": HUB_GITHUB_URL}),
    }
}
IDP_OIDC_AUTH_METHODS = ["none"]  # public clients: a terminal keeps no secret

HTTPS = HUB_BASE_URL.startswith("https://")
SESSION_ENGINE = "orgs.people.sessions"
MESSAGE_TAGS = {SUCCESS: "good", WARNING: "wait", ERROR: "bad"}
MESSAGE_STORAGE = "hub.messages.HostCookie"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = "__Host-session" if HTTPS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if HTTPS else "csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [HUB_BASE_URL]  # a proxy may pass on another Host
CSRF_FAILURE_VIEW = "core.error_answers.form_refused"
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if HTTPS else 0
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "connect-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'", HUB_GITHUB_URL],  # the form of /login/ redirects there
        "frame-ancestors": ["'none'"],
    }
}
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS for other names of the same domain,
    "security.W021",  # and in the browsers' lists: not this Hub's to decide
    "security.W008",  # the proxy in front redirects from http to https
]

TASK_BACKENDS = {
    "inline": "django_tasks.backends.immediate.ImmediateBackend",
    "queue": "integrations.delivery.queue.Queue",
}
TASKS = {"default": {"BACKEND": TASK_BACKENDS[HUB_FORWARDING]}}

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if HUB_DEBUG
        else "hub.static_files.WholeStaticFiles"
    },
}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = HUB_DEBUG  # from where they are, as they are now

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
USE_I18N = False
FORMAT_MODULE_PATH = "hub.formats"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "hub.logs.JSONLines"}, "text": {"()": "hub.logs.TextLines"}},
    "filters": {
        "strangers": {"()": "hub.logs.StrangersMistakes"},
        "addresses": {"()": "hub.logs.WithoutAddresses"},
    },
    "handlers": {
        "stderr": {
            "class": "hub.logs.Stderr",
            "level": HUB_LOG_LEVEL.upper(),
            "formatter": HUB_LOG_FORMAT,
            "filters": ["strangers"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},  # at DEBUG, libraries log what they send
    "loggers": {
        **{name: {"level": "DEBUG"} for name in ("core", "hub", "integrations", "orgs", "reports")},
        # clients' mistakes are answered, not logged
        "django.request": {"level": "ERROR", "filters": ["addresses"]},
        "django.security.csrf": {"filters": ["addresses"]},
        "django_tasks": {"level": "WARNING"},
    },
}

command_line.refuse(MISCONFIGURED)
