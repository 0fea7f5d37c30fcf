"""The units for systemd, the scripts beside them, and the examples for proxies."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator

import pytest
from django.core.management import get_commands, load_command_class

from hub.management.commands import serve
from tests.docs import defaults
from tests.docs.running import examples_of
from tests.hub_process import ROOT

DEPLOY = ROOT / "deploy"
SERVICES = sorted(DEPLOY.glob("systemd/*.service"))
TEXTS = {
    str(path.relative_to(DEPLOY)): path.read_text()
    for path in sorted(DEPLOY.rglob("*"))
    if path.is_file()
}
OF_THE_PROXY = {"HUB_NAME", "HUB_SERVERS"}  # Caddy's own variables
PROXIES = ["nginx/hub.conf", "caddy/Caddyfile", "haproxy/haproxy.cfg"]
CALL = r"(?:deploy/manage|manage\.py) ([a-z_]+(?: --?[\w-]+| \w+| \"[^\"\n]+\")*)"
STAND_ALONE = ("NoNewPrivileges", "ProtectSystem", "SystemCallFilter", "CapabilityBoundingSet")


def unit(path) -> dict[str, list[str]]:
    """The values of each option of a unit, in order."""
    options: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            options.setdefault(name, []).append(value)
    return options


def seconds(span: str) -> int:
    return int(span.removesuffix("s"))


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each call of manage.py in deploy/ and on the page that tells how to use it."""
    page = (ROOT / "docs/v0/how-to/run-in-production.md").read_text()
    told = "\n".join(each.code.code for each in examples_of(page))
    code = re.sub(r"^ *#.*", "", "\n".join(TEXTS.values()), flags=re.MULTILINE)
    for text in (code, told):
        for call in re.findall(CALL, text):
            name, *arguments = shlex.split(call)
            yield name, arguments


@pytest.mark.parametrize("path", PROXIES, ids=os.path.dirname)
def test_the_page_about_proxies_shows_the_file_that_is_shipped(path):
    page = (ROOT / "docs/v0/how-to/deploy-behind-a-proxy.md").read_text()

    assert TEXTS[path].strip() in [each.code.code.strip() for each in examples_of(page)]


@pytest.mark.parametrize("path", PROXIES, ids=os.path.dirname)
def test_a_proxy_names_each_request_itself_and_keeps_the_metrics(path):
    code = re.sub(r"^\s*#.*", "", TEXTS[path], flags=re.MULTILINE)

    assert "X-Request-Id" in code
    assert "/metrics" in code


def test_no_proxy_takes_what_a_caller_has_done_for_a_failure_of_a_server():
    """An attack: a malformed chunked body, once a second, kept Caddy from asking any server."""
    nginx, caddy, haproxy = (TEXTS[path] for path in PROXIES)

    servers = re.findall(r"^ +server \S+:\d+.*;", nginx, flags=re.MULTILINE)
    assert servers
    assert all(each.endswith(" max_fails=0;") for each in servers)
    assert not re.search(r"fail_duration|max_fails|unhealthy_", caddy)
    assert not re.search(r"\bobserve\b|\berror-limit\b", haproxy)


def test_a_connection_is_one_request_at_a_time_where_only_connections_are_counted():
    """Attacks: streams of HTTP/2 took all sockets of HAProxy, all connections of the servers, and the disk of nginx."""
    nginx, caddy, haproxy = (TEXTS[path] for path in PROXIES)

    assert "http2" not in nginx
    assert "protocols h1\n" in caddy
    assert re.findall(r"alpn (\S+)", haproxy) == ["http/1.1"]


def test_what_callers_write_is_in_no_log_without_a_size():
    """An attack: header lines that are sent once in HTTP/2, and logged a thousand times, filled the disk."""
    servers = TEXTS["nginx/hub.conf"].split("\nserver {")[1:]

    assert len(servers) == 2
    for each in servers:
        assert "access_log off;" in each
        assert re.findall(r"error_log (.+);", each) == [
            "syslog:server=unix:/dev/log,nohostname crit"
        ]
    assert re.findall(r"^\s*log\b.*\n(.*)", TEXTS["caddy/Caddyfile"], flags=re.MULTILINE) == [
        "\t\texclude http.log.error http.handlers.reverse_proxy"
    ]
    assert not re.search(r"^\s*log\b", TEXTS["haproxy/haproxy.cfg"], flags=re.MULTILINE)


def test_the_firewall_counts_the_connections_of_each_address_and_of_each_network():
    rules = re.sub(r"^\s*#.*", "", TEXTS["nftables/hub.nft"], flags=re.MULTILINE)

    assert "fib daddr type local tcp dport { 80, 443 } ct state new goto counted" in rules
    assert re.findall(r"add @(\w+) \{ (.+?) limit rate over 30/second", rules) == [
        ("new4", "ip saddr"),
        ("new6", "ip6 saddr & ffff:ffff:ffff::"),
    ]
    assert "add @new24 { ip saddr & 255.255.255.0 limit rate over 60/second burst 400" in rules
    before = rules[rules.index("hook prerouting priority raw") : rules.index("chain incoming")]
    odd = (
        "tcp option md5sig exists",
        "tcp option 29 exists",
        "ip hdrlength != 5",
        "ip6 nexthdr != tcp",
        "ip ttl < 2",
        "ip6 hoplimit < 2",
    )
    for each in odd:  # such an RST would end a connection for the firewall alone
        assert f"tcp dport {{ 80, 443 }} {each} drop" in before
    assert re.findall(r"add @(\w+) \{ (.+?) ct count over 100 \}", rules) == [
        ("callers4", "ip saddr"),
        ("callers6", "ip6 saddr & ffff:ffff:ffff:ffff::"),
    ]
    assert re.findall(r"add @(\w+) \{ (.+?) ct count over 400 \}", rules) == [
        ("customers4", "ip saddr & 255.255.255.0"),
        ("customers6", "ip6 saddr & ffff:ffff:ffff::"),
    ]


def test_what_is_closed_for_the_firewall_alone_is_open_for_nobody():
    """Attacks: of an RST that the server does not believe, the firewall forgot the connection, and another was let in.

    One /48 took all connections of nginx, and what the server sent next was kept for days, as its own. A
    server that was not told kept what it had to send, and Caddy the connection, for a quarter of an hour.
    """
    rules = re.sub(r"^\s*#.*", "", TEXTS["nftables/hub.nft"], flags=re.MULTILINE)
    incoming, outgoing = rules.split("chain incoming")[1].split("chain outgoing")

    assert "ct state established tcp flags & (syn | rst) == 0 ct expiration < 11s drop" in incoming
    told = "tcp sport { 80, 443 } ct state new reject with tcp reset"
    assert told in incoming
    assert told in outgoing.split("chain counted")[0]
    # what hears nothing more ends so soon
    assert TEXTS["nginx/hub.conf"].count("    keepalive_timeout 10s;\n") == 2
    assert "\t\t\tidle 10s\n" in TEXTS["caddy/Caddyfile"]


def test_the_firewall_is_there_again_after_all_rules_were_removed():
    """What restarts or reloads nftables begins with `flush ruleset`."""
    options = unit(DEPLOY / "nftables/hub-firewall.service")

    assert options["PartOf"] == options["ReloadPropagatedFrom"] == ["nftables.service"]


def test_no_proxy_keeps_long_answers_which_have_their_bounds_in_the_hub():
    """An attack: a member who asked for exports and read none had nginx fill the disk."""
    assert "proxy_max_temp_file_size 0;" in TEXTS["nginx/hub.conf"]


def test_caddy_buffers_no_body_and_takes_no_early_data():
    """Attacks: after a malformed body it mixed others' up; and one datagram in whatever name was a report."""
    assert "request_buffers" not in TEXTS["caddy/Caddyfile"]
    assert "/udp" not in TEXTS["compose.yaml"]


@pytest.mark.parametrize("path", TEXTS)
def test_every_setting_that_is_named_exists(path):
    named = set(re.findall(r"\b(?:HUB_[A-Z_]+|DATABASE_URL|REDIS_URL)\b", TEXTS[path]))

    assert named <= defaults.settings().keys() | OF_THE_PROXY


def test_every_command_that_is_called_exists_with_its_options(settings):
    settings.TASKS = {"default": {"BACKEND": settings.TASK_BACKENDS["queue"]}}
    called = list(commands())

    assert {"serve", "db_worker", "migrate", "collectstatic"} <= {name for name, _ in called}
    for name, arguments in called:
        command = load_command_class(get_commands()[name], name)
        command.create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_every_service_runs_as_the_hub_and_may_do_what_the_others_may(path):
    options, server = unit(path), unit(DEPLOY / "systemd/hub@.service")
    hardening = {
        name: values
        for name, values in server.items()
        if re.match("Protect|Private|Restrict|System|NoNew|Capab|Ambient|Lock|Memory|Remove", name)
    }

    assert options["User"] == options["Group"] == ["hub"]
    assert options["SyslogIdentifier"] == ["%N"]  # the docs: journalctl -t hub@8000
    assert options["EnvironmentFile"] == ["/etc/hub/environment"]
    assert set(STAND_ALONE) <= hardening.keys()
    assert {name: options.get(name) for name in hardening} == hardening


def test_systemd_waits_longer_than_the_server_needs_to_stop():
    options = unit(DEPLOY / "systemd/hub@.service")

    assert seconds(options["TimeoutStopSec"][0]) > 2 * serve.STOPPING
    assert options["KillMode"] == ["mixed"]  # the server stops its own processes


def test_a_restart_is_over_when_the_server_is_ready():
    options = unit(DEPLOY / "systemd/hub@.service")
    wait = shlex.split(options["ExecStartPost"][0])

    tries = int(wait[wait.index("--retry") + 1])
    assert wait[-1] == "http://127.0.0.1:%i/readyz"
    assert "PORT=%i" in options["ExecStart"][0]
    assert tries < seconds(options["TimeoutStartSec"][0])


def test_the_units_of_the_target_stop_with_it_and_it_waits_for_them():
    for path in SERVICES:
        options = unit(path)
        if options.get("WantedBy") == ["hub.target"]:
            assert options["PartOf"] == ["hub.target"]
            assert "hub.target" in options["After"][0].split()  # stopped the other way round


@pytest.mark.parametrize("path", ["deploy/manage", "deploy/backup", "script/install"])
def test_the_scripts_can_be_run(path):
    assert os.access(ROOT / path, os.X_OK)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "asked", "password"),
    [
        (
            "postgres://hub:s%40cret%25@db:5432/hub",
            "user=hub dbname=hub host=db port=5432",
            "s@cret%",
        ),
        ("postgres:///hub?host=/run/postgresql", "dbname=hub host=/run/postgresql", ""),
    ],
)
def test_a_backup_shows_no_password_among_its_arguments(tmp_path, url, asked, password):
    dump, arguments, given = (tmp_path / name for name in ("pg_dump", "arguments", "given"))
    dump.write_text(f'#!/bin/sh\necho "$@" > {arguments}\nprintf %s "$PGPASSWORD" > {given}\n')
    (tmp_path / "mv").write_text("#!/bin/sh\n")  # there is nothing to move
    for each in ("pg_dump", "mv"):
        (tmp_path / each).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"

    subprocess.run([DEPLOY / "backup"], env={"PATH": path, "DATABASE_URL": url}, check=True)

    assert arguments.read_text().endswith(f".unfinished {asked}\n")
    assert given.read_text() == password
