"""The image and the compose file, as far as they can be read without building anything."""

import re
from functools import cache
from typing import Any

import pytest
import yaml

from hub.management.commands import serve
from tests.hub_process import ROOT
from tests.rooms import TOPS

DEPLOY = ROOT / "deploy"
OURS = ("hub-a", "hub-b", "worker", "migrate")
SERVERS = ("hub-a", "hub-b")


@cache
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def service(name: str) -> dict[str, Any]:
    return compose()["services"][name]


def instructions() -> list[list[str]]:
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def copied() -> set[str]:
    return {
        words[1] for words in instructions() if words[0] == "COPY" and not words[1].startswith("--")
    }


def test_only_the_proxy_has_public_ports():
    assert [name for name, each in compose()["services"].items() if "ports" in each] == ["caddy"]


def test_callers_with_ipv6_reach_the_proxy_by_their_own_addresses():
    assert compose()["networks"]["front"]["enable_ipv6"] is True


def test_databases_are_reached_by_the_hub_alone():
    assert compose()["networks"]["data"] == {"internal": True}
    assert {
        name: each["networks"] for name, each in compose()["services"].items() if name not in OURS
    } == {"postgres": ["data"], "redis": ["data"], "caddy": ["front"]}


@pytest.mark.parametrize("name", OURS)
def test_the_hub_runs_without_rights_and_writes_to_its_volume_alone(name):
    ours = service(name)

    assert ours["read_only"] is True
    assert ours["cap_drop"] == ["ALL"]
    assert ours["security_opt"] == ["no-new-privileges:true"]
    assert ours["volumes"] == ["var:/srv/hub/var"]


def test_all_but_the_migration_are_started_again():
    restarts = {name: each["restart"] for name, each in compose()["services"].items()}

    assert restarts.pop("migrate") == "no"
    assert set(restarts.values()) == {"unless-stopped"}


@pytest.mark.parametrize("name", [*SERVERS, "worker"])
def test_the_hub_starts_after_the_migration(name):
    assert service(name)["depends_on"] == {
        "postgres": {"condition": "service_healthy"},
        "redis": {"condition": "service_healthy"},
        "migrate": {"condition": "service_completed_successfully"},
    }


@pytest.mark.parametrize("name", SERVERS)
def test_compose_waits_longer_than_the_server_needs_to_stop(name):
    assert int(service(name)["stop_grace_period"].removesuffix("s")) > 2 * serve.STOPPING


def test_the_proxy_knows_both_servers():
    assert service("caddy")["environment"]["HUB_SERVERS"].split() == [f"{x}:8000" for x in SERVERS]


def test_every_secret_comes_from_the_file_beside_it():
    text = (DEPLOY / "compose.yaml").read_text()
    example = (DEPLOY / "compose.env.example").read_text()

    named = set(re.findall(r"\$\{(\w+)", text))
    assert named <= set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    assert not re.findall(r"(?:SECRET|PASSWORD|KEY)\w*: (?!\$\{)", text)


def test_redis_asks_for_the_password_that_the_hub_gives():
    redis = service("redis")
    command = redis["command"]

    given = command[command.index("--requirepass") + 1]
    assert f":{given[:-1]}:?" in service("hub-a")["environment"]["REDIS_URL"]
    assert redis["environment"]["REDISCLI_AUTH"] == given


def test_what_compose_names_is_there():
    for each in compose()["services"].values():
        volumes = [volume.partition(":")[0] for volume in each.get("volumes", [])]
        assert all(
            (DEPLOY / name).exists() if name.startswith(".") else name in compose()["volumes"]
            for name in volumes
        )
        assert set(each["networks"]) <= compose()["networks"].keys()
    build = service("hub-a")["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Containerfile")


def test_the_image_has_all_that_the_hub_needs_and_no_more():
    code = {
        "requirements/runtime.lock",
        "requirements/sentry.lock",
        "manage.py",
        "static",
        "templates",
        "docs",
        *TOPS,
    }
    let_in = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()

    assert copied() == code
    assert {line[1:] for line in let_in if line.startswith("!")} == code


def test_the_image_installs_by_hashes_and_runs_as_a_user_without_a_name():
    words = {line[0]: line[1:] for line in instructions()}
    text = (DEPLOY / "Containerfile").read_text()

    assert "--require-hashes" in text
    assert words["USER"] == ["10001:10001"]
    assert words["VOLUME"] == ["/srv/hub/var"]
    assert "/readyz" in " ".join(words["HEALTHCHECK"])
