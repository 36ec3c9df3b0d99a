"""The C file itself: names that could break out of it, its size, what it needs, its exponential function."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from export_tools import DOUBLES, GCC, STRICT, Compiled, same_kind
from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor
from radboost.baselines import AdaBoostMHClassifier
from radboost.export.c_code import c_code, quoted
from radboost.export.c_links import link_functions
from radboost.export.parts import Exported, ExportedOutput, ScoreSum
from radboost.families.exported import WeightedProduct, WeightedTree
from radboost.families.thresholds import Stump, StumpKind
from radboost.losses import LogisticLoss
from radboost.losses.link import Link
from radboost.objectives import row_cost

pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc")

HOSTILE = ["*/ int main(", "/* ", "??/", "\\", "a\nb", '"', "ä\u2028", "N_TREES NAME_ K N", "", "x" * 5000, "%s\0"]


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, len(HOSTILE)))
    return X, (X.sum(axis=1) > 0).astype(int) + (X[:, 0] > 1.0)


@pytest.fixture(scope="module")
def model(rows: tuple[np.ndarray, np.ndarray]) -> DeepBoostClassifier:
    X, y = rows
    return DeepBoostClassifier.paper(10, n_jobs=1, max_depth=3).fit(X, y)


def test_hostile_names_stay_in_their_comment(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X, y = rows
    labels = np.array(["*/ #error", "??/\n", "a\\"])[y]
    frame = pd.DataFrame(X, columns=HOSTILE)
    frame["/"] = pd.Categorical(np.array(["*/", "*\\/", "/*"])[y])
    model = RGBClassifier(10, n_jobs=1).fit(frame, labels)
    text = model.to_c()
    text.encode("ascii")
    inside = text[2 : text.index("*/")]
    assert "/*" not in inside
    assert "*" not in inside.replace("\n *", "\n")
    assert "??" not in text
    assert not re.search(r"\\\s*$", inside, re.MULTILINE)
    assert text.count("*/") == text.count("/*")
    places = Compiled({"m": text}, tmp_path).places("model", model.rows_for_export(frame))
    np.testing.assert_array_equal(model.classes_[places], model.predict(frame))


@pytest.mark.parametrize("value", [*HOSTILE, True, -1, 1.5])
def test_quoted_names_are_json(value: object) -> None:
    if len(str(value)) < 100:
        assert json.loads(quoted(value)) == value
    assert not set(quoted(value)) & set("*?\n")


@pytest.mark.parametrize("name", ["", "int main", "1a", "_a", "a-b", "ä", "a;", "a" * 41, "a\n", None, 3])
def test_names_that_are_no_beginning_of_an_identifier(model: DeepBoostClassifier, name: str) -> None:
    with pytest.raises(ValueError, match="letters, digits and underscores"):
        model.to_c(name)


def test_no_library_is_needed(model: DeepBoostClassifier, tmp_path: Path) -> None:
    """Nothing is included, and the object file asks for no symbol."""
    text = model.to_c("long_name_1")
    assert "#include" not in text
    source, made = tmp_path / "m.c", tmp_path / "m.o"
    source.write_text(text)
    subprocess.run([str(GCC), *STRICT, "-O2", "-ffreestanding", "-fno-builtin", "-c", source, "-o", made], check=True)
    wanted = subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True).stdout.split()
    assert not set(wanted) - {"U", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
    shown = subprocess.run(["nm", "-g", "--defined-only", made], capture_output=True, text=True, check=True).stdout
    assert sorted(shown.split()[2::3]) == [f"long_name_1_{what}" for what in ("predict", "probabilities", "scores")]


def test_fast_math_is_refused(model: DeepBoostClassifier, tmp_path: Path) -> None:
    source = tmp_path / "m.c"
    source.write_text(model.to_c())
    run = subprocess.run([str(GCC), "-ffast-math", "-E", source], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "NaN" in run.stderr


def test_thousands_of_trees(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    """They are tables, which a compiler reads in a second; as nested questions they take minutes."""
    model = DeepBoostClassifier.paper(10, n_jobs=1, max_depth=1).fit(*rows)
    exported = model._exported()
    n = 4000 // len(exported.scores.trees)
    many = replace(exported, scores=replace(exported.scores, trees=exported.scores.trees * n))
    compiled = Compiled({"m": c_code(many, "model", True)}, tmp_path)
    same_kind(compiled.scores("model", rows[0][:20], 3), n * model.decision_function(rows[0][:20]))


def test_the_exponential_function(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X, y = rows
    text = RGBRegressor(3, loss="poisson", n_jobs=1).fit(X, y + 1.0).to_c()
    function = Compiled({"m": text.replace("static double model_exp", "double model_exp")}, tmp_path).library.model_exp
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    values = np.concatenate([np.linspace(-708.0, 709.0, 20_001), np.linspace(-1.0, 1.0, 2_001), [0.0, -0.0, 1e-300]])
    found = np.array([function(value) for value in values])
    np.testing.assert_allclose(found, np.exp(values), rtol=1e-15)
    assert function(0.0) == 1.0
    assert function(-1e300) == function(-746.0) == 0.0
    assert 0.0 < function(-744.0) < 1e-322
    assert function(1e300) == function(709.0) < np.inf


@pytest.mark.parametrize(
    ("link", "n_classes"), [("balance", 5), ("logistic_shares", 4), ("compsum", 4), ("softmax", 3)]
)
def test_links_at_extreme_scores(link: str, n_classes: int, tmp_path: Path) -> None:
    """Scores so far apart that exponentials vanish or overflow, and ties."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, n_classes)) * 10.0 ** rng.integers(-3, 4, size=(60, 1))
    scores[:10] = rng.integers(-2, 2, size=(10, n_classes)) * 400.0
    scores[10:14] -= 1e4
    maps = {
        "balance": lambda: row_cost("sum", n_classes).probabilities(LogisticLoss(), scores),
        "compsum": lambda: row_cost("compsum", n_classes).probabilities(LogisticLoss(), scores),
        "logistic_shares": lambda: AdaBoostMHClassifier()._probabilities(scores),
        "softmax": lambda: np.exp(scores - scores.max(axis=1, keepdims=True)),
    }
    wanted = maps[link]()
    wanted = wanted / wanted.sum(axis=1, keepdims=True)
    text = link_functions(Link(link, 2.0 if link == "logistic_shares" else 1.0))
    text = re.sub(r"\bK\b", str(n_classes), text).replace("NAME_", "m_").replace("static void m_rule", "void m_rule")
    function, found = Compiled({"m": text}, tmp_path).library.m_rule, np.zeros_like(scores)
    for row, line in zip(scores, found, strict=True):
        function(row.ctypes.data_as(DOUBLES), line.ctypes.data_as(DOUBLES))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("feature", [0, 128, 32_768, 70_000])
def test_tables_hold_large_numbers_of_columns(feature: int, tmp_path: Path) -> None:
    part = StumpKind().sparse_part(Stump(feature, 0.5), np.ones(1), feature + 1)
    stump = WeightedTree(part.tree, np.array([[-1.0], [2.0]]))
    scores = ScoreSum(feature + 1, 1, np.zeros(1), (stump,), (WeightedProduct((feature, feature), np.array([10.0])),))
    compiled = Compiled({"m": c_code(Exported("Stump", scores, ExportedOutput()), "model", True)}, tmp_path)
    rows = np.zeros((3, feature + 1))
    rows[:, -1] = [0.5, 1.0, np.nan]
    np.testing.assert_array_equal(compiled.numbers("model", rows), [-1.0 + 2.5, 2.0 + 10.0, np.nan])


def test_trees_of_many_nodes(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    """More leaves than a byte counts, in one tree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    model = AdaBoostMHClassifier(1, max_leaves=700, n_jobs=1).fit(X, rng.integers(0, 2, 3000))
    assert model.ensemble_.hypotheses[0].n_nodes > 1000
    found = Compiled({"m": model.to_c()}, tmp_path).scores("model", X, 1)
    np.testing.assert_array_equal(found, model.decision_function(X))
