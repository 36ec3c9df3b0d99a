"""The home page: its first paragraph and first code block become its head, and a picture is drawn from the tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from site_links import ROOT

PANELS = (
    ("Everybody at defaults", "6 larger sets"),
    ("Everybody at defaults", "10 small sets, two classes"),
    ("Everybody at defaults", "11 small sets, more classes"),
    ("Sets that no default was chosen on", "22 sets not used for defaults"),
)
"""The tables of docs/defaults.md that the picture shows, in their order there: their section, and a title."""
OURS = ("DeepBoost", "SoftmaxBoost", "RGB")
SHORT = {"HistGradientBoosting": "HistGradBoost"}

_HEAD = re.compile(r"<p><strong>(?P<text>.*?)</strong></p>", re.DOTALL)
_BLOCK = re.compile(r'<div class="[^"]*highlight[^"]*">.*?</div>', re.DOTALL)
_TABLE = re.compile(r"^\| clean / noisy \| mean test error \|.*\n\|[-| ]+\|\n(?P<rows>(?:\|.*\n)+)", re.MULTILINE)
_ROW = re.compile(r"^\| (?P<name>[\w ]+?) \| (?P<clean>\.\d+) / (?P<noisy>\.\d+) \|", re.MULTILINE)


@dataclass(frozen=True)
class Line:
    """The mean test errors of a library, with clean labels and with a fifth of them wrong."""

    name: str
    clean: float
    noisy: float


def tables() -> list[list[Line]]:
    """What docs/defaults.md says of everybody at defaults, table by table."""
    text = (ROOT / "docs" / "defaults.md").read_text(encoding="utf-8")
    sections = (text.partition(f"\n## {title}\n")[2].partition("\n## ")[0] for title in dict.fromkeys(dict(PANELS)))
    found = [
        [Line(row["name"], float(row["clean"]), float(row["noisy"])) for row in _ROW.finditer(table["rows"])]
        for section in sections
        for table in _TABLE.finditer(section)
    ]
    if len(found) != len(PANELS) or any(len(lines) < 3 for lines in found):
        raise ValueError(
            f"docs/defaults.md has {len(found)} tables of mean test errors where the home page shows {len(PANELS)}:"
            f" {PANELS}. Mend PANELS in docs/site/site_home.py."
        )
    return found


def split(html: str) -> tuple[str, str, str]:
    """The first sentence of a home page and its first code block, for the head of the page, and what is left of it."""
    head, block = _HEAD.search(html), _BLOCK.search(html)
    if head is None or block is None:
        raise ValueError("docs/index.md begins with a sentence in bold and has a Python block; one of them is missing.")
    rest = html.replace(head[0], "", 1).replace(block[0], "", 1)
    return head["text"], block[0], re.sub(r"<h1.*?</h1>", "", rest, count=1, flags=re.DOTALL)


def apart(places: list[float], distance: float) -> list[float]:
    """Heights of labels, ascending: near their lines, and at least so far from each other."""
    found = list(places)
    for _ in range(200):
        for i in range(len(found) - 1):
            missing = distance - (found[i + 1] - found[i])
            if missing > 0.01:
                found[i] -= missing / 2
                found[i + 1] += missing / 2
    return found


def _panel(title: str, lines: list[Line]) -> str:
    left, right, top, bottom = 38.0, 160.0, 66.0, 250.0
    low, high = min(line.clean for line in lines), max(line.noisy for line in lines)

    def y(value: float) -> float:
        return top + (bottom - top) * (high - value) / (high - low)

    parts = [f'<text class="panel" x="0" y="16">{title}</text>']
    for x, text in ((left, "all right"), (right, "a fifth wrong")):
        parts.append(f'<text class="axis" x="{x}" y="42" text-anchor="middle">{text}</text>')
        parts.append(f'<line class="post" x1="{x}" y1="{top - 14}" x2="{x}" y2="{bottom + 8}"/>')
    ordered = sorted(lines, key=lambda line: (line.name in OURS, -line.noisy))  # ours are drawn last, above the others
    by_height = sorted(lines, key=lambda line: y(line.noisy))
    labels = dict(zip(by_height, apart([y(line.noisy) for line in by_height], 15.0), strict=True))
    own = next(line for line in lines if line.name == OURS[0])
    for line in ordered:
        begin, end, label = y(line.clean), y(line.noisy), SHORT.get(line.name, line.name)
        parts.append(
            f'<g class="{"ours" if line.name in OURS else "theirs"}">'
            f'<line x1="{left}" y1="{begin:.1f}" x2="{right}" y2="{end:.1f}"/>'
            f'<circle cx="{left}" cy="{begin:.1f}" r="3"/><circle cx="{right}" cy="{end:.1f}" r="3"/>'
            f'<text x="{right + 9}" y="{labels[line] + 4:.1f}">{100 * line.noisy:.1f} {label}</text>'
        )
        if line is own:
            parts.append(f'<text x="{left - 9}" y="{begin + 4:.1f}" text-anchor="end">{100 * line.clean:.1f}</text>')
        parts.append("</g>")
    words = ", ".join(f"{line.name} {100 * line.clean:.1f} and {100 * line.noisy:.1f}" for line in reversed(by_height))
    return (
        f'<svg viewBox="0 0 304 268" role="img" aria-label="Mean test error in percent on {title}, training labels all'
        f' right and a fifth of them wrong: {words}.">{"".join(parts)}</svg>'
    )


def picture() -> str:
    """Errors with right labels and with wrong ones: a panel for each table, a line for each library."""
    panels = (_panel(title, lines) for (_, title), lines in zip(PANELS, tables(), strict=True))
    return f'<div class="slopes">{"".join(panels)}</div>'
