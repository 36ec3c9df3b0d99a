"""The bound on the true agnostic loss: its terms, and that it holds."""

from __future__ import annotations

import numpy as np
import pytest

from radboost import AgnosticClassifier, DeepBoostClassifier
from radboost.guarantees import agnostic_bound

CONVEX = ("cross_entropy", "hinge")


def drawn(n: int, seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Rows on a sphere of radius 1, so that no row is longer."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    noise = rng.gumbel(size=(n, n_classes))
    return X, (3.0 * X[:, :n_classes] + noise).argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_holds_on_the_source(n_classes: int) -> None:
    X_all, y_all = drawn(20_000, 99, n_classes)
    for seed in range(6):
        X, y = drawn(400, seed, n_classes)
        model = AgnosticClassifier(CONVEX, n_rounds=100).fit(X, y)
        found = agnostic_bound(model, X, y, largest_row=1.0)
        true = max(
            value / (1.0 if n_classes == 2 else np.sqrt(2.0)) for value in model.losses_on(X_all, y_all).values()
        )
        assert true <= found.total
        assert found.empirical_loss == pytest.approx(model.agnostic_loss_)


def test_the_terms_by_hand() -> None:
    X, y = drawn(500, 1)
    model = AgnosticClassifier(CONVEX, n_rounds=50).fit(X, y)
    found = agnostic_bound(model, X, y, largest_row=2.0, delta=0.1)
    norm = np.sqrt(np.sum(model.coef_**2) + model.intercept_[0] ** 2)
    assert found.radius / 2.0 < norm <= found.radius
    j = np.log2(found.radius)
    assert found.largest_loss == pytest.approx(1.0 + found.radius * np.sqrt(5.0))
    assert found.complexity == pytest.approx(2.0 * found.radius * np.sqrt(2.0 * 500) / 500)
    share = 0.1 / (2 * 3.0 * (1.0 + abs(j)) ** 2)
    assert found.chance == pytest.approx(3.0 * found.largest_loss * np.sqrt(np.log(2.0 / share) / 1000))
    assert found.total == pytest.approx(found.empirical_loss + found.complexity + found.chance)
    assert "true agnostic loss is at most" in str(found)
    assert f"{found.total:.4f}" in str(found)


def test_the_complexity_is_above_a_monte_carlo_estimate() -> None:
    """E sup over the ball of (1/m) sum of sigma_i (w x_i + b) is R E |sum of sigma_i (x_i, 1)| / m."""
    X, y = drawn(200, 2)
    model = AgnosticClassifier(CONVEX, n_rounds=50).fit(X, y)
    found = agnostic_bound(model, X, y, largest_row=1.0)
    rng, rows = np.random.default_rng(0), np.hstack([X, np.ones((200, 1))])
    signs = rng.choice([-1.0, 1.0], size=(2000, 200))
    estimate = found.radius * np.linalg.norm(signs @ rows, axis=1).mean() / 200
    assert 0.8 * found.complexity / 2.0 < estimate <= found.complexity / 2.0


def test_more_rows_make_it_smaller_and_weights_are_rows() -> None:
    totals = []
    for n in (200, 1000, 5000):
        X, y = drawn(n, 3)
        model = AgnosticClassifier(CONVEX, n_rounds=100, radius=3.0).fit(X, y)
        totals.append(agnostic_bound(model, X, y, largest_row=1.0).total)
    assert totals[0] > totals[1] > totals[2]
    X, y = drawn(100, 4)
    w = np.random.default_rng(4).integers(1, 4, 100)
    model = AgnosticClassifier(CONVEX, n_rounds=50).fit(X, y, w)
    weighted = agnostic_bound(model, X, y, largest_row=1.0, sample_weight=w)
    with pytest.warns(UserWarning, match="are copies of others"):
        repeated = agnostic_bound(model, np.repeat(X, w, axis=0), np.repeat(y, w), largest_row=1.0)
    assert weighted.total == pytest.approx(repeated.total)
    assert weighted.sample_size == repeated.sample_size == w.sum()


def test_refusals() -> None:
    X, y = drawn(100, 5)
    model = AgnosticClassifier(CONVEX, n_rounds=20).fit(X, y)
    for changes, message in (
        ({"largest_row": 0.5}, "largest_row=0.5 must not be exceeded"),
        ({"y": np.full(100, 7)}, "y holds the label 7, which is not one of the classes"),
        ({"y": y[:5]}, "inconsistent numbers of samples"),
        ({"sample_weight": np.full(100, 1e6 + 0.5)}, "a weight is a number of draws"),
        ({"delta": 0.0}, "delta"),
    ):
        with pytest.raises(ValueError, match=message):
            agnostic_bound(model, **{"X": X, "y": y, "largest_row": 1.0, **changes})
    with pytest.raises(TypeError, match="Expected a fitted AgnosticClassifier"):
        agnostic_bound(DeepBoostClassifier(3).fit(X, y), X, y, largest_row=1.0)


class Squared:
    """Without a largest slope; `below` is taken away from its values."""

    below = 0.0

    def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return (targets - scores) ** 2 - self.below

    def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return 2.0 * (scores - targets)


class Lowered(Squared):
    lipschitz_of_value = 5.0
    below = 9.0


def test_own_losses_state_their_slope_and_are_not_below_0() -> None:
    """The fit takes 1 for a slope that is not stated; the bound would be too small."""
    X, y = drawn(100, 6)
    for loss, message in ((Squared(), "Squared does not state lipschitz_of_value"), (Lowered(), "Lowered is below 0")):
        model = AgnosticClassifier((loss, "hinge"), n_rounds=10).fit(X, y)
        with pytest.raises(ValueError, match=message):
            agnostic_bound(model, X, y, largest_row=1.0)
