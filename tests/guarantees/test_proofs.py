"""Each step of the proofs in docs/theory.md, sections 7 and 8, on instances where it is nearly an equality; and the
step that the papers print, on one where it is false."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from radboost import DeepBoostClassifier
from radboost.guarantees import bound

RHO = 0.5


def ramp(u: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip((high - u) / (high - low), 0.0, 1.0)


def test_the_printed_step_is_false() -> None:
    """R_a(g) <= R^_a(g) + 2/(rho/2) R_m(G) + sqrt(log(1/delta)/2m), a = rho/2, as appendix B uses it.

    All labels are 1. For every finite set A of rows g_A is a + epsilon on A and a - epsilon elsewhere. The supremum of
    sum sigma_i g_A(x_i) over A takes a + epsilon where the sign is 1: the complexity is at most epsilon.
    """
    m, a, epsilon, delta = 1000, RHO / 2, 1e-3, 0.05
    rng = np.random.default_rng(0)
    rows, new_rows = rng.random(m), rng.random(5000)

    def g(x: np.ndarray) -> np.ndarray:  # A is the sample
        return np.where(np.isin(x, rows), a + epsilon, a - epsilon)

    signs = rng.choice([-1.0, 1.0], (200, m))
    complexity = float(np.mean(signs @ np.full(m, a) + epsilon * np.abs(signs).sum(axis=1)) / m)
    assert complexity < 3 * epsilon + 0.02
    chance = math.sqrt(math.log(1 / delta) / (2 * m))
    true, on_sample = np.mean(g(new_rows) <= a), np.mean(g(rows) <= a)
    assert (true, on_sample) == (1.0, 0.0)
    assert true > on_sample + 2 / (RHO / 2) * epsilon + chance + 0.9
    # A ramp that ends where it must, (7a), is not impressed: the sample has no margins above b.
    for b in (a + 2 * epsilon, RHO):
        assert true <= np.mean(g(rows) <= b) + 2 / (b - a) * epsilon + chance


def chains(step: float, low: float, high: float, margin: float) -> tuple[bool, bool]:
    """Whether R(f) <= R_low(g) and R^_high(g) <= R^_margin(f), up to rows where f and g are more than a step apart."""
    grid = np.linspace(-1.0, 1.0, 81)
    f, g = np.meshgrid(grid, grid)
    tie = 1e-9
    new_rows = (f > tie) | (g <= low + tie) | (g - f > step - tie)
    sample = (g > high + tie) | (f <= margin + tie) | (f - g > step - tie)
    return bool(new_rows.all()), bool(sample.all())


def test_the_three_parts_add_up_to_rho() -> None:
    for share in (1 / 4, 1 / 8, 1 / 16):
        s = share * RHO
        assert chains(s, s, RHO - s, RHO) == (True, True)
    # As printed, with the width rho/2 that is paid for: the sample's margins are wanted at 3/2 rho.
    assert chains(RHO / 2, RHO / 2, RHO, RHO) == (True, False)
    assert chains(RHO / 2, RHO / 2, RHO, 1.5 * RHO) == (True, True)
    # Steps of rho/2 and margins at rho leave a ramp without width.
    assert chains(RHO / 2, RHO / 2, RHO / 2, RHO) == (True, True)


@pytest.mark.parametrize("s", [0.05, 0.125, 0.3])
def test_drawing_from_two_hypotheses(s: float) -> None:
    """(7d) exactly: f = 0, hypotheses -1 and 1, so that g is a scaled binomial. The exponent is no larger than it may
    be: with n s^2 in place of n s^2 / 2 it is false."""
    false = 0
    for n in (1, 10, 100, 2000):
        most = math.floor(n * (1 - s) / 2 - 1e-9)  # the mean of the draws is above s
        exact = float(binom.cdf(most, n, 0.5)) if n * (1 - s) / 2 > most else 0.0
        assert exact <= math.exp(-n * s**2 / 2)
        false += exact > math.exp(-n * s**2)
    assert false


def test_drawing_with_several_classes() -> None:
    """(11d): all draws of six hypotheses that vote for one of three classes."""
    n, c = 6, 3
    for shares in ((0.4, 0.3, 0.3), (0.5, 0.5, 0.0), (1 / 3, 1 / 3, 1 / 3), (0.8, 0.1, 0.1)):
        for right in range(c):
            margin = shares[right] - max(share for y, share in enumerate(shares) if y != right)
            for s in (0.1, 0.3, 0.6):
                above = below = 0.0
                for votes in itertools.product(range(c), repeat=n):
                    chance = math.prod(shares[y] for y in votes)
                    counts = [votes.count(y) / n for y in range(c)]
                    drawn = counts[right] - max(count for y, count in enumerate(counts) if y != right)
                    above += chance * (drawn - margin > s + 1e-12)
                    below += chance * (margin - drawn > s + 1e-12)
                assert above <= math.exp(-n * s**2 / 2) + 1e-12
                assert below <= (c - 1) * math.exp(-n * s**2 / 2) + 1e-12


def test_the_corrected_n_makes_the_family_term() -> None:
    """c exp(-n rho^2/32) <= 2/rho sqrt(log p/m) with n = 16/rho^2 log(...), nearly equal; not with the printed 4."""
    for rho, m, p, c in itertools.product((0.05, 0.3, 1.0), (10**4, 10**6), (2, 64), (2, 10)):
        log = math.log(c**2 * rho**2 * m / (4 * math.log(p)))
        term = 2 / rho * math.sqrt(math.log(p) / m)
        assert 0.9 * term < c * math.exp(-math.ceil(16 / rho**2 * log) * rho**2 / 32) <= term
        assert c * math.exp(-math.ceil(4 / rho**2 * log) * rho**2 / 32) > term


# --- several classes ----------------------------------------------------------------------------------------


def lead(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    rows = np.arange(len(right))
    others = scores.copy()
    others[..., rows, right] = -np.inf
    return scores[..., rows, right] - others.max(axis=-1)


def test_contractions_of_margins() -> None:
    """(11a) and (11b), all signs: small sets of score tables for three rows and three classes."""
    m, c, low, high = 3, 3, 0.1, 0.4
    row_signs = np.array(list(itertools.product((-1.0, 1.0), repeat=m)))
    all_signs = np.array(list(itertools.product((-1.0, 1.0), repeat=m * c)))
    rng = np.random.default_rng(0)
    closest = 0.0
    for _ in range(150):
        scores = rng.choice([0.0, 0.25, 0.5], (int(rng.integers(2, 7)), m, c))
        right = rng.integers(0, c, m)
        losses = ramp(lead(scores, right), low, high)
        left = float((row_signs @ losses.T).max(axis=1).mean()) / m
        vectors = float((all_signs @ scores.reshape(len(scores), -1).T).max(axis=1).mean()) / m
        columns = scores.transpose(0, 2, 1).reshape(-1, m)  # x -> g(x, y) for all g and y
        single = float((row_signs @ columns.T).max(axis=1).mean()) / m
        assert left <= 2 / (high - low) * vectors + 1e-12
        assert left <= 2 * c / (high - low) * single + 1e-12
        closest = max(closest, left / (2 / (high - low) * vectors))
    assert closest > 0.3


def test_how_steep_a_margin_is() -> None:
    """sqrt 2 per unit of the Euclidean distance, and no less."""
    rng = np.random.default_rng(1)
    u, step = rng.standard_normal((2, 500, 4))
    right = rng.integers(0, 4, 500)
    change = np.abs(lead(u + step, right) - lead(u, right))
    assert (change <= math.sqrt(2) * np.linalg.norm(step, axis=1) + 1e-12).all()
    far = -9.0  # the third class
    moved = lead(np.array([[0.5, -0.5, far]]), np.array([0])) - lead(np.array([[0.0, 0.0, far]]), np.array([0]))
    assert moved[0] == pytest.approx(math.sqrt(2) * np.linalg.norm([0.5, -0.5]))


# --- the whole ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("parameters", [{"family": "stumps"}, {"max_depth": 2}, {"max_depth": 6}], ids=str)
def test_it_holds_where_labels_are_noise(parameters: dict, n_classes: int) -> None:
    """Columns say nothing of the labels, so that every model is wrong on all but 1/c of the rows, whatever it learned
    by heart. A bound that holds for half of the samples says so on most of them; this one does on all."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((300, 10)), rng.integers(0, n_classes, 300)
        model = DeepBoostClassifier.paper(15, **parameters).fit(X, y)
        for rho in (0.1, None):
            assert bound(model, X, y, rho=rho, delta=0.5).total > 1 - 1 / n_classes


def test_one_class_holds_with_its_probability_and_is_not_far() -> None:
    """The best of the stumps on columns of noise: R - R^ never exceeds the terms of (7b), rho being nearly 1, and
    exceeds a quarter of the complexity on most samples: no factor below 1 / 4 could be proved."""
    m, d, n_samples = 60, 100, 100
    rng = np.random.default_rng(3)
    complexity = math.sqrt(2 * math.log(2 * m * d) / m)
    gaps = []
    for _ in range(n_samples):
        X, y = rng.standard_normal((m, d)), rng.choice([-1.0, 1.0], m)
        sorted_labels = y[np.argsort(X, axis=0)]
        best = np.abs(2 * np.cumsum(sorted_labels, axis=0) - y.sum()).max() / m  # the largest mean of y h(x)
        gaps.append(0.5 - (1 - best) / 2)
    chance = math.sqrt(math.log(2) / (2 * m))
    assert max(gaps) <= 2 * complexity + chance
    assert np.mean(np.array(gaps) > complexity / 4) > 0.9
