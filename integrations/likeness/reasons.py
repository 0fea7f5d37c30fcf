"""Why two reports are about one problem, in words."""

from collections.abc import Sequence

from integrations.likeness.terms import Terms

MOST = 4


def reason(common: Sequence[str], terms: Terms) -> tuple[tuple[str, ...], str]:
    """What is shown of the terms in common, and a sentence of it: code first, other words quoted."""
    forms = dict(form.split("|", 1) for form in terms.forms.split())
    chosen = _chosen(common)
    plain = tuple(forms.get(term, term.lstrip("`#+")) for term in chosen)
    words = [
        text if term[0] in "`#" else f"“{text}”" for term, text in zip(chosen, plain, strict=True)
    ]
    return plain, f"same page; {_listed(words)} in common"


def _chosen(common: Sequence[str]) -> list[str]:
    """The most telling terms, code first, and no word that stands inside of that."""
    code = [term for term in common if term[0] == "`"]
    others = [term for term in common if term[0] != "`" and not any(term in each for each in code)]
    return (code + others)[:MOST]


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "little"
