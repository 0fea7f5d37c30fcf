"""Reports problems in documentation pages to a Docs Feedback Hub."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import AsyncClient, Client, Draft, Receipt, SentReport
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

__all__ = [
    "AsyncClient",
    "AuthError",
    "Client",
    "DocFeedbackError",
    "Draft",
    "Kind",
    "NotFound",
    "OptedOut",
    "PayloadTooLarge",
    "PolicyRejected",
    "PrivateAddress",
    "RateLimited",
    "Receipt",
    "Report",
    "SentReport",
    "ServerError",
    "Unreachable",
    "ValidationError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used, so that Ctrl-C can stop the command line while it loads."""
    if name in __all__:
        for home in ("version", "errors", "report", "client"):
            module = import_module(f".{home}", __name__)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
