"""Links of the documents: what the site and the tests agree on. Needs nothing but Python."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ON_SITE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "CHANGELOG.md": "developers/changelog.md",
}
"""Where the site has what stands outside docs/."""

_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^[ \t]*(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\n).)+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)(?P<title>\s+\"[^\"]*\")?\)"
)
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<text>.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_WRITTEN_ANCHOR = re.compile(r"<[a-z]+[^>]*\s(?:id|name)=\"(?P<id>[^\"]+)\"")


def slug(text: str, separator: str = "-") -> str:
    """The anchor of a heading, by the rule of GitHub, so that a link works there and on the site."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "\0", match[0])


def anchors(text: str) -> set[str]:
    """The anchors of all headings of a page, and those that are written out."""
    prose = _FENCE.sub(_blanked, text)
    headings = (re.sub(r"[`*]|\]\([^)]*\)", "", match["text"]) for match in _HEADING.finditer(prose))
    return {slug(heading) for heading in headings} | {match["id"] for match in _WRITTEN_ANCHOR.finditer(prose)}


def is_external(target: str) -> bool:
    """Whether a link leaves the documents."""
    return re.match(r"[a-z][a-z+.-]*:|//", target, re.IGNORECASE) is not None


def change_links(text: str, change: Callable[[re.Match[str]], str]) -> str:
    """The text with each link and picture outside code blocks replaced; inside `code` there are none either."""
    fences = [(match.start(), match.end()) for match in _FENCE.finditer(text)]
    blanked = _FENCE.sub(_blanked, text)
    # A link may have code for its text; only what begins inside code is none.
    code = fences + [(match.start(), match.end()) for match in _CODE.finditer(blanked)]

    def changed(match: re.Match[str]) -> str:
        inside = any(begin <= match.start() < end for begin, end in code)
        return match[0] if inside else change(match)

    return _LINK.sub(changed, text)


def targets(text: str) -> list[str]:
    """What the links and pictures of a page lead to."""
    found: list[str] = []

    def note(match: re.Match[str]) -> str:
        found.append(match["target"])
        return match[0]

    change_links(text, note)
    return found


def place_on_site(path: str) -> str | None:
    """Of a file of the repository; None where the site does not have it."""
    if path in ON_SITE:
        return ON_SITE[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def for_site(text: str, source: str, place: str) -> str:
    """The text of the repository's file `source` with links that work on the page `place` of the site.

    A link to a file that the site does not have becomes the name of that file.
    """

    def moved(match: re.Match[str]) -> str:
        path, mark, anchor = match["target"].partition("#")
        if is_external(match["target"]) or not path:
            return match[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        found = place_on_site(wanted)
        if found is None:
            return match["text"] if wanted in match["text"] else f"{match['text']} (`{wanted}`)"
        target = posixpath.relpath(found, posixpath.dirname(place) or ".") + mark + anchor
        return f"{match['image']}[{match['text']}]({target}{match['title'] or ''})"

    return change_links(text, moved)
