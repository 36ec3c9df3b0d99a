"""Whether a tag may be published: `python release/check_tag.py v1.2.3`. Needs the standard library alone."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def complaints(tag: str, pyproject: str, changelog: str) -> list[str]:
    """What is wrong with publishing under this tag, given the texts of pyproject.toml and CHANGELOG.md."""
    version = tomllib.loads(pyproject)["project"]["version"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, and the version in pyproject.toml is {version}: the tag must be v{version}")
    if "dev" in version:
        found.append(f"{version} is the version between two releases: set the one of this release in pyproject.toml")
    if not re.search(rf"^## \[{re.escape(version)}\]", changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md has no ## [{version}]: rename [Unreleased], and begin a new one above it")
    return found


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("one tag must be given: python release/check_tag.py v1.2.3")
    texts = [(REPOSITORY / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CHANGELOG.md")]
    found = complaints(sys.argv[1], *texts)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
