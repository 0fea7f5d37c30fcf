"""Reports problems in documentation pages to a Docs Feedback Hub."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from . import errors
    from .answers import KnownIssue, OwnerAnswer, Receipt, SentReport
    from .client import AsyncClient, Client, Draft
    from .errors import (
        AuthError,
        DocFeedbackError,
        NotFound,
        OptedOut,
        PayloadTooLarge,
        PolicyRejected,
        PrivateAddress,
        RateLimited,
        ServerError,
        Unreachable,
        ValidationError,
    )
    from .report import Kind, Report
    from .version import __version__
    from .web import Request, Response, Transport

__all__ = [
    "AsyncClient",
    "AuthError",
    "Client",
    "DocFeedbackError",
    "Draft",
    "Kind",
    "KnownIssue",
    "NotFound",
    "OptedOut",
    "OwnerAnswer",
    "PayloadTooLarge",
    "PolicyRejected",
    "PrivateAddress",
    "RateLimited",
    "Receipt",
    "Report",
    "Request",
    "Response",
    "SentReport",
    "ServerError",
    "Transport",
    "Unreachable",
    "ValidationError",
    "__version__",
    "errors",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used, so that Ctrl-C can stop the command line while it loads."""
    if name in __all__:
        if name == "errors":
            return import_module(".errors", __name__)
        for home in ("version", "errors", "report", "client", "answers", "web"):
            module = import_module(f".{home}", __name__)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    """The public names, loaded or not, for who completes them with Tab."""
    return sorted({*__all__, *globals()})
