"""Removes secrets from the texts of a report and lists what was removed."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from core.errors import ApiError
from reports import canonical, secrets
from reports.canonical import Address

POINTERS = {  # of the columns that hold what a reporter wrote, in the report as it was sent
    "summary": "/report/summary",
    "details": "/report/details",
    "evidence": "/report/evidence",
    "suggested_fix": "/report/suggested_fix",
    "agent_name": "/agent/name",
    "agent_version": "/agent/version",
    "agent_vendor": "/agent/vendor",
    "task_context": "/task_context",
}
SCREENED = ("doc_url", *POINTERS)


class SecretInAddress(ApiError):
    """400: without its secret, the address of the page is none."""

    status_code = 400
    default_code = "validation_error"
    default_detail = "The address of the page contains a secret. Nothing was saved."

    def __init__(self) -> None:
        super().__init__(details=[{"path": "/doc_url", "message": "Must not contain a secret."}])


class SecretNotice(NamedTuple):
    """What was removed: the field as a JSON Pointer, and the kind of secret."""

    field: str
    kind: str


def without_secrets(value: Any, pointer: str, notices: list[SecretNotice]) -> Any:
    """`value` without secrets in its texts; adds what was removed to `notices`."""
    if secrets.none_in(*_texts_in(value)):
        return value
    return _cleaned(value, pointer, notices)


def _cleaned(value: Any, pointer: str, notices: list[SecretNotice]) -> Any:
    """The same, with a look at each text."""
    if isinstance(value, dict):
        return {k: _cleaned(v, f"{pointer}/{k}", notices) for k, v in value.items()}
    if isinstance(value, list):
        return [_cleaned(v, f"{pointer}/{i}", notices) for i, v in enumerate(value)]
    text, kinds = secrets.remove(value)
    notices.extend(SecretNotice(pointer, kind) for kind in kinds)
    return text


def _texts_in(value: Any) -> list[str]:
    """All texts in it; the keys are ours."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [text for part in parts for text in _texts_in(part)]


def page(address: Address, notices: list[SecretNotice]) -> dict[str, str]:
    """The columns of the page's address without secrets: as sent, and in its canonical form.

    If either holds a secret, however it is escaped, only the cleaned canonical form is kept. Raises
    `SecretInAddress` if that is no address, as with a secret in the host, or another host's.
    """
    if not (kinds := _kinds(address.text, address.url)):
        return {"doc_url": address.text, "canonical_url": address.url}
    notices.extend(SecretNotice("/doc_url", kind) for kind in kinds)
    cleaned, _ = secrets.remove(address.url)
    unescaped, hidden = secrets.remove(unquote(cleaned))
    try:
        url = canonical.url(quote(unescaped if hidden else cleaned, safe=f"{canonical.KEPT}[]"))
    except canonical.InvalidURL:
        raise SecretInAddress from None
    if urlsplit(url).netloc != urlsplit(address.url).netloc:  # a path whose escapes were a URL
        raise SecretInAddress
    return {"doc_url": url, "canonical_url": url}


def _kinds(*addresses: str) -> list[str]:
    """What is in the first of the addresses that has a secret, as it stands or unescaped.

    Both forms have to be looked at: the canonical one ends where a slash or a fragment was.
    """
    readings = dict.fromkeys(form for each in addresses for form in (each, unquote(each)))
    if secrets.none_in(*readings):
        return []
    return next((kinds for each in readings if (kinds := secrets.remove(each)[1])), [])


def screened(columns: Mapping[str, Any]) -> tuple[dict[str, Any], list[SecretNotice]]:
    """The columns that had a secret, cleaned, and what was removed.

    If an address changes, so does its canonical form.
    """
    changed: dict[str, Any] = {}
    notices: list[SecretNotice] = []
    for name, pointer in POINTERS.items():
        before = len(notices)
        value = without_secrets(columns[name], pointer, notices)
        if len(notices) > before:
            changed[name] = value
    before = len(notices)
    addresses = page(canonical.address(columns["doc_url"]), notices)
    return changed | (addresses if len(notices) > before else {}), notices
