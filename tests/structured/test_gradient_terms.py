"""log Z and Q by automata against the sum over all strings, and certificates where losses are known within bounds."""

import itertools
import math
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from radboost.structured import (
    EPSILON,
    LayeredAcceptor,
    LossCache,
    Transducer,
    edit_distance,
    expected_loss,
    gradient_terms,
    gradient_terms_batch,
    hamming,
    loss_value,
    ngram,
    smith_waterman,
    transducer_loss,
)
from radboost.structured.automata import loss_source
from structured_tools import all_strings

LOSSES = {
    "edit": edit_distance(),
    "edit with costs": edit_distance(1.0, 3.0, 2.0),
    "edit with odd costs": edit_distance(0.7, 0.3, 1.1),
    "smith_waterman": smith_waterman(),
    "bigram": ngram(2),
    "trigram": ngram(3, 0.1),
    "hamming": hamming(),
}
SIZES = [(2, 6, 1), (4, 4, 1), (2, 6, 2), (3, 5, 2), (4, 4, 2), (2, 5, 3), (3, 4, 3), (4, 3, 3)]


def by_enumeration(loss, y, potentials, order):
    """Grad-Naive, Figure D.1 of the thesis."""
    strings, numbers, scores = all_strings(potentials, order)
    source = loss_source(loss, np.asarray(y, dtype=np.int32), int(strings.max()) + 1)
    weights = np.array([source.loss(x) for x in strings]) + scores
    log_z = np.logaddexp.reduce(weights)
    q = np.zeros_like(potentials)
    for share, line in zip(np.exp(weights - log_z), numbers, strict=True):
        q[np.arange(len(q)), line] += share
    return log_z, q


def problem(rng, loss, size, length, order, scale=1.0):
    same = isinstance(loss, type(hamming()))
    y = rng.integers(0, size, length if same else max(1, length + rng.integers(-1, 2)))
    return y, scale * rng.normal(size=(length, size**order))


@pytest.mark.parametrize(("size", "length", "order"), SIZES)
@pytest.mark.parametrize("name", LOSSES)
def test_terms_are_the_sums_over_all_strings(name, size, length, order):
    rng = np.random.default_rng([size, length, order])
    for scale in (0.0, 1.0, 5.0):
        y, potentials = problem(rng, LOSSES[name], size, length, order, scale)
        terms = gradient_terms(LOSSES[name], y, potentials, order=order)
        log_z, q = by_enumeration(LOSSES[name], y, potentials, order)
        assert terms.exact
        assert terms.log_z == pytest.approx(log_z, abs=1e-9)
        np.testing.assert_allclose(terms.q, q, atol=1e-9)
        assert terms.log_z_error < 1e-9
        assert terms.q_error < 1e-9
        np.testing.assert_allclose(terms.q.sum(axis=1), 1.0)


@pytest.mark.parametrize("loss", [hamming(), ngram(2), edit_distance(), smith_waterman(-20.0)])
def test_two_hundred_symbols_do_not_overflow(loss):
    rng = np.random.default_rng(3)
    y, potentials = rng.integers(0, 4, 200), 300.0 * rng.normal(size=(200, 16))
    terms = gradient_terms(loss, y, potentials, order=2, max_states=5_000)
    assert math.isfinite(terms.log_z)
    assert np.isfinite(terms.q).all()
    np.testing.assert_allclose(terms.q.sum(axis=1), 1.0)
    assert terms.log_z_bounds[0] <= terms.log_z <= terms.log_z_bounds[1]


def test_any_layered_acceptor():
    """A beam: arcs that leave out most strings, with two ways of reading some of them."""
    rng = np.random.default_rng(5)
    n_states = (1, 3, 4, 2)
    pairs = [(t, i, j) for t in range(3) for i in range(n_states[t]) for j in range(n_states[t + 1])]
    arcs = [(t, i, int(rng.integers(0, 3)), j) for t, i, j in pairs if rng.random() < 0.7 or (i, j) == (0, 0)]
    arcs = [arcs[k] for k in rng.permutation(len(arcs))]
    potentials = rng.normal(size=len(arcs))
    y = (0, 2, 1, 1)
    weights, paths = [], []
    for path in itertools.product(*[[k for k, arc in enumerate(arcs) if arc[0] == layer] for layer in range(3)]):
        chosen = [arcs[k] for k in path]
        if chosen[0][1] == 0 and all(a[3] == b[1] for a, b in itertools.pairwise(chosen)):
            string = [arc[2] for arc in chosen]
            weights.append(loss_value(edit_distance(), string, y, 3) + potentials[list(path)].sum())
            paths.append(path)
    shares = np.exp(np.array(weights) - np.logaddexp.reduce(weights))
    q = np.zeros(len(arcs))
    for share, path in zip(shares, paths, strict=True):
        q[list(path)] += share
    acceptor = LayeredAcceptor(n_states, arcs, potentials, 3)
    terms = gradient_terms("edit_distance", y, acceptor)
    assert terms.log_z == pytest.approx(np.logaddexp.reduce(weights))
    np.testing.assert_allclose(terms.q, q, atol=1e-12)
    again = gradient_terms("edit_distance", y, acceptor.with_potentials(potentials + 1.0))
    assert again.log_z == pytest.approx(terms.log_z + 3.0)


def test_potentials_of_minus_infinity_forbid():
    rng = np.random.default_rng(6)
    y, potentials = rng.integers(0, 3, 4), rng.normal(size=(4, 3))
    potentials[1, 2] = -math.inf
    terms = gradient_terms("edit_distance", y, potentials)
    potentials[1, 2] = -1e4
    np.testing.assert_allclose(terms.q, gradient_terms("edit_distance", y, potentials).q, atol=1e-12)
    assert terms.q[1, 2] == 0.0


# --- certificates ---------------------------------------------------------------------------------------------------


def pruned_cases(n_cases):
    """Problems small enough to be exact, with far too few states, by budget and by threshold."""
    rng = np.random.default_rng(7)
    names = ["edit", "edit with costs", "edit with odd costs", "smith_waterman", "bigram", "trigram"]
    for case in range(n_cases):
        loss = LOSSES[names[case % len(names)]]
        size, length, order = int(rng.integers(2, 5)), int(rng.integers(4, 10)), int(rng.integers(1, 3))
        y, potentials = problem(rng, loss, size, length, order, float(rng.choice([0.3, 1.0, 3.0])))
        budget = int(rng.integers(2 * length + 2, 6 * length))
        threshold = None if case % 3 else float(rng.choice([0.0, 1.0, 2.5]))
        yield loss, y, potentials, order, budget, threshold
    # Bounds that are hundreds of nats apart: what is left of Z beside an arc must not be computed as a difference.
    for _ in range(n_cases // 4):
        length, size = int(rng.integers(3, 8)), int(rng.integers(2, 4))
        loss = edit_distance(*(float(rng.choice([20.0, 60.0, 300.0])) * rng.uniform(0.5, 1.5, 3)))
        yield loss, *problem(rng, loss, size, length, 1, 2.0), 1, 2 * length + 2, None


def outside(exact, low, high):
    """How far exact values lie outside bounds, beyond rounding."""
    return max(np.max(low - exact), np.max(exact - high)) > 1e-9


def test_pruned_terms_stay_inside_their_certificates():
    n_approximate = n_wide = 0
    for loss, y, potentials, order, budget, threshold in pruned_cases(500):
        kept = LossCache(0)
        exact = gradient_terms(loss, y, potentials, order=order, max_states=10**6, cache=kept)
        assert exact.exact
        terms = gradient_terms(loss, y, potentials, order=order, max_states=budget, threshold=threshold, cache=kept)
        n_approximate += not terms.exact
        n_wide += terms.log_z_error > 0.1
        assert not outside(exact.log_z, *terms.log_z_bounds)
        assert not outside(exact.q, terms.q_low, terms.q_high)
        assert abs(exact.log_z - terms.log_z) <= terms.log_z_error + 1e-9
        assert np.max(np.abs(exact.q - terms.q)) <= terms.q_error + 1e-9
        assert terms.log_z_bounds[0] <= terms.log_z <= terms.log_z_bounds[1]
        assert np.all((terms.q_low <= terms.q + 1e-9) & (terms.q <= terms.q_high + 1e-9))
        np.testing.assert_allclose(terms.q.sum(axis=1), 1.0)
    assert n_approximate > 300
    assert n_wide > 100


def test_large_numbers_widen_the_bounds():
    for scale in (1e3, 1e6, 1e9):
        loss = edit_distance(scale, 1.1 * scale, 0.9 * scale)
        potentials = scale * np.random.default_rng(22).normal(size=(4, 2))
        terms = gradient_terms(loss, [1, 0, 0, 1], potentials)
        log_z, q = by_enumeration(loss, [1, 0, 0, 1], potentials, 1)
        assert not outside(log_z, *terms.log_z_bounds)
        assert np.max(terms.q_low - q) <= 1e-9
        assert np.max(q - terms.q_high) <= 1e-9
    with pytest.raises(ValueError, match="1e\\+12"):
        edit_distance(1e13)
    with pytest.raises(ValueError, match="1e\\+12 in size"):
        gradient_terms("edit_distance", [0], [[1e13, 0.0]])
    arcs = [(0, a, b, 1e13, 0) for a in (0, 1) for b in (0, 1)]
    with pytest.raises(ValueError, match="costs of a loss must be at most 1e\\+12"):
        gradient_terms(transducer_loss(Transducer("tropical", 1, arcs, {0: 0.0}, {0: 0.0})), [0], np.zeros((1, 2)))


def test_strings_that_cannot_be_merged_ask_for_more_states():
    """Which of the states can end, and at which cost, is known at the end only: upper costs are infinite."""
    size = 4
    arcs = [(0, a, EPSILON, 0.0, 1 + a) for a in range(size)]
    arcs += [(1 + b, a, EPSILON, -math.log(1 + (a + b) % size), 1 + b) for b in range(size) for a in range(size)]
    final = {1 + b: -math.log(1 + b) for b in range(size)}
    loss = transducer_loss(Transducer("log", 1 + size, arcs, {0: 0.0}, final))
    assert gradient_terms(loss, [], np.zeros((3, size))).exact
    with pytest.raises(ValueError, match=r"max_states=8 is too few .* Raise max_states"):
        gradient_terms(loss, [], np.zeros((3, size)), max_states=8)


def test_ngram_and_hamming_losses_have_no_budget():
    rng = np.random.default_rng(23)
    terms = gradient_terms(ngram(2), rng.integers(0, 4, 50), rng.normal(size=(50, 4)))
    assert terms.exact
    assert terms.n_states > 100_000
    assert gradient_terms("hamming", [0] * 300, np.zeros((300, 2))).exact


def test_ctrl_c_stops_threads_too():
    script = (
        "import numpy as np, sys\n"
        "from radboost.structured import gradient_terms_batch\n"
        "y = [np.random.default_rng(k).integers(0, 10, 25) for k in range(4)]\n"
        "print('begun', flush=True)\n"
        "gradient_terms_batch('edit_distance', y, [np.zeros((25, 10))] * 4, max_states=10**7, n_jobs=2)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()  # a child that does not hear would go on for hours
    assert "KeyboardInterrupt" in errors


def test_losses_of_strings_lie_between_their_bounds():
    rng = np.random.default_rng(8)
    for loss in LOSSES.values():
        y = rng.integers(0, 3, 7).astype(np.int32)
        source = loss_source(loss, y, 3)
        automaton = source.determinize(7, 20, math.inf)
        for x in itertools.islice(itertools.product(range(3), repeat=7), 0, None, 11):
            string = np.array(x, dtype=np.int32)
            low, high = automaton.loss(string)
            assert low - 1e-9 <= source.loss(string) <= high + 1e-9


def test_more_states_give_closer_bounds():
    rng = np.random.default_rng(9)
    y, potentials = rng.integers(0, 6, 12), rng.normal(size=(12, 6))
    errors = [gradient_terms("edit_distance", y, potentials, max_states=n).log_z_error for n in (100, 1000, 10_000)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


def test_strings_within_the_threshold_are_exact():
    """All the weight is on strings near the true one: what was merged beyond costs almost nothing."""
    rng = np.random.default_rng(10)
    y = rng.integers(0, 4, 14)
    potentials = 12.0 * (np.arange(4) == y[:, None])
    terms = gradient_terms("edit_distance", y, potentials, max_states=3000, threshold=3.0)
    assert not terms.exact
    assert terms.log_z_error < 1e-6
    far = gradient_terms("edit_distance", y, 0.0 * potentials, max_states=3000, threshold=3.0)
    assert far.log_z_error > 0.01


def test_a_threshold_that_merges_nothing_is_exact():
    terms = gradient_terms("smith_waterman", [0, 1, 2, 1], np.zeros((4, 3)), threshold=1.0)
    assert terms.exact
    assert terms.log_z == pytest.approx(gradient_terms("smith_waterman", [0, 1, 2, 1], np.zeros((4, 3))).log_z)


def test_fewer_states_than_by_plain_determinization():
    # 4,195 states at length 8 over ten symbols (reachable weighted subsets); here those that no completion tells apart
    # are one.
    rng = np.random.default_rng(11)
    sizes = [
        gradient_terms(edit_distance(), rng.integers(0, 10, length), np.zeros((length, 10))).n_states
        for length in (8, 12)
    ]
    assert sizes[0] < 400
    assert sizes[1] < 8000


# --- cache, batches, expectations -----------------------------------------------------------------------------------


def test_terms_are_pickled_with_their_bounds():
    rng = np.random.default_rng(24)
    for max_states in (None, 20):
        terms = gradient_terms("edit_distance", rng.integers(0, 4, 8), rng.normal(size=(8, 4)), max_states=max_states)
        copied = pickle.loads(pickle.dumps(terms))
        assert copied.log_z_bounds == terms.log_z_bounds
        for name in ("q", "q_low", "q_high"):
            np.testing.assert_array_equal(getattr(copied, name), getattr(terms, name))


def test_automata_are_made_once():
    rng = np.random.default_rng(12)
    kept = LossCache()
    y = rng.integers(0, 3, 6).astype(np.int32)
    for _ in range(3):
        gradient_terms("edit_distance", y, rng.normal(size=(6, 3)), cache=kept)
    assert len(kept) == 1
    arguments = (edit_distance(), y, 6, 3, 100_000, math.inf)
    assert kept.automaton(*arguments) is kept.automaton(*arguments)
    small = LossCache(1)
    gradient_terms("edit_distance", y, rng.normal(size=(6, 3)), cache=small)
    assert len(small) == 0


def test_batches_are_the_terms_of_each():
    rng = np.random.default_rng(13)
    targets = [rng.integers(0, 3, n) for n in (4, 6, 5, 6)]
    potentials = [rng.normal(size=(len(y), 9)) for y in targets]
    singles = [gradient_terms("smith_waterman", y, p, order=2) for y, p in zip(targets, potentials, strict=True)]
    for n_jobs in (None, 3):
        batch = gradient_terms_batch("smith_waterman", targets, potentials, order=2, n_jobs=n_jobs)
        for one, other in zip(singles, batch, strict=True):
            assert one.log_z == other.log_z
            np.testing.assert_array_equal(one.q, other.q)
    with pytest.raises(ValueError, match="Sequence 1: y has the symbol 7"):
        gradient_terms_batch("hamming", [[0], [7]], [np.zeros((1, 3))] * 2)
    with pytest.raises(ValueError, match="each of the 2 targets; got 1"):
        gradient_terms_batch("hamming", [[0], [1]], [np.zeros((1, 3))])


@pytest.mark.parametrize("name", LOSSES)
def test_expected_losses(name):
    rng = np.random.default_rng(14)
    y, potentials = problem(rng, LOSSES[name], 3, 5, 2)
    strings, _, scores = all_strings(potentials, 2)
    losses = [loss_value(LOSSES[name], string, y, 3) for string in strings]
    expected = np.exp(scores - np.logaddexp.reduce(scores)) @ losses
    low, high = expected_loss(LOSSES[name], y, potentials, order=2)
    assert low == pytest.approx(expected, abs=1e-9)
    assert high == pytest.approx(expected, abs=1e-9)
    low, high = expected_loss(LOSSES[name], y, potentials, order=2, max_states=12)
    assert low - 1e-9 <= expected <= high + 1e-9


def test_empty_true_strings_are_legal_where_the_loss_has_them():
    terms = gradient_terms("edit_distance", [], np.zeros((3, 2)))
    assert terms.log_z == pytest.approx(3.0 * (1.0 + math.log(2.0)))
    with pytest.raises(ValueError, match="same length, got 3 and 0"):
        gradient_terms("hamming", [], np.zeros((3, 2)))


NO_PATH = transducer_loss(Transducer("tropical", 1, [(0, 0, 0, 0.0, 0)], {0: 0.0}, {0: 0.0}))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gradient_terms("edit_distance", [0], np.zeros((0, 2))), ValueError, "length of at least 1"),
        (lambda: gradient_terms("edit_distance", [0], np.zeros(4)), ValueError, "shape"),
        (lambda: gradient_terms("edit_distance", [0], np.zeros((2, 5)), order=2), ValueError, "5, which is no number"),
        (lambda: gradient_terms("edit_distance", [0], [[math.nan, 0.0]]), ValueError, "NaN, \\+inf or a larger one"),
        (lambda: gradient_terms("edit_distance", [0], [[math.inf, 0.0]]), ValueError, "NaN, \\+inf or a larger one"),
        (lambda: gradient_terms("edit_distance", [0], [[-math.inf] * 2]), ValueError, "no string has a finite score"),
        (lambda: gradient_terms("edit_distance", [2], np.zeros((1, 2))), ValueError, "symbol 2 at position 0"),
        (lambda: gradient_terms("edit_distance", [-1], np.zeros((1, 2))), ValueError, "symbol -1"),
        (lambda: gradient_terms("hamming", [0, 1], np.zeros((1, 2))), ValueError, "same length, got 1 and 2"),
        (lambda: gradient_terms("edit_distance", [0], np.zeros((1, 2)), max_states=0), ValueError, "max_states"),
        (lambda: gradient_terms("edit_distance", [0], np.zeros((9, 2)), max_states=19), ValueError, "at least 20"),
        (lambda: gradient_terms("edit_distance", [0], np.zeros((1, 2)), threshold=-1.0), ValueError, "threshold"),
        (lambda: gradient_terms("edit_distance", [0], np.zeros((1, 2)), order=0), ValueError, "order"),
        (lambda: gradient_terms(NO_PATH, [0], np.zeros((1, 2))), ValueError, "loss of a string .* is infinite"),
        (lambda: gradient_terms(NO_PATH, [0, 0], np.zeros((1, 2))), ValueError, "every string .* is infinite"),
        (lambda: gradient_terms("edit_distance", [0], None), TypeError, "array of numbers; got None"),
        (lambda: gradient_terms("edit_distance", [0], [[0.0], [0.0, 1.0]]), TypeError, "array of numbers"),
        (lambda: gradient_terms("edit_distance", [0], [[0j, 1j]]), TypeError, "array of numbers"),
        (lambda: gradient_terms("edit_distance", [[0], [0, 1]], np.zeros((1, 2))), TypeError, "sequence of integers"),
        (lambda: gradient_terms("edit_distance", [0], np.zeros((1, 2)), cache={}), TypeError, "LossCache"),
        (lambda: gradient_terms_batch("hamming", None, []), TypeError, "targets must be a list"),
        (lambda: LayeredAcceptor(2, [], [], 1), TypeError, "how many states each"),
        (lambda: LayeredAcceptor((1, 1), [(0, 0, 2**32 + 1, 0)], [0.0], 2), ValueError, "symbol 4294967297"),
        (lambda: LayeredAcceptor((1, 1), [(0, 0, 0)], [0.0], 1), ValueError, "four integers"),
        (lambda: LayeredAcceptor((1, 1), [(0, 0, 0, 1)], [0.0], 1), ValueError, "target 1, which must be from 0 to 0"),
        (lambda: LayeredAcceptor((1, 1), [(0, 0, 4, 0)], [0.0], 1), ValueError, "Arc 0 has the symbol 4"),
        (lambda: LayeredAcceptor((2, 1), [(0, 0, 0, 0)], [0.0], 1), ValueError, "one state in its first layer"),
        (lambda: LayeredAcceptor((1, 1), [(1, 0, 0, 0)], [0.0], 1), ValueError, "layer 1, which must be from 0 to 0"),
        (lambda: LayeredAcceptor((1, 1), [(0, 0, 0, 0)], [0.0, 1.0], 1), ValueError, "shape"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
