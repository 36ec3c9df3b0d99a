"""A federation of all clients is the fit on all rows, to the last bit; and what depends on nobody's order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from federation_tools import LocalTransport, all_rows, candidates, domain_model, estimator
from radboost import DeepBoostClassifier
from radboost.families import Candidates, Trees
from radboost.federated import TrainedByOwners
from radboost.federated.fitting import fit_federated
from turns import in_turns


def essence(model: Any, X: np.ndarray) -> dict[str, Any]:
    ensemble = model.ensemble_
    return {
        "scores": model.decision_function(X).tolist(),
        "probabilities": model.predict_proba(X).tolist(),
        "history": model.history_,
        "weights": ensemble.weights.tolist(),
        "complexities": ensemble.complexities.tolist(),
        "hypotheses": list(map(str, ensemble.entered)),
        "sample size": ensemble.sample_size,
        "classes": model.classes_.tolist(),
        "sources": model.source_names_.tolist(),
        "errors": model.source_errors_,
        "stopped": (model.stop_reason_, model.n_iter_, model.n_skipped_rounds_),
    }


SETTINGS: dict[str, dict[str, Any]] = {
    "figure 4.2": {},
    "logistic": {"loss": "logistic", "learning_rate": 0.3},
    "long steps": {"learning_rate": 1.0},
    "prices": {"complexity_penalty": 0.01},
    "softmax": {"source_objective": "softmax", "mu": 3.0},
    "sum": {"source_objective": "sum", "loss": "logistic"},
    "mixtures": {"mixtures": [[0.3, 0.7], [0.6, 0.4]]},
}


@in_turns("name, n_clients", list(SETTINGS), [2, 9], one_in=2)
def test_all_clients_make_the_model_of_all_rows(name: str, n_clients: int) -> None:
    X, y, domains = all_rows(n_clients)
    model, given = domain_model(), candidates()
    central = estimator(**SETTINGS[name], family=given, domain_classifier=model).fit(X, y, sources=domains)
    federated, _ = fit_federated(
        estimator(**SETTINGS[name]), LocalTransport(n_clients), candidates=given, domain_model=model
    )
    assert central.n_iter_ == 15
    assert essence(federated, X) == essence(central, X)


@pytest.mark.parametrize("per_round", [1, 7])
def test_the_same_candidates_are_drawn(per_round: int) -> None:
    X, y, domains = all_rows(9, 3)
    model, given = domain_model(3), candidates(per_round)
    central = estimator(family=given, domain_classifier=model).fit(X, y, sources=domains)
    federated, _ = fit_federated(estimator(), LocalTransport(9, 3), candidates=given, domain_model=model)
    assert essence(federated, X) == essence(central, X)
    assert len(federated.ensemble_) > 5


def test_deep_trees_with_missing_values_as_candidates() -> None:
    X, y, domains = all_rows(8, missing=0.2)
    other, labels, _ = all_rows(20, missing=0.2)
    public = DeepBoostClassifier(20, family=Trees(max_depth=3), random_state=1).fit(other, labels)
    given, model = Candidates(public.ensemble_.hypotheses), domain_model()
    central = estimator(family=given, domain_classifier=model).fit(X, y, sources=domains)
    transport = LocalTransport(8, missing=0.2)
    federated, _ = fit_federated(estimator(), transport, candidates=given, domain_model=model)
    assert essence(federated, X) == essence(central, X)
    assert max(hypothesis.depth for hypothesis in federated.ensemble_.hypotheses) > 1


def test_one_domain_needs_no_q() -> None:
    X, y, domains = all_rows(4, 1)
    given = candidates()
    central = estimator(family=given).fit(X, y, sources=domains)
    federated, _ = fit_federated(estimator(), LocalTransport(4, 1), candidates=given, domain_model=None)
    assert essence(federated, X) == essence(central, X)
    assert federated.domain_classifier_ is None


@pytest.mark.parametrize("changes", [{}, {"step": "line_search", "learning_rate": 1.0}])
def test_some_clients_in_every_round(changes: dict[str, Any]) -> None:
    """Two runs are the same, another seed is not; and the model is worth having."""
    X, y, _ = all_rows(10)
    given, model = candidates(10), domain_model()
    runs = [
        fit_federated(
            estimator(40, random_state=seed, **changes),
            LocalTransport(10),
            candidates=given,
            domain_model=model,
            clients_per_round=3,
        )
        for seed in (3, 3, 4)
    ]
    models = [fitted for fitted, _ in runs]
    assert essence(models[0], X) == essence(models[1], X) != essence(models[2], X)
    assert models[0].score(X, y) > 0.7
    asked = [traffic.n_messages for traffic in runs[0][1].traffic[2:-1]]
    assert max(asked) <= 3 * 2 * 4  # three of each of two domains, up to four requests in a round


def test_a_line_search_lowers_the_largest_loss() -> None:
    changes = {"step": "line_search", "learning_rate": 1.0}
    fitted, _ = fit_federated(
        estimator(40, **changes), LocalTransport(10), candidates=candidates(), domain_model=domain_model()
    )
    losses = np.array(fitted.history_["objective"])
    X, y, domains = all_rows(10)
    best = estimator(100, step="line_search", learning_rate=1.0, family=candidates(), domain_classifier=domain_model())
    least = best.fit(X, y, sources=domains).history_["objective"][-1]
    assert losses[-1] < 0.75 * losses[0]
    assert losses[-1] < 1.3 * least  # the minimum, as nothing is penalized beside the losses


def test_candidates_that_clients_train() -> None:
    X, y, _ = all_rows(12)
    transport = LocalTransport(12)
    fitted, _ = fit_federated(
        estimator(20), transport, candidates=TrainedByOwners("trees", 3), domain_model=domain_model()
    )
    assert fitted.score(X, y) > 0.75
    proposals = [reply for _, reply in transport.replies if reply.action == "propose"]
    assert 20 <= len(proposals) <= 3 * 20
    assert any(hypothesis.n_splits > 1 for hypothesis in fitted.ensemble_.hypotheses)


def test_nothing_of_a_row_leaves_its_client() -> None:
    """Replies hold sums of a fixed number, whatever the number of rows; no value of a row is in any of them."""
    transport = LocalTransport(6)
    fit_federated(estimator(), transport, candidates=candidates(), domain_model=None)
    values = {value for X in (all_rows(6)[0],) for value in X.reshape(-1).tolist()}
    for _, reply in transport.replies:
        for name, array in reply.arrays.items():
            assert name in ("sums", "exponents")
            assert array.dtype.kind == "i"
            assert len(array) in (1, 4, 4 * 12, 12, 1 + 5 * 2)
        assert not values & set(map(float, (fact for fact in reply.facts.values() if isinstance(fact, float))))
