"""The integers of 128 bits for compilers that have none give the same numbers as the compiler's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_wide_integers_are_those_of_the_compiler(tmp_path: Path) -> None:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here: set CXX to one")
    program = tmp_path / "wide_integers"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{HERE.parents[1] / 'native'}"]
    subprocess.run([compiler, *flags, str(HERE / "wide_integers.cpp"), "-o", str(program)], check=True)
    found = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[:2000]
    assert int(found.stdout) > 1_000_000
