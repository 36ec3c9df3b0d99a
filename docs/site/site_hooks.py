"""What MkDocs does beside its own: the reference, pages from outside docs/, formulas as MathML, GitHub's anchors."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import site_api
import site_home
import site_math
from site_links import ON_SITE, ROOT, for_site, slug

_OUTSIDE = {place: source for source, place in ON_SITE.items() if source != "README.md"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill in the part of the navigation that follows from the code."""
    config.mdx_configs["toc"]["slugify"] = slug
    reference: list[Any] = ["api/index.md", *({page.title: page.place} for page in site_api.PAGES)]
    config.nav = _filled(config.nav or [], {"API reference": reference})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Pages that are no files in docs/."""
    made = {page.place: site_api.markdown(page) for page in site_api.PAGES} | {"api/index.md": site_api.index()}
    made |= {place: (ROOT / source).read_text(encoding="utf-8") for place, source in _OUTSIDE.items()}
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    files.append(File.generated(config, "site/math.ttf", abs_src_path=str(site_math.FONT)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links as the site has them, and code blocks without the marks of the tests."""
    place = page.file.src_uri
    if not place.startswith("api/"):
        markdown = for_site(markdown, _OUTSIDE.get(place, f"docs/{place}"), place)
    return re.sub(r"^([ \t]*```python)[ \t]+[\w-]+[ \t]*$", r"\1", markdown, flags=re.MULTILINE)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Formulas as MathML, which browsers draw without a script; the head of the home page."""
    if page.file.src_uri == "index.md":
        claim, code, html = site_home.split(html)
        page.meta |= {"template": "home.html", "hide": ["navigation", "toc"]}
        page.meta |= {"claim": claim, "code": code, "picture": site_home.picture()}
    return site_math.with_mathml(html, page.file.src_uri)


def on_post_page(output: str, **_: Any) -> str:
    """The tool that reads docstrings takes "array-like" for a difference."""
    return output.replace('<span title="array">array</span> - <span title="like">like</span>', "array-like")


def _filled(entries: list[Any], made: dict[str, list[Any]]) -> list[Any]:
    """The navigation with the sections that are made here."""
    kept: list[Any] = []
    for entry in entries:
        if isinstance(entry, str):
            kept.append(entry)
            continue
        ((title, content),) = entry.items()
        if title in made:
            kept.append({title: made[title]})
        elif isinstance(content, list):
            kept.append({title: _filled(content, made)})
        else:
            kept.append(entry)
    return kept
