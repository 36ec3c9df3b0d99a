"""Page of a report: one HTML file that asks nothing of the network, with style, script and data inside.

A content security policy allows the style sheet and the scripts by their hashes, and nothing else: even a text that
escaped its escaping would not run.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from radboost.report.blocks import Figure, Report, Section
from radboost.report.html import as_json, escape, name, shortened
from radboost.report.parts import as_html

# Runs before anything is shown: marks that scripts run, and sets the colors chosen last time or those of the system.
EARLY = (
    'var r=document.documentElement,t=null;r.className="js";try{t=localStorage.getItem("radboost-theme")}catch(e){}'
    'r.dataset.theme=t==="dark"||t==="light"?t:matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light"'
)
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230f5c9c' "
    "d='M2 14V9h3v5zm4.5 0V6h3v8zM11 14V2h3v12z'/%3E%3C/svg%3E"
)


def render(report: Report) -> str:
    """Return the page: the same text for the same report."""
    style, script = _file("page.css"), _file("page.js")
    sections = "".join(map(_section, report.sections))
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
        f'<a class="skip" href="#content">Skip to the report</a>\n{_navigation(report)}\n'
        f'<div class="page"><header class="top"><p class="brand">RadBoost report</p>'
        f"{_words('h1', report.title, 200)}{_words('p', report.subtitle, 600, 'subtitle')}</header>\n"
        f'<main id="content">\n{_verdict(report)}\n{sections}</main>\n</div>\n'
        f'<script type="application/json" id="report-data">{as_json(report)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _file(name_of_file: str) -> str:
    return resources.files("radboost.report").joinpath(name_of_file).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Source of a content security policy that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _words(tag: str, text: str, longest: int, kind: str = "") -> str:
    """Element with a text; nothing without one."""
    of = f' class="{kind}"' if kind else ""
    return f'<{tag}{of} dir="auto">{escape(shortened(text, longest))}</{tag}>' if text else ""


def _navigation(report: Report) -> str:
    links = "".join(
        f'<li><a href="#{escape(section.name)}">{name(section.title, 60)}</a></li>' for section in report.sections
    )
    return (
        '<nav class="side" aria-label="Sections"><details open><summary>Contents</summary>'
        f'<ol><li><a href="#verdict">Verdict</a></li>{links}</ol></details>'
        '<button type="button" class="quiet js-only" data-theme-toggle>Dark</button></nav>'
    )


def _verdict(report: Report) -> str:
    figures = "".join(_figure(figure) for figure in report.figures)
    return (
        f'<section class="verdict {report.verdict_tone}" id="verdict" aria-label="Verdict">'
        f"{_words('p', report.verdict, 1500, 'sentence')}"
        + (f'<dl class="figures">{figures}</dl>' if figures else "")
        + "</section>"
    )


def _figure(figure: Figure) -> str:
    return (
        f'<div class="figure-of {figure.tone}">{_words("dt", figure.name, 80)}'
        f"{_words('dd', figure.value, 60, 'value')}{_words('dd', figure.detail, 200, 'detail')}</div>"
    )


def _section(section: Section) -> str:
    blocks = "".join(as_html(block) for block in section.blocks)
    title = f'<h2 dir="auto">{escape(shortened(section.title, 200))}</h2>'
    lead = _words("p", section.lead, 1500, "lead")
    return f'<section class="part" id="{escape(section.name)}">{title}{lead}{blocks}</section>\n'
