"""Tables and figures of "Soft-max boosting": what is fitted, and what is made of it."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from papers import datasets
from papers.harness import Outcome, run
from papers.soft_max_boosting import FEW_DRAWS, STUDIES, TABLE_ALGORITHMS, close
from radboost.baselines import SAMMEClassifier
from radboost.datasets import make_noisy

BY_NAME: dict[str, Any] = {study.name.removeprefix("soft-max-boosting-"): study for study in STUDIES}
TABLE_2, TABLE_3, CURVE = BY_NAME["2"], BY_NAME["3"], BY_NAME["fig7"]


def test_the_papers_figures_are_all_there() -> None:
    for table in (TABLE_2, TABLE_3):
        assert table.datasets == ("dna", "letter", "mnist", "pendigits", "satimage", "segment", "splice", "vowel")
        assert len(table.figures) == 8 * 3
        assert all(len(figures) == 3 and 0 < min(figures) < 0.6 for figures in table.figures.values())
    assert TABLE_2.figures["letter", "sm-boost"] == pytest.approx((0.269, 0.107, 0.054))
    assert TABLE_3.figures["vowel", "SAMME"] == pytest.approx((0.541, 0.446, 0.413))


def test_units_name_every_fit() -> None:
    wanted = TABLE_3.wanted(["vowel", "letters"])  # by any name, in the order of the table
    assert [(one["dataset"], one["algorithm"]) for one in wanted] == [
        (name, algorithm) for name in ("letter", "vowel") for algorithm in TABLE_ALGORITHMS
    ]
    assert {(one["noise"], one["rounds"]) for one in wanted} == {(0.2, 1000)}
    sizes = {name: [len(BY_NAME[name].wanted(quick=quick)) for quick in (True, False)] for name in BY_NAME}
    assert sizes["fig1"] == sizes["fig3"] == [300, 3000]
    assert sizes["fig5"] == sizes["fig6"] == [8 * 5 * 3, 8 * 25 * 3]
    assert sizes["fig7"] == [11 * 10 * 5, 11 * 100 * 5]
    for quick, layers in ((True, 100), (False, 300)):
        assert {one["size"] for one in CURVE.wanted(quick=quick) if one["algorithm"] == "MartiBoost"} == {layers}


def test_stages_are_those_of_one_fit(folder: str) -> None:
    facts = TABLE_3.wanted(["vowel"], quick=True, seed=3)[1]
    assert facts["algorithm"] == "SAMME"
    result = TABLE_3.fit(facts, folder)
    data = datasets.load("vowel", folder)
    train = data.split == "train"
    noisy = make_noisy(data.y[train], 0.2, random_state=3)
    for stage, rounds in enumerate((10, 100)):
        model = SAMMEClassifier(rounds).fit(data.X[train], noisy)
        assert result["test"][stage] == pytest.approx(1 - model.score(data.X[~train], data.y[~train]))
        assert result["train"][stage] == pytest.approx(1 - model.score(data.X[train], noisy))
    (Path(folder) / "splice.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0\n2,1\n"))
    with pytest.raises(ValueError, match=r"splice from .* does not say which rows train"):
        TABLE_2.fit(TABLE_2.wanted(["splice"])[0], folder)


def test_mixed_rows(folder: str) -> None:
    study = BY_NAME["fig6"]
    wanted = study.wanted(["vowel"], quick=True, seed=4)
    facts = next(one for one in wanted if (one["algorithm"], one["repeat"]) == ("SAMME", 1))
    result = study.fit(facts, folder)
    data = datasets.load("vowel", folder)
    rng = np.random.default_rng([4, 1])
    order = rng.permutation(90)
    train, test = order[:60], order[60:]  # as many as the file has
    noisy = make_noisy(data.y[train], 0.2, random_state=rng)
    model = SAMMEClassifier(100).fit(data.X[train], noisy)
    assert result["test"][1] == pytest.approx(1 - model.score(data.X[test], data.y[test]))
    assert result["train"][1] == pytest.approx(1 - model.score(data.X[train], noisy))
    ends = dict(zip(TABLE_ALGORITHMS, (0.5, 0.4, 0.3), strict=True))
    outcomes = [
        Outcome(one, {"train": [0.0] * 2, "test": [ends[one["algorithm"]] + 0.1 * (one["repeat"] % 2)] * 2})
        for one in wanted
        if one["repeat"] < 2
    ]
    rows = study.rows(outcomes)
    assert rows[0] == ["vowel", "AdaBoost.MH", "10", "0.0000 (0.0000)", "0.5500 (0.0500)", "0.5580", "+0.2"]
    assert [row[2] for row in rows] == ["10", "100"] * 3


def test_random_problems() -> None:
    small = replace(BY_NAME["fig3"], rounds=10)
    outcomes = run(small, small.wanted(runs=1))
    assert [one.facts["algorithm"] for one in outcomes] == ["SAMME", "sm-boost", FEW_DRAWS]
    assert [row[:4] for row in small.rows(outcomes)] == [
        [draws, part, "10", f"{outcomes[0].result[part][0]:.4f}"]
        for draws in ("N", "N/8")
        for part in ("train", "test")
    ]
    errors = {"SAMME": [0.1, 0.2, 0.6], "sm-boost": [0.2, 0.2, 0.2], FEW_DRAWS: [0.0, 0.1, 0.2]}
    outcomes = [
        Outcome({"algorithm": algorithm}, {"train": [error], "test": [error / 2]})
        for algorithm, values in errors.items()
        for error in values
    ]
    train, test, of_few, _ = small.rows(outcomes)
    assert train[3:8] == ["0.3000", "0.2000", "33.3%", "33.3%", "33.3%"]
    assert train[8:] == ["10.00", "-9.00", "-5.00", "0.00", "20.00", "36.00"]
    assert test[8] == "5.00"
    assert of_few[3:8] == ["0.3000", "0.1000", "0.0%", "0.0%", "100.0%"]


def test_the_noise_curve() -> None:
    curve = replace(CURVE, noises=(0.0, 0.2), rounds=40, quick_layers=31, n_train=400, n_test=300)
    outcomes = run(curve, curve.wanted(quick=True, runs=2))
    errors = curve.errors(outcomes)
    assert list(errors) == ["SAMME", "sm-boost", "sm-boost, M = N/8", "SoftmaxBoost", "MartiBoost", "one walk"]
    assert all(values.shape == (2, 2) for values in errors.values())
    assert (errors["one walk"] >= errors["MartiBoost"]).all()  # the more probable side is better here
    assert errors["SAMME"][0].mean() + 0.02 < errors["SAMME"][1].mean()  # noise harms it
    rows = curve.rows(outcomes)
    assert [row[0] for row in rows] == ["0.00", "0.20"]
    assert f"{errors['SAMME'][1].mean():.4f}" == rows[1][1].split()[0]
    (ax,) = curve.draw(outcomes).axes
    drawn = {line.get_label(): line for line in ax.lines}
    np.testing.assert_allclose(drawn["SAMME"].get_ydata(), errors["SAMME"].mean(axis=1))
    assert "MartiBoost, one walk" in drawn


def test_close_to_the_paper() -> None:
    """In both directions: an error far below the paper's is no more a table reproduced than one far above."""
    assert [close(error, 0.0201) for error in (0.03, 0.0302, 0.0102, 0.01)] == ["yes", "above", "yes", "below"]
    assert [close(error, 0.45) for error in (0.51, 0.52, 0.39, 0.38)] == ["yes", "above", "yes", "below"]
    letter = Outcome({"dataset": "letter", "algorithm": "sm-boost"}, {"test": [0.2, 0.2, 0.05]})
    short = Outcome({"dataset": "letter", "algorithm": "SAMME"}, {"test": [0.1]})
    first, second = TABLE_2.rows([letter, short])
    assert " ".join(first) == "letter sm-boost 0.2000 0.2690 0.2000 0.1070 0.0500 0.0540 below above yes"
    assert " ".join(second) == "letter SAMME 0.1000 0.1300 - 0.0368 - 0.0284 below"
