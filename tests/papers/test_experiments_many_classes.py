"""The tables of "Multi-Class Deep Boosting": what is fitted, how far the grids grow, what is kept."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import papers as experiments
from papers import protocol
from papers.protocol import Cell
from radboost import TreeOptions


class StandIn:
    """Looks like the estimator to the protocol; its deeper trees are better, up to depth 6."""

    fits: ClassVar[list[dict[str, Any]]] = []

    @classmethod
    def paper(cls, **parameters: Any) -> StandIn:
        cls.fits.append(parameters)
        model = cls()
        model.loss, model.objective_ = parameters["loss"], parameters["objective"]
        model.tree = DecisionTreeClassifier(max_depth=min(parameters["max_depth"], 6), random_state=0)
        model.ensemble_ = SimpleNamespace(hypotheses=[SimpleNamespace(n_nodes=7), SimpleNamespace(n_nodes=9)])
        return model

    def fit(self, X: Any, y: Any) -> StandIn:
        self.tree.fit(X, y)
        self.classes_ = self.tree.classes_
        return self

    def decision_function(self, X: Any) -> Any:
        return self.tree.predict_proba(X)

    def score(self, X: Any, y: Any) -> float:
        return float(self.tree.score(X, y))


class TestManyClasses:
    @pytest.fixture
    def many(self, tmp_path: Path) -> Path:
        """Small stand-ins: statlog with three classes on a grid, abalone with a text column and a class of one row."""
        rng = np.random.default_rng(2)
        a, b = rng.random((2, 160))
        lines = [f"{x:.3f},{y:.3f},{'abc'[int(4 * x + 4 * y) % 3]}" for x, y in zip(a, b, strict=True)]
        (tmp_path / "statlog.csv.gz").write_bytes(gzip.compress("\n".join(["x,y,target", *lines]).encode()))
        lines = [f"{'MFI'[i % 3]},{x:.3f},{9 if i == 7 else i % 3}" for i, x in enumerate(a)]
        (tmp_path / "abalone.csv.gz").write_bytes(gzip.compress("\n".join(["Sex,x,target", *lines]).encode()))
        return tmp_path

    @pytest.fixture
    def fits(self, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
        for name, table in experiments.TABLES.items():
            columns = tuple(replace(column, estimator=StandIn) for column in table.algorithms)
            monkeypatch.setitem(experiments.TABLES, name, replace(table, algorithms=columns))
        monkeypatch.setattr(StandIn, "fits", [])
        return StandIn.fits

    def test_a_depth_at_the_end_is_gone_beyond(self, many: Path, fits: list[dict[str, Any]]) -> None:
        table = experiments.table("multi-class-deep-boosting-2")
        more: list[int] = []
        counted: list[str] = []
        cells = list(
            protocol.reproduce(
                table, ["statlog"], data_dir=str(many), quick=True, expect=more.append, advance=counted.append
            )
        )
        assert [cell.algorithm for cell in cells] == ["AdaBoost.MR", "AdaBoost.MR-L1", "MDeepBoost"]
        # without penalties: depths 2 and 5, then as far as it helps
        depths = [fit["max_depth"] for fit in fits if fit["complexity_penalty"] == 0.0 == fit["l1_penalty"]]
        assert depths[:4] == [2, 2, 5, 5]
        assert max(depths) in (6, 7)
        assert len(counted) == len(fits) == protocol.count_fits(table, ["statlog"], quick=True) + sum(more)
        # the best of all tuples: its mean test error is the lowest
        assert all(cell.others["lowest"] <= cell.error <= cell.others["validated"] for cell in cells)
        assert cells[0].runs[0].parameters["max_depth"] == cells[0].runs[1].parameters["max_depth"] >= 5
        assert (cells[0].tree_size, cells[0].n_trees) == (8, 2)

    def test_errors_over_all_rows(self, many: Path, fits: list[dict[str, Any]]) -> None:
        table = experiments.table("multi-class-deep-boosting-2-all-rows")
        cell = next(protocol.reproduce(table, ["statlog"], data_dir=str(many), quick=True))
        assert cell.error == np.mean([run.overall_error for run in cell.runs])
        # rows that trained count too, and deep trees know them
        assert cell.error < cell.others["lowest"]
        assert set(cell.others) == set(experiments.RULES) - {"all rows"}

    def test_what_the_estimator_is_told(self, many: Path, fits: list[dict[str, Any]]) -> None:
        for number, objective, loss in ((1, "sum", "exponential"), (3, "compsum", "logistic")):
            fits.clear()
            table = experiments.table(f"multi-class-deep-boosting-{number}")
            cells = list(protocol.reproduce(table, ["abalone", "statlog"], data_dir=str(many), quick=True))
            assert {(fit["objective"], fit["loss"], fit["tree_options"].growth) for fit in fits} == {
                (objective, loss, "best_first")
            }
            assert all(fit["tree_options"].split_criterion == "edge" and fit["n_rounds"] == 100 for fit in fits)
            # the text column, of the one set that has one
            on_abalone = [cell.runs[0].parameters.get("categorical_features") for cell in cells]
            assert on_abalone == [[0]] * 3 + [None] * 3
            assert all(np.isfinite(run.validation_loss) for cell in cells for run in cell.runs)

    def test_kept_fits_are_not_made_again(self, many: Path, fits: list[dict[str, Any]], tmp_path: Path) -> None:
        file = tmp_path / "kept" / "fits.jsonl"

        def run(number: int) -> list[Cell]:
            table = experiments.table(f"multi-class-deep-boosting-{number}")
            kept = experiments.KeptResults(file)
            return list(protocol.reproduce(table, ["abalone"], data_dir=str(many), quick=True, kept=kept))

        first = run(1)
        made = len(fits)
        assert len(file.read_text().splitlines()) == made
        assert run(1) == first
        assert len(fits) == made
        # the second table makes the same fits, and may go beyond where the first did not
        second = run(2)
        assert len(fits) < made + 30
        assert second[0].others["validated"] == first[0].error
        assert first[0].others["hindsight"] == second[0].error

    @pytest.mark.parametrize("line", ["{", "3", '{"facts": 1}'])
    def test_a_broken_line_is_named(self, tmp_path: Path, line: str) -> None:
        file = tmp_path / "fits.jsonl"
        file.write_text('{"facts": {}, "result": {}}\n' + line)
        with pytest.raises(ValueError, match=f"line 2 of {file} is not a kept result"):
            experiments.KeptResults(file)

    def test_options_are_kept_by_their_fields(self, tmp_path: Path) -> None:
        kept = experiments.KeptResults(tmp_path / "fits.jsonl")
        kept.add({"options": TreeOptions(growth="best_first")}, {"error": 0.1})
        again = experiments.KeptResults(tmp_path / "fits.jsonl")
        assert again.get({"options": TreeOptions(growth="best_first")}) == {"error": 0.1}
        assert again.get({"options": TreeOptions()}) is None
        with pytest.raises(TypeError, match="cannot be written as JSON"):
            kept.add({"options": object()}, {})

    def test_losses_of_many_classes(self) -> None:
        scores = np.array([[0.0, 1.0, 2.0], [3.0, 0.5, 0.0], [1.0, 1.0, 1.0]])
        y = np.array(["c", "b", "unknown"])
        for objective, loss, expected in (
            ("sum", "exponential", [np.e ** (1 - 2) + np.e ** (1 - 1), np.e ** (1 + 2.5) + np.e ** (1 - 0.5)]),
            (
                "compsum",
                "logistic",
                [np.log2(1 + np.e**-1 + np.e**0), np.log2(1 + np.e**3.5 + np.e**0.5)],
            ),
        ):
            model: Any = SimpleNamespace(
                classes_=np.array(["a", "b", "c"]), loss=loss, objective_=objective, decision_function=lambda X: X
            )
            assert protocol._mean_loss(model, scores, y) == pytest.approx(np.mean(expected))

    @pytest.mark.parametrize(
        "name", ["multi-class-deep-boosting-1", "multi-class-deep-boosting-3", "multi-class-deep-boosting-objectives"]
    )
    def test_the_tables_run(self, name: str, many: Path) -> None:
        table = experiments.table(name)
        cells = list(protocol.reproduce(table, datasets=["statlog"], data_dir=str(many), quick=True, jobs=2))
        assert [cell.algorithm for cell in cells] == [algorithm.name for algorithm in table.algorithms]
        assert all(0 <= cell.error < 0.6 for cell in cells)
