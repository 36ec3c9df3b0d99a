"""`radboost fit` of several files: a table in parts, which are read together or one by one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest

import radboost
from command_tables import FAST as FEW_ROUNDS
from command_tables import decided, fails, fitted, summary, target_of, write_csv
from radboost.cli import cells, main, reading, source
from radboost.cli.cells import cells_of
from radboost.cli.columns import table_of
from radboost.cli.rows import LabeledRows
from radboost.cli.tables import RawTable
from radboost.cli.targets import decide_target
from radboost.model_file import ColumnSchema

FAST = ("--target", "answer", *FEW_ROUNDS, "--force")


def whole_table() -> Any:
    """The table of the tests of commands, with types."""
    return pyarrow.csv.read_csv(
        write_csv(Path("whole.csv")), convert_options=pyarrow.csv.ConvertOptions(null_values=["?"])
    )


def write_parts(table: Any, n_files: int = 3, group_rows: int = 10) -> list[str]:
    names = [f"part-{number}.parquet" for number in range(n_files)]
    height = -(-table.num_rows // n_files)
    for number, name in enumerate(names):
        parquet.write_table(table.slice(number * height, height), name, row_group_size=group_rows)
    return names


def test_files_are_one_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Row labels of pandas are no column, and files without rows are skipped."""
    table = whole_table()
    table.to_pandas().sample(frac=1, random_state=0).to_parquet("whole.parquet")
    assert parquet.read_schema("whole.parquet").names[-1] == "__index_level_0__"
    parts = [*write_parts(table), "empty.parquet"]
    table.to_pandas()[:0].to_parquet("empty.parquet")
    one = fitted(capsys, "whole.parquet", *FAST)
    assert "names of columns (id, size" in fails(capsys, "fit", "empty.parquet", *FAST)
    for limit in (reading.IN_MEMORY_BYTES, 0):
        monkeypatch.setattr(reading, "IN_MEMORY_BYTES", limit)
        assert fitted(capsys, *parts, *FAST) == {**one, "data": "part-0.parquet and 3 more files"}


def test_files_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    table = whole_table()
    first, second, _ = write_parts(table)
    parquet.write_table(table.drop_columns("size"), second)
    assert f"'size' is double in {first} and is missing in {second}" in fails(capsys, "fit", first, second, *FAST)
    changed = table.set_column(1, "size", table.column("size").cast(pa.string()))
    parquet.write_table(changed, second)
    assert f"'size' is double in {first} and is string in {second}" in fails(capsys, "fit", first, second, *FAST)
    assert "are not of one format" in fails(capsys, "fit", first, "whole.csv", *FAST)


N = 120


def every_rule() -> RawTable:
    """A column for each rule that decides about columns, and for each kind of target."""
    rng = np.random.default_rng(2)
    holes = rng.random(N) < 0.2
    columns = {
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
    return RawTable("t", pa.table(columns))


def hard_table() -> Any:
    """With copies of rows across files, rows without a target, categories, texts that spell dates, and weights."""
    table = pa.concat_tables([whole_table(), whole_table().slice(20, 30)])
    n = table.num_rows
    table = table.append_column("number", pa.array([None if k % 11 == 0 else k % 7 for k in range(n)], pa.int64()))
    table = table.append_column("row", pa.array(range(n)))
    table = table.append_column("day", pa.array([f"2020-01-{1 + k % 30:02d}" for k in range(n)]))
    table = table.append_column("kind", pa.array([f"k{k % 3}" for k in range(n)]).dictionary_encode())
    table = table.append_column("weight", pa.array([float(k % 4) for k in range(n)]))
    answers = [None if k % 13 == 0 else a for k, a in enumerate(table.column("answer").to_pylist())]
    return table.set_column(table.column_names.index("answer"), "answer", pa.array(answers))


CASES = {
    "classes": (*FAST, "--weights", "weight", "--categorical", "number"),
    "numbers": ("--target", "size", "--jobs", "1", "--set", "n_rounds=3", "--force", "--ignore", "id"),
    "groups": (*FAST, "--group", "kind"),
    "times": (*FAST, "--time", "day"),
    "folds": (*FAST, "--folds", "3"),
    "sparse": (*FAST[:2], "--estimator", "sparse", "--jobs", "1", "--force"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_parts_say_and_save_what_one_table_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    parts = write_parts(hard_table(), 4)
    expected = fitted(capsys, *parts, *CASES[case], "--out", "whole.rad")
    monkeypatch.setattr(reading, "IN_MEMORY_BYTES", 0)
    read = []
    take = RawTable.take
    monkeypatch.setattr(RawTable, "take", lambda self, rows: read.append(self.n_rows) or take(self, rows))
    found = fitted(capsys, *parts, *CASES[case], "--out", "parts.rad")
    assert max(read) <= 20
    assert {expected.pop("model"), found.pop("model")} == {"whole.rad", "parts.rad"}
    assert found == expected
    one, other = (radboost.load(name) for name in ("whole.rad", "parts.rad"))
    facts = [dict(model.schema_.facts) for model in (one, other)]
    assert [fact.pop("command").endswith("parts.rad --json") for fact in facts] == [False, True]
    assert facts[0] == facts[1]
    assert one.schema_.columns == other.schema_.columns
    assert getattr(one, "history_", None) == getattr(other, "history_", None)
    assert one.ensemble_.weights.tolist() == other.ensemble_.weights.tolist()


def test_a_folder_a_pattern_and_test_rows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    parts = write_parts(whole_table())
    whole = fitted(capsys, *parts, *FAST, "--test", parts[2])
    monkeypatch.setattr(reading, "IN_MEMORY_BYTES", 0)
    assert fitted(capsys, *parts, *FAST, "--test", parts[2]) == whole
    assert fitted(capsys, "*.parquet", *FAST, "--test", parts[2]) == {**whole, "data": "*.parquet"}
    Path("folder").mkdir()
    for part in parts:
        Path(part).rename(Path("folder", part))
    assert main(["fit", "folder", *FAST, "--report", "page.html", "--keep-judged"]) == 0
    assert "rows held out; most frequent class alone" in capsys.readouterr().out
    assert Path("page.html").stat().st_size > 10_000
    assert fitted(capsys, "folder", *FAST, "--holdout", "0")["verdict"] is None


def test_more_rows_than_the_evaluation_keeps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(source, "MOST_CELLS", 40)
    found = fitted(capsys, *write_parts(whole_table()), *FAST, "--holdout", "0.4")
    assert any(note.startswith("the verdict is about ") for note in found["notes"])
    assert any(note.startswith("the linear model and the baseline learn from ") for note in found["notes"])
    assert 2 <= found["verdict"]["rows"] <= 25
    assert found["fitted_to"] == "all rows"


def test_refusals_name_the_row_of_its_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    table = hard_table()
    weights = [1.0] * (table.num_rows - 1) + [-2.0]
    table = table.set_column(table.column_names.index("weight"), "weight", pa.array(weights))
    prices = [*(f"$ {1000 + row}.50" for row in range(table.num_rows - 1)), "?!"]
    table = table.append_column("price", pa.array(prices))
    parts = write_parts(table, 4)
    monkeypatch.setattr(reading, "IN_MEMORY_BYTES", 0)
    row = "row 30 of part-3.parquet"
    assert f"holds -2 in {row};" in fails(capsys, "fit", *parts, *FAST, "--weights", "weight")
    assert f"but for '?!' in {row}" in fails(capsys, "fit", *parts, "--target", "price", "--force")
    assert "holds '$ 1001.50' in row 2 of" in fails(capsys, "fit", *parts, *FAST, "--time", "price")


@pytest.mark.parametrize("height", [1, 7, 50])
def test_parts_decide_as_the_table_does(height: int) -> None:
    given = every_rule()
    assert decided(given, given.names, {"code"}, height) == decided(given, given.names, {"code"})


@pytest.mark.parametrize("target", ["few", "whole", "fraction", "class", "typed flag", "text"])
def test_parts_decide_on_the_target_as_the_table_does(target: str) -> None:
    given = every_rule()
    seen = [summary(given, target, height, all_numbers=True) for height in (N, 1, 11)]
    found = [decide_target(one, int(one.counts.sum()), None) for one in seen]
    assert len({(one.task, one.reason, str(one.classes)) for one in found}) == 1


def test_more_different_values_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_DIFFERENT", 50)
    given = every_rule()
    left_out = decided(given, given.names, (), 30)[1]
    assert {name for name, why in left_out.items() if "different texts, too many to tell apart" in why} == {
        "id",
        "many",
    }

    def of(target: str, task: str | None = None) -> str:
        return target_of(cells_of(given, target, ()), task).reason

    assert of("whole") == f"'whole' holds more than 50 different whole numbers in {N} rows"
    assert of("fraction") == "'fraction' holds numbers with fractions"
    for target, task in (("whole", "classes"), ("many", None)):
        with pytest.raises(ValueError, match="too many to be classes"):
            of(target, task)


def test_parts_together_show_what_the_table_does() -> None:
    texts = ["u", "x", None, "y", "x", "u", "z"]
    column = ColumnSchema("a", "category", ("u",))

    def part(first: int, last: int) -> LabeledRows:
        given, rows = RawTable("t", pa.table({"a": texts[first:last]})), np.arange(first, last)
        return LabeledRows(table_of((column,), "t", lambda _: cells_of(given, "a", ()))[0], rows, None, rows)

    whole = LabeledRows.joined([part(0, 3), part(3, 5), part(5, 7)]).table.take(np.arange(7))
    assert whole.for_model("table", with_others=True)["a"].to_pylist() == texts
    assert whole.for_model("table")["a"].to_pylist() == ["u", *[None] * 4, "u", None]


MEMORY = """
import sys

from radboost import DeepBoostClassifier
from radboost.cli.console import Console
from radboost.cli.options import FitOptions
from radboost.cli.source import RowSource
from radboost.cli.tables import ReadOptions

def kilobytes(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0])

given = dict.fromkeys(FitOptions.__dataclass_fields__, ()) | dict.fromkeys(("task", "weights", "group", "time"))
for path in sys.argv[1:]:  # a small table first, for what libraries load and keep
    options = FitOptions(**{**given, "data": (path,), "target": "y", "read": ReadOptions()})
    before = kilobytes("VmRSS")
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
    RowSource(options, Console(as_json=True)).prepared(DeepBoostClassifier(n_jobs=2))
print((kilobytes("VmHWM") - before) * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux counts the peak of memory anew")
def test_a_large_table_needs_its_bins_and_200_megabytes(tmp_path: Path) -> None:
    rng, n_rows, n_columns = np.random.default_rng(0), 5_000_000, 14
    numbers = {f"n{k}": rng.integers(0, 10 ** (k + 1), n_rows) for k in range(6)}
    words = pa.array([f"w{k}" for k in range(40)])
    texts = {f"t{k}": words.take(pa.array(rng.integers(0, 5 * (k + 1), n_rows))) for k in range(8)}
    table = pa.table({**numbers, **texts, "y": words.take(pa.array(rng.integers(0, 2, n_rows)))})
    parquet.write_table(table.slice(0, 1000), tmp_path / "small.parquet")
    parquet.write_table(table, tmp_path / "large.parquet")
    files = [str(tmp_path / name) for name in ("small.parquet", "large.parquet")]
    run = subprocess.run([sys.executable, "-c", MEMORY, *files], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) <= n_rows * n_columns + 200e6
