"""The runner of the speed benchmarks: tables, kept results, and libraries that are not installed."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as runner
from benchmarks import competitors, machine, markdown, picture, report
from benchmarks.data import MissingError
from benchmarks.results import Result, Row, load, store
from benchmarks.settings import Sizes

RESULT = Result(
    title="Fit something",
    unit="s",
    rows=[
        Row("RadBoost edge", 1.0, ours=True, error=0.125, trees=7),
        Row("XGBoost", 2.0, error=0.25, trees=8),
        Row("LightGBM", 1234.5),
        Row("AdaBoost", math.nan, note="not in 500 rounds"),
    ],
)


def test_the_table_holds_figures_errors_and_ratios() -> None:
    head, _, *rows = report.ratios(RESULT).splitlines()
    assert head == "|  | s | error | trees | RadBoost edge / this | notes |"
    assert rows == [
        "| RadBoost edge | 1 | 0.1250 | 7 |  |  |",
        "| XGBoost | 2 | 0.2500 | 8 | 0.50 |  |",
        "| LightGBM | 1,234 |  |  | 0.00 |  |",
        "| AdaBoost | - |  |  |  | not in 500 rounds |",
    ]


def test_the_overview_has_a_row_for_each_task_that_was_run() -> None:
    left_out = Result(title="predict", unit="", note="Left out.")
    head, _, *rows = report.overview({"other": RESULT, "predict": left_out, "fit-small": RESULT}).splitlines()
    assert head.count("|") == len(report.COLUMNS) + 2
    assert rows == ["| Fit something: s |  |  | 1 |  | 2 | 1,234 |  |  |  |"]


def test_results_are_kept_and_read_back(tmp_path: Path) -> None:
    assert load(tmp_path / "none.json") == {}
    store(tmp_path / "new" / "results.json", {"fit": RESULT})
    again = load(tmp_path / "new" / "results.json")["fit"]
    assert "NaN" not in (tmp_path / "new" / "results.json").read_text()
    assert again.rows[:3] == RESULT.rows[:3]
    assert math.isnan(again.rows[3].figure)


def test_the_picture_has_a_row_for_each_task(tmp_path: Path) -> None:
    picture.draw({"predict": RESULT, "unknown": RESULT}, tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size > 5000


def test_own_work_is_not_other_load() -> None:
    with machine.OtherLoad() as load_meanwhile:
        sum(range(3_000_000))
    assert load_meanwhile.fraction is None or 0.0 <= load_meanwhile.fraction <= 1.5
    load_meanwhile.fraction = 0.5
    assert load_meanwhile.idle is False
    assert "NOT idle" in load_meanwhile.sentence()


def test_a_part_of_a_page_is_replaced_and_the_rest_is_not(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# Title\n<!-- one: begin -->\nold\n<!-- one: end -->\nrest\n")
    for text in ("new", "newer"):
        markdown.replace_part(path, "one", text)
        assert path.read_text() == f"# Title\n<!-- one: begin -->\n{text}\n<!-- one: end -->\nrest\n"
    with pytest.raises(ValueError, match="no part named 'two'"):
        markdown.replace_part(path, "two", "")


def test_the_page_has_the_part_that_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(runner.PAGE.read_text(encoding="utf-8"))
    markdown.replace_part(page, "speed", "new")
    assert "| CatBoost |" not in page.read_text()


def test_numbers_are_short() -> None:
    shown = [markdown.number(value) for value in (0.25, 30.1379, -0.0123, -0.00001, 1.5, 0.0, math.nan, None)]
    assert shown == [".2500", "30.1379", "-.0123", ".0000", "1.5000", ".0000", "-", "-"]


def test_a_run_is_kept_and_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def task(sizes: Sizes) -> Result:
        asked.append(sizes.repeats)
        return RESULT

    monkeypatch.setitem(runner.TASKS, "fit-small", task)
    monkeypatch.setattr(runner.machine, "observe", machine.OtherLoad)
    options = ["--tasks", "fit-small", "--output", str(tmp_path / "speed.json"), "--repeats", "2"]
    assert runner.main(options) == 0
    capsys.readouterr()
    assert runner.main([*options, "--show"]) == 0
    assert asked == [2]
    assert "## Fit something" in capsys.readouterr().out


def test_a_task_without_its_data_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def task(sizes: Sizes) -> Result:
        raise MissingError("adult is not here")

    monkeypatch.setitem(runner.TASKS, "fit-small", task)
    result = runner.run("fit-small", Sizes())
    assert (result.rows, result.note) == ([], "Left out: adult is not here")


@pytest.mark.parametrize("given", [["--tasks", "nothing"], ["--repeats", "0"], ["--quick", "--write-docs"]])
def test_wrong_options_are_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(given)
    assert given[0] in capsys.readouterr().err or "nothing" in given


def test_a_library_that_is_not_installed_is_left_out_with_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    everybody = {one.name for one in competitors.ALL}
    monkeypatch.setattr(competitors, "is_installed", lambda package: package != "catboost")
    assert {one.name for one in competitors.installed()} == everybody - {"CatBoost"}
    assert not competitors.takes_part("Somebody", "no such package")
    line = "Somebody is left out: no such package is not installed (radboost[bench] has it)\n"
    assert capsys.readouterr().err == line
    assert competitors.takes_part("HistGradientBoosting", "scikit-learn")
    assert capsys.readouterr().err == ""


def test_help_needs_no_other_library() -> None:
    """Other libraries are imported when a fit begins."""
    modules = ("benchmarks", "benchmarks.accuracy", "benchmarks.wrong_labels", "benchmarks.examples")
    code = (
        "import contextlib, runpy, sys\n"
        "for name in ('catboost', 'lightgbm', 'xgboost', 'optuna', 'dask', 'skglm', 'celer', 'group_lasso'):\n"
        "    sys.modules[name] = None\n"
        "sys.argv = ['it', '--help']\n"
        f"for module in {modules}:\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        runpy.run_module(module, run_name='__main__')"
    )
    root = Path(runner.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(f"usage: python -m {module} [-h]" in done.stdout for module in modules)
