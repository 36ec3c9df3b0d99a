"""The command `radboost`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from radboost import __version__
from radboost.cli import main


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"radboost {__version__}\n"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "import sys; from radboost.cli import main; sys.exit(main())", *arguments]


def test_a_reader_that_stops_reading_is_no_error() -> None:
    with subprocess.Popen(command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_may_be_closed(closed: str, tmp_path: Path) -> None:
    script = f'"$@" {closed}; echo $? > "{tmp_path}/status"'
    ended = subprocess.run(["sh", "-c", script, "sh", *command()], capture_output=True, text=True, check=True)
    assert (tmp_path / "status").read_text() == "0\n"
    assert ended.stderr == ""
    assert ("evaluate" in ended.stdout) == (closed == "2>&-")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command(), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "radboost: [Errno 28] No space left on device\n"
