"""Margins and bounds against arithmetic done by hand, with hand-made ensembles that say their complexities."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError

from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.guarantees import RHO_GRID, bound, margins


class Votes(BaseEstimator):
    """A model whose row x holds the votes h_1(x), h_2(x), ... themselves: margins can be read off X."""

    def __init__(self, weights=(), complexities=(), n_families=3, sample_size=100.0, classes=(0, 1)):
        self.weights = weights
        self.complexities = complexities
        self.n_families = n_families
        self.sample_size = sample_size
        self.classes = classes

    def fit(self):
        self.classes_ = np.array(list(self.classes))
        self.n_features_in_ = len(self.weights)
        steps = np.zeros(len(self.weights), dtype=STEP_TYPE)
        steps["hypothesis"], steps["eta"] = np.arange(len(steps)), self.weights
        votes = [object() for _ in self.weights]  # of the user's own: their complexities are those that are stated
        sizes = {"n_features": len(votes), "n_families": self.n_families, "sample_size": self.sample_size}
        self.ensemble_ = Ensemble(votes, self.complexities, steps, n_rounds=1, **sizes)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float) @ np.asarray(self.weights)

    def predict(self, X):
        raise NotImplementedError  # margins and bounds are about scores


class ClassVotes(Votes):
    """The same for more classes: entry j of a row is the class that h_j votes for, -1 where it abstains."""

    def decision_function(self, X):
        rows = np.asarray(X)
        classes = np.arange(len(self.classes))
        return np.einsum("j,ijc->ic", self.weights, (rows[:, :, None] == classes).astype(float))


def log_multisets_by_hand(p, n):
    return math.fsum(math.log((n + k) / k) for k in range(1, p))


def best_by_hand(margin_error, kappa, rho, delta, p, m, c=2):
    """The smallest of (7f) and (11d) over the seven s, each with a third of delta / 7, and over many n.

    Hypotheses of users pay for being in the model, and for p.
    """
    totals = []
    for s in rho * 2.0 ** -np.arange(2, 9):
        for n in np.ceil(2 * np.linspace(0.2, 32, 300) / s**2):
            choices = math.log(21 / delta) + math.log(2 * p * (p + 1)) + log_multisets_by_hand(p, n)
            totals.append(2 / (rho - 2 * s) * kappa + c * math.exp(-n * s**2 / 2) + math.sqrt(choices / (2 * m)))
    return margin_error + min(totals)


# --- margins ----------------------------------------------------------------------------------------------


def test_an_empty_ensemble_has_no_opinion() -> None:
    model = Votes(weights=[0.0], complexities=[0.1]).fit()
    np.testing.assert_array_equal(margins(model, np.ones((3, 1)), [0, 1, 1]), [0.0, 0.0, 0.0])
    result = bound(model, np.ones((3, 1)), [0, 1, 1])
    assert result.margin_error == 1.0
    assert result.complexity_term == 0.0
    assert result.vacuous


@given(
    votes=st.lists(st.tuples(st.floats(0, 5), st.integers(-1, 4)), min_size=1, max_size=30),
    label=st.integers(0, 4),
)
def test_margins_of_several_classes_stay_in_their_range(votes, label) -> None:
    weights, values = zip(*votes, strict=True)
    model = ClassVotes(weights=weights, complexities=[0.1] * len(weights), classes=range(5)).fit()
    (margin,) = margins(model, [values], [label])
    assert -1.0 <= margin <= 1.0
    total = sum(Fraction(w) for w in weights)
    shares = [sum(Fraction(w) for w, v in votes if v == c) for c in range(5)]
    lead = shares[label] - max(share for c, share in enumerate(shares) if c != label)
    assert math.isclose(margin, lead / total if total else 0, rel_tol=1e-9, abs_tol=1e-12)
    # A margin of 0 or less is an error, whichever of the tied classes is predicted.
    assert (margin > 0) == (shares[label] > max(shares[:label] + shares[label + 1 :])) or abs(margin) < 1e-12


def test_labels_of_several_kinds_in_any_order() -> None:
    for classes in (("no", "yes"), (False, True), (-1.5, 2.5)):
        model = Votes(weights=[1.0], complexities=[0.1], classes=classes).fit()
        np.testing.assert_array_equal(margins(model, [[1.0], [-1.0]], [classes[1]] * 2), [1.0, -1.0])
    X = [[0], [1], [2]]
    for classes in (("a", "b", "c"), (1, 2, 3), (-1.0, 0.0, 2.5), (np.int8(5), np.int8(6), np.int8(7))):
        model = ClassVotes(weights=[1.0], complexities=[0.1], classes=classes).fit()
        for y in (np.array(classes), np.array(classes, dtype=object), list(classes)):
            np.testing.assert_array_equal(margins(model, X, y), [1.0, 1.0, 1.0])
    many = ClassVotes(weights=[1.0], complexities=[0.1], classes=range(100)).fit()
    with pytest.raises(ValueError, match=r"label 100, .* the classes 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 90 more"):
        margins(many, X, [0, 100, 1])
    few = ClassVotes(weights=[1.0], complexities=[0.1], classes="xyz").fit()
    with pytest.raises(ValueError, match=r"label 0, .* the classes 'x', 'y', 'z'"):
        margins(few, X, [0, 1, 2])


@pytest.mark.parametrize("call", [margins, bound])
def test_bad_input_is_explained(call) -> None:
    model = Votes(weights=[1.0], complexities=[0.1]).fit()
    other = AdaBoostClassifier(n_estimators=2).fit([[0.0], [1.0]], [0, 1])
    for given_model, n_rows, y, error, message in (
        (model, 3, [0, 1], ValueError, "3 rows and y has 2 labels"),
        (model, 3, [0, 1, 2], ValueError, "y holds the label 2, which is not one of the classes 0, 1"),
        (model, 2, ["a", "b"], ValueError, "label .*a"),
        (Votes(), 2, [0, 1], NotFittedError, None),
        ("model", 2, [0, 1], TypeError, "fitted RadBoost model"),
        (Votes, 2, [0, 1], TypeError, "fitted RadBoost model"),
        (other, 2, [0, 1], TypeError, "AdaBoostClassifier has no ensemble_"),
    ):
        with pytest.raises(error, match=message):
            call(given_model, np.ones((n_rows, 1)), y)


# --- the bound --------------------------------------------------------------------------------------------


@pytest.fixture
def model() -> Votes:
    """Weights 3 and 1: margins are 1, 0.5, -0.5, -1."""
    return Votes(weights=[3.0, -1.0], complexities=[0.02, 0.1], n_families=6, sample_size=40_000).fit()


@pytest.fixture
def sample() -> tuple[np.ndarray, np.ndarray]:
    """40,000 rows: 90% with margin 1, 9% with 0.5, 1% with -1."""
    rows = [[1, -1]] * 36_000 + [[1, 1]] * 3_600 + [[-1, 1]] * 400
    return np.array(rows), np.ones(40_000, dtype=int)


@pytest.mark.parametrize("c", [2, 5])
def test_every_term(model: Votes, sample, c: int) -> None:
    """(7f), and (11d) where hypotheses are not known to be trees, with 2 c r_j."""
    name, kappa = "(Deep Boosting, Theorem 1)", 0.75 * 0.02 + 0.25 * 0.1
    if c > 2:  # 90% of the rows have the margin 1, 9% 0.75 and 1% -1
        model = ClassVotes([3.0, 1.0], [0.0002, 0.001], n_families=6, sample_size=40_000, classes=range(c)).fit()
        sample = np.array([[2, 2]] * 36_000 + [[2, -1]] * 3_600 + [[4, 4]] * 400), np.full(40_000, 2)
        name, kappa = "Multi-Class Deep Boosting, Theorem 1", 2 * c * 0.0004
    result = bound(model, *sample, rho=0.25, delta=0.1)
    m, p, rho = 40_000, 6, 0.25
    assert result.margin_error == pytest.approx(0.01, abs=1e-15)
    assert result.complexity == pytest.approx(kappa)
    s = (1 - 2 / (rho * result.factor)) / 2
    assert s in [2.0**-k for k in range(2, 9)]
    assert result.complexity_term == pytest.approx(2 / (rho - 2 * s * rho) * kappa)
    n = result.n_draws
    assert result.family_term == pytest.approx(c * math.exp(-n * (s * rho) ** 2 / 2))
    choices = math.log(3 * 7 / 0.1) + math.log(2 * p * (p + 1)) + log_multisets_by_hand(p, n)
    assert result.confidence_term == pytest.approx(math.sqrt(choices / (2 * m)), rel=1e-9)
    assert result.total == pytest.approx(best_by_hand(0.01, kappa, rho, 0.1, p, m, c), abs=1e-4)
    terms = ("margin_error", "complexity_term", "family_term", "confidence_term")
    assert result.total == pytest.approx(sum(getattr(result, term) for term in terms))
    assert (result.rho, result.delta, result.n_rho, result.n_classes) == (0.25, 0.1, 1, c)
    assert (result.n_families, result.sample_size) == (6, 40_000.0)
    assert not result.vacuous
    assert name in str(result)
    assert (", c = 5 classes" in str(result)) == (c == 5)


@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_a_margin_equal_to_rho_counts_as_error(model: Votes, sample, rho: float) -> None:
    assert bound(model, *sample, rho=rho).margin_error == pytest.approx({0.5: 0.1, 1.0: 1.0}[rho])


def test_ties_survive_rounding() -> None:
    """Ten equal votes, seven right: the margin is 0.4, whatever 0.1 * 7 - 0.1 * 3 rounds to."""
    tied = Votes(weights=[0.1] * 10, complexities=[0.0] * 10).fit()
    assert bound(tied, [[1] * 7 + [-1] * 3], [1], rho=0.4).margin_error == 1.0


def test_choosing_rho_costs_delta_over_q(model: Votes, sample) -> None:
    best = bound(model, *sample, delta=0.05)
    assert best.n_rho == len(RHO_GRID) == 32
    assert best.rho in RHO_GRID
    error = {rho: {True: 0.01, False: 0.1}[rho < 0.5] for rho in RHO_GRID}
    likely = [rho for rho in RHO_GRID if rho > 0.3]
    totals = {rho: best_by_hand(error[rho], 0.04, rho, 0.05 / 32, 6, 40_000) for rho in likely}
    assert best.total == pytest.approx(min(totals.values()), abs=1e-4)
    assert best.rho == min(totals, key=totals.get)
    assert best.total >= bound(model, *sample, delta=0.05, rho=best.rho).total


def test_one_family_has_the_standard_margin_bound(sample) -> None:
    """Thesis, Theorem 2.10: no factor 4, no families, no draws, and all of delta."""
    one = bound(Votes([3.0, -1.0], [0.02, 0.02], 1, 40_000).fit(), *sample, rho=0.25, delta=0.1)
    assert one.theorem == "margin bound of one class"
    assert one.total == pytest.approx(0.01 + 2 / 0.25 * 0.02 + math.sqrt(math.log(10) / 80_000), rel=1e-12)
    assert (one.n_families, one.n_draws, one.family_term) == (1, 0, 0.0)
    two = bound(Votes([3.0, -1.0], [0.02, 0.02], 2, 40_000).fit(), *sample, rho=0.25, delta=0.1)
    assert one.total < two.total
    c = 5
    several = ClassVotes([3.0, 1.0], [0.001, 0.001], 1, 40_000, range(c)).fit()
    rows = np.array([[2, 2]] * 40_000)
    result = bound(several, rows, np.full(40_000, 2), rho=0.25, delta=0.1)
    assert result.total == pytest.approx(4 * c / 0.25 * 0.001 + math.sqrt(math.log(10) / 80_000), rel=1e-12)


@pytest.mark.parametrize("rho", [1e-3, 1e-100])
def test_where_rho_is_tiny(rho: float) -> None:
    small = Votes(weights=[1.0], complexities=[0.5], n_families=9, sample_size=4).fit()
    result = bound(small, [[1.0]] * 4, [1, 1, 0, 1], rho=rho)
    assert result.vacuous
    assert math.isfinite(result.confidence_term)
    assert result.confidence_term > 0


def test_a_smaller_sample_pays_for_it(model: Votes, sample) -> None:
    """The complexities are for 40,000 rows; for a quarter of these they are at most twice as large."""
    X, y = sample
    assert bound(model, X[::4], y[::4], rho=0.25).complexity == pytest.approx(2 * 0.04)
    twice = bound(model, np.vstack([X, X]), np.hstack([y, y]), rho=0.25)
    assert twice.complexity == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rho": 0}, ValueError, r"\(0, 1\]"),
        ({"rho": 1.01}, ValueError, r"\(0, 1\]"),
        ({"rho": float("nan")}, ValueError, r"\(0, 1\]"),
        ({"rho": "best"}, ValueError, r"rho must be None or a number in \(0, 1\]; got 'best'"),
        ({"delta": 0}, ValueError, "between 0 and 1"),
        ({"delta": 1}, ValueError, "between 0 and 1"),
        ({"delta": None}, TypeError, "delta must be a number"),
        ({"sample_weight": [1.0]}, ValueError, "one weight per row"),
        ({"sample_weight": [-1.0, 1.0]}, ValueError, "negative weights"),
        ({"sample_weight": [2.0, 0.5]}, ValueError, "holds 0.5, and .* a number of draws, so a whole number"),
    ],
)
def test_bad_parameters(model: Votes, changes, error, message) -> None:
    with pytest.raises(error, match=message):
        bound(model, [[1, 1], [1, -1]], [0, 1], **changes)


def test_no_rows(model: Votes) -> None:
    with pytest.raises(ValueError, match="no rows"):
        bound(model, np.zeros((0, 2)), [])


def test_it_reads_as_a_table(model: Votes, sample) -> None:
    good = bound(model, *sample, rho=0.25)
    text = str(good)
    assert repr(good) == text
    for name in ("margin_error", "complexity_term", "family_term", "confidence_term", "total"):
        assert f"{getattr(good, name):.4f}" in text
    assert "classes" not in text + good.explain()
    assert "vacuous" not in text
    assert f"at most {good.total:.1%}" in good.explain()
    assert "95% confidence" in good.explain()
    assert "complexity of the hypotheses" in good.explain()
    poor = bound(model, *sample, rho=0.01)
    assert poor.vacuous
    assert "vacuous" in str(poor)
    assert "the bound is vacuous" in poor.explain()
