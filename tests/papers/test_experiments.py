"""papers: the tables of the papers and the protocol that runs them again."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student_t

import papers as experiments
from papers import datasets, protocol
from papers.protocol import Run
from papers.spec import Algorithm, Figures, Grid, Table
from radboost import DeepBoostClassifier

# Table 4 of "Multi-Class Deep Boosting": classes, examples, features
TABLE_4 = {
    "abalone": (29, 4177, 8),
    "handwritten": (10, 5620, 64),
    "letters": (26, 20000, 16),
    "pageblocks": (5, 5473, 10),
    "pendigits": (10, 10992, 16),
    "satimage": (6, 6435, 36),
    "statlog": (7, 2310, 19),
    "yeast": (10, 1484, 8),
}


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
            "deep-boosting-2-first-code": [30, 150],
            "deep-boosting-3": [6, 30, 150],
            "multi-class-deep-boosting-1": [5, 30, 180],
            "multi-class-deep-boosting-2": [5, 30, 180],
            "multi-class-deep-boosting-3": [5, 30, 180],
            "multi-class-deep-boosting-2-all-rows": [5, 30, 180],
            "multi-class-deep-boosting-3-all-rows": [5, 30, 180],
            "multi-class-deep-boosting-objectives": [9, 9, 9, 9],
        }
        stumps = experiments.table("deep-boosting-1").algorithms[3]
        assert sorted(stumps.grid["l1_penalty"]) == [2.0**-i for i in range(6, -1, -1)]
        assert stumps.grid["complexity_penalty"] == (0.0001, 0.005, 0.01, 0.05, 0.1, 0.5)
        trees = experiments.table("deep-boosting-3").algorithms[2]
        assert trees.grid["max_depth"] == (1, 2, 3, 4, 5, 6)
        assert trees.grid["l1_penalty"] == trees.grid["complexity_penalty"] == (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
        multi = experiments.table("multi-class-deep-boosting-1").algorithms[2]
        assert multi.grid["max_depth"] == (1, 2, 3, 4, 5)
        assert multi.grid["l1_penalty"] == multi.grid["complexity_penalty"] == (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)

    @pytest.mark.parametrize("table", experiments.TABLES.values(), ids=experiments.TABLES)
    def test_coarse_grids_are_a_part_of_the_full_ones(self, table: Table) -> None:
        for algorithm in table.algorithms:
            full = algorithm.configurations()
            assert all(choice in full for choice in algorithm.configurations(quick=True))

    @pytest.mark.parametrize("table", experiments.TABLES.values(), ids=experiments.TABLES)
    def test_ranges_grow_along_values_that_hold_the_grid(self, table: Table) -> None:
        for algorithm in table.algorithms:
            for name, values in algorithm.beyond.items():
                assert list(values) in (sorted(values), sorted(values, reverse=True))
                assert {*algorithm.grid[name], *algorithm.coarse[name]} <= set(values)

    @pytest.mark.parametrize("table", experiments.TABLES.values(), ids=experiments.TABLES)
    def test_the_figures_are_complete(self, table: Table) -> None:
        two = ("breastcancer", "ionosphere", "german", "diabetes", "ocr17", "ocr49", "ocr17-mnist", "ocr49-mnist")
        assert table.datasets == (tuple(TABLE_4) if table.name.startswith("multi") else two)
        for figures in table.figures.values():
            assert len(figures) == len(table.algorithms)
            for figure in figures:
                if figure is None:
                    assert table.name == "multi-class-deep-boosting-objectives"
                    continue
                assert 0 < figure.std < figure.error * 1.5
                assert figure.n_trees is None or 0 < figure.n_trees <= 100
                assert (figure.n_trees is None) == (figure.tree_size is None)

    def test_the_sets_of_the_second_paper_are_ours(self) -> None:
        for name, described in TABLE_4.items():
            entry = datasets.entry(name)
            classes = entry.classes + (name == "abalone")  # one of its 29 classes has no rows
            assert (classes, entry.rows, entry.features) == described

    def test_the_paper_has_deepboost_first_or_level_everywhere(self) -> None:
        # the papers say so in their text, which makes it a check of the copied figures
        for table in experiments.TABLES.values():
            for name, figures in table.figures.items():
                if None not in figures and (table.name, name) != ("multi-class-deep-boosting-1", "satimage"):
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
        folds = protocol.partition(103, 10, seed=3)
        assert sorted(len(fold) for fold in folds) == [10] * 7 + [11] * 3
        assert sorted(np.concatenate(folds)) == list(range(103))

    def test_the_seed_decides(self) -> None:
        first, again, other = (np.concatenate(protocol.partition(50, 10, seed)) for seed in (0, 0, 1))
        assert (first == again).all()
        assert (first != other).any()

    @pytest.mark.parametrize("n_folds", [4, 10])
    def test_the_next_fold_validates(self, n_folds: int) -> None:
        folds = protocol.partition(50, n_folds, seed=0)
        for run in range(n_folds):
            self.check(folds, run)

    @staticmethod
    def check(folds: list[protocol.Rows], run: int) -> None:
        train, validation, test = protocol.parts(folds, run)
        assert (test == folds[run]).all()
        assert (validation == folds[(run + 1) % len(folds)]).all()
        assert sorted(np.concatenate([train, validation, test])) == list(range(50))


class TestChoice:
    @staticmethod
    def run_of(validation_error: float, tree_size: float, n_trees: int, name: str = "", loss: float = 1.0) -> Run:
        return Run(0, {"name": name}, validation_error, loss, 0.5, tree_size, n_trees)

    @staticmethod
    def choose(*candidates: Run) -> Run:
        """What one run chooses by validation."""
        (chosen,) = protocol.RULES["validated"].choose([(candidate,) for candidate in candidates])
        return chosen

    def test_the_lowest_validation_error_wins(self) -> None:
        best = self.run_of(0.1, 63, 100)
        assert self.choose(self.run_of(0.2, 3, 1), best, self.run_of(0.11, 3, 1)) is best

    def test_then_the_lowest_validation_loss(self) -> None:
        sure = self.run_of(0.1, 63, 100, loss=0.2)
        assert self.choose(self.run_of(0.1, 3, 1), sure, self.run_of(0.2, 3, 1, loss=0.1)) is sure

    def test_then_the_smallest_ensemble(self) -> None:
        small = self.run_of(0.1, 7, 10)
        assert self.choose(self.run_of(0.1, 3, 40), small, self.run_of(0.1, 31, 3)) is small

    def test_then_the_first(self) -> None:
        assert self.choose(self.run_of(0.1, 3, 4, "a"), self.run_of(0.1, 4, 3, "b")).parameters["name"] == "a"

    def test_rules_choose_for_each_run_or_for_all(self) -> None:
        # validation and test error of three configurations in two runs
        errors = {"a": [(0.1, 0.5), (0.5, 0.2)], "b": [(0.2, 0.4), (0.2, 0.4)], "c": [(0.9, 0.3), (0.9, 0.3)]}
        tried = [
            tuple(Run(i, {"name": name}, validation, 1.0, test, 3, 1) for i, (validation, test) in enumerate(runs))
            for name, runs in errors.items()
        ]
        chosen = {
            rule: "".join(run.parameters["name"] for run in protocol.RULES[rule].choose(tried))
            for rule in protocol.RULES
        }
        # nothing is said of all rows: the smallest ensemble, then the first
        assert chosen == {"validated": "ab", "together": "bb", "hindsight": "cc", "lowest": "ca", "all rows": "aa"}

    def test_the_rule_of_all_rows_chooses_and_reports_their_error(self) -> None:
        errors = {"a": [(0.1, 0.3), (0.1, 0.4)], "b": [(0.5, 0.05), (0.5, 0.1)]}  # test, all rows
        tried = [
            tuple(Run(i, {"name": name}, 0.2, 1.0, test, 3, 1, overall) for i, (test, overall) in enumerate(runs))
            for name, runs in errors.items()
        ]
        assert [run.parameters["name"] for run in protocol.RULES["all rows"].choose(tried)] == ["b", "b"]
        assert protocol.RULES["all rows"].report(tried) == pytest.approx(0.075)
        assert protocol.RULES["hindsight"].report(tried) == pytest.approx(0.1)


class TestRangesThatGrow:
    algorithm = Algorithm(
        "one",
        {"loss": "logistic"},
        {"depth": (2, 3, 4), "penalty": (0.1, 0.01)},
        {},
        {"depth": (1, 2, 3, 4, 5), "penalty": (1.0, 0.1, 0.01)},
    )

    def widen(self, grid: Grid, **errors: float) -> Grid:
        """The wider grid when these depths have these errors, and all others 1."""
        return self.algorithm.widen(grid, lambda choice: errors.get(f"depth{choice['depth']}", 1.0))

    def test_one_more_value_at_the_end_that_is_best(self) -> None:
        grid = {"depth": (2, 3, 4), "penalty": (1.0, 0.1, 0.01)}
        assert self.widen(grid, depth4=0.5)["depth"] == (2, 3, 4, 5)
        assert self.widen(grid, depth2=0.5)["depth"] == (2, 3, 4, 1)
        assert self.widen(grid, depth2=0.5, depth4=0.5)["depth"] == (2, 3, 4, 1, 5)

    def test_a_best_value_inside_ends_it(self) -> None:
        grid = {"depth": (2, 3, 4), "penalty": (1.0, 0.1, 0.01)}
        assert self.widen(grid, depth3=0.5) == grid
        assert self.widen(grid, depth3=0.5, depth4=0.5) == grid
        assert self.widen(grid) == grid

    def test_the_values_that_a_range_may_grow_to_end_it_too(self) -> None:
        grid = {"depth": (2, 3, 4, 5), "penalty": (1.0, 0.1, 0.01)}
        assert self.widen(grid, depth5=0.5) == grid

    def test_a_range_of_two_grows_until_it_has_an_inside(self) -> None:
        grid = {"depth": (2, 3, 4), "penalty": (0.1, 0.01)}
        wider = self.algorithm.widen(grid, lambda choice: choice["penalty"])
        assert wider == {"depth": (2, 3, 4), "penalty": (0.1, 0.01)}
        wider = self.algorithm.widen(grid, lambda choice: -choice["penalty"])
        assert wider == {"depth": (2, 3, 4), "penalty": (0.1, 0.01, 1.0)}

    def test_the_other_parameters_are_at_their_best(self) -> None:
        # depth 4 is best with one penalty, and worst with the other
        grid = {"depth": (2, 3, 4), "penalty": (1.0, 0.1, 0.01)}
        best = {(4, 0.1): 0.1, (4, 1.0): 9.0}
        wider = self.algorithm.widen(grid, lambda choice: best.get((choice["depth"], choice["penalty"]), 1.0))
        assert wider == {"depth": (2, 3, 4, 5), "penalty": (1.0, 0.1, 0.01)}


class TestReproduce:
    def test_equals_the_protocol_written_out(self, folder: Path) -> None:
        table = small_table(l1_penalty=(0.0, 0.02, 0.1))
        (cell,) = protocol.reproduce(table, data_dir=str(folder), seed=5)
        data = datasets.load("ionosphere", folder)
        folds = np.array_split(np.random.default_rng(5).permutation(80), 10)
        errors, chosen, everything, overall = [], [], [], []
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
                of_all = np.mean(model.predict(data.X) != data.y)
                tried.append((wrong[0], loss, nodes, position, wrong[1], beta, of_all))
            errors.append(min(tried)[4])
            chosen.append(min(tried)[5])
            overall.append([candidate[6] for candidate in tried])
            everything.append([(candidate[0], candidate[1], candidate[4]) for candidate in tried])
        assert [run.parameters["l1_penalty"] for run in cell.runs] == chosen
        assert [run.test_error for run in cell.runs] == pytest.approx(errors)
        assert cell.error == pytest.approx(np.mean(errors))
        means = np.mean(everything, axis=0).tolist()
        assert cell.others == pytest.approx(
            {
                "together": min(means)[2],
                "hindsight": min(mean[2] for mean in means),
                "lowest": np.mean([min(error for _, _, error in run) for run in everything]),
                "all rows": np.mean(overall, axis=0).min(),
            }
        )
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

    def test_as_many_runs_as_are_wanted(self, folder: Path) -> None:
        table = small_table(l1_penalty=(0.0, 0.1))
        (four,) = protocol.reproduce(table, data_dir=str(folder), quick=True, runs=4)
        (full,) = protocol.reproduce(table, data_dir=str(folder))
        assert four.runs == full.runs[:4]
        assert protocol.count_fits(table, runs=4) == 8
        with pytest.raises(ValueError, match="small has 10 runs and not 11; ask for 1 to 10"):
            table.runs(wanted=11)

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

    @pytest.mark.parametrize("name", [name for name in experiments.TABLES if name.startswith("deep")])
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


class TestPairedTests:
    @staticmethod
    def cell(dataset: str, algorithm: str, errors: list[float]) -> protocol.Cell:
        runs = tuple(Run(i, {}, 0.2, 1.0, error, 3, 1) for i, error in enumerate(errors))
        return protocol.Cell(dataset, algorithm, runs, {}, None)

    def test_the_favourite_against_each_other(self) -> None:
        table = experiments.table("deep-boosting-2")
        rng = np.random.default_rng(0)
        errors = {name: rng.normal(0.2, 0.02, 10).tolist() for name in ("AdaBoost", "AdaBoost-L1", "DeepBoost")}
        errors["DeepBoost"] = (np.array(errors["DeepBoost"]) - 0.01).tolist()
        cells = [self.cell("german", name, values) for name, values in errors.items()]
        cells.append(self.cell("ocr17", "AdaBoost", errors["AdaBoost"]))  # not complete yet
        found = protocol.paired_tests(table, cells)
        assert [(t.dataset, t.algorithm, t.against) for t in found] == [
            ("german", "DeepBoost", "AdaBoost"),
            ("german", "DeepBoost", "AdaBoost-L1"),
        ]
        for test in found:
            difference = np.array(errors["DeepBoost"]) - errors[test.against]
            t = difference.mean() / (difference.std(ddof=1) / np.sqrt(10))
            assert test.p_value == pytest.approx(student_t.cdf(t, df=9))

    def test_equal_errors_say_nothing_and_one_run_has_no_test(self) -> None:
        table = experiments.table("multi-class-deep-boosting-objectives")
        same = [self.cell("yeast", name, [0.4, 0.5]) for name in ("Sum", "Max")]
        assert [(t.algorithm, t.against, t.p_value) for t in protocol.paired_tests(table, same)] == [
            ("Sum", "Max", 0.5)
        ]
        assert protocol.paired_tests(table, [self.cell("yeast", name, [0.4]) for name in ("Sum", "Max")]) == []
