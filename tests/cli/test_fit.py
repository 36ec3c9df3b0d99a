"""`radboost fit`: what is held out, said, saved, and refused."""

from __future__ import annotations

import builtins
import io
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import radboost
from command_tables import FAST, HEADER, fails, fitted, lines, write_csv
from radboost.cli import main
from radboost.cli.columns import FeatureTable, match_columns
from radboost.cli.console import RoundProgress
from radboost.cli.reading import read_table
from radboost.cli.rows import notes_of_left_out
from radboost.cli.splitting import table_hashes
from radboost.cli.tables import ReadOptions


def test_a_model_of_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = write_csv(tmp_path / "t.csv")
    assert main(["fit", data, "--target", "answer", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    verdict = out.splitlines()[0]
    assert verdict.startswith("error 0.")
    assert "95% interval" in verdict
    assert "rows held out; most frequent class alone" in verdict
    assert "linear model" in verdict
    assert "the target 'answer' is taken as classes: 'answer' holds text" in err
    assert "'id' is left out: it has a different text in every row" in err
    assert "'empty' is left out" in err
    assert "'same' is left out" in err
    assert "fitted to all rows" in err
    model = radboost.load("model.rad")
    assert type(model).__name__ == "DeepBoostClassifier"
    schema = model.schema_
    kinds = {column.name: column.kind for column in schema.columns}
    assert kinds == {"size": "number", "colour": "category", "bought": "boolean", "when": "date"}
    assert schema.columns[1].categories == ("blue", "green", "red")
    assert (schema.target, schema.task) == ("answer", "classes")
    assert schema.facts["rows"] == 90
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_order_of_rows_does_not_matter(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first = fitted(capsys, write_csv(tmp_path / "a.csv"), "--target", "answer", *FAST, "--out", "a.rad")
    rows = list(reversed(lines()))
    again = fitted(capsys, write_csv(tmp_path / "b.csv", rows), "--target", "answer", *FAST, "--out", "b.rad")
    assert again["verdict"] == first["verdict"]
    models = [radboost.load(name).decision_function for name in ("a.rad", "b.rad")]
    schema = radboost.load("a.rad").schema_
    X = match_columns(read_table("a.csv", ReadOptions()), schema)[0].for_model("table")
    np.testing.assert_array_equal(*(scores(X) for scores in models))


def test_the_verdict_is_that_of_rows_held_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With labels that are nothing but chance no model can be better than guessing, however well it remembers."""
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.4f},{rng.normal():.4f},{'ab'[rng.integers(2)]}" for _ in range(300)]
    data = write_csv(tmp_path / "chance.csv", rows, "x,z,y")
    said = fitted(capsys, data, "--target", "y", "--estimator", "rgb", "--jobs", "1")
    assert said["verdict"]["score"] > 0.3
    assert said["verdict"]["rows"] == 60
    assert said["verdict"]["better_than_linear"] != "yes"
    assert said["fitted_to"] == "all rows"
    kept = fitted(capsys, data, "--target", "y", *FAST, "--keep-judged", "--out", "kept.rad", "--holdout", "0.5")
    assert kept["fitted_to"] == "the rows that were not held out"
    assert radboost.load("kept.rad").ensemble_.sample_size == 150
    tested = fitted(capsys, data, "--target", "y", *FAST, "--test", data, "--out", "tested.rad")
    assert tested["verdict"]["rows"] == 300
    assert radboost.load("tested.rad").ensemble_.sample_size == 300


@pytest.mark.parametrize("estimator", ["auto", "sparse"])
def test_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path, estimator: str) -> None:
    rng = np.random.default_rng(0)
    x, colours = rng.normal(size=120).round(3), rng.choice(["red", "blue"], 120)
    y = 2 * x + (colours == "red") + 0.1 * rng.normal(size=120)
    rows = [f"{'' if i % 20 == 3 else x[i]},{colours[i]},{y[i]:.3f},{1 + i % 3}" for i in range(120)]
    data = write_csv(tmp_path / "n.csv", rows, "x,colour,y,w")
    said = fitted(capsys, data, "--target", "y", "--estimator", estimator, "--jobs", "1", "--weights", "w")
    assert said["task"] == "numbers"
    assert said["estimator"] == {"auto": "RGBRegressor", "sparse": "SparseBoostRegressorCV"}[estimator]
    verdict = said["verdict"]
    assert verdict["measure"] == "RMSE"
    assert verdict["low"] <= verdict["score"] <= verdict["high"] < verdict["baseline"]
    assert verdict["further"]["R squared"]["score"] > 0.5
    assert "w" in said["left_out"]
    assert main(["predict", "model.rad", data]) == 0
    answers = [float(line) for line in capsys.readouterr().out.splitlines()[1:]]
    there = [i for i in range(120) if i % 20 != 3]
    assert np.corrcoef(np.array(answers)[there], y[there])[0, 1] > 0.95
    if estimator == "sparse":
        assert radboost.load("model.rad").schema_.feature_names == ["x", "x is missing", "colour=blue", "colour=red"]
    assert main(["explain", "model.rad", data, "--row", "4"]) == 0
    assert "x" in capsys.readouterr().out


def test_costs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = write_csv(tmp_path / "t.csv")
    said = fitted(capsys, data, "--target", "answer", "--cost", "0,9;1,0", "--jobs", "1")
    assert said["estimator"] == "SoftmaxBoostClassifier"
    assert radboost.load("model.rad").cost_.tolist() == [[0, 9], [1, 0]]
    verdict = said["verdict"]
    assert "error" in verdict["further"]
    assert "log loss" not in verdict["further"]  # a policy has none
    assert verdict["low"] <= verdict["score"] <= verdict["high"]
    assert verdict["score"] <= verdict["baseline"]
    assert verdict["linear"] >= 0.0
    assert main(["evaluate", "model.rad", data]) == 0
    told = capsys.readouterr().out
    assert "mean cost" in told
    assert "cheapest class alone" in told
    assert "log loss" not in told
    assert main(["info", "model.rad"]) == 0
    assert "measure: mean cost" in capsys.readouterr().out
    fit = ("fit", data, "--target", "answer", "--out", "new.rad")
    assert "no matrix of 2 lines with 2 numbers" in fails(capsys, *fit, "--cost", "0,1,2")
    assert "--cost needs --estimator softmax" in fails(capsys, *fit, "--cost", "0,1;2,0", "--estimator", "rgb")


def test_searches_use_their_time(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radboost.cli.models.SECONDS", {"quick": 0.3})
    data = write_csv(Path("t.csv"))
    assert main(["fit", data, "--target", "answer", "--tune", "quick", "--jobs", "1", "--estimator", "rgb"]) == 0
    assert "RGBClassifier, settings searched for about 0.3 seconds" in capsys.readouterr().err
    assert type(radboost.load("model.rad")).__name__ == "RGBClassifier"


def test_what_a_search_found_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings, how many there were, and which one is in the file: in words, as JSON and in the report."""
    grid = {"n_rounds": [8], "max_depth": [2], "complexity_penalty": [100.0, 0.0, 0.01]}  # the first is an empty model
    few = partial(radboost.DeepBoostClassifierCV, param_grid=grid, cv=2)
    monkeypatch.setattr(radboost, "DeepBoostClassifierCV", few)
    data = write_csv(Path("t.csv"))
    call = ["fit", data, "--target", "answer", "--tune", "quick", "--jobs", "1", "--report", "t.html"]
    assert main([*call, "--json"]) == 0
    told = capsys.readouterr()
    said = json.loads(told.out)["search"]
    model = radboost.load("model.rad")
    penalty = model.complexity_penalty
    assert (said["settings"], said["is_default"], said["chosen"]["complexity_penalty"]) == (3, False, penalty)
    (line,) = (line for line in told.err.splitlines() if line.startswith("search: "))
    assert line.startswith("search: 3 settings compared by cross-validation in ")
    assert " seconds; chosen in place of the default one: " in line
    assert f"complexity_penalty={penalty}" in line
    page = Path("t.html").read_text(encoding="utf-8")
    assert "chose from 3 settings" in page
    assert "answer by DeepBoostClassifier<" in page


def test_mistakes_in_the_call(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = write_csv(tmp_path / "t.csv")
    fit = ("fit", data, "--target")
    assert "'anser': " in fails(capsys, *fit, "anser")
    assert "did you mean 'answer'?" in fails(capsys, *fit, "Answer")
    answer = (*fit, "answer")
    assert "--ignore 'sise'" in fails(capsys, *answer, "--ignore", "sise")
    assert "'forest' is not one of 'auto', 'deepboost'" in fails(capsys, *answer, "--estimator", "forest")
    assert "--estimator deepboost predicts classes" in fails(capsys, *fit, "size", "--estimator", "deepboost")
    assert "'--tune': 'long' is not one of 'quick', 'thorough'" in fails(capsys, *answer, "--tune", "long")
    assert "--holdout is 2" in fails(capsys, *answer, "--holdout", "2")
    assert "'--seed': -1 is not in the range x>=0" in fails(capsys, *answer, "--seed", "-1")
    assert "'--jobs': 0 is not in the range x>=1" in fails(capsys, *answer, "--jobs", "0")
    assert "ends with .html" in fails(capsys, *answer, "--report", "page.txt")
    assert "--report needs rows" in fails(capsys, *answer, "--report", "page.html", "--holdout", "0")
    assert "is no number, and --task numbers" in fails(capsys, *answer, "--task", "numbers")
    assert "there is no folder no" in fails(capsys, *answer, "--out", "no/model.rad")
    assert "see radboost fit --help" in fails(capsys, "fit", data)
    assert "No such option" in fails(capsys, *answer, "--nonsense")
    (tmp_path / "model.rad").write_text("mine")
    assert "this file exists; name another, or replace it with --force" in fails(capsys, *answer)
    assert (tmp_path / "model.rad").read_text() == "mine"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1,a"], "has 1 row with a target"),
        ([f"{i},a" for i in range(20)], "one class, 'a', in every row"),
        ([f"{i},?" for i in range(20)], "missing in every row"),
        (["3,a", "3,b"] * 10, "no column left to learn from: 'x' has the same value in every row"),
        ([f"{i},v{i}" for i in range(20)], "too many to be classes"),
    ],
)
def test_tables_that_teach_nothing(capsys: pytest.CaptureFixture[str], rows: list[str], message: str) -> None:
    assert message in fails(capsys, "fit", write_csv(Path("t.csv"), rows, "x,y"), "--target", "y")


def test_rows_without_a_target_are_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [line if i % 10 else line.rpartition(",")[0] + ",NA" for i, line in enumerate(lines())]
    said = fitted(capsys, write_csv(tmp_path / "t.csv", rows), "--target", "answer", *FAST)
    assert said["rows"] == 81
    assert "9 of 90 rows have no 'answer', and are left out" in said["notes"]


@pytest.mark.parametrize("absent", ["typer", "rich", "pyarrow"])
def test_without_the_extra(absent: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == absent or name == "radboost.cli.app"]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def blocked(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == absent:
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", blocked)
    monkeypatch.setitem(sys.modules, absent, None)
    message = fails(capsys, "fit", "t.csv", "--target", "y")
    assert message.startswith(f"radboost: radboost fit needs {absent}")
    assert "pip install 'radboost[cli]'" in message
    assert main([]) == 0
    assert "evaluate" in capsys.readouterr().out


def test_a_wrong_target_is_answered_with_the_last_column_too(capsys: pytest.CaptureFixture[str]) -> None:
    """The target often is the last one, and many columns are not listed."""
    names = [f"c{place}" for place in range(14)]
    data = write_csv(Path("wide.csv"), [",".join(["1"] * 15)] * 12, ",".join([*names, "income"]))
    message = fails(capsys, "fit", data, "--target", "zzz")
    assert message.endswith(f"its columns are {', '.join(map(repr, names[:9]))}, ..., 'income' (15 in all)")


def test_columns_left_out_for_one_reason_are_one_note() -> None:
    notes = notes_of_left_out(
        {"a": "has the same value in every row", "b": "has no value", "c": "has the same value in every row"}
    )
    assert notes == [
        "'a', 'c' are left out; of each of them: it has the same value in every row",
        "'b' is left out: it has no value",
    ]


def test_the_first_help_shows_commands_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    typed = [line.split() for line in out.splitlines() if line.startswith("  radboost ")]
    assert {words[1] for words in typed} >= {"fit", "predict", "explain"}
    assert max(map(len, out.splitlines())) <= 80
    for words in typed:  # their options exist
        assert main([words[1], "--help"]) == 0
        about = capsys.readouterr().out
        assert all(word in about for word in words if word.startswith("--"))
    for name in ("fit", "predict", "evaluate", "explain", "report", "export", "info"):
        assert f"\n  {name} " in out
        assert main([name, "--help"]) == 0
        assert "--json" in capsys.readouterr().out


def test_ctrl_c(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("radboost.cli.fitting.save_model", stopped)
    assert main(["fit", write_csv(tmp_path / "t.csv"), "--target", "answer", *FAST]) == 130
    assert capsys.readouterr().err.endswith("radboost: stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_as_a_program(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "radboost", "fit", "-", "--target", "answer", *FAST, "--json"]
    text = "\n".join([HEADER, *lines()])
    ended = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["data"] == "-"
    assert "standard input: 90 rows" in ended.stderr


def test_categories_beyond_the_limit_are_not_called_missing(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in the report nor in explanations; who is held out is as if they were."""
    rng = np.random.default_rng(0)
    rows = [f"t{k % 400},{'' if k % 50 == 0 else k % 7},{'yes' if rng.random() < 0.5 else 'no'}" for k in range(800)]
    Path("t.csv").write_text("\n".join(["tail,week,late", *rows]))
    assert main(["fit", "t.csv", "--target", "late", "--out", "m.rad", "--report", "r.html", *FAST]) == 0
    page = Path("r.html").read_text()
    assert "missing in most rows" not in page
    assert "more categories than the 255 that are told apart" in page
    schema = radboost.load("m.rad").schema_
    table = match_columns(read_table("t.csv", ReadOptions()), schema)[0]
    rare = int(np.flatnonzero(table.values["tail"] < -1)[0])
    assert table.for_model("table")["tail"][rare].as_py() is None
    shown = table.take(np.array([rare])).for_model("table", with_others=True)["tail"][0].as_py()
    assert shown == f"t{rare % 400}"
    masked = {name: np.maximum(values, -1) if name == "tail" else values for name, values in table.values.items()}
    np.testing.assert_array_equal(table_hashes(table), table_hashes(FeatureTable(table.columns, masked)))
    capsys.readouterr()
    assert main(["explain", "m.rad", "t.csv", "--row", str(rare + 1)]) == 0
    said = capsys.readouterr().out
    assert f"tail = '{shown}' is a category that the model does not know" in said
    assert "tail is missing" not in said


def coins(path: Path, copies: int) -> str:
    """A table of 100 different rows, whose labels nothing tells."""
    rng = np.random.default_rng(1)
    rows = [f"{rng.normal():.5f},{rng.normal():.5f},{'ab'[rng.integers(2)]}" for _ in range(100)]
    return write_csv(path, rows * copies, "x,z,y")


def test_copies_are_judged_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The headline counts different rows, none of them like a training row; copies of training rows are told beside."""
    asked = ("--target", "y", *FAST, "--force")
    once = fitted(capsys, coins(tmp_path / "one.csv", 1), *asked)["verdict"]
    assert (once["rows"], once["different_rows"], once["copies"]) == (20, 20, {})
    assert main(["fit", coins(tmp_path / "five.csv", 5), *asked, "--report", "r.html"]) == 0
    out, err = capsys.readouterr()
    assert re.match(r"error 0\.\d+ \(95% interval .*\) on 100 rows held out \(20 different\); ", out)
    told = re.search(
        r"^On (\d+) copies of training rows: error (\S+) .*; 100\.0% of all rows have a copy\.$", out, re.M
    )
    assert told is not None
    assert f"held out: 100 rows, drawn by their content (seed 0), and {told[1]} copies of rows that are learned" in err
    assert 40 <= int(told[1]) <= 90  # about a fifth of all but one of each
    assert f"On {told[1]} copies of training rows: error" in Path("r.html").read_text()
    five = fitted(capsys, str(tmp_path / "five.csv"), *asked)["verdict"]
    assert five["low"] <= 0.5 <= five["high"]
    assert five["high"] - five["low"] > 0.8 * (once["high"] - once["low"])
    assert five["copies"]["score"] == pytest.approx(float(told[2]), abs=5e-5)
    rows = (tmp_path / "five.csv").read_text().splitlines()
    (tmp_path / "mixed.csv").write_text("\n".join([rows[0], *sorted(rows[1:])]) + "\n")
    assert fitted(capsys, str(tmp_path / "mixed.csv"), *asked)["verdict"] == five


def test_what_is_held_out_by_group_time_and_fold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    day = np.datetime64("2020-01-01") + np.arange(120) // 2
    group, x = rng.integers(0, 30, 120), rng.normal(size=120).round(3)
    y = np.where(x + 0.3 * rng.normal(size=120) > 0, "b", "a")
    rows = [f"{x[i]},g{group[i]},{day[i]},{y[i]}" for i in range(120)]
    data = write_csv(tmp_path / "t.csv", rows, "x,who,day,y")
    by_group = fitted(capsys, data, "--target", "y", *FAST, "--group", "who")
    assert by_group["verdict"]["grouped"]
    assert by_group["verdict"]["different_rows"] == 6
    assert set(by_group["columns"]) == {"x", "day"}
    latest = fitted(
        capsys, data, "--target", "y", *FAST, "--time", "day", "--ignore", "day,who", "--force", "--keep-judged"
    )
    assert (latest["verdict"]["rows"], latest["judged_on"]) == (24, "latest rows held out")
    assert set(latest["columns"]) == {"x"}
    folds = fitted(capsys, data, "--target", "y", *FAST, "--folds", "4", "--force")
    assert folds["verdict"]["rows"] == 120
    assert folds["verdict"]["score"] < 0.35
    assert folds["verdict"]["linear"] < 0.35
    assert folds["fitted_to"] == "all rows"
    (tmp_path / "r.csv").write_text("\n".join(["x,who,day,y", *rows[::-1]]) + "\n")
    again = fitted(capsys, str(tmp_path / "r.csv"), "--target", "y", *FAST, "--folds", "4", "--force")
    assert again["verdict"] == folds["verdict"]
    fit = ("fit", data, "--target", "y", "--out", "n.rad")
    for arguments, said in (
        (("--folds", "1"), "'--folds': 1 is not in the range x>=2"),
        (("--folds", "3", "--tune", "quick"), "leave out --tune, or --folds"),
        (("--group", "who", "--time", "day"), "give one of them"),
        (("--time", "who"), "times are numbers, or dates"),
        (("--group", "whom"), "did you mean 'who'?"),
        (("--group", "y"), "this is the target"),
        (("--set", "max_dept=3"), "It is called max_depth here"),
        (("--set", "n_estimators=3"), "It is called n_rounds here"),
        (("--set", "n_rounds"), "such as max_depth=3"),
        (("--metric", "gini"), "known for classes are error, accuracy, auc"),
        (("--class-weight", "c=2"), "'c' is none of the classes a, b"),
        (("--class-weight", "a=-1"), "finite weights of at least 0; got -1.0 for 'a'"),
        (("--class-weight", "a"), "give balanced, or CLASS=WEIGHT"),
    ):
        assert said in fails(capsys, *fit, *arguments)


def test_settings_weights_of_classes_and_measures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = write_csv(tmp_path / "t.csv")
    asked = ("--target", "answer", "--estimator", "rgb", "--jobs", "1", "--metric", "auc", "--class-weight", "yes=3")
    chosen = ("--set", "n_rounds=7", "--set", "thresholds=best", "--set", "early_stopping=true")
    said = fitted(capsys, data, *asked, *chosen)
    model = radboost.load("model.rad")
    assert model.get_params()["n_rounds"] == 7
    assert model.get_params()["tree_options"].thresholds == "best"
    assert model.get_params()["class_weight"] == {"yes": 3.0}
    assert any("roc_auc" in name for name in model.history_)
    assert said["verdict"]["measure"] == "AUC"
    assert {"error", "balanced accuracy", "recall", "log loss"} <= set(said["verdict"]["further"])


def test_leaks_and_names_of_rows_are_told_before_the_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 400
    delay, other, number = rng.normal(0, 30, n).round(1), rng.normal(size=n).round(3), rng.permutation(7 * n)[:n]
    lot = rng.integers(0, 10**9, n)  # numbers that chance alone keeps apart
    late = np.where(delay > 15, "yes", "no")
    refund = np.where(late == "yes", other, np.nan)
    columns = [number, delay, other, lot, lot[::-1], refund, late]
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    data = write_csv(tmp_path / "t.csv", rows, "rownames,delay,other,lot,CaseID,refund,late")
    found = fitted(capsys, data, "--target", "late", *FAST)
    told = " ".join(found["notes"])
    assert "Possible leakage: 'delay' (whether it is above 1" in told
    assert "whether 'refund' is missing nearly decides the target" in told
    assert "'rownames', 'CaseID' have a value of its own in nearly every row" in told
    assert "leave them out" in told
    assert "inf" not in told
    assert "lot" not in told
    assert "other" not in told


def test_a_fit_on_a_terminal_counts_its_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In trials, in the fit and in calibration, with an estimate of the time left."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("radboost._progress.SECONDS_BEFORE_A_PART", 0.0)
    start = RoundProgress.start
    # each round is shown, however fast it is
    monkeypatch.setattr(RoundProgress, "start", lambda rounds: (start(rounds), rounds.bar.refresh()))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4)).round(3)
    rows = [f"{','.join(map(str, row))},{'ab'[int(row[0] * row[1] > 0)]}" for row in X]
    assert main(["fit", write_csv(tmp_path / "t.csv", rows, "p,q,r,s,y"), "--target", "y", "--jobs", "1"]) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    for part in (r"fitting, trial \d+, round", "fitting", "fitting to all rows", r"calibration, fit \d of 3, round"):
        assert re.search(rf"{part}\s+\d+/\d+", text), part
    assert re.search(r"about \d+ s left", text)
