"""Exponents, the table and the parts of a page that the growth benchmark writes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("catboost")
pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

from benchmarks import report
from benchmarks.growth import __main__ as growth
from benchmarks.growth import page, sweeps


def points(power: float) -> page.Points:
    return [{"series": name, "x": x, "y": 3.0 * x**power} for name in sweeps.SERIES for x in (1000, 10, 100)]


def test_the_exponent_of_a_power_is_its_power() -> None:
    x, y = page.curve(points(1.25), sweeps.SERIES[0])
    assert x == [10, 100, 1000]
    assert page.exponent(x, y) == pytest.approx(1.25)
    assert math.isnan(page.exponent([10.0], [1.0]))


def test_small_sizes_do_not_count() -> None:
    x = [10.0**k for k in range(1, 8)]
    assert page.exponent(x, [100.0, 100.0, 100.0, *x[3:]]) == pytest.approx(1.0)


def test_the_table_and_the_picture(tmp_path: Path) -> None:
    results = {"rows": points(1.0), "memory": points(0.5)}
    lines = page.table(results)
    assert len(lines) == 2 + 2 * len(sweeps.SERIES)
    assert lines[2].endswith("| RadBoost default | 10: 30 s | 1,000: 3,000 s | 1.00 |")
    page.draw(results, tmp_path / "growth.svg")
    assert "rows" in (tmp_path / "growth.svg").read_text()


def test_a_part_of_a_page_is_replaced_and_the_rest_is_not(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# Title\n<!-- one: begin -->\nold\n<!-- one: end -->\nrest\n")
    for text in ("new\n", "newer\n"):
        report.replace_part(path, "one", text)
        assert path.read_text() == f"# Title\n<!-- one: begin -->\n{text}<!-- one: end -->\nrest\n"
    with pytest.raises(ValueError, match="no part named 'two'"):
        report.replace_part(path, "two", "")


@pytest.mark.slow
def test_sweeps_run_and_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = sweeps.Sweep(
        "rows", "small", "rows", (200, 400, 900), lambda n: (sweeps.many_classes(n, 4, 3), sweeps.Settings(2, 2))
    )
    monkeypatch.setitem(sweeps.SWEEPS, "rows", small)
    output = tmp_path / "growth.json"
    assert growth.main(["--sweeps", "rows", "--most", "400", "--output", str(output)]) == 0
    kept = growth.load(output)["rows"]["points"]
    assert [(p["series"], p["x"]) for p in kept] == [(name, x) for x in (200, 400) for name in sweeps.SERIES]
    assert all(p["y"] > 0 for p in kept)
    with pytest.raises(SystemExit):
        growth.main(["--sweeps", "weight", "--output", str(output)])
