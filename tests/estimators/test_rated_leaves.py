"""DeepBoost with numbers in its leaves."""

import numpy as np
import pytest

from radboost import DeepBoostClassifier, MultiSourceBoostClassifier, TreeOptions
from radboost.trees.arrays import holds_numbers
from reference.data import smooth, smooth_classes

RATED = TreeOptions(leaves="rated")


def data(n_classes, seed=0, m=300):
    return smooth(seed, m=m, d=5) if n_classes == 2 else smooth_classes(seed, m=m, d=5, n_classes=n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_those_of_the_training_rows(n_classes):
    """What the fit believes of its rows is what the model says of them, and F falls in every round."""
    X, y = data(n_classes)
    for settings in ({}, {"learning_rate": 1.0, "n_rounds": 8}, {"objective": "compsum"}, {"loss": "exponential"}):
        if settings.get("objective") == "compsum" and n_classes == 2:
            continue
        model = DeepBoostClassifier(**{"n_rounds": 40, "complexity_penalty": 0.003, **settings}, tree_options=RATED)
        model.fit(X, y)
        assert any(map(holds_numbers, model.ensemble_.hypotheses))
        assert np.all(np.diff(model.history_["objective"]) <= 0.0)
        assert model.history_["train_error"][-1] == pytest.approx(np.mean(model.predict(X) != y), abs=2.5 / len(y))
        assert model.score(X, y) > 0.9
        prices = 0.003 * np.asarray(model.ensemble_.complexities)
        penalty = float(np.abs(model.ensemble_.weights) @ prices)
        assert penalty < model.history_["objective"][-1]


def test_nearly_even_leaves_move_less():
    X, y = data(2, m=600)
    y = np.where(np.random.default_rng(0).random(600) < 0.3, -y, y)
    votes = DeepBoostClassifier(60, complexity_penalty=0.003, step="line_search").fit(X, y)
    rated = DeepBoostClassifier(60, complexity_penalty=0.003, tree_options=RATED).fit(X, y)
    assert rated.history_["objective"][-1] < votes.history_["objective"][-1]


def test_where_they_do_not_go():
    X, y = data(3)
    for objective in ("maxsum", "max"):
        with pytest.raises(ValueError, match=r'leaves="rated".*"sum" or "compsum".*got .max'):
            DeepBoostClassifier(objective=objective, tree_options=RATED).fit(X, y)
        DeepBoostClassifier(3, objective=objective, tree_options=RATED).fit(*data(2))
    with pytest.raises(ValueError, match=r"no use for TreeOptions\(leaves='rated'\)"):
        MultiSourceBoostClassifier(tree_options=RATED).fit(X, y)
    with pytest.raises(ValueError, match="'votes', 'rated'"):
        DeepBoostClassifier(tree_options=TreeOptions(leaves="real")).fit(X, y)
