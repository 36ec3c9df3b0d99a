"""The documents tell the truth: their Python runs. Their links are tested in test_site.py."""

import doctest
import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
EXAMPLES = [path for path in sorted(ROOT.glob("src/**/*.py")) if ">>> " in path.read_text(encoding="utf-8")]
FENCE = re.compile(r"^```python[ \t]*(?P<mark>[\w-]*)[ \t]*\n(?P<code>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[int, str]]:
    """Line number and text of each Python block that is not marked `no-run`."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, match.start("code")), match["code"])
        for match in FENCE.finditer(text)
        if match["mark"] != "no-run"
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order and in one namespace, as a reader would type them; files land in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page):
        # The empty lines put tracebacks on the line of the document.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)


@pytest.mark.parametrize("path", EXAMPLES, ids=name)
def test_examples_in_docstrings_run(path: Path) -> None:
    module = importlib.import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_extras_of_the_install_page_are_those_of_the_package() -> None:
    """All that a user may want is on the page; what developers need is not."""
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", page, re.MULTILINE))
    known = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    )
    assert shown <= known
    assert {"cli", "export", "flower", "plot", "progress", "torch"} & known <= shown
