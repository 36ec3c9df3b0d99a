"""What must not be in any file of the project: traces of the machine it was written on, unfinished work."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "native", "tests", "benchmarks", "docs", "release", ".ci", ".github")
SUFFIXES = {".py", ".pyi", ".cpp", ".hpp", ".md", ".toml", ".yaml", ".yml", ".txt", ".json", ".svg", ""}
FILES = sorted(
    path
    for path in [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    if path.is_file() and path.suffix in SUFFIXES and path not in (Path(__file__).resolve(), ROOT / ".git")
)
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.])/(work|root|home|farm|Users)/\w"),
    "a mark of unfinished work": re.compile(r"\b(TODO|FIXME|XXX)\b"),
    "a package index by address": re.compile(r"(index-url|find-links|trusted-host)"),
    "a conflict marker": re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}"
        for path in FILES
        for match in FORBIDDEN[what].finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found, f"{what}: {found}"
