"""Tables as the commands read them: formats, separators, names, kinds of columns, targets."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from command_tables import decided, features, read, summary, target_of
from radboost._number_formats import MISSING_WORDS
from radboost.cli.cells import cells_of
from radboost.cli.kinds import infer_kind
from radboost.cli.reading import read_table
from radboost.cli.splitting import fingerprint, hold_out, table_hashes
from radboost.cli.tables import RawTable, ReadOptions, find_column
from radboost.cli.targets import known_labels


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


ROWS = {"a": [1, 2, 3], "b": ["x", "y", "z"]}


def test_every_format_is_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table(ROWS)
    parquet.write_table(table, tmp_path / "t.parquet")
    with pa.ipc.new_file(str(tmp_path / "t.feather"), table.schema) as writer:
        writer.write_table(table)
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    texts = {
        "t.csv": "a,b\n1,x\n2,y\n3,z\n",
        "semicolon.csv": "a;b\n1;x\n2;y\n3;z\n",
        "t.tsv": "a\tb\n1\tx\n2\ty\n3\tz\n",
        "t.jsonl": "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in zip(*ROWS.values(), strict=True)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for name in ["t.csv", "t.parquet", "t.jsonl"]:
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 10
    for name in names:
        given = read_table(str(tmp_path / name), ReadOptions())
        assert given.names == ["a", "b"], name
        assert [infer_kind(summary(given, column)).name for column in given.names] == ["number", "category"], name
        assert features(given, ["a"]).values["a"].tolist() == [1, 2, 3]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(texts["t.csv"].encode())))
    assert read_table("-", ReadOptions()).table.to_pydict() == {"a": ["1", "2", "3"], "b": ["x", "y", "z"]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "t.parquet").read_bytes())))
    assert read_table("-", ReadOptions(format="parquet")).table.to_pydict() == ROWS


def test_text_with_a_bom_quotes_and_latin_letters(file: Path) -> None:
    given = read(file, '\ufeffname,"a ""b"", c"\n"first\nsecond",1\nü,2\n')
    assert given.table.to_pydict() == {"name": ["first\nsecond", "ü"], 'a "b", c': ["1", "2"]}
    given = read(file, "name,b\nMüller,1\nKöhler,2\n".encode("latin-1"))
    assert given.table.column("name").to_pylist() == ["Müller", "Köhler"]
    assert "read as Latin-1" in given.remarks[0]
    assert read(file, "a,b\n1,ü\n".encode("utf-16")).table.to_pydict() == {"a": ["1"], "b": ["ü"]}


def test_single_quotes_around_every_value(file: Path) -> None:
    given = read(file, "'age','size','y'\n'40-49','-1','no'\n?,'2.5','it''s'\n'50-59','?','no'\n")
    assert given.names == ["age", "size", "y"]
    seen = [summary(given, name) for name in given.names]
    assert [infer_kind(one).name for one in seen] == ["category", "number", "category"]
    assert [one.texts for one in seen] == [("40-49", "50-59"), ("-1", "2.5"), ("it''s", "no")]
    assert summary(read(file, "a\n'u'\nv\n", separator=","), "a").texts == ("'u'", "v")
    assert read(file, "'1','x'\n'2','y'\n").names == ["column_1", "column_2"]
    with pytest.raises(
        ValueError, match=r"its columns are 'u', 'no'. Its first line may be a row: then say --no-header"
    ):
        find_column(read(file, "u,no\nv,yes\nv,no\n"), "class", "--target")


def test_integers_that_are_rounded(file: Path, tmp_path: Path) -> None:
    """As names they are told apart, in files with types too."""
    keys = [2**53 + place % 3 for place in range(12)]
    parquet.write_table(
        pa.table({"k": keys, "near": [2**53 + place % 2 for place in range(12)]}), tmp_path / "t.parquet"
    )
    rows = "".join(f"{key},{2**53 + place % 2}\n" for place, key in enumerate(keys))
    for given in (read(file, f"k,near\n{rows}"), read_table(str(tmp_path / "t.parquet"), ReadOptions())):
        _, left_out, notes = decided(given, given.names)
        assert "'k' holds whole numbers beyond 2^53, which are rounded to 16 digits" in notes[0]
        assert "same value in every row once whole numbers beyond 2^53" in left_out["near"]
        assert len(decided(given, ["k"], {"k"}, 5)[0][0].categories) == 3


def test_the_line_of_names(file: Path) -> None:
    raw = "39, State-gov, <=50K\n50, ?, >50K\n"
    given = read(file, raw)
    assert given.names == ["column_1", "column_2", "column_3"]
    assert given.n_rows == 2
    assert "--names" in given.remarks[0]
    assert read(file, raw, names=("age", "work", "income")).names == ["age", "work", "income"]
    assert read(file, raw, header=True).n_rows == 1
    assert read(file, "0,1,2\n5,6,7\n").names == ["0", "1", "2"]
    assert read(file, "a,b\nx,y\n", header=False).n_rows == 2
    assert read(file, "written by a program\na,b\n1,2\n", skip=1).names == ["a", "b"]
    assert read(file, ",b\n0,x\n1,y\n").names == ["column_1", "b"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("u.csv", b"no,no\nu,v\n", "--no-header"),
        ("u.csv", b"", "is empty"),
        ("u.csv", b"\n\n", "no line with text"),
        ("u.csv", b"a,b\n", r"names of columns \(a, b\) and no rows"),
        ("u.csv", b"a,b,a\n1,2,3\n", "more than one column named 'a'"),
        ("u.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields"),
        ("u.csv", "a,b\n1,2\n".encode("utf-16-le"), "not text in UTF-8"),
        ("u.csv", "a,b\n1,2\n".encode("utf-16") + b"\0", "begins like UTF-16"),
        ("u.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-6], "compressed by gzip, and damaged"),
        ("t.parquet", b"PAR1 nonsense", "cannot be read as parquet"),
        ("tt.csv", None, r"there is no such file; .*t\.csv is there"),
        ("no/t.csv", None, "nor a folder"),
        ("t.xls", None, "says nothing of the format"),
    ],
)
def test_files_that_are_no_tables(file: Path, name: str, content: bytes | None, message: str) -> None:
    file.write_text("a\n1\n")
    if content is not None:
        (file.parent / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(str(file.parent / name), ReadOptions())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", " 2 ", "?"], "number"),
        (["1e3", "-.5", "NaN"], "number"),
        (["123456789012345678901234567890", "1"], "number"),
        (["NA", "null", ""], "number"),
        (["a", "1"], "category"),
        (["True", "false"], "boolean"),
        (["2020-12-31", "NA"], "date"),
        (["2020-12-31 23:59:59", "2021-01-01 00:00"], "date"),
        (["2020-12-31T23:59:59Z", "2021-01-01T01:00:00+01:00"], "date"),
    ],
)
def test_kinds(file: Path, values: list[str], kind: str) -> None:
    given = read(file, "x\n" + "".join(f'"{value}"\n' for value in values), header=True, separator=",")
    assert infer_kind(summary(given, "x")).name == kind


def test_dates_and_decimal_commas(file: Path) -> None:
    given = read(file, "d;x;e\n1970-01-02;1,5;31.12.2020\n1970-01-01 12:00;2;1.1.2021\n")
    values = features(given, ["d", "x"]).values
    assert (values["d"].tolist(), values["x"].tolist()) == ([1.0, 0.5], [1.5, 2.0])
    with pytest.raises(ValueError, match=r"looks like dates .* --ignore 'e'"):
        decided(given, ["e"])
    given = read(file, "x\ninf\n1\n", separator=",", header=True)
    assert cells_of(given, "x", (*MISSING_WORDS, "inf")).texts == ("1",)
    with pytest.raises(ValueError, match=r"holds infinity in row 1 \(line 2\)"):
        decided(given, ["x"])


def test_what_a_model_cannot_use_is_left_out(file: Path) -> None:
    rows = "".join(f"{i},u{i},{i % 3},c,,{i % 2}x\n" for i in range(30))
    given = read(file, f",key,code,same,none,kept\n{rows}")
    columns, left_out, _ = decided(given, given.names, {"code"})
    assert {column.name: column.kind for column in columns} == {"code": "category", "kept": "category"}
    assert set(left_out) == {"column_1", "key", "same", "none"}
    assert "identifier" in left_out["key"]
    many = read(file, "t\n" + "".join(f"w{i // 2}\n" for i in range(600)), separator=",")
    columns, _, notes = decided(many, ["t"])
    assert len(columns[0].categories) == 255
    assert "300 different texts" in notes[0]
    nested = RawTable("t", pa.table({"l": [[1], [2]]}))
    with pytest.raises(ValueError, match=r"'l' holds list.*--ignore 'l'"):
        decided(nested, ["l"])


@pytest.mark.parametrize(
    ("values", "task", "reason"),
    [
        (["yes", "no"] * 10, "classes", "text"),
        (["0", "1"] * 10, "classes", "2 different values"),
        (["1.5", "2", "3"] * 10, "numbers", "fractions"),
        (["1", "2", "3"] * 10, "classes", "3 different whole numbers"),
        ([str(i) for i in range(40)], "numbers", "40 different whole numbers"),
    ],
)
def test_classes_or_numbers(file: Path, values: list[str], task: str, reason: str) -> None:
    given = read(file, "\n".join(["y", *values]), separator=",", header=True)
    target = target_of(cells_of(given, "y", MISSING_WORDS))
    assert target.task == task
    assert reason in target.reason


def test_too_many_classes(file: Path) -> None:
    given = read(file, "\n".join(["y", *map(str, range(40))]), separator=",", header=True)
    with pytest.raises(ValueError, match=r"40 different values in 40 rows.*--task numbers"):
        target_of(cells_of(given, "y", MISSING_WORDS), "classes")


def test_labels_of_a_model(file: Path) -> None:
    cells = cells_of(read(file, "y\n1\n?\n2\n3\n", separator=",", header=True), "y", MISSING_WORDS)
    labels, unknown = known_labels(cells, np.array([1, 2]))
    assert (labels.tolist(), unknown) == ([1, 2, 3], ["3"])
    with pytest.raises(ValueError, match=r"holds '1', '2', '3', and the classes of the model are 'a', 'b'"):
        known_labels(cells, np.array(["a", "b"]))


def test_rows_are_held_out_by_content(file: Path) -> None:
    """Neither order nor copies matter; copies stay on one side; every class has its share."""
    rng = np.random.default_rng(0)
    rows = [f"{rng.integers(9)},{'uvw'[rng.integers(3)]},{'pq'[int(rng.random() < 0.2)]}" for _ in range(400)]

    def out(rows: list[str], header: str = "a,b,y", seed: int = 0) -> tuple[set[str], np.ndarray, str]:
        given = read(file, "\n".join([header, *rows]))
        table, cells = features(given, ["a", "b"]), cells_of(given, "y", MISSING_WORDS)
        y = target_of(cells).labels(cells)
        hashes = table_hashes(table)
        learn, held = hold_out(hashes, y, 0.3, seed, stratify=True)
        assert len(learn) + len(held) == len(rows)
        assert not set(hashes[learn]) & set(hashes[held])
        names = [str(a) + str(b) for a, b in zip(*(given.table.column(c).to_pylist() for c in "ab"), strict=True)]
        return {names[row] for row in held}, held, fingerprint(hashes, y)

    held, _, mark = out(rows)
    order = rng.permutation(len(rows))
    again, _, mark_again = out([rows[i] for i in order])
    assert (again, mark_again) == (held, mark)
    swapped = [",".join([row.split(",")[1], row.split(",")[0], row.split(",")[2]]) for row in rows]
    assert out(swapped, "b,a,y")[0] == held
    assert out(rows, seed=1)[0] != held
    assert out([*rows, rows[0]])[2] != mark
    unlike = [f"{i},u{i % 7},{'pq'[int(i % 5 == 0)]}" for i in range(500)]
    _, rows_out, _ = out(unlike)
    assert np.mean([unlike[i].endswith("q") for i in rows_out]) == pytest.approx(0.2)
    assert len(rows_out) == 150


def test_rows_that_are_written_alike_have_different_hashes(file: Path) -> None:
    """Names and values in which the signs of the other stand, and numbers that are texts."""
    rows = ["b=c,x,1", "b=x,c,1", "b=c,x,01", "b is missing,z,1", "b=z,,1"]
    given = read(file, "\n".join(["a,a=b,n", *rows]))
    table = features(given, ["a", "a=b", "n"], {"a", "a=b", "n"})
    assert len(np.unique(table_hashes(table))) == len(rows)
