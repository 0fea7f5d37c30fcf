"""The document, by drf-spectacular: addresses and scopes are in the code, the words in the reference."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.settings import patched_settings
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework.views import APIView

from hub import urls
from hub.docs.library import HUB
from orgs.people import tokens
from tests.openapi import errors, examples, parameters, reference, words
from tests.openapi.answers import Error
from tests.openapi.calls import CALLS, LEFT_OUT, Call
from tests.rooms import ROOT

Document = dict[str, Any]

NAMES = {"{report_id}": "<id>", "{site_id}": "<id>", "{domain}": "<domain>"}  # in the reference
RELEASE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
INFO = {
    "OAS_VERSION": "3.1.1",
    "TITLE": "Docs Feedback Hub",
    "VERSION": RELEASE,
    "DESCRIPTION": words.ABOUT,
    "SERVERS": [{"url": HUB, "description": "This Hub."}],
    "EXTERNAL_DOCS": {"url": f"{HUB}/v0/", "description": "The docs of this Hub."},
    "TAGS": [{"name": name} for name in dict.fromkeys(call.tag for call in CALLS.values())],
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "SCHEMA_PATH_PREFIX": "",
    "POSTPROCESSING_HOOKS": [],
}


class Bearer(OpenApiAuthenticationExtension):
    """Tokens in the header, with the scope that the view asks for."""

    target_class = "orgs.api.authentication.BearerToken"
    name = "token"

    def get_security_requirement(self, auto_schema: AutoSchema) -> dict[str, list[str]]:
        reads = auto_schema.method in auto_schema.view.reading
        return {self.name: [tokens.READ if reads else tokens.WRITE]}

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": words.TOKENS}


class Described(AutoSchema):
    """One call, as `tests.openapi.calls` lists it."""

    @property
    def key(self) -> str:
        """The call as the reference writes it."""
        path = self.path
        for here, there in NAMES.items():
            path = path.replace(here, there)
        return f"{self.method} {path}"

    @property
    def call(self) -> Call:
        return CALLS[self.key]

    def get_operation_id(self) -> str:
        return self.call.name

    def get_summary(self) -> str:
        return reference.summary(self.key)

    def get_description(self) -> str:
        return words.of_call(self.key)

    def get_external_docs(self) -> dict[str, str]:
        return {"url": reference.section(self.key).url}

    def get_tags(self) -> list[str]:
        return [self.call.tag]

    def get_override_parameters(self) -> list[OpenApiParameter]:
        return [*parameters.of(self.key), *parameters.headers(self.key)]

    def get_request_serializer(self) -> Any:
        return self.call.body

    def get_examples(self) -> list[OpenApiExample]:
        known = examples.of(self.call.name).get("request")
        return [OpenApiExample("example", known, request_only=True)] if known else []

    def get_response_serializers(self) -> dict[int, OpenApiResponse]:
        found = {
            status: OpenApiResponse(model, words.of_answer(model, status), self._shown(status))
            for status, model in self.call.answers.items()
        }
        return found | errors.responses(self.key)

    def get_extensions(self) -> dict[str, Any]:
        limits = [reference.rates()[name] for name in self.call.rates]
        return {"x-rate-limits": limits} if limits else {}

    def map_parsers(self) -> list[str]:
        return ["application/json"]

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False

    def _shown(self, status: int) -> list[OpenApiExample]:
        known = examples.of(self.call.name).get("answers", {}).get(str(status))
        return [OpenApiExample("example", known)] if known else []

    def _get_request_for_media_type(self, serializer: Any, direction: str = "request") -> Any:
        if serializer is None:
            return None, False
        return self.resolve_serializer(serializer, direction).ref, True


class Generator(SchemaGenerator):
    """Describes every view by `Described`, though production knows nothing of it."""

    def create_view(self, callback: Any, method: str, request: Any = None) -> APIView:
        view = super().create_view(callback, method, request)
        self._set_schema_to_view(view, Described())
        return view

    def coerce_path(self, path: str, method: str, view: APIView) -> str:
        return super().coerce_path(path, method, view).replace("{name}", "{domain}")

    def parse(self, input_request: Any, public: bool) -> Document:
        paths = super().parse(input_request, public)
        Described.resolve_serializer(self._any_schema(), Error, "response")
        return paths

    def _any_schema(self) -> Described:
        schema = Described()
        schema.registry = self.registry
        return schema


def document() -> Document:
    """The whole description. The same code and reference give the same."""
    with patched_settings(INFO):
        made = Generator(patterns=list(_routes())).get_schema(request=None, public=True)
    made = json.loads(json.dumps(made))
    _allow_empty(made)
    _say_who_needs_no_token(made)
    words.fill_in(made["components"]["schemas"])
    _share(made)
    return made


def text() -> str:
    """The document as it is kept in the repository and served."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def _routes() -> Iterator[URLPattern]:
    left_out = {each.partition(" /")[2] for each in LEFT_OUT}
    for each in urls.urlpatterns:
        if str(each.pattern).startswith("v1/") and str(each.pattern) not in left_out:
            yield each


def _allow_empty(made: Document) -> None:
    """An empty parameter of an address counts as absent."""
    for path in made["paths"].values():
        for operation in path.values():
            for each in operation.get("parameters", []):
                if each["in"] == "query":
                    each["allowEmptyValue"] = True


def _say_who_needs_no_token(made: Document) -> None:
    """Absent would mean: as the document says for all calls."""
    for path in made["paths"].values():
        for operation in path.values():
            operation.setdefault("security", [])


def _share(made: Document) -> None:
    """Errors that several calls answer alike are described once."""
    answers = [
        operation["responses"] for path in made["paths"].values() for operation in path.values()
    ]
    same = Counter(json.dumps(each) for answer in answers for each in answer.values())
    shared = made["components"].setdefault("responses", {})
    for answer in answers:
        for status, each in answer.items():
            if same[json.dumps(each)] > 1 and int(status) >= 400:
                name = _name(each)
                shared[name] = each
                answer[status] = {"$ref": f"#/components/responses/{name}"}
    made["components"] = {kind: made["components"][kind] for kind in sorted(made["components"])}


def _name(answer: Document) -> str:
    """Such as `InsufficientScopeOrNoOrganization`."""
    codes = answer["content"]["application/json"]["schema"]["allOf"][1]["properties"]["error"][
        "enum"
    ]
    return "Or".join(
        re.sub("(?:^|_)([a-z])", lambda found: found[1].upper(), code) for code in codes
    )
