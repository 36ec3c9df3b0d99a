"""What `python -m papers` prints, writes, and shows on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import papers as experiments
from papers import report
from papers.progress import progress
from papers.protocol import Cell, Run
from papers.spec import Figures, Table
from radboost import TreeOptions


class TestReport:
    table = experiments.table("deep-boosting-2")
    cell = Cell(
        "german",
        "DeepBoost",
        (Run(0, {"l1_penalty": 0.5}, 0.2, 1.0, 0.24, 7.0, 10), Run(1, {"l1_penalty": 0.25}, 0.2, 1.0, 0.26, 9.0, 20)),
        {"together": 0.255, "hindsight": 0.245, "lowest": 0.235, "all rows": 0.125},
        Figures(0.234, 0.0148, 16.0, 14.1),
    )

    def test_a_row_has_ours_beside_the_papers(self) -> None:
        words = report.row(self.cell).split()
        assert words == [
            *("german", "DeepBoost", "0.2500", "(0.0100)", "0.2340", "(0.0148)"),
            *("no", "0.2550", "0.2450", "0.2350", "0.1250", "8", "16", "15.0", "14.1"),
        ]
        head, line = report.header(self.table).splitlines()
        assert len(line) == len(report.row(self.cell))
        assert head.split()[-6:] == ["all", "rows", "size", "paper", "trees", "paper"]

    def test_what_the_paper_does_not_tell_is_a_dash(self) -> None:
        runs = (Run(0, {}, 0.2, 1.0, 0.24, 1942.6, 24),)
        row = report.row(replace(self.cell, runs=runs, paper=Figures(0.739, 0.0016)))
        assert row.split()[-4:] == ["1943", "-", "24.0", "-"]
        assert report.row(replace(self.cell, paper=Figures(0.042, 0.0023, 1942.6, 24.2))).split()[-3] == "1943"

    @pytest.mark.parametrize("table", experiments.TABLES.values(), ids=experiments.TABLES)
    def test_header_and_legend_name_the_same_rules(self, table: Table) -> None:
        legend = report.legend(table)
        kind = "overall" if table.name.endswith("all-rows") else "test"
        for rule in experiments.RULES:
            assert (f"\n{rule}: " in legend) == (f" {rule} " in report.header(table)) == (rule != table.rule)
        assert legend.startswith(f"error: mean {kind} error, {experiments.RULES[table.rule].about}\n")
        assert ("in splits" in legend) == (table.name == "deep-boosting-1")

    def test_nothing_beside_what_the_paper_does_not_have(self) -> None:
        cell = replace(self.cell, paper=None)
        assert cell.within is None
        words = report.row(cell).split()
        assert words[4:6] == ["-", "-"]
        assert words[-4:] == ["8", "-", "15.0", "-"]

    def test_paired_tests_are_lines_below(self) -> None:
        other = replace(self.cell, algorithm="AdaBoost")
        assert report.tests(self.table, [other]) == ""
        better = tuple(replace(run, test_error=run.test_error + 0.01 * run.fold) for run in self.cell.runs)
        lines = report.tests(self.table, [replace(other, runs=better), self.cell]).splitlines()
        assert lines[1:] == ["german: DeepBoost ahead of AdaBoost p = 0.250"]

    def test_within_is_one_deviation_of_the_paper(self) -> None:
        assert not self.cell.within
        close = replace(self.cell, paper=Figures(0.2352, 0.0148, 16.0, 14.1))
        assert close.within
        assert " yes " in report.row(close)

    def test_json_has_everything(self, tmp_path: Path) -> None:
        path = tmp_path / "out.json"
        path.write_text("old")
        report.write_json(path, {"seed": 3}, self.table, [self.cell])
        document = json.loads(path.read_text())
        assert document["seed"] == 3
        (cell,) = document["cells"]
        assert cell["error"] == pytest.approx(0.25)
        assert cell["paper"]["tree_size"] == 16.0
        assert cell["within"] is False
        assert cell["others"]["hindsight"] == 0.245
        assert cell["runs"][1]["parameters"] == {"l1_penalty": 0.25}
        assert list(tmp_path.iterdir()) == [path]

    def test_json_takes_options(self, tmp_path: Path) -> None:
        runs = (Run(0, {"tree_options": TreeOptions(growth="best_first")}, 0.2, 1.0, 0.24, 7.0, 10),)
        report.write_json(tmp_path / "out.json", {}, self.table, [replace(self.cell, runs=runs)])
        (cell,) = json.loads((tmp_path / "out.json").read_text())["cells"]
        assert cell["runs"][0]["parameters"]["tree_options"]["growth"] == "best_first"


class TestProgress:
    def test_without_a_terminal_lines_now_and_then(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock = iter([0.0, 1.0, 31.0, 31.0, 40.0])
        monkeypatch.setattr("papers.progress.time.monotonic", lambda: next(clock))
        with progress(3) as display:
            display.expect(2)
            for name in "abc":
                display.advance(name)
            display.say("result")
        captured = capsys.readouterr()
        assert captured.err == "b: 2 of 5 fits\n"
        assert captured.out == "result\n"

    def test_on_a_terminal_the_result_still_goes_to_standard_output(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("rich")
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        with progress(2) as display:
            display.expect(2)
            display.advance("a")
            display.say("result")
        captured = capsys.readouterr()
        assert captured.out == "result\n"
        assert "a" in captured.err
