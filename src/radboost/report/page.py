"""A report as one HTML file that asks nothing of the network: style, script and data are inside it.

What may run is said by a content security policy: the style sheet and the scripts by their hashes, and nothing else. So
a text that should escape its escaping would still not run.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from importlib import resources

from radboost.report.blocks import (
    Bars,
    Block,
    Code,
    Columns,
    Confusion,
    Figure,
    Histogram,
    Lines,
    Report,
    RowCards,
    Section,
    Table,
    Tabs,
    Text,
    ThresholdExplorer,
)
from radboost.report.explorer import explorer
from radboost.report.html import as_json, escape, name, shortened
from radboost.report.parts import cards, chart, code, confusion, prose, table

# Before anything is shown: that scripts run, and the colours chosen last time.
EARLY = (
    'document.documentElement.className="js";try{var t=localStorage.getItem("radboost-theme");'
    'if(t==="dark"||t==="light")document.documentElement.dataset.theme=t}catch(e){}'
)
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230f5c9c' "
    "d='M2 14V9h3v5zm4.5 0V6h3v8zM11 14V2h3v12z'/%3E%3C/svg%3E"
)


def render(report: Report) -> str:
    """The page: the same text for the same report."""
    style, script = _file("page.css"), _file("page.js")
    anchors = _anchors(report.sections)
    sections = "".join(_section(section, place, anchors[place]) for place, section in enumerate(report.sections))
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(EARLY)} {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="RadBoost">\n'
        f'<title>{escape(shortened(report.title, 120)) or "Report"}</title>\n<link rel="icon" href="{ICON}">\n'
        f"<style>{style}</style>\n<script>{EARLY}</script>\n</head>\n<body>\n"
        f'<a class="skip" href="#content">Skip to the report</a>\n{_navigation(report, anchors)}\n'
        f'<div class="page"><header class="top">{_heading(report)}</header>\n'
        f'<main id="content">\n{_verdict(report)}\n{sections}</main>\n{_foot(report)}</div>\n'
        '<div class="tip" role="status" hidden></div>\n'
        f'<script type="application/json" id="report-data">{as_json(report)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _file(name_of_file: str) -> str:
    return resources.files("radboost.report").joinpath(name_of_file).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A source of a content security policy: exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _anchors(sections: tuple[Section, ...]) -> list[str]:
    """Names of the sections in addresses: letters, digits and dashes, each once."""
    anchors: list[str] = []
    for place, section in enumerate(sections):
        anchor = re.sub(r"[^a-z0-9]+", "-", section.name.lower())[:60].strip("-") or f"section-{place + 1}"
        while anchor in (*anchors, "content", "verdict", "report-data"):
            anchor += "-more"
        anchors.append(anchor)
    return anchors


def _navigation(report: Report, anchors: list[str]) -> str:
    links = "".join(
        f'<li><a href="#{anchor}">{name(section.title, 60)}</a></li>'
        for anchor, section in zip(anchors, report.sections, strict=True)
    )
    return (
        '<nav class="side" aria-label="Sections"><details open><summary>Contents</summary>'
        f'<p class="side-title" dir="auto">{escape(shortened(report.title, 80))}</p>'
        f'<ol><li><a href="#verdict">Verdict</a></li>{links}</ol></details>'
        '<button type="button" class="quiet js-only" data-theme-toggle>Dark</button></nav>'
    )


def _heading(report: Report) -> str:
    subtitle = (
        f'<p class="subtitle" dir="auto">{escape(shortened(report.subtitle, 600))}</p>' if report.subtitle else ""
    )
    return f'<p class="brand">RadBoost report</p><h1 dir="auto">{escape(shortened(report.title, 200))}</h1>{subtitle}'


def _verdict(report: Report) -> str:
    figures = "".join(_figure(figure) for figure in report.figures)
    return (
        f'<section class="verdict {report.verdict_tone}" id="verdict" aria-label="Verdict">'
        f'<p class="sentence" dir="auto">{escape(shortened(report.verdict, 1500))}</p>'
        + (f'<dl class="figures in-{_abreast(len(report.figures))}">{figures}</dl>' if figures else "")
        + "</section>"
    )


def _abreast(n_figures: int) -> int:
    """How many figures stand side by side: five at most, and as few as possible missing in the last row."""
    rows = max(1, math.ceil(n_figures / 5))
    return math.ceil(n_figures / rows)


def _figure(figure: Figure) -> str:
    detail = f'<dd class="detail" dir="auto">{escape(shortened(figure.detail, 200))}</dd>' if figure.detail else ""
    return (
        f'<div class="figure-of {figure.tone}"><dt dir="auto">{escape(shortened(figure.name, 80))}</dt>'
        f'<dd class="value" dir="auto">{escape(shortened(figure.value, 60))}</dd>{detail}</div>'
    )


def _section(section: Section, place: int, anchor: str) -> str:
    lead = f'<p class="lead" dir="auto">{escape(shortened(section.lead, 1500))}</p>' if section.lead else ""
    blocks = "".join(_block(block, f"sections.{place}.blocks.{index}") for index, block in enumerate(section.blocks))
    title = escape(shortened(section.title, 200))
    return f'<section class="part" id="{anchor}"><h2 dir="auto">{title}</h2>{lead}{blocks}</section>\n'


def _block(block: Block, place: str, *, in_column: bool = False) -> str:
    """A block as HTML; `place` is where it stands in the data inside the page."""
    match block:
        case Text():
            return prose(block)
        case Table():
            return table(block)
        case Lines() | Histogram() | Bars():
            return chart(block, place, in_column=in_column)
        case Confusion():
            return confusion(block)
        case ThresholdExplorer():
            return explorer(block, place, f"b-{place.replace('.', '-')}")
        case RowCards():
            return cards(block)
        case Code():
            return code(block)
        case Tabs():
            return _tabs(block, place, in_column=in_column)
        case Columns():
            inside = "".join(_block(one, f"{place}.blocks.{i}", in_column=True) for i, one in enumerate(block.blocks))
            return f'<div class="columns">{inside}</div>'


def _tabs(block: Tabs, place: str, *, in_column: bool) -> str:
    """All of them, one below the other under their names; the script makes tabs of the names."""
    identifier = f"b-{place.replace('.', '-')}"
    panels = "".join(
        f'<section class="panel" id="{identifier}-{i}"><h3 class="panel-title">{name(title, 60)}</h3>'
        + "".join(_block(one, f"{place}.tabs.{i}.1.{j}", in_column=in_column) for j, one in enumerate(blocks))
        + "</section>"
        for i, (title, blocks) in enumerate(block.tabs)
    )
    return f'<div class="tabs" data-tabs="{identifier}">{panels}</div>'


def _foot(report: Report) -> str:
    facts = "".join(f"<div><dt>{name(key, 80)}</dt><dd>{name(value, 400)}</dd></div>" for key, value in report.facts)
    return f'<footer class="foot"><dl>{facts}</dl></footer>\n' if facts else ""
