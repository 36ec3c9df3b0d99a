"""radboost.experiments: the tables of the papers and the protocol that runs them again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from radboost import DeepBoostClassifier, datasets, experiments
from radboost.experiments import protocol, report
from radboost.experiments.progress import progress
from radboost.experiments.protocol import Cell, Run
from radboost.experiments.spec import Algorithm, Figures, Table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small stand-in for the data set ionosphere: two overlapping classes, three columns."""
    rng = np.random.default_rng(1)
    lines = ["a,b,c,target"]
    for _ in range(80):
        a, b, c = rng.normal(size=3)
        label = "good" if a + b * b + 0.7 * rng.normal() > 0.8 else "bad"
        lines.append(f"{a:.3f},{b:.3f},{c:.3f},{label}")
    (tmp_path / "ionosphere.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return tmp_path


def small_table(**grid: tuple[float, ...]) -> Table:
    """One column of trees over that grid."""
    fixed = {"loss": "logistic", "family": "trees", "max_depth": 2, "complexity_penalty": 0.0}
    column = Algorithm("DeepBoost", fixed, dict(grid), dict(grid))
    return Table("small", "a test", (column,), "n_nodes", {"ionosphere": (Figures(0.3, 0.1, 5, 50),)})


class TestTables:
    def test_grids_of_section_4(self) -> None:
        sizes = {
            table.name: [len(algorithm.configurations()) for algorithm in table.algorithms]
            for table in experiments.TABLES.values()
        }
        assert sizes == {
            "deep-boosting-1": [1, 1, 7, 42],
            "deep-boosting-2": [6, 30, 150],
            "deep-boosting-3": [6, 30, 150],
        }
        stumps = experiments.table("deep-boosting-1").algorithms[3]
        assert sorted(stumps.grid["l1_penalty"]) == [2.0**-i for i in range(6, -1, -1)]
        assert stumps.grid["complexity_penalty"] == (0.0001, 0.005, 0.01, 0.05, 0.1, 0.5)
        trees = experiments.table("deep-boosting-3").algorithms[2]
        assert trees.grid["max_depth"] == (1, 2, 3, 4, 5, 6)
        assert trees.grid["l1_penalty"] == trees.grid["complexity_penalty"] == (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)

    @pytest.mark.parametrize("table", experiments.TABLES.values(), ids=experiments.TABLES)
    def test_coarse_grids_are_a_part_of_the_full_ones(self, table: Table) -> None:
        for algorithm in table.algorithms:
            full = algorithm.configurations()
            assert all(choice in full for choice in algorithm.configurations(quick=True))

    @pytest.mark.parametrize("table", experiments.TABLES.values(), ids=experiments.TABLES)
    def test_the_figures_are_complete(self, table: Table) -> None:
        assert table.datasets == (
            "breastcancer",
            "ionosphere",
            "german",
            "diabetes",
            "ocr17",
            "ocr49",
            "ocr17-mnist",
            "ocr49-mnist",
        )
        for name, figures in table.figures.items():
            assert datasets.entry(name).classes == 2
            assert len(figures) == len(table.algorithms)
            for figure in figures:
                assert 0 < figure.std < figure.error * 1.5
                assert figure.n_trees <= 100

    def test_the_paper_has_deepboost_first_or_level_everywhere(self) -> None:
        # the paper says so in its text, which makes it a check of the copied figures
        for table in experiments.TABLES.values():
            for figures in table.figures.values():
                assert figures[-1].error == min(figure.error for figure in figures)

    @pytest.mark.parametrize("table", experiments.TABLES.values(), ids=experiments.TABLES)
    def test_the_estimator_takes_every_configuration(self, table: Table) -> None:
        known = DeepBoostClassifier().get_params()
        for algorithm in table.algorithms:
            for choice in algorithm.configurations():
                assert set(choice) <= set(known)

    def test_unknown_table(self) -> None:
        with pytest.raises(ValueError, match="unknown table 'x'; known are deep-boosting-1, deep-boosting-2, "):
            experiments.table("x")


class TestFolds:
    def test_every_row_is_in_one_fold(self) -> None:
        folds = protocol.partition(103, seed=3)
        assert sorted(len(fold) for fold in folds) == [10] * 7 + [11] * 3
        assert sorted(np.concatenate(folds)) == list(range(103))

    def test_the_seed_decides(self) -> None:
        first, again, other = (np.concatenate(protocol.partition(50, seed)) for seed in (0, 0, 1))
        assert (first == again).all()
        assert (first != other).any()

    @pytest.mark.parametrize("run", range(10))
    def test_the_next_fold_validates(self, run: int) -> None:
        folds = protocol.partition(50, seed=0)
        train, validation, test = protocol.parts(folds, run)
        assert (test == folds[run]).all()
        assert (validation == folds[(run + 1) % 10]).all()
        assert sorted(np.concatenate([train, validation, test])) == list(range(50))


class TestChoice:
    @staticmethod
    def run_of(validation_error: float, tree_size: float, n_trees: int, name: str = "", loss: float = 1.0) -> Run:
        return Run(0, {"name": name}, validation_error, loss, 0.5, tree_size, n_trees)

    def test_the_lowest_validation_error_wins(self) -> None:
        best = self.run_of(0.1, 63, 100)
        assert protocol.choose([self.run_of(0.2, 3, 1), best, self.run_of(0.11, 3, 1)]) is best

    def test_then_the_lowest_validation_loss(self) -> None:
        sure = self.run_of(0.1, 63, 100, loss=0.2)
        assert protocol.choose([self.run_of(0.1, 3, 1), sure, self.run_of(0.2, 3, 1, loss=0.1)]) is sure

    def test_then_the_smallest_ensemble(self) -> None:
        small = self.run_of(0.1, 7, 10)
        assert protocol.choose([self.run_of(0.1, 3, 40), small, self.run_of(0.1, 31, 3)]) is small

    def test_then_the_first(self) -> None:
        assert protocol.choose([self.run_of(0.1, 3, 4, "a"), self.run_of(0.1, 4, 3, "b")]).parameters["name"] == "a"


class TestReproduce:
    def test_equals_the_protocol_written_out(self, folder: Path) -> None:
        table = small_table(l1_penalty=(0.0, 0.02, 0.1))
        (cell,) = protocol.reproduce(table, data_dir=str(folder), seed=5)
        data = datasets.load("ionosphere", folder)
        folds = np.array_split(np.random.default_rng(5).permutation(80), 10)
        errors, chosen, everything = [], [], []
        for i in range(10):
            train = np.concatenate([folds[j] for j in range(10) if j not in (i, (i + 1) % 10)])
            tried = []
            for position, beta in enumerate((0.0, 0.02, 0.1)):
                model = DeepBoostClassifier.paper(
                    loss="logistic", family="trees", max_depth=2, complexity_penalty=0.0, l1_penalty=beta
                ).fit(data.X[train], data.y[train])
                wrong = [np.mean(model.predict(data.X[f]) != data.y[f]) for f in (folds[(i + 1) % 10], folds[i])]
                nodes = sum(tree.n_nodes for tree in model.ensemble_.hypotheses)
                margins = np.where(data.y == "good", 1, -1) * model.decision_function(data.X)
                loss = np.mean(np.logaddexp(0, 1 - margins[folds[(i + 1) % 10]]))
                tried.append((wrong[0], loss, nodes, position, wrong[1], beta))
            errors.append(min(tried)[4])
            chosen.append(min(tried)[5])
            everything.append([(candidate[0], candidate[1], candidate[4]) for candidate in tried])
        assert [run.parameters["l1_penalty"] for run in cell.runs] == chosen
        assert [run.test_error for run in cell.runs] == pytest.approx(errors)
        assert cell.error == pytest.approx(np.mean(errors))
        means = np.mean(everything, axis=0).tolist()
        assert cell.together == pytest.approx(min(means)[2])
        assert cell.hindsight == pytest.approx(min(mean[2] for mean in means))
        assert cell.std == pytest.approx(np.std(errors))
        assert cell.paper == Figures(0.3, 0.1, 5, 50)

    def test_processes_change_nothing(self, folder: Path) -> None:
        table = small_table(l1_penalty=(0.0, 0.1))
        alone, together = (list(protocol.reproduce(table, data_dir=str(folder), jobs=jobs)) for jobs in (1, 2))
        assert alone == together

    def test_a_quick_run_is_a_part_of_the_full_one(self, folder: Path) -> None:
        table = small_table(l1_penalty=(0.0, 0.1))
        counted: list[str] = []
        (quick,) = protocol.reproduce(table, data_dir=str(folder), quick=True, advance=counted.append)
        (full,) = protocol.reproduce(table, data_dir=str(folder))
        assert quick.runs == full.runs[:3]
        assert counted == ["ionosphere"] * protocol.count_fits(table, quick=True) == ["ionosphere"] * 6

    def test_an_empty_ensemble_has_size_0(self, folder: Path) -> None:
        (cell,) = protocol.reproduce(small_table(l1_penalty=(1000.0,)), data_dir=str(folder), quick=True)
        assert (cell.tree_size, cell.n_trees) == (0, 0)
        assert 0 < cell.error < 1

    def test_sizes_count_splits_or_nodes(self, folder: Path) -> None:
        for table, expected in (("deep-boosting-1", 1), ("deep-boosting-2", 3)):
            spec = experiments.table(table)
            stumps = Algorithm("stumps", {"family": "stumps", "complexity_penalty": 0.0, "l1_penalty": 0.0}, {}, {})
            one = Table(table, "", (stumps,), spec.tree_size, {"ionosphere": (Figures(1, 1, 1, 1),)})
            (cell,) = protocol.reproduce(one, data_dir=str(folder), quick=True)
            assert cell.tree_size == expected
            assert cell.n_trees > 1

    @pytest.mark.parametrize("name", experiments.TABLES)
    def test_the_tables_run(self, name: str, folder: Path) -> None:
        table = experiments.table(name)
        cells = list(protocol.reproduce(table, datasets=["ionosphere"], data_dir=str(folder), quick=True, jobs=2))
        assert [cell.algorithm for cell in cells] == [algorithm.name for algorithm in table.algorithms]
        assert all(0 <= cell.error < 0.6 for cell in cells)

    def test_the_split_criterion_reaches_the_trees(self, folder: Path) -> None:
        (cell,) = protocol.reproduce(
            small_table(l1_penalty=(0.0,)), data_dir=str(folder), quick=True, split_criterion="gini"
        )
        assert cell.runs[0].parameters["split_criterion"] == "gini"

    def test_sets_by_any_of_their_names_in_the_order_of_the_table(self) -> None:
        table = experiments.table("deep-boosting-1")
        assert protocol.select(table, None) == table.datasets
        assert protocol.select(table, ["mnist17", "pima"]) == ("diabetes", "ocr17-mnist")
        assert protocol.count_fits(table, ["pima"]) == 10 * (1 + 1 + 7 + 42)
        with pytest.raises(ValueError, match=r"deep-boosting-1 lacks sonar, yeast; its sets are breastcancer"):
            protocol.select(table, ["sonar", "yeast", "german"])


class TestReport:
    cell = Cell(
        "german",
        "DeepBoost",
        (Run(0, {"l1_penalty": 0.5}, 0.2, 1.0, 0.24, 7.0, 10), Run(1, {"l1_penalty": 0.25}, 0.2, 1.0, 0.26, 9.0, 20)),
        0.255,
        0.245,
        Figures(0.234, 0.0148, 16.0, 14.1),
    )

    def test_a_row_has_ours_beside_the_papers(self) -> None:
        words = report.row(self.cell).split()
        assert words == [
            *("german", "DeepBoost", "0.2500", "(0.0100)", "0.2340", "(0.0148)"),
            *("no", "0.2550", "0.2450", "8", "16", "15.0", "14.1"),
        ]
        assert len(report.header().splitlines()[1]) == len(report.row(self.cell))

    def test_within_is_one_deviation_of_the_paper(self) -> None:
        assert not self.cell.within
        close = Cell("german", "DeepBoost", self.cell.runs, 0.255, 0.245, Figures(0.2352, 0.0148, 16.0, 14.1))
        assert close.within
        assert " yes " in report.row(close)

    def test_json_has_everything(self, tmp_path: Path) -> None:
        path = tmp_path / "out.json"
        path.write_text("old")
        report.write_json(path, {"seed": 3}, [self.cell])
        document = json.loads(path.read_text())
        assert document["seed"] == 3
        (cell,) = document["cells"]
        assert cell["error"] == pytest.approx(0.25)
        assert cell["paper"]["tree_size"] == 16.0
        assert cell["within"] is False
        assert cell["runs"][1]["parameters"] == {"l1_penalty": 0.25}
        assert list(tmp_path.iterdir()) == [path]


class TestProgress:
    def test_without_a_terminal_lines_now_and_then(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock = iter([0.0, 1.0, 31.0, 31.0, 40.0])
        monkeypatch.setattr("radboost.experiments.progress.time.monotonic", lambda: next(clock))
        with progress(3) as display:
            for name in "abc":
                display.advance(name)
            display.say("result")
        captured = capsys.readouterr()
        assert captured.err == "b: 2 of 3 fits\n"
        assert captured.out == "result\n"

    def test_on_a_terminal_the_result_still_goes_to_standard_output(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("rich")
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        with progress(2) as display:
            display.advance("a")
            display.say("result")
        captured = capsys.readouterr()
        assert captured.out == "result\n"
        assert "a" in captured.err
