"""The benchmark's tables; the competitors themselves are only installed by `make bench`."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import machine, picture, report
from benchmarks.results import FASTEST, Result, Row, Target

RESULT = Result(
    task="fit",
    title="Fit something",
    unit="s",
    rows=[
        Row("RadBoost edge", 1.0, ours=True, error=0.125, trees=7),
        Row("XGBoost", 2.0, error=0.25, trees=8),
        Row("LightGBM", 4.0),
        Row("AdaBoost", math.nan),
    ],
    targets=[
        Target("RadBoost edge", "XGBoost", 0.6),
        Target("RadBoost edge", "XGBoost", 0.4),
        Target("RadBoost edge", "AdaBoost", 1.0),
        Target("RadBoost edge", FASTEST, 0.5),
    ],
)


def test_the_table_holds_figures_errors_and_ratios() -> None:
    head, _, *rows = report.table(RESULT)
    assert head == "|  | s | error | trees | RadBoost edge / this |"
    assert rows == [
        "| RadBoost edge | 1 | 0.1250 | 7 |  |",
        "| XGBoost | 2 | 0.2500 | 8 | 0.50 |",
        "| LightGBM | 4 |  |  | 0.25 |",
        "| AdaBoost |  |  |  |  |",
    ]


def test_promises_are_met_missed_or_not_mentioned() -> None:
    left_out = Result(task="fit-more", title="", unit="", rows=[], note="Left out.")
    assert report.targets([RESULT, left_out])[2:] == [
        "| fit | RadBoost edge | XGBoost | 0.50 | 0.6 | met |",
        "| fit | RadBoost edge | XGBoost | 0.50 | 0.4 | MISSED |",
        "| fit | RadBoost edge | XGBoost | 0.50 | 0.5 | met |",
    ]


def test_targets_have_a_page_of_their_own() -> None:
    page = report.markdown([RESULT], {"processor": "one"}, "# Benchmarks")
    assert page.index("# Benchmarks") < page.index("- processor: one") < page.index("## Fit something")
    assert "MISSED" not in page
    assert "MISSED" in report.targets_page([RESULT])


def test_json_has_no_nan() -> None:
    loaded = json.loads(report.as_json([RESULT], {"processor": "one"}), parse_constant=lambda text: 1 / 0)
    assert [row["figure"] for row in loaded["results"][0]["rows"]] == [1.0, 2.0, 4.0, None]


def test_results_are_read_back() -> None:
    (again,) = report.from_json(report.as_json([RESULT], {}))
    assert report.table(again) == report.table(RESULT)
    assert again.targets == RESULT.targets
    assert math.isnan(again.figure("AdaBoost"))


def test_several_runs_are_put_together(tmp_path: Path) -> None:
    small, large = replace(RESULT, task="fit-small"), replace(RESULT, task="fit-large")
    (tmp_path / "a.json").write_text(report.as_json([small, replace(large, title="old")], {}))
    (tmp_path / "b.json").write_text(report.as_json([large], {}))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    assert report.put_together(files, ["fit-large", "fit-small"]) == [large, small]


def test_the_picture_has_a_line_for_each_task(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture.draw([replace(RESULT, task="fit-small"), replace(RESULT, task="unknown")], tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size > 5000


def test_own_work_is_not_other_load() -> None:
    with machine.OtherLoad() as load:
        sum(range(3_000_000))
    assert load.share is None or 0.0 <= load.share <= 1.5
    load.share = 0.5
    assert load.idle is False
    assert "NOT idle" in load.sentence()
