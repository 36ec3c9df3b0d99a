"""The worst mixture of losses for networks."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from radboost import AgnosticClassifier
from radboost.losses.model_evaluation import EVALUATION_LOSSES
from radboost.torch import LOSSES, AgnosticLoss, lipschitz, network

CONVEX = ("cross_entropy", "hinge")


def batch(n_classes: int, n: int = 40, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    shape = (n,) if n_classes == 2 else (n, n_classes)
    return torch.tensor(2.0 * rng.normal(size=shape)), torch.tensor(rng.integers(0, n_classes, n))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_losses_are_those_of_the_linear_models(name: str, n_classes: int) -> None:
    scores, targets = batch(n_classes)
    ours = EVALUATION_LOSSES[name](targets.numpy().astype(np.uint16), n_classes)
    lines = np.atleast_2d(scores.numpy()) if n_classes == 2 else scores.numpy().T
    assert float(LOSSES[name](scores, targets)) == pytest.approx(ours.value(lines).mean(), rel=1e-12)
    assert lipschitz(name, n_classes) == pytest.approx(ours.lipschitz_of_value)
    assert list(LOSSES) == list(EVALUATION_LOSSES)
    scores.requires_grad_()
    LOSSES[name](scores, targets).backward()
    expected = ours.gradient(lines) / len(targets)
    np.testing.assert_allclose(np.atleast_2d(scores.grad.numpy().T), expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradients(n_classes: int) -> None:
    scores, targets = batch(n_classes)
    module = AgnosticLoss(n_classes=n_classes).eval().double()
    assert torch.autograd.gradcheck(lambda s: module(s, targets), scores.requires_grad_())


def test_the_mixture_rises_in_training_alone() -> None:
    scores, targets = batch(2)
    module = AgnosticLoss(CONVEX, step=0.1)
    before = module.mixture.clone()
    module.eval()
    value = module(scores, targets)
    assert torch.equal(module.mixture, before)
    module.train()
    assert torch.equal(module(scores, targets), value)  # mixed by lambda as it was
    expected = (before + 0.1 * module.values).numpy()
    falling = expected - (expected.sum() - 1.0) / 2.0
    np.testing.assert_allclose(module.mixture.numpy(), falling, atol=1e-12)
    for _ in range(100):
        module(scores, targets)
        assert float(module.mixture.min()) >= 0.0
        assert abs(float(module.mixture.sum()) - 1.0) <= 1e-12
    worst = int(module.values.argmax())
    assert float(module.mixture[worst]) == pytest.approx(1.0)
    assert float(module.average.sum()) == pytest.approx(1.0)
    assert int(module.n_steps) == 101


def test_a_polytope_of_mixtures() -> None:
    scores, targets = batch(2)
    module = AgnosticLoss(CONVEX, mixtures=[[0.4, 0.6], [0.7, 0.3]], step=1.0)
    for _ in range(20):
        module(scores, targets)
        assert 0.4 - 1e-6 <= float(module.mixture[0]) <= 0.7 + 1e-6


def test_states_and_copies() -> None:
    scores, targets = batch(2)
    module = AgnosticLoss(CONVEX, step=0.3)
    for _ in range(3):
        module(scores, targets)
    other = AgnosticLoss(CONVEX, step=0.3)
    other.load_state_dict(module.state_dict())
    assert torch.equal(other.average, module.average)
    assert torch.equal(other(scores, targets), copy.deepcopy(module)(scores, targets))
    assert set(module.state_dict()) == {"units", "mixture", "total", "n_steps"}
    assert list(module.parameters()) == []  # an optimizer of the network does not touch the mixture
    assert module.to("meta").mixture.device.type == "meta"


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_types_of_numbers(dtype: str) -> None:
    scores, targets = batch(4)
    module = AgnosticLoss(n_classes=4)
    value = module(scores.to(getattr(torch, dtype)), targets)
    assert value.dtype == getattr(torch, dtype)
    assert abs(float(module.mixture.sum()) - 1.0) <= 1e-12


def test_a_linear_layer_reaches_the_minimax_value() -> None:
    """A plain training loop comes near to what `AgnosticClassifier` finds."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=200) > 0).astype(int)
    best = AgnosticClassifier(CONVEX, n_rounds=5000).fit(X, y).agnostic_loss_
    torch.manual_seed(0)
    layer, module = torch.nn.Linear(3, 1).double(), AgnosticLoss(CONVEX, step=0.02)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)
    rows, targets = torch.tensor(X), torch.tensor(y)
    for _ in range(4000):
        optimizer.zero_grad()
        module(layer(rows), targets).backward()
        optimizer.step()
    assert best - 1e-6 <= float(module.values.max()) <= best + 0.01


def test_the_network_of_the_thesis_learns() -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(2)
    X = torch.tensor(rng.normal(size=(300, 10)), dtype=torch.float32)
    y = (X[:, 0] * X[:, 1] > 0).long() + (X[:, 2] > 1).long()
    model, module = network(10, 3), AgnosticLoss(n_classes=3, step=0.01)
    assert [layer.out_features for layer in model if hasattr(layer, "out_features")] == [1024, 512, 128, 3]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(60):
        optimizer.zero_grad()
        module(model(X), y).backward()
        optimizer.step()
    assert float((model(X).argmax(dim=1) == y).float().mean()) > 0.9


def test_losses_of_ones_own_and_one_alone() -> None:
    scores, targets = batch(2)
    square = AgnosticLoss({"square": lambda s, t: ((s - t) ** 2).mean()})
    assert float(square(scores, targets)) == pytest.approx(float(((scores - targets) ** 2).mean()))
    assert square.mixture.tolist() == [1.0]
    assert "square" in repr(square)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: AgnosticLoss(("hinges",)), ValueError, "losses has 'hinges'; known are"),
        (lambda: AgnosticLoss("hinge"), ValueError, "losses must be names"),
        (lambda: AgnosticLoss(()), ValueError, "losses must be names"),
        (lambda: AgnosticLoss({}), TypeError, "at least one function"),
        (lambda: AgnosticLoss({"a": 3}), TypeError, "at least one function"),
        (lambda: AgnosticLoss(("hinge", "hinge")), ValueError, "more than once"),
        (lambda: AgnosticLoss(CONVEX, step=-1.0), ValueError, "step"),
        (lambda: AgnosticLoss(CONVEX, mixtures=[]), ValueError, "mixtures"),
        (lambda: AgnosticLoss({"a": lambda s, t: s})(*batch(2)), ValueError, "must return one number"),
        (lambda: AgnosticLoss(CONVEX)(batch(2)[0] * np.nan, batch(2)[1]), FloatingPointError, "Lower the learning"),
        (lambda: AgnosticLoss({"a": lambda s, t: s.sum() / 0.0})(*batch(2)), FloatingPointError, "'a' is -?inf"),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
