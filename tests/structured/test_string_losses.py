"""Losses between strings against plain dynamic programmes and counts."""

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pytest

from radboost.structured import (
    EPSILON,
    LOG,
    TROPICAL,
    Transducer,
    edit_distance,
    hamming,
    loss_value,
    ngram,
    smith_waterman,
    transducer_loss,
)
from radboost.structured.losses import get_string_loss


def plain_edit_distance(x, y, substitution, insertion, deletion):
    costs = [j * insertion for j in range(len(y) + 1)]
    for symbol in x:
        following = [costs[0] + deletion]
        for j, true in enumerate(y):
            changed = costs[j] + (0.0 if symbol == true else substitution)
            following.append(min(changed, costs[j + 1] + deletion, following[j] + insertion))
        costs = following
    return costs[-1]


def plain_smith_waterman(x, y, match, substitution, insertion, deletion):
    best = np.zeros((len(x) + 1, len(y) + 1))
    for i, j in itertools.product(range(len(x) + 1), range(len(y) + 1)):
        deleted = best[i - 1, j] + deletion if i else 0.0
        inserted = best[i, j - 1] + insertion if j else 0.0
        aligned = best[i - 1, j - 1] + (match if x[i - 1] == y[j - 1] else substitution) if i and j else 0.0
        best[i, j] = min(0.0, deleted, inserted, aligned)
    return best.min()


def plain_ngram(x, y, n, smoothing):
    grams = [Counter(tuple(s[k : k + n]) for k in range(len(s) - n + 1)) for s in (x, y)]
    return -math.log(smoothing + sum(count * grams[1][gram] for gram, count in grams[0].items()))


def random_pairs(n_pairs=60, largest=7, alphabet_size=3):
    rng = np.random.default_rng(5)
    for _ in range(n_pairs):
        yield tuple(rng.integers(0, alphabet_size, rng.integers(0, largest + 1)).tolist() for _ in range(2))


CASES = [
    *((edit_distance, costs, plain_edit_distance) for costs in ((1.0, 3.0, 2.0), (0.3, 0.25, 0.0), (5.0, 1.0, 1.5))),
    *(
        (smith_waterman, costs, plain_smith_waterman)
        for costs in ((-2.0, 1.0, 1.0, 1.0), (-1.0, 0.5, 2.0, 0.25), (0.0, 1.0, 1.0, 1.0), (-1.0, -0.5, -0.25, 0.5))
    ),
    *((ngram, settings, plain_ngram) for settings in ((1, 1.0), (2, 0.01), (3, 0.5))),
]


@pytest.mark.parametrize(("make", "settings", "plain"), CASES)
def test_losses_are_those_of_the_textbook(make, settings, plain):
    for x, y in random_pairs():
        assert loss_value(make(*settings), x, y, 3) == pytest.approx(plain(x, y, *settings), abs=1e-10)


def test_losses_are_evaluated_by_name():
    assert loss_value("edit_distance", [0, 1], [1, 1]) == 1.0
    with pytest.raises(TypeError, match="y must be a sequence of integers"):
        loss_value("edit_distance", "ab", "ac")


def test_hamming_is_divided_by_the_length():
    for x, y in random_pairs():
        if len(x) == len(y) > 0:
            share = np.mean([a != b for a, b in zip(x, y, strict=True)])
            assert loss_value(hamming(), x, y, 3) == pytest.approx(share)


def test_a_transducer_of_probabilities_is_a_loss_by_its_logarithm():
    arcs = [(0, a, b, -math.log(0.7 if a == b else 0.3), 0) for a in (0, 1) for b in (0, 1)]
    own = transducer_loss(Transducer(LOG, 1, arcs, {0: 0.0}, {0: 0.0}))
    assert loss_value(own, (0, 1, 1), (0, 0, 1)) == pytest.approx(-math.log(0.7 * 0.3 * 0.7))


def test_silent_cycles_of_a_transducer_are_refused():
    arcs = [(0, 0, 0, 0.0, 0), (0, EPSILON, EPSILON, 1.0, 1), (1, EPSILON, EPSILON, 0.0, 0)]
    with pytest.raises(ValueError, match="a cycle of arcs that read nothing"):
        loss_value(transducer_loss(Transducer(TROPICAL, 2, arcs, {0: 0.0}, {1: 0.0})), (0, 0), (0, 0))


def test_losses_are_values():
    assert edit_distance() == edit_distance(1.0, 1.0, 1.0)
    assert edit_distance() != edit_distance(2.0)
    for loss in (edit_distance(), smith_waterman(), ngram(), hamming()):
        assert pickle.loads(pickle.dumps(loss)) == loss
        assert hash(loss) == hash(pickle.loads(pickle.dumps(loss)))
    assert get_string_loss("smith_waterman") == smith_waterman()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: edit_distance(insertion=-1.0), "insertion must not be negative"),
        (lambda: edit_distance(math.nan), "substitution must"),
        (lambda: edit_distance(deletion=math.inf), "deletion must"),
        (lambda: smith_waterman(match=2.0), "match must be at most 0"),
        (lambda: smith_waterman(insertion=math.inf), "insertion must"),
        (lambda: ngram(0), "n must be"),
        (lambda: ngram(2, 0.0), "share no n-gram is infinite"),
        (lambda: get_string_loss("levenshtein"), "'edit_distance', 'smith_waterman', 'ngram', 'hamming'"),
        (lambda: loss_value(hamming(), (0, 1), (0,)), "same length, got 2 and 1"),
        (lambda: loss_value(edit_distance(), (0, 3), (0,), 2), "symbol 3 at position 1"),
    ],
)
def test_bad_losses_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_no_loss_is_refused():
    with pytest.raises(TypeError, match="loss must be one of"):
        get_string_loss(3)
    with pytest.raises(TypeError, match="Transducer"):
        transducer_loss("edit")
