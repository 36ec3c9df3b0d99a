"""Tables of "Deep Boosting" and "Multi-Class Deep Boosting": grids, the protocol, the rules of choice."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from papers import datasets, grid_tables
from papers.__main__ import studies
from papers.deep_boosting import DeepBoostingTable, Margins, TreeSizes
from papers.grid_tables import RULES, Column, GridTable, tried_by
from papers.harness import Grid, Outcome, Result, run
from papers.multi_class_deep_boosting import MultiClassTable
from radboost import DeepBoostClassifier

STUDIES: dict[str, Any] = studies()
TABLES = {name: study for name, study in STUDIES.items() if isinstance(study, GridTable)}
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


def test_grids_of_section_4() -> None:
    sizes = {name: [len(one.choices(one.grid)) for one in table.algorithms] for name, table in TABLES.items()}
    assert sizes == {
        "deep-boosting-1": [1, 1, 7, 42],
        "deep-boosting-2": [6, 30, 150],
        "deep-boosting-3": [6, 30, 150],
        "multi-class-deep-boosting-1": [5, 30, 180],
        "multi-class-deep-boosting-2": [5, 30, 180],
        "multi-class-deep-boosting-2-rounds": [35, 210, 1260],
        "multi-class-deep-boosting-3": [5, 30, 180],
        "multi-class-deep-boosting-objectives": [9, 9, 9, 9],
    }
    known = {*DeepBoostClassifier().get_params(), "growth"}
    for column in (column for table in TABLES.values() for column in table.algorithms):
        full = column.choices(column.grid)
        assert all(choice in full for choice in column.choices(column.coarse))
        assert all(set(choice) <= known for choice in full)
        for name, values in column.beyond.items():
            assert list(values) in (sorted(values), sorted(values, reverse=True))
            assert {*column.grid[name], *column.coarse[name]} <= set(values)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_papers_figures(table: GridTable) -> None:
    """The favorite of the papers is first or level nearly everywhere, which checks the copied figures."""
    for name, (classes, rows, features) in TABLE_4.items():
        entry = datasets.entry(name)
        # one of abalone's 29 classes has no rows
        assert (entry.classes + (name == "abalone"), entry.rows, entry.features) == (classes, rows, features)
    two = ("breastcancer", "ionosphere", "german", "diabetes", "ocr17", "ocr49", "ocr17-mnist", "ocr49-mnist")
    assert table.datasets == (tuple(TABLE_4) if isinstance(table, MultiClassTable) else two)
    for name in table.datasets:
        rows = [table.figures[name, column.name] for column in table.algorithms if (name, column.name) in table.figures]
        assert len(rows) == (0 if table.name.endswith("objectives") else len(table.algorithms))
        assert all(0 < float(row["std"]) < 1.5 * float(row["error"]) for row in rows)
        if rows and (table.table, name) != ("1", "satimage"):
            assert float(rows[-1]["error"]) == min(float(row["error"]) for row in rows)


def result(name: str, error: float, size: float = 3, trees: int = 1, loss: float = 1.0, **others: float) -> Result:
    sizes = {"tree_size": size, "n_trees": trees}
    return {"name": name, "validation_error": error, "validation_loss": loss, "test_error": 0.5, **sizes, **others}


def test_ties_are_decided_by_loss_then_size_then_order() -> None:
    def chosen(*candidates: Result) -> str:
        return str(RULES["validated"].choose([(one,) for one in candidates])[0]["name"])

    assert chosen(result("a", 0.2), result("b", 0.1, 63, 100), result("c", 0.11)) == "b"
    assert chosen(result("a", 0.1), result("b", 0.1, 63, 100, loss=0.2), result("c", 0.2, loss=0.1)) == "b"
    assert chosen(result("a", 0.1, 3, 40), result("b", 0.1, 7, 10), result("c", 0.1, 31, 3)) == "b"
    assert chosen(result("a", 0.1, 3, 4), result("b", 0.1, 4, 3)) == "a"


def test_rules_choose_for_each_run_or_for_all() -> None:
    # validation and test error of three configurations in two runs
    errors = {"a": [(0.1, 0.5), (0.5, 0.2)], "b": [(0.2, 0.4), (0.2, 0.4)], "c": [(0.9, 0.3), (0.9, 0.3)]}
    tried = [[result(name, error, test_error=test) for error, test in runs] for name, runs in errors.items()]
    chosen = {name: "".join(one["name"] for one in rule.choose(tried)) for name, rule in RULES.items()}
    assert chosen == {"validated": "ab", "together": "bb", "hindsight": "cc", "lowest": "ca"}
    assert RULES["hindsight"].errors(tried) == [0.3, 0.3]


COLUMN = Column(
    "one",
    {"loss": "logistic"},
    {"depth": (2, 3, 4), "penalty": (0.1, 0.01)},
    {},
    {"depth": (1, 2, 3, 4, 5), "penalty": (1.0, 0.1, 0.01)},
)


@pytest.mark.parametrize(
    ("depths", "best", "wider"),
    [
        ((2, 3, 4), {4: 0.5}, (2, 3, 4, 5)),
        ((2, 3, 4), {2: 0.5}, (2, 3, 4, 1)),
        ((2, 3, 4), {2: 0.5, 4: 0.5}, (2, 3, 4, 1, 5)),
        ((2, 3, 4), {3: 0.5, 4: 0.5}, (2, 3, 4)),
        ((2, 3, 4), {}, (2, 3, 4)),
        ((2, 3, 4, 5), {5: 0.5}, (2, 3, 4, 5)),
        ((2, 3), {3: 0.5}, (2, 3, 4)),
    ],
)
def test_a_range_grows_while_an_end_is_best(depths: tuple[int, ...], best: Any, wider: tuple[int, ...]) -> None:
    grid: Grid = {"depth": depths, "penalty": (1.0, 0.1, 0.01)}
    assert COLUMN.widen(grid, lambda choice: best.get(choice["depth"], 1.0))["depth"] == wider
    # the other parameters are at their best
    assert COLUMN.widen(grid, lambda choice: best.get(choice["depth"], 1.0) + choice["penalty"])["depth"] == wider


def test_a_table_is_the_protocol_written_out(folder: str) -> None:
    fixed = {"loss": "logistic", "family": "trees", "max_depth": 2, "complexity_penalty": 0.0}
    column = Column("DeepBoost", fixed, {"l1_penalty": (0.0, 0.02, 0.1)}, {})
    table = DeepBoostingTable("small", "a test", "2", (column,))
    outcomes = run(table, table.wanted(["ionosphere"], runs=4, seed=5), data_dir=folder)
    data = datasets.load("ionosphere", folder)
    folds = np.array_split(np.random.default_rng(5).permutation(90), 10)
    tried = []
    for i in range(4):
        train = np.concatenate([folds[j] for j in range(10) if j not in (i, i + 1)])
        for position, beta in enumerate((0.0, 0.02, 0.1)):
            model = DeepBoostClassifier.paper(**fixed, l1_penalty=beta).fit(data.X[train], data.y[train])
            validation, test = (np.mean(model.predict(data.X[f]) != data.y[f]) for f in (folds[i + 1], folds[i]))
            margins = np.where(data.y == "good", 1, -1) * model.decision_function(data.X)
            loss = np.mean(np.logaddexp(0, 1 - margins[folds[i + 1]]))
            nodes = sum(tree.n_nodes for tree in model.ensemble_.hypotheses)
            tried.append((i, validation, loss, nodes, position, test))
    expected = [min(one[1:] for one in tried if one[0] == i)[4] for i in range(4)]
    of_column = list(tried_by(outcomes, "ionosphere", column).values())
    assert RULES["validated"].errors(of_column) == pytest.approx(expected)
    by_position = [[one[5] for one in tried if one[4] == position] for position in range(3)]
    assert np.mean(RULES["hindsight"].errors(of_column)) == pytest.approx(np.mean(by_position, axis=1).min())
    (row,) = table.rows(outcomes)
    cells = dict(zip(table.columns, row, strict=True))
    assert cells["error (std)"] == f"{np.mean(expected):.4f} ({np.std(expected):.4f})"
    assert (cells["paper (std)"], cells["paper size"], cells["paper trees"]) == ("0.0501 (0.0316)", "26.1", "50.0")
    assert cells["within"] == ("yes" if np.mean(expected) <= 0.0501 + 0.0316 else "no")
    assert float(cells["lowest"]) <= float(cells["hindsight"])


def test_grids_grow_with_the_results(folder: str) -> None:
    fixed = {"objective": "sum", "loss": "exponential", "growth": "best_first", "complexity_penalty": 0.0}
    depths = (1, 2, 3, 4, 5, 6)
    column = Column("deeper", fixed, {"max_depth": (1, 2)}, {"max_depth": (1, 2)}, {"max_depth": depths})
    table = MultiClassTable("small", "a test", "2", (column,), "hindsight")
    outcomes = run(table, table.wanted(["statlog"], quick=True), data_dir=folder)
    tried = tried_by(outcomes, "statlog", column)
    assert len(tried) > 2
    assert all(len(runs) == 2 for runs in tried.values())
    assert [json.loads(choice)["max_depth"] for choice in tried] == list(depths[: len(tried)])
    errors = [RULES["hindsight"].means(runs)[0] for runs in tried.values()]
    # it grew while the last depth was better than all others, and no further
    assert all(errors[k] < min(errors[1:k], default=np.inf) for k in range(1, len(errors) - 1))
    assert len(tried) == len(depths) or errors[-1] >= min(errors[1:-1])
    row = dict(zip(table.columns, table.rows(outcomes)[0], strict=True))
    assert row["error (std)"].split()[0] == f"{min(errors):.4f}" == row["hindsight"]


@pytest.mark.parametrize(
    ("objective", "loss", "expected"),
    [
        ("sum", "exponential", [np.e**-1 + np.e**0, np.e**3.5 + np.e**0.5]),
        ("compsum", "logistic", [np.log2(1 + np.e**-1 + np.e**0), np.log2(1 + np.e**3.5 + np.e**0.5)]),
    ],
)
def test_losses_of_many_classes(objective: str, loss: str, expected: list[float]) -> None:
    scores, y = np.array([[0.0, 1.0, 2.0], [3.0, 0.5, 0.0], [1.0, 1.0, 1.0]]), np.array(["c", "b", "unknown"])
    model: Any = SimpleNamespace(
        classes_=np.array(["a", "b", "c"]), loss=loss, objective_=objective, decision_function=lambda X: X
    )
    assert grid_tables.mean_loss(model, scores, y) == pytest.approx(np.mean(expected))


@pytest.mark.slow
def test_the_ensembles_of_the_figures_are_those_of_table_2(folder: str) -> None:
    margins, sizes, table = STUDIES["deep-boosting-fig4"], STUDIES["deep-boosting-fig3"], TABLES["deep-boosting-2"]
    assert isinstance(margins, Margins)
    assert isinstance(sizes, TreeSizes)
    shared = [facts for facts in margins.wanted() if facts["algorithm"] == "DeepBoost"]
    assert shared == sizes.wanted()
    facts = margins.wanted(quick=True, seed=2)[1]
    found = margins.fit(facts, folder)
    small = replace(table, algorithms=table.algorithms[1:2])
    outcomes = run(small, small.wanted(["ionosphere"], quick=True, runs=1, seed=2), data_dir=folder)
    (chosen,) = RULES["validated"].choose(list(tried_by(outcomes, "ionosphere", small.algorithms[0]).values()))
    assert found["test_error"] == chosen["test_error"]
    assert np.mean(found["sizes"]) == pytest.approx(chosen["tree_size"])
    assert len(found["margins"]) == 72
    assert np.mean(np.array(found["margins"]) <= 0) < 0.2


def test_sizes_and_margins_are_summed_up() -> None:
    def outcome(
        algorithm: str, run_index: int, sizes: list[int], weights: list[float], margins: list[float]
    ) -> Outcome:
        found = {"sizes": sizes, "weights": weights, "margins": margins, "test_error": 0.1}
        return Outcome({"algorithm": algorithm, "run": run_index}, found)

    two = [outcome("DeepBoost", 0, [3, 3, 7], [1.0, 2.0, 1.0], [0.1]), outcome("DeepBoost", 1, [7], [5.0], [0.2])]
    assert STUDIES["deep-boosting-fig3"].rows(two) == [["3", "1.0", "33.3%", "37.5%"], ["7", "1.0", "66.7%", "62.5%"]]
    three = [
        outcome("AdaBoost", 0, [3], [1.0], [-0.2, 0.0, 0.2, 0.4, 0.6]),
        outcome("AdaBoost-L1", 0, [3, 5], [1.0, 1.0], [0.1, 0.1, 0.3, 0.3, 0.3]),
        outcome("DeepBoost", 0, [], [], [0.5] * 5),
    ]
    rows = STUDIES["deep-boosting-fig4"].rows(three)
    assert rows[0] == ["AdaBoost", "-0.200", "0.000", "0.200", "0.400", "0.200", "0.1000", "1.0", "3.0"]
    assert [row[-2:] for row in rows[1:]] == [["2.0", "4.0"], ["0.0", "0.0"]]
