"""What the pictures have in common: one hand, in light and dark."""

from collections.abc import Iterable
from html import escape

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .name { font-weight: 600 }
  .says { font-size: 11px; fill: #59636e }
  rect { fill: #fff; stroke: #8c959f; rx: 6 }
  path { fill: none; stroke: #8c959f; stroke-width: 1.5; marker-end: url(#tip) }
  .lane { stroke-width: 1; stroke-dasharray: 3 4; marker-end: none }
  .back { stroke-dasharray: 6 4 }
  #tip path { fill: #8c959f; stroke: none; marker-end: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .says { fill: #9198a1 } rect { fill: #151b23; stroke: #656c76 }
  }
"""
TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0 8 4 0 8z"/></marker>'
)


def picture(width: int, height: int, label: str, shapes: Iterable[str]) -> str:
    """A whole SVG file, `width` by `height` pixels; `label` is for those who cannot see it."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(label)}">'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", TIP, *shapes, "</svg>\n"])


def box(x: int, y: int, width: int, height: int, name: str, says: Iterable[str] = ()) -> str:
    """A box with its name and lines of small text below it."""
    lines = [text(x + 12, y + 38 + 14 * n, line, "says") for n, line in enumerate(says)]
    rect = f'<rect x="{x}" y="{y}" width="{width}" height="{height}"/>'
    return "\n".join([rect, text(x + 12, y + 20, name, "name"), *lines])


def text(x: int, y: int, words: str, kind: str = "", *, anchor: str = "start") -> str:
    """One line of text; `anchor` says which end of it is at `x`."""
    kinds = f' class="{kind}"' if kind else ""
    anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{kinds} x="{x}" y="{y}"{anchored}>{escape(words)}</text>'


def line(path: str, kind: str = "") -> str:
    """An arrow along an SVG path."""
    kinds = f' class="{kind}"' if kind else ""
    return f'<path{kinds} d="{path}"/>'
