"""`radboost predict`, `evaluate`, `explain`, `report`, `export` and `info`, on one model."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
import pytest
from sklearn.datasets import load_iris

import radboost
from command_tables import FAST, fails, lines, said, write_csv
from radboost.cli import main
from radboost.cli.reading import ReadOptions, read_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, the rows that it learned from, and others with the same columns."""
    folder = tmp_path_factory.mktemp("models")
    train = write_csv(folder / "train.csv")
    write_csv(folder / "new.csv", lines(40, seed=2))
    call = ["fit", train, "--target", "answer", *FAST]
    assert main([*call, "--out", str(folder / "model.rad"), "--report", str(folder / "report.html")]) == 0
    return folder


@pytest.fixture(autouse=True)
def in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def predictions(capsys: pytest.CaptureFixture[str], data: str, *more: str) -> list[str]:
    assert main(["predict", "model.rad", data, *more]) == 0
    return capsys.readouterr().out.splitlines()


def test_predictions_are_those_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    found = predictions(capsys, "new.csv", "--proba", "--keep", "id,answer")
    assert found[0] == "id,answer,prediction,probability_no,probability_yes"
    rows = [line.replace('"', "").split(",") for line in found[1:]]
    assert [row[0] for row in rows] == [f"k{i:03d}" for i in range(40)]
    assert np.mean([row[1] == row[2] for row in rows]) > 0.8
    for row in rows:
        assert float(row[3]) + float(row[4]) == pytest.approx(1.0)
        assert (float(row[4]) > 0.5) == (row[2] == "yes")
    contributions = said(capsys, "predict", "model.rad", "new.csv", "--contributions")["predictions"][0]
    # two classes have one score, of the second; its parts sum to it
    assert {"contribution_size (yes)", "contribution_colour (yes)", "mean_score (yes)"} <= set(contributions)
    assert not any("(no)" in name for name in contributions)
    total = sum(value for name, value in contributions.items() if name.endswith("(yes)"))
    assert (total > 0.0) == (contributions["prediction"] == "yes")


def test_columns_are_found_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """In any order and format, with others beside them, without the target and what was left out."""
    usual = predictions(capsys, "new.csv")
    given = arrow_csv.read_csv("new.csv", convert_options=arrow_csv.ConvertOptions(null_values=["?"]))
    table = given.select(["when", "bought", "colour", "size"]).append_column("other", given["when"])
    arrow_csv.write_csv(table, tmp_path / "turned.csv")
    assert predictions(capsys, str(tmp_path / "turned.csv")) == usual
    main(["predict", "model.rad", str(tmp_path / "turned.csv")])
    assert "does not know, and are not used: 'other'" in capsys.readouterr().err
    colour = pa.array([text.strip() for text in table["colour"].to_pylist()]).dictionary_encode()
    typed = table.set_column(2, "colour", colour)
    parquet.write_table(typed, tmp_path / "typed.parquet")
    assert predictions(capsys, str(tmp_path / "typed.parquet")) == usual
    rows = (json.dumps(row, default=str) + "\n" for row in typed.to_pylist())
    (tmp_path / "typed.jsonl").write_text("".join(rows))
    assert predictions(capsys, str(tmp_path / "typed.jsonl")) == usual


def test_columns_that_do_not_fit_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def predict(rows: list[str], header: str) -> str:
        return fails(capsys, "predict", "model.rad", write_csv(tmp_path / "t.csv", rows, header))

    message = predict(["1,red,true,2024-01-01"], "Size,colour,bought,when")
    assert "lacks the column 'size'" in message
    assert "'Size'" in message
    assert "rename or add" in message
    header = "size,colour,bought,when"
    assert "'colour'" in predict(["1,5,true,2024-01-01"], header)
    assert "fitted to true or false" in predict(["1,red,maybe,2024-01-01"], header)


def test_unseen_categories_are_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def answers(colour: str) -> tuple[list[str], str]:
        rows = [f"{size},{colour},true,2024-01-05" for size in (-2, -1, 1, 2)]
        data = write_csv(tmp_path / "t.csv", rows, "size,colour,bought,when")
        assert main(["predict", "model.rad", data, "--proba"]) == 0
        out, err = capsys.readouterr()
        return out.splitlines(), err

    unseen, note = answers("violet")
    assert unseen == answers("?")[0]
    assert "'colour' has a text that the model does not tell apart ('violet'), in 4 of 4 rows" in note


@pytest.mark.parametrize("name", ["p.csv", "p.tsv.gz", "p.jsonl", "p.parquet", "p.arrow"])
def test_files_of_predictions(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    out = str(tmp_path / name)
    assert said(capsys, "predict", "model.rad", "new.csv", "--out", out)["rows"] == 40
    column = read_table(out, ReadOptions()).table.column("prediction").to_pylist()
    assert column == [line.strip('"') for line in predictions(capsys, "new.csv")[1:]]
    assert "this file exists" in fails(capsys, "predict", "model.rad", "new.csv", "--out", out)
    assert main(["predict", "model.rad", "new.csv", "--out", out, "--force"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_csv_has_quotes_only_where_they_are_needed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [f"{size},red,true,2024-01-05,{note}" for size, note in ((1, "a b"), (-1, " c"))]
    data = write_csv(tmp_path / "t.csv", rows, "size,colour,bought,when,note")
    plain = predictions(capsys, data, "--keep", "size,note")
    assert [line.rsplit(",", 1)[0] for line in plain[1:]] == ["1,a b", "-1,c"]  # without the space in front of it
    assert not any('"' in line for line in plain)
    data = write_csv(tmp_path / "t.csv", [rows[0].replace("a b", '"a, b"'), rows[1]], "size,colour,bought,when,note")
    assert '"a, b"' in predictions(capsys, data, "--keep", "size,note")[1]


def test_a_file_without_names_is_told_how_to_get_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = tmp_path / "bare.csv"
    data.write_text("1,red,true,2024-01-05\n2,blue,true,2024-01-05\n")
    assert "--names a,b,... names those of CSV without" in fails(capsys, "predict", "model.rad", str(data))
    assert len(predictions(capsys, str(data), "--names", "size,colour,bought,when")) == 3


def test_evaluate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = said(capsys, "evaluate", "model.rad", "new.csv")
    verdict, confusion = found["verdict"], found["confusion"]
    wrong = confusion["yes"]["no"] + confusion["no"]["yes"]
    assert verdict["score"] == pytest.approx(wrong / 40)
    assert sum(sum(row.values()) for row in confusion.values()) == 40
    assert not any("very rows" in note for note in found["notes"])
    # in any order they are the rows of the fit
    again = write_csv(tmp_path / "again.csv", list(reversed(lines())))
    assert any(
        "the very rows that the model was fitted to" in note
        for note in said(capsys, "evaluate", "model.rad", again)["notes"]
    )
    assert main(["evaluate", "model.rad", "new.csv"]) == 0
    assert "true class" in capsys.readouterr().out
    dotted = write_csv(tmp_path / "dotted.csv", [f"{line}." for line in lines(20)])
    assert "'no.', 'yes.', and the classes of the model are 'no', 'yes'" in fails(
        capsys, "evaluate", "model.rad", dotted
    )
    blind = write_csv(tmp_path / "blind.csv", ["1,red"], "size,colour")
    assert "has no column 'answer'" in fails(capsys, "evaluate", "model.rad", blind)


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "explain", "model.rad", "new.csv", "--row", "2")
    total = found["base"] + sum(one["effect"] for one in found["contributions"])
    assert total == pytest.approx(found["score"])
    assert predictions(capsys, "new.csv")[2].strip('"') == found["answer"]
    assert "--row is 41; new.csv has the rows 1 to 40" in fails(
        capsys, "explain", "model.rad", "new.csv", "--row", "41"
    )


def _table_of_dates(path: Path) -> str:
    """Yes after the middle of 2015, and for some of the rows before that are new."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2010-01-01") + rng.integers(0, 4000, 80)
    new = rng.integers(0, 2, 80).astype(bool)
    late = days > np.datetime64("2015-06-30")
    answers = np.where(late | (new & (rng.random(80) < 0.7)), "yes", "no")
    rows = [f"{day},{str(flag).lower()},{answer}" for day, flag, answer in zip(days, new, answers, strict=True)]
    return write_csv(path, [*rows, "?,true,yes", "2012-01-22 06:00:00,?,no"], "since,new,answer")


def test_dates_and_truth_values_are_shown_as_in_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data, model, page = _table_of_dates(tmp_path / "t.csv"), str(tmp_path / "m.rad"), tmp_path / "p.html"
    fit = ("fit", data, "--target", "answer", "--estimator", "deepboost", "--jobs", "1")
    assert main([*fit, "--out", model, "--report", str(page)]) == 0
    lines_of = Path(data).read_text().splitlines()
    capsys.readouterr()
    for row in (1, 2, 81, 82):
        since, new, _ = lines_of[row].split(",")
        found = said(capsys, "explain", model, data, "--row", str(row))
        values = {one["name"]: one["value"] for one in found["contributions"]}
        if since != "?":
            assert values.get("since", since) == since
            assert f"since = {since}" in found["text"]
            assert re.search(r"since <= 20\d\d-\d\d-\d\d", found["text"])
        if new != "?":
            assert values.get("new", new == "true") == (new == "true")
            assert f"new = {new}" in found["text"]
            assert re.search(r"new = false\? (yes|no)", found["text"])
        assert not re.search(r"1[4-9]\d{3}", found["text"])  # days since 1970
    data_of_page = page.read_text(encoding="utf-8").partition('id="report-data">')[2].partition("</script>")[0]
    sections = json.loads(data_of_page)["sections"]
    told = json.dumps([one for one in sections if one["name"] in ("data", "slices", "rows")])
    assert re.search(r"20\d\d-\d\d-\d\d \\u2026 20\d\d-\d\d-\d\d", told)  # the range of dates among the columns
    assert not re.search(r"(?<![\d.])1[4-9],?\d{3}\b", told)
    assert "true or false" in told


def test_reports(capsys: pytest.CaptureFixture[str], tmp_path: Path, folder: Path) -> None:
    text = (folder / "report.html").read_text()
    assert "radboost fit" in text
    # rows are called by their places in the file, so that they can be found there
    rows = [line.split(",") for line in lines()]
    data = json.loads(text.partition('id="report-data">')[2].partition("</script>")[0])
    (labels,) = (section["blocks"] for section in data["sections"] if section["name"] == "labels")
    for _, row, label, *_ in labels[1]["rows"]:
        assert label == rows[row - 1][-1]
    # the linear model of the page is that of the verdict
    (linear,) = re.findall(r"linear model ([\d.]+)$", radboost.load("model.rad").schema_.facts["verdict"])
    assert f"a linear model on {float(linear):.1%}" in text
    out = tmp_path / "page.html"
    assert said(capsys, "report", "model.rad", "new.csv", "--out", str(out))["rows"] == 40
    assert out.read_text().startswith("<!")
    assert "this file exists" in fails(capsys, "report", "model.rad", "new.csv", "--out", str(out))
    assert "ends with .html" in fails(capsys, "report", "model.rad", "new.csv", "--out", "page")


@pytest.mark.parametrize("form", ["onnx", "c", "treelite", "json"])
def test_export(capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str) -> None:
    out = tmp_path / f"model.{form}"
    assert said(capsys, "export", "model.rad", "--to", form, "--out", str(out))["bytes"] == out.stat().st_size
    if form == "json":
        model = radboost.SoftmaxBoostClassifier.from_dict(json.loads(out.read_text()))
        assert model.schema_ == radboost.load("model.rad").schema_
    assert "this file exists" in fails(capsys, "export", "model.rad", "--to", form, "--out", str(out))
    assert "'pmml' is not one of 'onnx', 'c', 'treelite', 'json'" in fails(
        capsys, "export", "model.rad", "--to", "pmml", "--out", "m"
    )


def test_info(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = said(capsys, "info", "model.rad")
    assert found["classes"] == ["no", "yes"]
    assert [column["name"] for column in found["columns"]] == ["size", "colour", "bought", "when"]
    assert found["verdict"].startswith("error ")
    assert main(["info", "model.rad"]) == 0
    assert "colour (3 categories)" in capsys.readouterr().out


def test_models_from_python_and_damaged_ones(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    path = str(tmp_path / "python.rad")
    radboost.RGBClassifier(n_rounds=5, n_jobs=1).fit(X, y).save(path)
    assert said(capsys, "info", path)["model"] == "RGBClassifier"
    assert "saved from Python" in fails(capsys, "predict", path, "new.csv")
    content = bytearray(Path("model.rad").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "damaged.rad").write_bytes(content)
    assert "checksum does not match" in fails(capsys, "predict", str(tmp_path / "damaged.rad"), "new.csv")
    assert "does not exist; see radboost info --help" in fails(capsys, "info", str(tmp_path / "none.rad"))
    assert "does not start with the RadBoost signature" in fails(capsys, "info", "new.csv")


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    usual = predictions(capsys, "new.csv")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("new.csv").read_bytes())))
    assert predictions(capsys, "-") == usual
