"""Table 3.1 of Regularized Gradient Boosting: the grids, the folds, the test, what is printed."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from papers import COMPARISONS, KeptResults, comparison, protocol
from papers.__main__ import main
from papers.regularized_gradient_boosting import CONTENDERS, FOLDS

TABLE = COMPARISONS["rgb-3.1"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for sonar."""
    monkeypatch.delenv("RADBOOST_DATA", raising=False)
    monkeypatch.setenv("RADBOOST_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 3)).round(2)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=100) > 0, "M", "R")
    lines = ["a,b,c,target", *(f"{a},{b},{c},{label}" for (a, b, c), label in zip(X, y, strict=True))]
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "sonar.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def test_the_papers_figures_and_grids() -> None:
    assert TABLE.datasets[:3] == ("sonar", "breastcancer", "diabetes")
    assert len(TABLE.datasets) == 8
    assert TABLE.figures["ocr17"]["RGB"].error == pytest.approx(0.009)
    assert TABLE.figures["higgs_part"]["XGBoost"].std == pytest.approx(0.0037)
    # Everybody has as many configurations: 7 norms, 7 depths and 5 rates in the paper.
    rgb, *others = CONTENDERS
    assert {len(contender.configurations()) for contender in others} == {245}
    assert {len(contender.configurations(quick=True)) for contender in others} == {6}
    # RGB as in section 3.5: beta alone is tuned, and steps are whole.
    for quick in (True, False):
        assert [choice["complexity_penalty"] for choice in rgb.configurations(quick=quick)] == [
            0.001,
            0.01,
            0.1,
            0.3,
            1,
        ]
    model = rgb.make(complexity_penalty=0.3)
    assert (model.learning_rate, model.subsample, model.n_rounds) == (1.0, 1.0, 100)
    xgboost = next(contender for contender in CONTENDERS if contender.name == "XGBoost")
    assert xgboost.grid["max_depth"] == (1, 2, 3, 4, 5, 6, 7)
    assert xgboost.grid["reg_lambda"] == (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)


def test_a_run_is_kept_and_chooses_the_lowest(folder: Path, tmp_path: Path) -> None:
    table = replace(TABLE, contenders=TABLE.contenders[:2], against="RGB")
    kept, seen = KeptResults(tmp_path / "kept"), []
    contests = list(
        comparison.compare(table, ["sonar"], quick=True, data_dir=str(folder), kept=kept, advance=seen.append)
    )
    assert len(seen) == comparison.count_fits(table, ["sonar"], quick=True) == (5 + 6) * 5
    assert [contest.contender for contest in contests] == ["RGB", "RGB tuned"]
    lines = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    errors: dict[str, list[float]] = {}
    for line in lines:
        if line["facts"]["contender"] == "RGB":
            errors.setdefault(json.dumps(line["facts"]["parameters"]), []).append(line["result"]["error"])
    assert contests[0].error == pytest.approx(min(np.mean(folds) for folds in errors.values()))
    assert contests[0].p_value is None
    expected = stats.ttest_rel(contests[1].errors, contests[0].errors, alternative="less").pvalue
    assert contests[1].p_value == pytest.approx(0.5 if contests[1].errors == contests[0].errors else expected)
    again = list(
        comparison.compare(table, ["sonar"], quick=True, data_dir=str(folder), kept=KeptResults(tmp_path / "kept"))
    )
    assert again == contests
    assert len((tmp_path / "kept").read_text().splitlines()) == len(lines)


def test_folds_as_they_can_be_dealt() -> None:
    """A sorted file: only shuffled folds have rows of every part of it."""
    rows = np.arange(40, dtype=float)
    data = SimpleNamespace(X=rows[:, None], y=(rows >= 20).astype(int))
    shuffled, contiguous, fifth = (comparison.deal(data, 5, kind, seed=0) for kind in FOLDS)
    assert [test.tolist() for _, test in contiguous] == [
        [*range(4 * k, 4 * k + 4), *range(20 + 4 * k, 24 + 4 * k)] for k in range(5)
    ]
    for (train, test), (small, large) in zip(shuffled, fifth, strict=True):
        assert sorted([*train, *test]) == list(range(40))
        np.testing.assert_array_equal(train, large)
        np.testing.assert_array_equal(test, small)
        assert len(test) == 8
    assert [test.tolist() for _, test in shuffled] != [test.tolist() for _, test in contiguous]
    with pytest.raises(ValueError, match="no folds 'x'; there are shuffled, contiguous, one-fifth"):
        comparison.deal(data, 5, "x", seed=0)


def test_the_test_of_the_paper() -> None:
    worse, better = [0.30, 0.28, 0.31, 0.29, 0.30], [0.26, 0.25, 0.28, 0.24, 0.27]
    assert protocol.chance_of_lead(better, worse) < 0.01
    assert protocol.chance_of_lead(worse, better) > 0.99
    assert protocol.chance_of_lead(worse, worse) == 0.5


def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setitem(COMPARISONS, "rgb-3.1", replace(TABLE, contenders=TABLE.contenders[:1]))
    arguments = ["run", "rgb-3.1", "--quick", "--datasets", "sonar", "--data-dir", str(folder), "--jobs", "1"]
    assert main([*arguments, "--json", str(tmp_path / "out.json"), "--folds", "contiguous"]) == 0
    printed = capsys.readouterr().out
    assert "5 folds (stratified, in the order of the file)" in printed
    assert main(["run", "deep-boosting-1", "--folds", "contiguous"]) == 2
    assert "leave out --folds" in capsys.readouterr().err
    assert "0.2694 (0.0210)" in printed
    assert "higgs_part: 35,298 of the 98,050 rows" in printed
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["rows"][0]["dataset"] == "sonar"
    assert len(document["rows"][0]["errors"]) == 5
    for wrong in (["--plot", str(tmp_path / "x.png")], ["--split-criterion", "gini"]):
        assert main([*arguments, *wrong]) == 2
    assert main(["run", "rgb-3.1", "--datasets", "letters"]) == 2
    assert "it has sonar" in capsys.readouterr().err
