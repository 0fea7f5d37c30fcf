"""One call of the API or a page: the request, its caller, and what its path names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .credentials import NOBODY, Caller
from .messages import ApiError, Request, Response, not_found
from .records import Installation, Repository

if TYPE_CHECKING:
    from .host import CodeHost

FORBIDDEN = "Resource not accessible by integration"


@dataclass(frozen=True)
class Call:
    """`args` are the named parts of the path, decoded."""

    host: "CodeHost"
    request: Request
    args: Mapping[str, str] = field(default_factory=dict)
    caller: Caller = NOBODY

    def repository(self) -> Repository:
        """The repository of the path, if the caller may see it; else 404, 301 or 307."""
        if "repository_id" in self.args:
            found = self.host.repositories.get(int(self.args["repository_id"]))
        else:
            found = self.host.find_repository(self._full_name)
        if found is None or not self.caller.sees(self.host, found):
            raise not_found()
        if "owner" in self.args and found.full_name.lower() != self._full_name.lower():
            raise self._moved(found)
        return found

    @property
    def _full_name(self) -> str:
        return f"{self.args['owner']}/{self.args['name']}"

    def _moved(self, repository: Repository) -> ApiError:
        """GitHub answers a renamed repository with 301 when read, with 307 when written to."""
        rest = self.request.path.split("/", 6)[6:]
        location = "/".join([f"{self.host.url}/api/v3/repositories/{repository.id}", *rest])
        if self.request.query:
            location += f"?{self.request.query}"
        status = 301 if self.request.method == "GET" else 307
        return ApiError(status, "Moved Permanently", headers={"Location": location}, url=location)

    def require(self, repository: Repository, **wanted: str) -> None:
        """Require permissions, such as `issues="write"`; else 401 or 403."""
        if self.caller.may(self.host, repository, **wanted):
            return
        if self.caller.kind == "none":
            raise ApiError(401, "Requires authentication")
        raise ApiError(403, FORBIDDEN)

    def require_app(self) -> None:
        """Require the app's own JWT; else 401."""
        if self.caller.kind != "app":
            raise ApiError(401, "A JSON web token could not be decoded")

    def require_user(self) -> str:
        """The login of the person whose token this is; else 401."""
        if self.caller.kind == "none":
            raise ApiError(401, "Requires authentication")
        if self.caller.user is None:
            raise ApiError(403, FORBIDDEN)
        return self.caller.user.login

    def installation(self) -> Installation:
        """The installation of the path; else 404."""
        installation = self.host.installations.get(int(self.args["installation_id"]))
        if installation is None:
            raise not_found()
        return installation


Handler = Callable[[Call], Response]


def decoded(args: Mapping[str, str | None]) -> dict[str, str]:
    """The named parts of a path, decoded; those that are absent are left out."""
    return {name: unquote(value) for name, value in args.items() if value is not None}
