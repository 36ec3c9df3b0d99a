"""Members of docs/developers/extending.md enter a copy of the package by the files named there, and keep contracts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from radboost import _native

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "developers" / "extending.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python no-run\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
HEADER = re.compile(r"# (?P<path>(src|tests)/[\w/.]+)(, (?P<where>[^\n]+))?\n")
#: what a block that changes a file follows there
BEHIND = {
    "among the imports": "from radboost.families.kinds import KINDS, OWN, Shape, by_kind, kind_of, scorers\n",
    "in CASES": "CASES: dict[type[Any], list[Any]] = {\n",
    "after the estimators": "    SupervisedKernelProjection,\n)\n",
    "in __all__": "__all__ = [\n",
    "in Estimator": '    _always_stored: ClassVar[tuple[str, ...]] = ("n_jobs",)\n',
}
#: without the finder of an editable install, which leads to the package itself
COPY_COMES_FIRST = """
import sys
sys.meta_path[:] = [one for one in sys.meta_path if "Redirecting" not in type(one).__name__]
import pathlib, radboost
assert pathlib.Path(radboost.__file__).is_relative_to(pathlib.Path.cwd())
"""
CONTRACTS = {
    "test_losses.py": "smooth_hinge",
    "test_target_losses.py": "log_cosh",
    "test_objectives.py": "mean_of_wrong",
    "test_families.py": "scaled_columns",
    "test_hypotheses.py": "ScaledColumn or every_kind",
}


def blocks() -> tuple[dict[str, list[tuple[str | None, str]]], list[str]]:
    """File -> texts, each with where in it (None for a new file), and the examples that use the members."""
    files: dict[str, list[tuple[str | None, str]]] = {}
    examples = []
    for found in BLOCK.finditer(PAGE):
        header = HEADER.match(found["code"])
        if header is None:
            examples.append(found["code"])
        else:
            files.setdefault(header["path"], []).append((header["where"], found["code"][header.end() :]))
    return files, examples


def test_the_table_names_the_files_of_the_examples() -> None:
    rows = [re.findall(r"`([^`]+)`", cell) for cell in re.findall(r"(?<=\| )[^|\n]*`[^|\n]*(?= \|)", PAGE)]
    listed = {path for cell in rows for path in cell}
    files, _ = blocks()
    assert set(files) <= listed
    for path in listed - set(files):  # of kernels
        assert (ROOT / path).is_file(), path
    for path, texts in files.items():
        assert (ROOT / path).exists() == (texts[0][0] is not None), path


def write(files: dict[str, list[tuple[str | None, str]]], folder: Path) -> None:
    for path, texts in files.items():
        for where, text in texts:
            before = (folder / path).read_text(encoding="utf-8") if where else ""
            behind = BEHIND.get(where or "", before)
            assert behind in before, (path, where)
            after = before.replace(behind, behind + text, 1) if before else text
            (folder / path).write_text(after, encoding="utf-8")


def test_files_that_are_named_exist() -> None:
    named = set(re.findall(r"`((?:src|tests|native|docs)/[\w/.-]+\.\w+)`", PAGE)) - set(blocks()[0])
    assert not {path for path in named if not (ROOT / path).is_file()}


def test_the_members_of_the_page_keep_the_contracts(tmp_path: Path) -> None:
    files, examples = blocks()
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    ignored = shutil.ignore_patterns("__pycache__", "data")
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    write(files, tmp_path)
    native = Path(str(_native.__file__))  # of an editable install it is elsewhere
    shutil.copy(native, tmp_path / "src" / "radboost" / native.name)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1"}

    contracts = [f"tests/contracts/{name}" for name in CONTRACTS]
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-k", " or ".join(CONTRACTS.values()), *contracts]
    script = "\n".join(["import numpy as np", *examples, f"import pytest\nsys.exit(pytest.main({arguments!r}))"])
    command = [sys.executable, "-c", COPY_COMES_FIRST + script]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
