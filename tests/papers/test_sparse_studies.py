"""The studies of "Boosting with Structural Sparsity": what is run, and what is made of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import papers as experiments
from papers import sparsity_report, studies, studies_report
from papers.plots import draw_study
from papers.sparsity_fits import (
    BOOSTED,
    LAMBDAS,
    LOOSE,
    ONE_AT_A_TIME,
    PLAIN_BOOSTED,
    SMOOTH,
    _most_telling,
    boosted_at,
)
from papers.structural_sparsity import (
    KERNEL_PENALTIES,
    PENALTIES,
    REGRESSORS,
    STUDIES,
    TOPICS,
    InAndOut,
    InducedRegression,
    KernelDigits,
    SparsityPaths,
    Topics,
)
from radboost import SparseBoostClassifier, plot


def test_they_are_listed() -> None:
    names = [study.name for study in STUDIES]
    assert names == [f"structural-sparsity-{n}" for n in range(7, 15)]
    assert set(names) <= set(experiments.STUDIES)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_units(study: Any) -> None:
    quick, whole = (studies.units(study, quick=quick, seed=3) for quick in (True, False))
    assert all(facts["seed"] == 3 for facts in whole)
    assert len({str(facts) for facts in whole}) == len(whole)
    assert len(quick) <= len(whole)
    with pytest.raises(ValueError, match=r"its own data|has no data set 'vowel'; it has housing, ailerons"):
        studies.units(study, ["vowel"])


def test_sets_of_the_regression_can_be_chosen() -> None:
    study = next(study for study in STUDIES if isinstance(study, InducedRegression))
    chosen = studies.units(study, ["housing"])
    assert {facts["regression"] for facts in chosen} == {"housing"}
    assert len(chosen) == 10 * len(REGRESSORS)


def outcomes_of(paths: dict[str, tuple[list[int], list[float]]]) -> list[studies.Outcome]:
    return [
        studies.Outcome(
            {"penalty": penalty, "repeat": 0},
            {"rows": rows, "coverage": coverage, "weights": [r / 100 for r in rows], "loss": coverage},
        )
        for penalty, (rows, coverage) in paths.items()
    ]


def test_features_needed_for_a_coverage() -> None:
    outcomes = outcomes_of(
        {
            "l1": ([0, 10, 20], [3.0, 1.2, 1.0]),
            "l1/l2": ([0, 5, 30], [3.0, 1.05, 0.9]),
            "l1/linf": ([0, 8, 9], [3.0, 2.5, 2.0]),
        }
    )
    assert sparsity_report.needed(outcomes, "l1", 1.1) == [(20, 0.2)]
    assert sparsity_report.needed(outcomes, "l1", 1.25) == [(10, 0.1)]
    assert sparsity_report.needed(outcomes, "l1/l2", 1.1) == [(5, 0.05)]
    assert sparsity_report.needed(outcomes, "l1/linf", 1.1) == [None]
    text = "\n".join(STUDIES[2].rows(outcomes))
    assert "75%" in text
    assert "0 of 1" in text


@pytest.mark.slow
def test_a_small_run_of_each(data_dir: Path) -> None:
    """On real rows, few of them."""
    paths = SparsityPaths("x", "vowels", "vowel", 5, 100, quick_repeats=1)
    regression = InducedRegression("x", "houses", {"housing": (1, 5)})
    rounds = InAndOut("x", "vowels", "vowel", 5, 100, quick_rounds=(2, 5))
    digits = KernelDigits("x", "digits", quick_sizes=(3,), n_seen=2000)
    for study in (paths, regression, rounds, digits):
        units = studies.units(study, quick=True)
        outcomes = list(studies.run(study, units, data_dir=str(data_dir)))
        assert len(outcomes) == len(units)
        assert len(study.rows(outcomes)) >= 3
        assert studies_report.header(study)
        assert study.legend
        figure = draw_study(study, outcomes)
        assert figure.axes
        if study is paths:
            assert {o.facts["penalty"] for o in outcomes} == set(PENALTIES)
            assert all(o.result["rows"][0] == 0 for o in outcomes)
        if study is digits:
            assert 200 < outcomes[0].result["centres"] < 600
            assert {o.facts["penalty"] for o in outcomes} == set(KERNEL_PENALTIES)
        if study is regression:
            assert all(0.0 < o.result["absolute"] <= o.result["rmse"] < 1.0 for o in outcomes)
            features = {o.facts["algorithm"]: o.result["features"] for o in outcomes}
            # a looser tolerance stops sooner, and the paper's updates take a way of their own
            assert features[LOOSE] < features[BOOSTED]
            assert features[PLAIN_BOOSTED] != features[LOOSE]
    again = replace(paths, per_class=4)
    assert studies.units(again, quick=True) != studies.units(paths, quick=True)


@pytest.mark.slow
def test_a_small_run_of_texts(data_dir: Path) -> None:
    """One topic, the L1 booster and the one that takes a feature at a time."""
    study = Topics("x", "reviews", quick_rounds=(3,))
    wanted = (boosted_at(LAMBDAS[-1]), SMOOTH, ONE_AT_A_TIME)
    units = [u for u in studies.units(study, quick=True) if u["topic"] == TOPICS[0] and u["algorithm"] in wanted]
    boosted, smooth, single = studies.run(study, units, data_dir=str(data_dir))
    assert boosted.result["stopped"] == "optimal"
    assert boosted.result["features"] > single.result["features"] == 3
    assert boosted.result["error"] < single.result["error"]
    assert smooth.result["features"] == 3
    # the smooth L1 penalty is below the square that it is near zero
    assert smooth.result["loss"] != single.result["loss"]
    assert len(study.rows([boosted, smooth, single])) == 3
    assert draw_study(study, [boosted, smooth, single]).axes


def test_the_most_telling_words() -> None:
    """Appendix D: columns that are in the rows of one class alone come first."""
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3 == 0
    X = sparse.csr_array((rng.random((3000, 1000)) < 0.1).astype(float))
    X = sparse.hstack([X, sparse.csr_array((y & (rng.random(3000) < 0.5)).astype(float)[:, None])]).tocsr()
    chosen = _most_telling(X, y)
    assert len(chosen) == 800
    assert 1000 in chosen


def test_pictures_of_a_model() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = (X[:, :3] @ rng.normal(size=(3, 3))).argmax(axis=1)
    model = SparseBoostClassifier(0.05)
    alphas, coefs, _ = model.path(X, y, n_alphas=5)
    ax = plot.regularization_path(alphas, coefs)
    assert len(ax.lines) == int(coefs.any(axis=(0, 1)).sum())
    ax = plot.features_over_time(model.fit(X, y).history_, label="here")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.history_["n_features"])
