"""How an installation loses a repository on GitHub, and has it again."""

from collections.abc import Callable, Collection

from sandbox import CodeHost, Repository
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


def select(code_host: CodeHost, action: str, repositories: Collection[Repository]) -> None:
    """Have them `added` to the app's selection, or `removed` from it, which one webhook tells."""
    installation = build.installed(code_host)
    changes = {
        "added": code_host.add_to_installation,
        "removed": code_host.remove_from_installation,
    }
    there, code_host.app.webhook_url = code_host.app.webhook_url, ""
    for each in repositories:
        changes[action](installation, each)
    code_host.app.webhook_url = there
    listed = [{"id": each.id, "full_name": each.full_name} for each in repositories]
    told = {"action": action, "installation": {"id": installation.id}}
    code_host.deliver_webhook(
        "installation_repositories", told | {f"repositories_{action}": listed}
    )
