"""What the parts of a table hold adds up to what the table holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from radboost._number_formats import MISSING_WORDS
from radboost.cli import cluster_columns
from radboost.cli.cells import as_texts, read_cells
from radboost.cli.cluster_columns import ColumnsToRead, PartSeen, look_at
from radboost.cli.cluster_parts import together
from radboost.cli.columns import choose_columns, decide_columns, table_of
from radboost.cli.reading import RawTable
from radboost.cli.rows import LabeledRows
from radboost.cli.targets import read_target
from radboost.model_file import ColumnSchema

N = 120


def whole() -> Any:
    """A column for each rule that decides about columns, and for each kind of target."""
    rng = np.random.default_rng(2)
    holes = rng.random(N) < 0.2
    return pa.table(
        {
            "row": pa.array(rng.permutation(N) + 5),
            "rows with a gap": pa.array(np.append(np.arange(N - 1), N)),
            "nearly rows": pa.array(np.append(np.arange(N - 1), 3.0)),
            "many": pa.array([f"t{k % 290}" for k in rng.integers(0, 9999, N)]),
            "id": pa.array([f"i{k}" for k in range(N)]),
            "same": pa.array(["x"] * N),
            "same or missing": pa.array(["x", None] * (N // 2)),
            "nothing": pa.nulls(N, pa.string()),
            "null": pa.nulls(N),
            "seven": pa.array([7.0] * N),
            "date": pa.array([f"2020-01-{1 + k % 28:02d}" for k in range(N)]),
            "flag": pa.array(["true", "FALSE"] * (N // 2)),
            "typed flag": pa.array(rng.random(N) < 0.5, mask=holes),
            "day": pa.array(np.datetime64("2020-01-01") + np.arange(N)),
            "code": pa.array(rng.integers(0, 4, N), mask=holes),
            "text": pa.array([f"c{k % 3}" for k in range(N)], mask=holes),
            "few": pa.array(rng.integers(0, 5, N)),
            "whole": pa.array(rng.integers(0, 999, N)),
            "fraction": pa.array(rng.random(N)),
            "class": pa.array(rng.choice(["a", "b", "c"], N)),
        }
    )


def seen_in_parts(table: Any, target: str, height: int) -> tuple[PartSeen, ColumnsToRead]:
    features = tuple(name for name in table.column_names if name != target)
    columns = ColumnsToRead(target, features, frozenset({"code"}), None, MISSING_WORDS)
    first, *others = [look_at(table.slice(start, height), columns) for start in range(0, table.num_rows, height)]
    for other in others:
        first.add(other)
    return first, columns


@pytest.mark.parametrize("height", [1, 7, 50, N])
def test_parts_decide_as_the_table_does(height: int) -> None:
    table = whole()
    seen, columns = seen_in_parts(table, "class", height)
    given = RawTable("t", table, as_text=False, decimal_comma=False, remarks=())
    choice = choose_columns(given, columns.features, columns.categorical, MISSING_WORDS)
    found = decide_columns(
        "t", {name: one.seen(name, seen.n_rows) for name, one in seen.columns.items()}, columns.categorical
    )
    assert found == (choice.table.columns, choice.left_out, choice.notes)


@pytest.mark.parametrize("target", ["few", "whole", "fraction", "class", "typed flag", "text"])
def test_parts_decide_on_the_target_as_the_table_does(target: str) -> None:
    table = whole()
    expected = read_target(
        read_cells(target, table.column(target), MISSING_WORDS, spelled=False, decimal_comma=False), None
    )
    for height in (1, 11, N):
        seen, _ = seen_in_parts(table, target, height)
        decided = seen.target.decide(target, None)
        assert (decided.task, decided.reason) == (expected.task, expected.reason)
        assert seen.n_without_target == N - len(expected.kept)


def test_more_different_values_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_columns, "MOST_DIFFERENT", 50)
    seen, _ = seen_in_parts(whole(), "whole", 30)
    assert {name for name, column in seen.columns.items() if column.too_many} == {"id", "many"}
    decided = seen.target.decide("whole", None)
    assert decided.reason == f"'whole' holds more than 50 different whole numbers in {N} rows"
    with pytest.raises(ValueError, match="too many to be classes"):
        seen.target.decide("whole", "classes")
    seen, _ = seen_in_parts(whole(), "fraction", 30)
    assert seen.target.decide("fraction", None).reason == "'fraction' holds numbers with fractions"
    seen, _ = seen_in_parts(whole(), "many", 30)
    with pytest.raises(ValueError, match="too many to be classes"):
        seen.target.decide("many", None)


def test_parts_together_show_what_the_table_does() -> None:
    texts = ["u", "x", None, "y", "x", "u", "z"]
    column = ColumnSchema("a", "category", ("u",))

    def part(first: int, last: int) -> LabeledRows:
        cells = read_cells("a", pa.array(texts[first:last], pa.string()), (), spelled=False, decimal_comma=False)
        rows = np.arange(first, last)
        return LabeledRows(table_of((column,), {"a": as_texts(cells)}), rows, None, rows)

    whole = together([part(0, 3), part(3, 5), part(5, 7)]).table.take(np.arange(7))
    assert whole.for_model("table", with_others=True)["a"].to_pylist() == texts
    assert whole.for_model("table")["a"].to_pylist() == ["u", *[None] * 4, "u", None]
