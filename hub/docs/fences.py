"""Blocks of code in a page: what their info strings say, as in `sh tab=curl` or `json output`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

LANGUAGES = ("sh", "python", "js", "json", "http", "toml", "yaml", "markdown", "text")
WORDS = ("output", "not-run", "fails", "dns", "checkout")
OPTIONS = ("tab", "file")


@dataclass(frozen=True)
class Fence:
    """One block: `words` and `options` are what follows its language; `line` is where its code begins."""

    language: str
    code: str
    line: int
    words: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)

    @property
    def is_output(self) -> bool:
        """Whether it shows what the block before it prints."""
        return "output" in self.words

    @property
    def tab(self) -> str:
        """The name of its tab; empty where it has none."""
        return self.options.get("tab", "")

    @property
    def file(self) -> str:
        """The name of the file that the reader saves it as; empty where it is not for a file."""
        return self.options.get("file", "")

    def mistakes(self) -> list[str]:
        """What its info string says that means nothing, as sentences."""
        unknown = [word for word in self.words if word not in WORDS]
        unknown += [name for name in self.options if name not in OPTIONS]
        found = [f"`{word}` means nothing after a language." for word in unknown]
        if self.language not in LANGUAGES:
            found.append(f"`{self.language}` is not one of the languages {', '.join(LANGUAGES)}.")
        return found


def read(token: Token) -> Fence:
    """The block of a `fence` token, or of an indented block."""
    language, *rest = token.info.split() or ["text"]
    start = token.map[0] + 2 if token.map else 0
    options = dict(word.split("=", 1) for word in rest if "=" in word)
    words = tuple(word for word in rest if "=" not in word)
    return Fence(language, token.content, start, words, options)


@dataclass(frozen=True)
class Example:
    """A block, and the output that follows it."""

    code: Fence
    output: Fence | None = None


def examples(fences: Sequence[Fence]) -> Iterator[Example]:
    """Adjacent blocks, each with its output; one that has no block before it stands alone."""
    waiting = list(fences)
    while waiting:
        code = waiting.pop(0)
        follows = bool(waiting) and waiting[0].is_output and not code.is_output
        yield Example(code, waiting.pop(0) if follows else None)


def runs(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """All tokens in order, in lists: adjacent blocks together, every other token alone."""
    run: list[Token] = []
    for token in tokens:
        if run and not (token.type == run[-1].type == "fence"):
            yield run
            run = []
        run.append(token)
    if run:
        yield run
