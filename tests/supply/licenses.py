"""The licenses of all that is locked, for docs/v0/security/licenses.md. Run by script/licenses."""

import re
from importlib.metadata import PackageNotFoundError, metadata
from itertools import groupby

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from tests.rooms import ROOT
from tests.supply.locks import Package, packages

PAGE = ROOT / "docs/v0/security/licenses.md"
ALLOWED = {  # lets everybody use, change and sell what uses the library
    *("Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "PSF-2.0"),
    *("LGPL-3.0-only", "LGPL-3.0-or-later", "MPL-2.0"),  # changes to the library itself stay open
}
CLASSIFIERS = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
READ = {  # in the text of the license, where the package does not say it in one word
    "axe-playwright-python": "MIT AND MPL-2.0",  # the second for axe-core, which is in it
    "django-csp": "BSD-3-Clause",
    "dnslib": "BSD-2-Clause",
    "pygithub": "LGPL-3.0-or-later",
    "pytest-django": "BSD-3-Clause",
    "sqlparse": "BSD-3-Clause",
    "uritemplate": "Apache-2.0 OR BSD-3-Clause",
    "uvloop": "Apache-2.0 OR MIT",
    # not installed by every Python on every system
    "async-timeout": "Apache-2.0",
    "colorama": "BSD-3-Clause",
    "deprecated": "MIT",
    "httpx2-jsfetch": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "tzdata": "Apache-2.0",
}


class Unknown(Exception):
    """A package whose license nobody has looked up."""


def license_of(package: Package) -> str:
    """The license of a package as an SPDX expression (https://spdx.org/licenses/); raises `Unknown`."""
    try:
        return _declared(package)
    except Unknown:
        if package.name not in READ:
            raise
        return READ[package.name]


def is_allowed(expression: str) -> bool:
    """Whether everything that has to be kept is allowed; one of two that are offered is enough.

    >>> is_allowed("MIT AND MPL-2.0"), is_allowed("GPL-3.0-only OR MIT"), is_allowed("AGPL-3.0-only")
    (True, True, False)
    """
    offers = [offer.split(" AND ") for offer in expression.split(" OR ")]
    return any(ALLOWED.issuperset(offer) for offer in offers)


def written(page: str) -> str:
    """The page with its tables and its list written anew, each below its heading."""
    hub, sentry, mcp = (packages(lock) for lock in ("runtime", "sentry", "mcp"))
    only_here = set(packages("dev")).difference(sentry, mcp)
    tables = {
        "The Hub": _rows(hub),
        "Errors to a service": _rows(set(sentry).difference(hub)),
        "The MCP server": _rows(mcp),
        "Development": _in_brief(only_here),
    }
    for heading, rows in tables.items():
        page = _with_rows(page, heading, rows)
    return page


def _declared(package: Package) -> str:
    try:
        said = metadata(package.name)
    except PackageNotFoundError as error:
        raise Unknown(f"{package.name} is not installed here: add it to READ.") from error
    if said["Version"] != package.version:
        raise Unknown(f"{package.name} {said['Version']} is installed, not {package.version}.")
    classifiers = said.get_all("Classifier", [])
    named = [CLASSIFIERS[each] for each in classifiers if each in CLASSIFIERS]
    only = named if len(named) == 1 else []
    for words in (said["License-Expression"], said["License"], *only):
        try:
            return canonicalize_license_expression(words or "")
        except InvalidLicenseExpression:
            continue
    raise Unknown(f"{package.name} says {said['License']!r}: read its license, and add it to READ.")


def _rows(found: set[Package] | list[Package]) -> list[str]:
    rows = [f"| {each.name} {each.version} | {license_of(each)} |" for each in sorted(found)]
    return ["| package | license |", "|---|---|", *rows]


def _in_brief(found: set[Package]) -> list[str]:
    by_license = groupby(sorted(found, key=lambda each: (license_of(each), each)), license_of)
    return [f"- {said}: {', '.join(each.name for each in every)}" for said, every in by_license]


def _with_rows(page: str, heading: str, rows: list[str]) -> str:
    before, title, after = page.partition(f"\n## {heading}\n")
    assert title, f"{PAGE.name} has no section {heading!r}."
    lines = "".join(f"{row}\n" for row in rows)
    return before + title + re.sub(r"(?:^[|-].*\n)+", lambda _: lines, after, count=1, flags=re.M)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE)
