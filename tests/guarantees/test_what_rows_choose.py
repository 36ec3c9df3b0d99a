"""Ways to make the bound smaller than what is proved, each of which it must pay for or refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hand_made import tree
from radboost import DeepBoostClassifier, KernelFamily, RGBClassifier, SoftmaxBoostClassifier, TreeFamilies, TreeOptions
from radboost.baselines import AdaBoostMHClassifier, SAMMEClassifier
from radboost.families import Candidates, Family, Hypothesis
from radboost.families.base import Proposer, ValuesCandidate
from radboost.guarantees import bound
from radboost.guarantees.bounds import BY_SIZE, MARGIN_BOUND, every_statement
from radboost.guarantees.tree_counts import log_labelings
from reference.data import smooth, smooth_classes


def noise(m: int, d: int = 3, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m)
    return rng.standard_normal((m, d)), rng.integers(0, n_classes, m)


@pytest.mark.filterwarnings("ignore:The sample weights sum to 0.03")
def test_the_unit_of_the_weights_of_the_fit_does_not_matter() -> None:
    """The objective's r_j of a sample of size 0.03 is 0, and says nothing about 300 rows."""
    X, y = noise(300, 1)
    fits = [
        DeepBoostClassifier.paper(5, family="stumps", complexity_penalty=0.0).fit(X, y, sample_weight=np.full(300, w))
        for w in (1.0, 1e-4)
    ]
    assert (fits[1].ensemble_.complexities == 0.0).all()
    prices = [[one.complexity for one in every_statement(fit, X, y, (0.5,), 0.1)] for fit in fits]
    assert prices[1] == pytest.approx(prices[0])
    assert min(prices[1]) > 0.15


def test_trees_that_were_made_from_the_rows_and_are_given_as_candidates() -> None:
    """One tree of all candidates is a family of one for the objective, and of its size for the bound."""
    X, y = noise(400)
    options = TreeOptions(split_criterion="gini", max_leaves=None)
    known = DeepBoostClassifier.paper(1, max_depth=30, complexity_penalty=0.0, tree_options=options).fit(X, y)
    model = DeepBoostClassifier.paper(1, family=Candidates(known.ensemble_.hypotheses)).fit(X, y)
    assert model.ensemble_.n_families == 1
    assert np.mean(model.predict(X) != y) < 0.2
    assert bound(model, X, y).total > 0.5
    [tree] = model.ensemble_.hypotheses
    priced = math.sqrt(2 * log_labelings(tree.n_splits, 400, 3) / 400)
    assert every_statement(model, X, y, (0.5,), 0.1)[0].complexity == pytest.approx(priced)


def test_kernels_among_candidates_need_a_stated_gamma() -> None:
    X, y = smooth(6, m=120)
    settings = {"step": "line_search", "learning_rate": 1.0}
    known = DeepBoostClassifier(4, family=KernelFamily(), **settings).fit(X, y)
    given = Candidates(known.ensemble_.hypotheses)
    with pytest.raises(ValueError, match="No KernelFamily of the model states gamma="):
        bound(DeepBoostClassifier(4, family=given, **settings).fit(X, y), X, y)
    known.set_params(family=KernelFamily(gamma=0.123))  # not that of the fit
    with pytest.raises(ValueError, match="computed from the training rows"):
        bound(known, X, y)


def test_trees_with_leaves_beyond_1_are_refused() -> None:
    """Five times the numbers at a fifth of the weight would be the same scores with larger margins."""
    X, y = smooth(6, m=120)
    one, large = (tree([(0, 0.0, 1, 0, 1.0), (-size,), (size,)], X.shape[1], 1) for size in (1.0, 5.0))
    model = DeepBoostClassifier.paper(1, family=Candidates([one])).fit(X, y)
    assert bound(model, X, y).total > 0
    with pytest.raises(ValueError, match="a number beyond 1 in a leaf"):
        bound(DeepBoostClassifier.paper(1, family=Candidates([large])).fit(X, y), X, y)


def test_one_family_whose_trees_may_be_smaller_pays_for_the_size() -> None:
    X, y = smooth(3, m=300)
    model = RGBClassifier(5, family=TreeFamilies(sizes=[7], norms=[1.0])).fit(X, y)
    assert model.ensemble_.n_families == 1
    found = {one.theorem: one for one in every_statement(model, X, y, (0.5,), 0.1)}
    assert len(found) == 3
    n = max(tree.n_splits for tree in model.ensemble_.hypotheses)
    chosen = math.log((n + 1) * (n + 2)) + math.log(2)
    assert found[MARGIN_BOUND].confidence_term == pytest.approx(math.sqrt((math.log(30) + chosen) / 600))
    assert found[BY_SIZE].confidence_term == pytest.approx(math.sqrt(math.log(60) / 600))


@pytest.mark.parametrize("decision", ["minimum_cost", "sample"])
def test_answers_that_are_not_the_largest_score_are_refused(decision: str) -> None:
    X, y = smooth_classes(2, m=150)
    cost = 1.0 - np.eye(3) + 9.0 * (np.arange(3)[:, None] == 0) * (np.arange(3) != 0)
    model = SoftmaxBoostClassifier(5, cost=cost, decision=decision).fit(X, y)
    with pytest.raises(ValueError, match=r"decision='\w+'.*set_params\(decision=\"argmax\"\)"):
        bound(model, X, y)
    model.set_params(decision="argmax")
    assert bound(model, X, y).total > 0
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


@pytest.mark.parametrize("algorithm", [SoftmaxBoostClassifier, AdaBoostMHClassifier, SAMMEClassifier])
def test_margins_of_trees_for_single_classes_are_in_range(algorithm) -> None:
    """A tree that speaks for one class with -1 and 1 moves a margin by its weight at most: no clipping is needed."""
    X, y = smooth_classes(4, m=200)
    model = algorithm(8).fit(X, y)
    total = np.abs(model.ensemble_.weights).sum()
    scores = np.sort(model.decision_function(X), axis=1)
    assert (scores[:, -1] - scores[:, 0]).max() <= total * (1 + 1e-12)


class Product(Hypothesis):
    """The sign of the product of three columns."""

    def values(self, X, n_threads: int = 1) -> np.ndarray:
        return np.sign(np.asarray(X)[:, :3].prod(axis=1))

    def key(self) -> tuple[object, float]:
        return ("product",), 1.0


class Products(Family):
    """States no complexity at all."""

    def start(self, problem):
        values = Product().values(np.asarray(problem.X)[problem.order]).astype(np.float32)

        class AtWork(Proposer):
            def propose(self, round_index: int):
                edge = float(np.atleast_1d(problem.edges(values[None]))[0])
                return [ValuesCandidate(Product(), values, edge, 0.0)]

        return AtWork()

    def n_families(self, problem) -> int:
        return 1


def test_trees_beside_hypotheses_of_a_user_pay_for_their_own_count() -> None:
    """(DB 8) counts fewer stump pairs than there are; the bound has (7g) where that is more."""
    X, _ = noise(200)
    y = (np.sign(X.prod(axis=1)) + np.sign(X[:, 0]) > 0).astype(int)
    model = DeepBoostClassifier.paper(12, family=["stump_pairs", Products()], complexity_penalty=0.0).fit(X, y)
    kinds = [type(one).__name__ for one in model.ensemble_.hypotheses]
    assert set(kinds) == {"Tree", "Product"}
    [result] = every_statement(model, X, y, (0.5,), 0.1)
    alpha = np.abs(model.ensemble_.weights) / np.abs(model.ensemble_.weights).sum()
    sizes = [one.n_splits if kind == "Tree" else 0 for one, kind in zip(model.ensemble_.hypotheses, kinds, strict=True)]
    asked = [{0: 0, 1: 1, 2: 3, 3: 3}[n] for n in sizes]
    each = [math.sqrt(2 * log_labelings(n, 200, X.shape[1]) / 200) if n else 0.0 for n in asked]
    assert result.complexity == pytest.approx(float(alpha @ each))
    p = model.ensemble_.n_families
    multisets = math.lgamma(result.n_draws + p) - math.lgamma(result.n_draws + 1) - math.lgamma(p)
    choices = math.log(2 * p * (p + 1)) + math.log(3 * 7 / 0.1) + multisets
    assert result.confidence_term == pytest.approx(math.sqrt(choices / 400), rel=1e-6)
