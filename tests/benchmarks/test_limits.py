"""What the machine can do: the program that measures it still fits the kernels, and its table says what it found."""

from __future__ import annotations

import math
import shutil
import subprocess

import pytest

from benchmarks.limits import __main__ as limits
from benchmarks.limits.build import FLAGS, PROGRAM, compiler


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ here")
def test_the_program_compiles_without_a_warning() -> None:
    command = [compiler(), *FLAGS, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_shares_of_the_possible() -> None:
    loops = [
        limits.Loop("read memory, one core", "bytes/s", 2e10, math.nan),
        limits.Loop("partition, half of the rows by index", "rows/s", 4e9, 1e9),
    ]
    memory, partition = limits.table(loops)[2:]
    assert memory == "| read memory, one core | bytes/s | 2e+10 |  |  |  |"
    assert partition.startswith("| partition, half of the rows by index | rows/s | 4e+09 | 1e+09 | 25% | a code")


def test_too_few_rows_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        limits.main(["--rows", "10"])
    assert "--rows is 10" in capsys.readouterr().err
