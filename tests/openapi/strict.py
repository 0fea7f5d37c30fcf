"""The document as tests need it: nothing may be answered that it does not describe."""

import copy
from typing import Any

Document = dict[str, Any]


def strict(document: Document) -> Document:
    """The same, where objects have no other fields than those that are described."""
    made = copy.deepcopy(document)
    for schema in made["components"]["schemas"].values():
        schema.setdefault("additionalProperties", False)
    return made


def schema_of(document: Document, part: Document) -> Document:
    """A part of a document as a schema of its own, for `jsonschema`."""
    return {**part, "components": document["components"]}
