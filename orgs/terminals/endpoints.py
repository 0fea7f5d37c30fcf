"""What terminals ask: where to sign in, for codes, for tokens, and to sign out. JSON as in RFC 6749."""

from collections.abc import Callable
from functools import wraps

from allauth.idp.oidc.models import Client
from django.conf import settings
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_exempt
from oauthlib.oauth2.rfc6749.errors import OAuth2Error

from core import client_address, rates
from core.error_answers import of_the_database, page_error
from core.errors import ApiError
from core.json_body import announced
from orgs.people.tokens import SCOPES
from orgs.terminals import protocol

MAX_BYTES = 8 * 1024
POLLS = (
    10  # times as many requests as sign-ins from one address: a terminal asks every five seconds
)
FORM = "application/x-www-form-urlencoded"

Endpoint = Callable[[HttpRequest], protocol.Answer]
View = Callable[[HttpRequest], HttpResponse]


@cache_control(public=True, max_age=300)
def metadata(request: HttpRequest) -> JsonResponse:
    """`/.well-known/openid-configuration`: where the endpoints are (RFC 8414)."""
    hub = settings.HUB_BASE_URL
    return JsonResponse(
        {
            "issuer": hub,
            "device_authorization_endpoint": hub + reverse("device-authorization"),
            "token_endpoint": hub + reverse("token"),
            "revocation_endpoint": hub + reverse("revocation"),
            "scopes_supported": list(SCOPES),
            "response_types_supported": [],
            "grant_types_supported": [
                Client.GrantType.DEVICE_CODE.value,
                Client.GrantType.REFRESH_TOKEN.value,
            ],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
        }
    )


class Refused(Exception):
    """The request is refused before it is looked at: an OAuth error, and an HTTP status."""

    def __init__(
        self, error: str, description: str, status: int = 400, headers: dict | None = None
    ) -> None:
        super().__init__(description)
        self.answer = JsonResponse(
            {"error": error, "error_description": description}, status=status, headers=headers
        )


def _endpoint(answer: Endpoint, limits: Callable[[HttpRequest], list[rates.Limit]]) -> View:
    """A view that answers forms in JSON, whatever happens."""

    @csrf_exempt
    @wraps(answer)
    def view(request: HttpRequest) -> HttpResponse:
        try:
            _refuse_web_pages(request)
            rates.check_all(*limits(request))
            response = _as_response(*answer(request))
        except Refused as refused:
            response = refused.answer
        except OAuth2Error as error:
            response = _as_response(error.headers, error.json, error.status_code)
        except ApiError as error:
            response = page_error(request, error)
        except (DatabaseError, InterfaceError) as error:
            away = of_the_database(error, request.path)
            if away is None:
                raise
            response = page_error(request, away)
        response["Cache-Control"] = "no-store"
        return response

    return view


def _refuse_web_pages(request: HttpRequest) -> None:
    """Before it is counted: any page could use up the sign-ins of those who look at it."""
    if request.method != "POST":
        raise Refused("invalid_request", "Send a POST request.", 405, {"Allow": "POST"})
    if "Origin" in request.headers or request.headers.get("Sec-Fetch-Site") == "cross-site":
        raise Refused("invalid_request", "Terminals ask here. A web page cannot.", 403)


def _fields(request: HttpRequest) -> dict[str, str]:
    """The parameters of a form, each at most once (RFC 6749, 3.2)."""
    if request.content_type != FORM:
        raise Refused("invalid_request", f"Send the parameters as {FORM}.")
    length = announced(request)
    if length is None:
        raise Refused("invalid_request", "Send a Content-Length header.", 411)
    if length > MAX_BYTES:
        raise Refused("invalid_request", f"The body is over {MAX_BYTES} bytes.", 413)
    try:
        lists = dict(request.POST.lists())
    except (BadRequest, SuspiciousOperation, UnreadablePostError, MultiPartParserError):
        raise Refused("invalid_request", "The body cannot be read.") from None
    for name, values in lists.items():
        if len(values) > 1:
            raise Refused("invalid_request", "A parameter is there more than once.")
        if "\0" in name + values[0]:
            raise Refused("invalid_request", "A parameter has the character NUL.")
    lists.pop("state", None)  # which oauthlib would repeat in its errors
    return {name: values[0] for name, values in lists.items() if values[0]}


def _as_response(headers: dict[str, str], body: object, status: int) -> HttpResponse:
    if isinstance(body, dict):
        return JsonResponse(body, status=status)
    response = HttpResponse(body, status=status, content_type="application/json")
    for name, value in headers.items():
        response[name] = value
    return response


def _for_begin(request: HttpRequest) -> list[rates.Limit]:
    return client_address.limits(request, settings.HUB_SIGN_IN_RATE, "terminals")


def _for_tokens(request: HttpRequest) -> list[rates.Limit]:
    return [
        limit._replace(times=limit.times * POLLS)
        for limit in client_address.limits(request, settings.HUB_SIGN_IN_RATE, "terminal-tokens")
    ]


def _begin(request: HttpRequest) -> protocol.Answer:
    network = client_address.network_of(request)
    return protocol.begin(_url(request), _fields(request), network)


def _create_token(request: HttpRequest) -> protocol.Answer:
    return protocol.create_token(_url(request), _fields(request))


def _revoke(request: HttpRequest) -> protocol.Answer:
    return protocol.revoke(_url(request), _fields(request))


def _url(request: HttpRequest) -> str:
    return settings.HUB_BASE_URL + request.path


device_authorization = _endpoint(_begin, _for_begin)
token = _endpoint(_create_token, _for_tokens)
revocation = _endpoint(_revoke, _for_tokens)
