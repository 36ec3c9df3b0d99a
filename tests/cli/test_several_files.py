"""`radboost fit` of several files: a table that stands in parts, in memory and on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest

import radboost
from command_tables import fails, fitted, write_csv
from radboost import RGBRegressor, SoftmaxBoostClassifier
from radboost.cli import cluster_rows, clusters, main

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore:Port")

FAST = ("--target", "answer", "--estimator", "softmax", "--jobs", "1", "--force")


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers exchange several times in each, which takes milliseconds."""
    monkeypatch.setattr(radboost, "SoftmaxBoostClassifier", partial(SoftmaxBoostClassifier, 2, calibration=None))
    monkeypatch.setattr(radboost, "RGBRegressor", partial(RGBRegressor, 3))


def whole_table(folder: Path) -> Any:
    """The table of the tests of commands, with types."""
    return pyarrow.csv.read_csv(
        write_csv(folder / "whole.csv"), convert_options=pyarrow.csv.ConvertOptions(null_values=["?"])
    )


def write_parts(table: Any, n_files: int = 3, group_rows: int = 10) -> list[str]:
    names = [f"part-{number}.parquet" for number in range(n_files)]
    height = -(-table.num_rows // n_files)
    for number, name in enumerate(names):
        parquet.write_table(table.slice(number * height, height), name, row_group_size=group_rows)
    return names


def test_files_are_one_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = whole_table(tmp_path)
    parquet.write_table(table, "whole.parquet")
    parts = write_parts(table)
    one, several = fitted(capsys, "whole.parquet", *FAST), fitted(capsys, *parts, *FAST)
    assert several.pop("data") == "part-0.parquet and 2 more files"
    assert one.pop("data") == "whole.parquet"
    assert one == several


def test_files_that_differ(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = whole_table(tmp_path)
    first, second, _ = write_parts(table)
    parquet.write_table(table.drop_columns("size"), second)
    assert f"{first} has a column 'size', and {second} has none" in fails(capsys, "fit", first, second, *FAST)
    changed = table.set_column(1, "size", table.column("size").cast(pa.string()))
    parquet.write_table(changed, second)
    assert f"'size' holds double in {first}, and string in {second}" in fails(capsys, "fit", first, second, *FAST)
    assert "are not of one format" in fails(capsys, "fit", first, "whole.csv", *FAST)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster of two workers, which are threads of this process."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp://"
    ) as local:
        yield local.scheduler_address


def hard_table(folder: Path) -> Any:
    """With copies of rows across files, rows without a target, categories, texts that spell dates, and weights."""
    table = pa.concat_tables([whole_table(folder), whole_table(folder).slice(20, 30)])
    n = table.num_rows
    table = table.append_column("number", pa.array([None if k % 11 == 0 else k % 7 for k in range(n)], pa.int64()))
    table = table.append_column("row", pa.array(range(n)))
    table = table.append_column("day", pa.array([f"2020-01-{1 + k % 30:02d}" for k in range(n)]))
    table = table.append_column("kind", pa.array([f"k{k % 3}" for k in range(n)]).dictionary_encode())
    table = table.append_column("weight", pa.array([float(k % 4) for k in range(n)]))
    answers = table.column("answer").to_pylist()
    return table.set_column(
        table.column_names.index("answer"),
        "answer",
        pa.array([None if k % 13 == 0 else a for k, a in enumerate(answers)]),
    )


CASES = {
    "classes": (*FAST, "--weights", "weight", "--categorical", "number"),
    "numbers": ("--target", "size", "--estimator", "rgb", "--jobs", "1", "--force", "--ignore", "id"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_a_cluster_says_and_saves_what_one_machine_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, case: str
) -> None:
    parts = write_parts(hard_table(tmp_path), 4)
    here = fitted(capsys, *parts, *CASES[case], "--out", "here.rad")
    there = fitted(capsys, *parts, *CASES[case], "--out", "there.rad", "--dask", scheduler)
    assert {here.pop("model"), there.pop("model")} == {"here.rad", "there.rad"}
    assert here == there
    one, other = (radboost.load(name) for name in ("here.rad", "there.rad"))
    facts = [dict(model.schema_.facts) for model in (one, other)]
    assert [fact.pop("command") for fact in facts][1].endswith(f"--dask {scheduler} --json")
    assert facts[0] == facts[1]
    assert one.schema_.columns == other.schema_.columns
    assert one.history_ == other.history_
    assert one.ensemble_.weights.tolist() == other.ensemble_.weights.tolist()


def test_a_report_and_what_each_worker_held(capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str) -> None:
    parts = write_parts(whole_table(tmp_path))
    assert main(["fit", *parts, *FAST, "--dask", scheduler, "--report", "page.html", "--keep-judged"]) == 0
    out, err = capsys.readouterr()
    assert "rows held out; most frequent class alone" in out
    lines = err.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("worker "))
    held = [line.split() for line in lines[place + 1 : place + 3]]
    assert sum(int(line[2]) for line in held) == 72
    assert all(line[0].startswith("tcp://") for line in held)
    assert "the model that was judged" in lines[-2]
    assert Path("page.html").stat().st_size > 10_000


def test_more_rows_than_the_client_holds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are then held out by their hashes alone, and a share of them is seen."""
    monkeypatch.setattr(cluster_rows, "MOST_HASHED_ROWS", 50)
    monkeypatch.setattr(cluster_rows, "MOST_CELLS", 40)
    parts = write_parts(whole_table(tmp_path))
    found = fitted(capsys, *parts, *FAST, "--dask", scheduler, "--holdout", "0.4")
    assert any(note.startswith("the verdict is about ") for note in found["notes"])
    assert any(note.startswith("the linear model and the baseline learn from ") for note in found["notes"])
    assert 2 <= found["verdict"]["rows"] <= 25
    assert found["fitted_to"] == "all rows"


def test_rows_to_judge_from_another_file(capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str) -> None:
    parts = write_parts(whole_table(tmp_path))
    arguments = (*parts[:2], *FAST, "--test", parts[2])
    assert fitted(capsys, *arguments) == fitted(capsys, *arguments, "--dask", scheduler)
    none = fitted(capsys, *parts, *FAST, "--holdout", "0", "--dask", scheduler)
    assert none["verdict"] is None


def test_what_a_cluster_refuses(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_ = write_parts(whole_table(tmp_path))
    cluster = (*FAST, "--dask", scheduler)
    assert "--tune needs rows in memory" in fails(capsys, "fit", first, *cluster, "--tune", "quick")
    assert "--estimator sparse learns in memory" in fails(capsys, "fit", first, *cluster, "--estimator", "sparse")
    assert "--separator is for CSV" in fails(capsys, "fit", first, *cluster, "--separator", ";")
    assert "whole.csv: with --dask the workers read Parquet files themselves; convert" in fails(
        capsys, "fit", "whole.csv", *cluster
    )
    assert "standard input: with --dask" in fails(capsys, "fit", "-", *cluster)
    assert "none.parquet: there is no such file or folder" in fails(capsys, "fit", "none.parquet", *cluster)
    assert "--target 'answr': part-0.parquet has no such column; did you mean 'answer'" in fails(
        capsys, "fit", first, *cluster, "--target", "answr"
    )
    monkeypatch.setattr(clusters, "SECONDS_TO_CONNECT", 0.2)
    monkeypatch.setattr(clusters, "SECONDS_FOR_WORKERS", 0.2)
    message = fails(capsys, "fit", first, *FAST, "--dask", "tcp://127.0.0.1:9")
    assert "--dask tcp://127.0.0.1:9: no scheduler answers there" in message
    assert "no scheduler answers there" in fails(capsys, "fit", first, *FAST, "--dask", "nonsense")
    assert "give a number of workers" in fails(capsys, "fit", first, *FAST, "--dask", "local:0")
    monkeypatch.setattr(clusters, "__version__", "0.0.1")
    assert "and this is 0.0.1; install one version everywhere" in fails(capsys, "fit", first, *cluster)


@pytest.mark.slow
def test_a_cluster_on_this_machine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    parts = write_parts(whole_table(tmp_path))
    here = fitted(capsys, *parts, *FAST)
    assert fitted(capsys, *parts, *FAST, "--dask", "local:2") == here
