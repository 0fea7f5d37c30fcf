"""Why two reports are about one problem, in words."""

from collections.abc import Sequence

from integrations.likeness.terms import Terms

MOST = 4


def reason(things: Sequence[str], terms: Terms) -> tuple[tuple[str, ...], str]:
    """What is shown of the things in common, as a report writes them, and a sentence of it."""
    forms = dict(form.split("|", 1) for form in terms.forms.split())
    chosen = things[:MOST]
    plain = tuple(forms.get(term, term.lstrip("`#+")) for term in chosen)
    is_code = (term[0] in "`#" for term in chosen)
    words = [text if code else f"“{text}”" for text, code in zip(plain, is_code, strict=True)]
    return plain, f"same page; {_listed(words)} in common"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "little"
