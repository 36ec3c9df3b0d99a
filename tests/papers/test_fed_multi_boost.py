"""Table B.1 of the thesis on made-up pictures, and how real ones are dealt to writers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from papers import fed_multi_boost
from papers.fed_multi_boost import ALGORITHMS
from papers.harness import run

(STUDY,) = fed_multi_boost.STUDIES


def made_up(name: str, data_dir: str | None) -> fed_multi_boost.Dealt:
    """Twenty writers; the domains differ in the third column, and disagree about the first."""
    rng = np.random.default_rng(0)
    writers = np.repeat(np.arange(20), 40)
    domains = 1 + writers % 2
    X = rng.normal(size=(800, 4))
    X[:, 2] += 3.0 * domains
    y = np.where(domains == 1, X[:, 0] > 0, X[:, 0] < 0).astype(np.int64)
    return fed_multi_boost.Dealt(X, y, writers, domains)


@pytest.mark.slow
def test_every_algorithm_in_both_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fed_multi_boost, "deal", made_up)
    wanted = STUDY.wanted(["mnist-4-9"], quick=True, runs=1)
    assert {facts["rounds"] for facts in wanted} == {200}
    outcomes = run(STUDY, [facts | {"rounds": 25, "folds": 5} for facts in wanted])
    worst = {outcome.facts["algorithm"]: max(outcome.result["errors"]) for outcome in outcomes}
    assert set(worst) == set(ALGORITHMS)
    # Domains that disagree: only a model with Q can be right about both.
    assert worst["FedMultiBoost"] < 0.2
    assert min(worst[name] for name in ALGORITHMS if name != "FedMultiBoost") > 0.3
    rows = STUDY.rows(outcomes)
    assert len(rows) == 6
    assert next(row for row in rows if row[1] == "FedMultiBoost")[-2] == "0.076"


def test_slant_and_ink() -> None:
    upright, falling = np.zeros((28, 28)), np.zeros((28, 28))
    upright[4:24, 14] = 255
    falling[np.arange(4, 24), np.arange(4, 24)] = 100
    found = fed_multi_boost.styles(np.array([upright.reshape(-1), falling.reshape(-1), falling[:, ::-1].reshape(-1)]))
    np.testing.assert_allclose(found["ink"], [20 * 255, 2000, 2000])
    np.testing.assert_allclose(found["slant"], [0.0, -1.0, 1.0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", fed_multi_boost.PROBLEMS)
def test_real_pictures_are_dealt_to_writers(name: str, data_dir: Path) -> None:
    dealt = fed_multi_boost.deal(name, str(data_dir))
    assert dealt.X.shape == (len(dealt.y), 196)
    assert 0.0 <= dealt.X.min() < dealt.X.max() <= 1.0
    sizes = np.bincount(dealt.domains)[1:].tolist()
    assert f"{name} {sizes[0]} + {sizes[1]}" in STUDY.legend
    for writer in range(dealt.writers.max() + 1):
        own = dealt.writers == writer
        assert 90 <= own.sum() <= 115
        assert len(set(dealt.domains[own].tolist())) == 1
        assert 0.3 < dealt.y[own].mean() < 0.7


@pytest.mark.parametrize("method", ["fedavg", "afl"])
def test_linear_models(method: str) -> None:
    dealt = made_up("", None)
    truth = (dealt.X[:, 0] + dealt.X[:, 1] > 0).astype(int)
    data = [
        fed_multi_boost.ClientData(dealt.X[own], truth[own], k % 2, f"{k:03}")
        for k in range(20)
        for own in [dealt.writers == k]
    ]
    model = fed_multi_boost.fit_linear(data, method=method, n_rounds=60)
    assert np.mean((dealt.X @ model[:-1] + model[-1] > 0) == truth) > 0.95


def test_the_gradient_of_linear_models() -> None:
    rng = np.random.default_rng(1)
    design, labels, at = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], 20), rng.normal(size=3)
    loss = lambda coefficients: fed_multi_boost.loss_and_gradient(design, labels, coefficients)[0]  # noqa: E731
    slope = fed_multi_boost.loss_and_gradient(design, labels, at)[1]
    for k, ahead in enumerate(1e-6 * np.eye(3)):
        assert slope[k] == pytest.approx((loss(at + ahead) - loss(at - ahead)) / 2e-6, rel=1e-5)
