"""How an installation loses a repository on GitHub, and has it again."""

from collections.abc import Callable

from sandbox import CodeHost
from tests import build


def suspend(code_host: CodeHost) -> None:
    code_host.suspend(build.installed(code_host))


def uninstall(code_host: CodeHost) -> None:
    code_host.uninstall(build.installed(code_host))


def take_out(code_host: CodeHost) -> None:
    code_host.remove_from_installation(build.installed(code_host), "acme/docs")


def come_back(code_host: CodeHost, away: Callable[[CodeHost], None]) -> None:
    """End what `suspend` or `take_out` has done."""
    if away is suspend:
        code_host.unsuspend(build.installed(code_host))
    else:
        code_host.add_to_installation(build.installed(code_host), "acme/docs")


def delete(code_host: CodeHost) -> None:
    code_host.delete_repository("acme/docs")
