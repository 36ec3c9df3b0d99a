"""What is in the source archive and the wheel, and where the version is written. Nothing is compiled here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import radboost
from release.check_tag import complaints

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GENERATED = {"radboost/_native.pyi"}
NATIVE_SUFFIXES = {".so", ".pyd"}


def built(hook: str, folder: Path, settings: dict[str, str]) -> Path:
    """What a hook of the build backend makes, in a process of its own: the backend changes the working folder."""
    command = f"import scikit_build_core.build as b; print(b.{hook}({str(folder)!r}, {settings!r}))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKBUILD")}
    ran = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, env=environment, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return folder / ran.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    archive = built("build_sdist", tmp_path_factory.mktemp("source"), {})
    with tarfile.open(archive) as opened:
        return {name.partition("/")[2] for name in opened.getnames()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without the native module, which takes minutes."""
    return built("build_wheel", tmp_path_factory.mktemp("wheel"), {"wheel.cmake": "false", "wheel.py-api": ""})


def package_files() -> set[str]:
    """Every file of the package, what is not Python among them, from src/ on."""
    found = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    names = {path.relative_to(ROOT / "src").as_posix() for path in found if path.suffix not in NATIVE_SUFFIXES}
    return {name for name in names - GENERATED if name.startswith("radboost/")}


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "radboost/py.typed" in names
    assert not package_files() - names
    others = {name for name in names if not name.startswith("radboost/") and ".dist-info/" not in name}
    assert not others, "a wheel holds the package and nothing beside it"


@pytest.mark.slow
def test_the_source_archive_is_complete_and_holds_no_waste(source: set[str]) -> None:
    native = {path.relative_to(ROOT).as_posix() for path in (ROOT / "native").rglob("*.?pp")}
    needed = {
        "CMakeLists.txt",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "PKG-INFO",
        "release/smoke.py",
    }
    needed |= native | {f"src/{name}" for name in package_files()}
    needed |= {"tests/fingerprints.py", "tests/data/fingerprints.json"}
    assert not needed - source
    waste = re.compile(r"(^|/)(\.venv|build|dist|__pycache__|\.git|\.github|\.ci|bench-output)(/|$)|\.(so|pyc|whl|o)$")
    assert not [name for name in source if waste.search(name)]
    assert "src/radboost/_native.pyi" not in source, "the build makes it"


def test_the_metadata_say_what_the_project_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        found = Parser().parsestr(opened.read(name).decode())
    assert found["Version"] == PROJECT["project"]["version"]
    assert found["License-Expression"] == "Apache-2.0"
    classifiers = found.get_all("Classifier", [])
    for minor in (11, 12, 13, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in classifiers
        assert f"cp3{minor}-*" in PROJECT["tool"]["cibuildwheel"]["build"].split()


def test_the_version_is_written_once() -> None:
    here = PROJECT["project"]["version"]
    assert radboost.__version__ == version("radboost")
    pattern = re.compile(rf"(?<![\d.]){re.escape(here)}(?![\d.])")
    files = [path for folder in ("src", "native", "release") for path in (ROOT / folder).rglob("*.?*")]
    texts = [path for path in [*files, ROOT / "CMakeLists.txt"] if path.suffix in {".py", ".hpp", ".cpp", ".txt"}]
    assert not [path.name for path in texts if pattern.search(path.read_text(encoding="utf-8"))]
    assert '__version__ = version("radboost")' in (ROOT / "src/radboost/__init__.py").read_text(encoding="utf-8")


def test_a_tag_must_be_the_version_and_in_the_changelog() -> None:
    def pyproject(number: str) -> str:
        return f'[project]\nversion = "{number}"\n'

    assert complaints("v1.2.0", pyproject("1.2.0"), "## [1.2.0] - 2030-01-01\n") == []
    (other,) = complaints("v1.3.0", pyproject("1.2.0"), "## [1.2.0]\n")
    assert "v1.3.0" in other
    assert "1.2.0" in other
    assert len(complaints("v1.2.0.dev0", pyproject("1.2.0.dev0"), "## [Unreleased]\n")) == 2
    (missing,) = complaints("v1.2.0", pyproject("1.2.0"), "## [1x2.0]\n## [Unreleased]\n")
    assert "CHANGELOG.md" in missing
