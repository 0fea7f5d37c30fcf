"""The hourly rate limit: counted per caller, shown in `X-RateLimit-*`, and enforced.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from .credentials import Caller
from .messages import ApiError

WINDOW = timedelta(hours=1)
WITHOUT_TOKEN = 60


@dataclass
class Budget:
    """The calls of one caller in the current hour."""

    limit: int
    resets_at: datetime
    used: int = 0

    @property
    def headers(self) -> dict[str, str]:
        """The `X-RateLimit-*` headers."""
        return {
            f"X-RateLimit-{name.capitalize()}": str(value) for name, value in self.as_json.items()
        }

    @property
    def as_json(self) -> dict[str, int | str]:
        """The budget as `GET /rate_limit` shows it."""
        return {
            "limit": self.limit,
            "remaining": max(self.limit - self.used, 0),
            "reset": int(self.resets_at.timestamp()),
            "used": self.used,
            "resource": "core",
        }


class RateLimits:
    """The budgets of all callers."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._budgets: dict[str, Budget] = {}

    def budget(self, caller: Caller, *, now: datetime) -> Budget:
        """The caller's budget of the current hour. Callers without a token have 60, as on GitHub."""
        budget = self._budgets.get(caller.name)
        if budget is None or budget.resets_at <= now:
            limit = self.limit if caller.kind != "none" else min(WITHOUT_TOKEN, self.limit)
            budget = self._budgets[caller.name] = Budget(limit, now + WINDOW)
        return budget

    def spend(self, caller: Caller, cost: int, *, now: datetime) -> Budget:
        """Count a call; raises the error that GitHub gives if none is left."""
        budget = self.budget(caller, now=now)
        if budget.used + cost > budget.limit:
            raise ApiError(
                403, f"API rate limit exceeded for {caller.name}.", headers=budget.headers
            )
        budget.used += cost
        return budget
