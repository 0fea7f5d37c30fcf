"""Reports problems of documentation pages to a Docs Feedback Hub."""

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
from .report import Report
from .version import __version__

__all__ = [
    "AsyncClient",
    "AuthError",
    "Client",
    "DocFeedbackError",
    "Draft",
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
