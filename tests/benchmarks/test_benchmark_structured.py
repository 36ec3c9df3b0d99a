"""One gradient by OpenFst and by our automata: the same sums, timed side by side."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from benchmarks import openfst
from benchmarks.data import DataMissingError
from benchmarks.settings import Sizes
from radboost.structured import StringLoss, edit_distance, gradient_terms, ngram, smith_waterman

slow = pytest.mark.slow


def needs_openfst() -> None:
    pytest.importorskip("pynini", reason="OpenFst, to compare with, comes with pynini: pip install pynini")


@pytest.fixture
def structured(monkeypatch: pytest.MonkeyPatch) -> Any:
    for library in ("catboost", "lightgbm", "xgboost"):  # other tasks import them
        if find_spec(library) is None:
            monkeypatch.setitem(sys.modules, library, sys)
    return pytest.importorskip("benchmarks.tasks.structured")


def problem(length: int, alphabet_size: int, seed: int = 0) -> tuple[Any, Any]:
    """Potentials that differ from place to place, and a true string that is shorter."""
    rng = np.random.default_rng([seed, length, alphabet_size])
    return rng.integers(0, alphabet_size, length - seed), rng.normal(size=(length, alphabet_size**2))


@pytest.mark.parametrize(
    ("loss", "length", "alphabet_size"),
    [
        (edit_distance(), 8, 10),
        (edit_distance(0.5, 2.0, 1.5), 5, 4),
        (smith_waterman(), 5, 4),
        (smith_waterman(), 6, 10),
        pytest.param(smith_waterman(), 8, 10, marks=slow),
        (ngram(2), 8, 10),
        (ngram(3, 0.5), 7, 4),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_openfst_finds_the_same(loss: StringLoss, length: int, alphabet_size: int, seed: int) -> None:
    needs_openfst()
    y, potentials = problem(length, alphabet_size, seed)
    theirs = openfst.gradient_terms(loss, y, potentials)
    ours = gradient_terms(loss, y, potentials, order=2)
    assert ours.exact
    assert theirs.log_z == pytest.approx(ours.log_z, abs=1e-6)
    np.testing.assert_allclose(theirs.q, ours.q, atol=1e-6)
    assert theirs.n_strings == pytest.approx(alphabet_size**length, rel=1e-6)


@pytest.mark.parametrize("loss", [edit_distance(), smith_waterman()])
def test_the_strings_that_pruning_keeps(loss: StringLoss) -> None:
    """Within the threshold of the least loss; over these strings alone the sums are the same."""
    needs_openfst()
    y, potentials = problem(7, 6)
    theirs = openfst.gradient_terms(loss, y, potentials, threshold=2.0)
    assert 10 < theirs.n_strings < 3000
    kept = theirs.acceptor(potentials)
    ours = gradient_terms(loss, y, kept, max_states=1000, threshold=2.0)
    assert ours.log_z_error < 1e-9
    assert theirs.log_z == pytest.approx(ours.log_z, abs=1e-6)
    every = gradient_terms(loss, y, potentials, order=2, max_states=1000, threshold=2.0)
    assert every.log_z_bounds[0] > theirs.log_z


@pytest.mark.slow
@pytest.mark.parametrize("task", ["structured-edit", "structured-smith-waterman", "structured-bigram"])
def test_the_task(task: str, structured: Any) -> None:
    needs_openfst()
    result = structured.TASKS[task](Sizes(structured_length=5, repeats=2))
    assert result.task == task
    names = ["RadBoost", "RadBoost, default states", "RadBoost, automaton kept", "OpenFst"]
    assert [row.competitor for row in result.rows] == names
    assert [row.ours for row in result.rows] == [True, True, True, False]
    assert all(row.figure == min(row.runs) > 0 and len(row.runs) == 2 for row in result.rows)
    (target,) = result.targets
    assert (target.ours, result.peer(target), target.ratio) == ("RadBoost", "OpenFst", 0.1)
    assert ("Both sum over all strings" in result.note) == (task == "structured-bigram")


def test_what_is_compared_must_agree(structured: Any) -> None:
    needs_openfst()
    y, potentials = problem(5, 4)
    found = openfst.gradient_terms(ngram(2), y, potentials)
    assert structured.fewest_states(ngram(2), y, potentials, None, found) == structured.BUDGETS[0]
    wrong = openfst.OpenFstTerms(found.log_z + 1e-3, found.q, found.strings)
    with pytest.raises(ValueError, match=r"by OpenFst and .* by RadBoost; they must agree within 1e-06"):
        structured.fewest_states(ngram(2), y, potentials, None, wrong)


def test_without_openfst_the_task_is_left_out(structured: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pywrapfst", None)
    with pytest.raises(DataMissingError, match=r"pip install 'radboost\[openfst\]'"):
        structured.TASKS["structured-bigram"](Sizes.quick())
    main = pytest.importorskip("benchmarks.__main__")
    result = main.run("structured-bigram", Sizes.quick())
    assert result.rows == []
    assert result.note.startswith("Left out: OpenFst, which pynini brings with it, is not installed")
