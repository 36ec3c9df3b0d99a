"""Q learned together beside Q learned in one place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from federation_tools import LocalTransport, all_rows, candidates, domain_model, estimator, rows_of
from radboost.federated import candidates_from, learn_domains
from radboost.federated.client import ClientData
from radboost.federated.domains import loss_and_gradient
from radboost.federated.fitting import fit_federated
from radboost.rows.domains import fit_domains


def given(k: int, X: np.ndarray) -> Callable[[], ClientData]:
    """Other rows of a client, with its labels."""
    return lambda: ClientData(X, *rows_of(k)[1:], f"client {k:03}")


@pytest.mark.parametrize("n_domains", [2, 3])
def test_learned_together_and_in_one_place(n_domains: int) -> None:
    """Regression on the sums of all clients is that on all of their rows, to the tolerance of the solvers."""
    X, _, domains = all_rows(12, n_domains)
    found, server = fit_federated(
        estimator(2), LocalTransport(12, n_domains), candidates=candidates(), domain_model=None
    )
    ids = np.unique(domains, return_inverse=True)[1].astype(np.uint16)
    central = fit_domains(X, ids, None, {}, n_domains)
    np.testing.assert_allclose(found.source_probabilities(X), central.shares(X, 1), atol=2e-3)
    again, _ = fit_federated(estimator(2), LocalTransport(12, n_domains), candidates=candidates(), domain_model=None)
    np.testing.assert_array_equal(again.source_probabilities(X), found.source_probabilities(X))
    assert server.traffic[0].n_messages > 12 * 5


def test_missing_values_constants_and_huge_columns() -> None:
    """The likelihood of the domains is as good as that of the fit in one place."""
    transport = LocalTransport(8, missing=0.3)

    def strange(k: int) -> np.ndarray:
        X = rows_of(k, missing=0.3)[0]
        return np.column_stack([X[:, :2], np.full(len(X), 7.0), np.full(len(X), np.nan), 1e100 * X[:, 3]])

    for k, client in enumerate(transport.clients):
        client._load = given(k, strange(k))
    stumps = candidates_from(np.nan_to_num(np.vstack([strange(k) for k in range(8)])), all_rows(8)[1], n_rounds=10)
    found, _ = fit_federated(estimator(2), transport, candidates=stumps, domain_model=None)
    X = np.vstack([strange(k) for k in range(8)])
    ids = np.concatenate([np.full(len(rows_of(k)[1]), k % 2) for k in range(8)])
    central = fit_domains(X, ids.astype(np.uint16), None, {}, 2).shares(X, 1)

    def likelihood(shares: np.ndarray) -> float:
        return float(np.mean(np.log(np.maximum(shares[np.arange(len(ids)), ids], 1e-6))))

    own = found.source_probabilities(X)
    assert np.isfinite(own).all()
    assert likelihood(own) > likelihood(central) - 0.02
    assert likelihood(own) > np.log(0.5) + 0.1


def test_the_gradient_is_that_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    design, ids, at = rng.normal(size=(30, 3)), rng.integers(0, 3, 30), rng.normal(size=(3, 3))
    gradient = loss_and_gradient(design, ids, at)[1].sum(axis=0)
    for place in np.ndindex(3, 3):
        ahead, back = at.copy(), at.copy()
        ahead[place] += 1e-6
        back[place] -= 1e-6
        rise = (loss_and_gradient(design, ids, ahead)[0] - loss_and_gradient(design, ids, back)[0]).sum() / 2e-6
        assert gradient[place] == pytest.approx(rise, rel=1e-5, abs=1e-6)


def test_from_public_rows() -> None:
    X, y, domains = all_rows(10)
    model = learn_domains(X, domains)
    assert model.n_sources == 2
    assert np.mean(model.shares(X, 1).argmax(axis=1) == (domains == "domain 1")) > 0.8
    trees = candidates_from(X, y, family="trees", n_rounds=10, per_round=3)
    assert trees.per_round == 3
    found, _ = fit_federated(estimator(), LocalTransport(4), candidates=trees, domain_model=model)
    assert len(found.ensemble_) > 1
    with pytest.raises(ValueError, match="names only 'domain 0'"):
        learn_domains(X[:5], ["domain 0"] * 5)
    with pytest.raises(ValueError, match="domains has the shape"):
        learn_domains(X, domains[:5])
    with pytest.raises(ValueError, match="3 classes, and a federation takes two"):
        candidates_from(X, np.arange(len(X)) % 3)
    narrow = LocalTransport(2)
    for k, client in enumerate(narrow.clients):
        client._load = given(k, rows_of(k)[0][:, :3])
    with pytest.raises(ValueError, match=r"a tree is for 4 columns, not for 3"):
        fit_federated(estimator(), narrow, candidates=candidates(), domain_model=domain_model())
