"""Cross-origin access, without credentials, to the three public API calls only."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

HEADERS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}


class OneOrigin(APIView):
    """A view that scripts of other origins may not call: there is no preflight, so OPTIONS is no method of it."""

    http_method_names = [name for name in APIView.http_method_names if name != "options"]


class AnyOrigin(APIView):
    """A view that scripts of any origin may call (https://fetch.spec.whatwg.org/#http-cors-protocol)."""

    parser_classes = ()  # `core.json_body` reads what they are sent

    def options(self, request: Request, *args: Any, **kwargs: Any) -> Response:  # type: ignore[override]
        """Answer the preflight. It is the same for every origin, so browsers may cache it for a day."""
        methods = ", ".join(m for m in self.allowed_methods if m != "OPTIONS")
        headers = {
            "Access-Control-Allow-Methods": methods,
            "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, "
            "X-Docs-Feedback-Protocol-Version",
            "Access-Control-Max-Age": "86400",
        }
        return Response(status=204, headers=headers)

    def perform_authentication(self, request: Request) -> None:
        """Nobody signs in to these."""

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Add the CORS headers to every response, errors included. Only what says so itself may be cached."""
        response = super().finalize_response(*args, **kwargs)
        for name, value in HEADERS.items():
            response[name] = value
        response.setdefault("Cache-Control", "no-store")
        return response
