"""What n_rounds="auto" of gradient boosting stands for is read off the data."""

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error

import radboost
from boosting_cases import Squared
from prepared_rows import prepare
from radboost import Checkpoint, RGBClassifier, RGBRegressor, TreeFamilies, TreeOptions
from radboost.estimators import _held_back, _rgb_trials
from radboost.estimators._rgb_trials import MOST_ROUNDS
from radboost.losses import QuantileLoss

GIVEN = {
    "n_rounds": 7,
    "learning_rate": 0.1,
    "subsample": 0.5,
    "complexity_penalty": 0.3,
    "min_leaf_weight": 10.0,
    "max_features": 5,
    "thresholds": "best",
    "largest_size": 256,
}
OPTIONS = ("min_leaf_weight", "max_features", "thresholds")


def table(noise=0.1, m=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    f = 2.0 * X[:, 0] + np.sin(3.0 * X[:, 1]) + X[:, 2] * X[:, 3]
    return X, f + noise * rng.normal(size=m)


def classes(noise=0.0, m=400, n_classes=2, seed=0):
    X, f = table(0.0, m, seed)
    rng = np.random.default_rng(seed + 1)
    y = np.digitize(f, [0.0] if n_classes == 2 else [-2.0, 0.0, 2.0])
    return X, np.where(rng.random(m) < noise, rng.integers(0, n_classes, m), y)


def places(m=1500, noise=0.0, n_values=5):
    """A target without order in three columns, which takes many questions; the other columns say nothing."""
    rng = np.random.default_rng(0)
    where = rng.integers(0, n_values, (m, 3))
    y = rng.normal(size=[n_values] * 3)[tuple(where.T)] + noise * rng.normal(size=m)
    return np.column_stack([where, rng.normal(size=m)]), y  # all rows differ


@pytest.fixture
def quick(monkeypatch):
    for name in ("TRIAL_ROUNDS", "TRIAL_ROUNDS_OF_MANY_ROWS", "TRIAL_ROUNDS_OF_CLASSES"):
        monkeypatch.setattr(_rgb_trials, name, 12)


def given_as_chosen(estimator, chosen):
    """An estimator whose parameters are what another one's trials has found."""
    chosen = dict(chosen)
    options = TreeOptions(**{name: chosen.pop(name) for name in OPTIONS})
    largest = chosen.pop("largest_size")
    sizes = [size for size in TreeFamilies().sizes if size <= largest]
    return estimator(**chosen, family=TreeFamilies(sizes=sizes), tree_options=options)


def test_tables_of_one_shape_and_other_noise_get_other_rounds():
    clean, noisy = (RGBRegressor().fit(*table(noise)).chosen_["n_rounds"] for noise in (0.05, 8.0))
    assert clean > 4 * noisy
    clean, noisy = (RGBClassifier(calibration=None).fit(*classes(noise)).chosen_["n_rounds"] for noise in (0.0, 0.8))
    assert clean > 2 * noisy


def test_tables_of_one_shape_and_other_noise_get_other_penalties():
    """Without noise trees may be as large as they like; with noise they have to be worth their price."""
    clean, noisy = (RGBRegressor().fit(*places(noise=noise)).chosen_ for noise in (0.0, 3.0))
    assert (clean["complexity_penalty"], noisy["complexity_penalty"]) == (0.0, 0.3)
    X, f = places()
    rng = np.random.default_rng(1)
    drawn, labels = rng.random(len(f)), rng.random(len(f)) < 0.5
    clean, noisy = (
        RGBClassifier(calibration=None).fit(X, np.where(drawn < noise, labels, f > 0)).chosen_ for noise in (0.0, 0.9)
    )
    assert (clean["complexity_penalty"], noisy["complexity_penalty"]) == (0.0, 0.3)


def test_what_was_chosen_pays():
    for noise in (0.05, 8.0):
        X, y = table(noise)
        new, truth = table(0.0, m=2000, seed=1)
        errors = [
            mean_squared_error(truth, RGBRegressor(n_rounds).fit(X, y).predict(new)) for n_rounds in ("auto", 200)
        ]
        assert errors[0] < 0.8 * errors[1]


def test_the_model_is_the_one_of_the_same_values_given(quick):
    cases = (
        (RGBRegressor, table()),
        (RGBClassifier, classes()),
        (RGBClassifier, classes(n_classes=4)),
        (RGBRegressor, places()),
    )
    for estimator, (X, y) in cases:
        tuned = estimator().fit(X, y)
        given = given_as_chosen(estimator, tuned.chosen_).fit(X, y)
        assert given.chosen_ == tuned.chosen_
        np.testing.assert_array_equal(tuned.predict(X), given.predict(X))
        if estimator is RGBClassifier:
            np.testing.assert_array_equal(tuned.predict_proba(X), given.predict_proba(X))


@pytest.mark.parametrize(("estimator", "data"), [(RGBRegressor, table), (RGBClassifier, classes)])
def test_neither_order_nor_threads_nor_copies_change_the_choice(quick, estimator, data):
    X, y = data(m=150)
    model = estimator(n_jobs=1).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    other = estimator(n_jobs=2).fit(X[order], y[order])
    weights = 1 + np.arange(len(y)) % 2
    weighted = estimator().fit(X, y, sample_weight=weights)
    repeated = estimator().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for one, same in ((model, other), (weighted, repeated)):
        assert one.chosen_ == same.chosen_
        np.testing.assert_array_equal(one.predict(X), same.predict(X))


def test_copies_do_not_make_it_try_large_trees():
    X, y = places(480, n_values=4)
    weighted = RGBRegressor().fit(X, y, sample_weight=np.full(480, 3.0))
    repeated = RGBRegressor().fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert weighted.chosen_ == repeated.chosen_
    assert weighted.chosen_["largest_size"] == 32


def test_fits_that_go_on_keep_what_auto_stood_for(quick, tmp_path):
    X, y = table()
    tuned = RGBRegressor(warm_start=True).fit(X, y)
    tuned.n_rounds = tuned.n_iter_ + 5
    with pytest.raises(
        ValueError,
        match=r"learning_rate 0.025, subsample 0.3, min_leaf_weight 2, thresholds random, largest_size 32; with",
    ):
        tuned.fit(X, y)
    chosen = tuned.chosen_
    tuned.set_params(
        learning_rate=chosen["learning_rate"],
        subsample=chosen["subsample"],
        family=TreeFamilies(sizes=(2, 4, 8, 16, 32)),
        tree_options=TreeOptions(min_leaf_weight=chosen["min_leaf_weight"], thresholds="random"),
    )
    assert tuned.fit(X, y).n_iter_ == chosen["n_rounds"] + 5
    saved = tmp_path / "fit.ckpt"
    RGBRegressor(4).fit(X, y, callbacks=[Checkpoint(saved)])
    with pytest.raises(radboost.ModelFileError, match="n_rounds was 4 and is 'auto'"):
        RGBRegressor().fit(X, y, resume_from=saved)
    assert RGBRegressor(6).fit(X, y, resume_from=saved).n_iter_ == 6


def test_with_rounds_given_fits_are_as_before():
    X, y = table()
    assert RGBRegressor(7).fit(X, y).chosen_ == GIVEN
    assert RGBClassifier(7).fit(*classes()).chosen_ == GIVEN
    several = RGBClassifier(7).fit(*classes(n_classes=4)).chosen_
    assert several == {**GIVEN, "learning_rate": 0.3, "min_leaf_weight": 3.0}
    plain = RGBClassifier.paper().fit(*classes()).chosen_
    assert plain == {**GIVEN, "n_rounds": 100, "learning_rate": 1.0, "subsample": 1.0, "min_leaf_weight": 0.0}


def test_what_is_given_stays(quick):
    X, y = table()
    usual = {**GIVEN, "learning_rate": 0.025, "subsample": 0.3, "min_leaf_weight": 2.0}
    usual |= {"thresholds": "random", "largest_size": 32}
    small = TreeFamilies(sizes=(1, 2))
    for given, expected in (
        ({"learning_rate": 0.2}, {"learning_rate": 0.2}),
        ({"subsample": 1.0}, {"subsample": 1.0}),
        ({"family": small}, {"largest_size": 2}),
        ({"tree_options": TreeOptions(min_leaf_weight=5.0)}, {"min_leaf_weight": 5.0}),
        ({"tree_options": TreeOptions(thresholds="best")}, {"thresholds": "best"}),
        ({"tree_options": TreeOptions(max_features=2)}, {"max_features": 2}),
        ({"complexity_penalty": 0.05}, {"complexity_penalty": 0.05}),
    ):
        chosen = RGBRegressor(**given).fit(X, y).chosen_
        assert {**chosen, **expected} == chosen
        others = set(chosen) - set(expected) - {"n_rounds"}
        assert all(chosen[name] == usual[name] for name in others)


def test_steps_are_as_long_as_loss_and_rows_ask_for(quick):
    X, y = table()
    for given, expected in (("squared", 0.025), ("absolute", 0.05), (QuantileLoss(0.9), 0.05), (Squared(), 0.1)):
        assert RGBRegressor(loss=given).fit(X, y).chosen_["learning_rate"] == expected
    assert RGBRegressor().fit(*table(m=3000)).chosen_["learning_rate"] == round(0.025 * 1.5**0.5, 3)


def test_of_many_columns_a_node_looks_at_some(quick):
    X, y = classes(m=100)
    wide = np.column_stack([X, np.random.default_rng(0).normal(size=(100, 95))])
    assert RGBClassifier().fit(wide, y).chosen_["max_features"] == 50
    assert RGBClassifier(5).fit(wide, y).chosen_["max_features"] == 100


def test_large_trees_where_held_back_rows_say_so():
    """A target that takes many questions, and enough rows to tell."""
    model = RGBRegressor().fit(*places(6000, n_values=6))
    assert model.chosen_["largest_size"] == 256
    assert model.ensemble_.n_families == 49
    few = RGBRegressor().fit(*table())
    assert few.chosen_["largest_size"] == 32
    assert few.ensemble_.n_families == 49  # they might have been chosen, and count in the bound


def test_the_best_round_is_that_of_all_thirds(monkeypatch):
    X, y = table(m=300)
    seen = []

    class Fitted:
        loss_ = "squared"

        def __init__(self, history):
            self.history_, self.ensemble_ = {"validation_loss": history}, self

        def decision_function(self, X, n_threads):
            return np.zeros(len(X))

    histories = iter([[3.0, 2.0, 1.0, 1.5], [5.0, 1.0], [4.0, 4.0, 3.9, 3.0, 2.0]])
    monkeypatch.setattr(_rgb_trials, "learn", lambda short, rows: seen.append((short, rows)) or Fitted(next(histories)))
    estimator = RGBRegressor()
    rows = prepare(estimator, X, y, regression=True)
    chosen = _rgb_trials.tune(estimator, rows, estimator._read_parameters(), 1)
    # Sums: 12, 7, 5.9, 5.5, 4.5: the fifth, where the others have stopped; in steps eight times as long.
    assert chosen.n_rounds == max(_rgb_trials.FEWEST_ROUNDS, int(np.ceil(_rgb_trials.MORE_ROUNDS * 8 * 5)))
    assert [short.learning_rate for short, _ in seen] == pytest.approx([0.2] * 3)
    held = [len(rows.validation.class_ids) for _, rows in seen]
    assert held == [100, 100, 100]


def test_early_stopping_has_all_rounds(quick):
    X, y = table(noise=4.0)
    model = RGBRegressor(early_stopping=5).fit(X, y)
    assert model.chosen_["n_rounds"] == MOST_ROUNDS[0]
    assert "early stopping" in model.stop_reason_


def test_rows_that_cannot_be_held_back():
    X, y = np.zeros((6, 1)), np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    model = RGBRegressor().fit(X, y)
    assert model.chosen_["n_rounds"] == _rgb_trials.FEWEST_ROUNDS
    np.testing.assert_allclose(model.predict(X), 2.0)


def test_many_rows_are_tuned_at_in_part(monkeypatch, quick):
    monkeypatch.setattr(_held_back, "MOST_ROWS_OF_FOLDS", 300)
    sizes = []
    learn = _rgb_trials.learn
    monkeypatch.setattr(_rgb_trials, "learn", lambda short, rows: sizes.append(rows.n_rows) or learn(short, rows))
    RGBRegressor().fit(*table(m=3000))
    assert sizes == pytest.approx([200, 200, 200], abs=2)


def test_choices_are_kept_by_fits_that_go_on(quick, tmp_path):
    X, y = table()
    model = RGBRegressor().fit(X, y)
    again = RGBRegressor(warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    saved = tmp_path / "fit.ckpt"
    RGBRegressor().fit(X, y, callbacks=[Checkpoint(saved)])
    resumed = RGBRegressor().fit(X, y, resume_from=saved)
    np.testing.assert_array_equal(resumed.predict(X), model.predict(X))
