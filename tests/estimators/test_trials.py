"""Parameters that are "auto" are chosen by trials."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_wine, make_hastie_10_2
from sklearn.metrics import log_loss

import radboost
from prepared_rows import prepare
from radboost import DeepBoostClassifier, TreeOptions
from radboost.calibration import Calibration
from radboost.estimators import _calibrated, _held_back, _trials
from radboost.estimators._trial_monitor import HeldBackLosses, Stages, TrialResult, calibrated_losses
from radboost.estimators._trials import Trials, enough_rounds, rate_for
from radboost.rows.fields import Rows
from radboost.rows.weights import RowWeights
from reference.data import smooth
from reference.data import together as table

VOTES = {"n_rounds": 300, "learning_rate": 0.1, "max_depth": 6, "thresholds": "random", "leaves": "votes"}


@pytest.fixture
def quick(monkeypatch):
    """Trials of few rounds, and whole fits that are not long."""
    monkeypatch.setattr(_trials, "TRIAL_ROUNDS", 40)
    monkeypatch.setattr("radboost.estimators.deepboost.AUTOMATIC_ROUNDS", 60)


def test_tables_of_one_shape_and_other_noise_get_other_choices():
    clean = DeepBoostClassifier().fit(*table(0.0, m=2000)).chosen_
    noisy = DeepBoostClassifier().fit(*table(0.6, m=2000)).chosen_
    assert clean["leaves"] == "rated"
    assert noisy == {**VOTES, "complexity_penalty": 0.03}
    assert clean["complexity_penalty"] < noisy["complexity_penalty"]


def test_losses_and_errors_decide_together():
    """In standard errors: a lower loss may not cost right answers, and may come with more of them."""
    trials = object.__new__(Trials)
    trials._n_threads, trials._weights, trials.fraction = 1, RowWeights(None, 400), 0.75
    no_stages = Stages(Rows(np.zeros((400, 1)), np.zeros(400, dtype=np.uint16), None), 1)
    rng = np.random.default_rng(0)

    def standard(z):
        """A column whose mean is z standard errors."""
        values = rng.normal(size=400)
        values -= values.mean()
        return values / np.sqrt(np.mean(values**2)) + z / 20.0

    for loss, wrong, expected in (
        (1.6, 0.0, True),
        (1.4, 0.0, False),
        (0.8, 0.8, True),
        (3.0, -1.0, False),
        (4.0, -1.0, True),
        (-0.5, 1.0, False),
    ):
        none = np.zeros(400)
        trials.votes = lambda setting, none=none: HeldBackLosses(none, none, 1)
        rated = TrialResult(-standard(loss), -standard(wrong) if wrong else none, 1, no_stages)
        trials.rated = lambda setting, rated=rated: rated
        assert trials.beats_votes({}) is expected
    trials.rated = lambda setting: replace(rated, losses=-standard(9.0), lost=True)
    assert not trials.beats_votes({})
    trials.fraction = 0.75 / 4.0  # four times as many rows as short fits learn from: numbers gain on votes
    rated = TrialResult(-standard(-2.0), none, 1, no_stages)
    trials.rated = lambda setting: rated
    assert trials.beats_votes({})
    trials.fraction = 1.5
    assert not trials.beats_votes({})


def test_more_rows_are_held_back_where_there_are_more():
    """As many as can be had, within limits of rows, of scores and of cells."""
    for n_different, n_features, n_classes, learned, held_back in (
        (2_000, 10, 2, 1_500, 500),
        (16_000, 10, 2, 12_000, 4_000),
        (20_000, 10, 2, 12_000, 8_000),
        (1_000_000, 10, 2, 12_000, 12_000),
        (1_000_000, 10, 26, 12_000, 4_000),
        (1_000_000, 10, 8, 12_000, 8_192),
        (1_000_000, 2**15, 2, 3_072, 1_024),
    ):
        parts = _held_back.parts_of(n_different, n_features, n_classes)
        assert (parts.learned, parts.held_back) == (learned, held_back)


class Valley:
    """Losses of penalties, and what is asked of them; no other setting is better."""

    def __init__(self, losses, clear=False):
        self.losses = dict(zip(_trials.PENALTIES, losses, strict=True))
        self.clear = clear
        self.fits = []

    def loss(self, setting):
        penalty = setting["complexity_penalty"]
        self.fits += [penalty] if penalty not in self.fits else []
        return self.losses[penalty]

    def slower(self, setting, than):
        assert setting["complexity_penalty"] > than["complexity_penalty"]
        self.loss(than)
        self.loss(setting)

    def is_clear(self, setting, other):
        return self.clear

    def gain(self, setting):
        return 1.0


@pytest.mark.parametrize("best", range(6))
def test_the_path_of_penalties_ends_at_its_lowest_loss(best):
    """Whichever it is, where losses rise on both sides; in no more than four fits."""
    valley = Valley([abs(index - best - 0.1) for index in range(6)])
    assert _trials._best_penalty(valley, {}) == _trials.PENALTIES[best]
    assert len(valley.fits) <= 4


def test_the_smallest_penalty_needs_no_others_where_it_is_clearly_better():
    valley = Valley([5.0, 4.0, 3.0, 2.0, 0.9, 1.0], clear=True)
    assert _trials._best_penalty(valley, {}) == 0.0003
    assert valley.fits == [0.0003, 0.01]


def test_the_best_thresholds_are_tried_before_votes_stay():
    """A column with a few far values: drawn thresholds seldom part them."""
    tried = []

    class Silent(Valley):
        def beats_votes(self, setting):
            tried.append(setting["thresholds"])
            return setting["thresholds"] == "best"

        def faster(self, setting, than):
            assert (setting["thresholds"], than["thresholds"]) == ("best", "random")

        def improves(self, setting, than):
            return False

        def gain(self, setting):
            return -1.0

    start = {"thresholds": "random", "max_depth": 6}
    free = {"thresholds": True, "max_depth": True}
    assert _trials.choose(Silent(range(6)), start, free)["thresholds"] == "best"
    assert tried == ["random", "best"]
    assert _trials.choose(Silent(range(6)), start, {"thresholds": False, "max_depth": True}) is None


def test_what_was_chosen_pays():
    X, y = table(m=2000)
    new, truth = table(m=2000, seed=1)
    chosen = DeepBoostClassifier().fit(X, y)
    votes = DeepBoostClassifier(tree_options=TreeOptions(leaves="votes")).fit(X, y)
    assert votes.chosen_["leaves"] == "votes"
    assert chosen.score(new, truth) > votes.score(new, truth) + 0.01


def test_the_model_is_the_one_of_the_same_values_given(quick):
    X, y = table()
    tuned = DeepBoostClassifier().fit(X, y)
    chosen = dict(tuned.chosen_)
    assert chosen["leaves"] == "rated"
    options = TreeOptions(leaves=chosen.pop("leaves"), thresholds=chosen.pop("thresholds"))
    given = DeepBoostClassifier(**chosen, tree_options=options).fit(X, y)
    np.testing.assert_array_equal(tuned.decision_function(X), given.decision_function(X))
    assert given.chosen_ == tuned.chosen_
    assert tuned.n_iter_ <= chosen["n_rounds"]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_neither_order_nor_threads_nor_copies_change_the_choice(quick, n_classes):
    X, y = table(n_classes=n_classes)
    model = DeepBoostClassifier(n_rounds=5, n_jobs=1).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    other = DeepBoostClassifier(n_rounds=5, n_jobs=2).fit(X[order], y[order])
    weights = 1 + np.arange(len(y)) % 2
    weighted = DeepBoostClassifier(n_rounds=5).fit(X, y, sample_weight=weights)
    repeated = DeepBoostClassifier(n_rounds=5).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for one, same in ((model, other), (weighted, repeated)):
        assert one.chosen_ == same.chosen_
        np.testing.assert_array_equal(one.decision_function(X), same.decision_function(X))


def test_what_is_given_stays(quick):
    X, y = table()
    for given in ({"max_depth": 4}, {"n_rounds": 7}, {"learning_rate": 0.2}):
        chosen = DeepBoostClassifier(**given).fit(X, y).chosen_
        assert {**chosen, **given} == chosen
        assert chosen["leaves"] == "rated"
    exact = DeepBoostClassifier(5, tree_options=TreeOptions(thresholds="best")).fit(X, y)
    assert exact.chosen_["thresholds"] == "best"
    votes = DeepBoostClassifier(5, complexity_penalty=0.03).fit(X, y)
    assert votes.chosen_ == {**VOTES, "n_rounds": 5, "complexity_penalty": 0.03}
    for settings in ({"objective": "maxsum"}, {"family": "stumps"}, {"learning_rate": 1.0}, {"step": "closed_form"}):
        assert DeepBoostClassifier(3, **settings).fit(X, y).chosen_["leaves"] == "votes"


def test_few_rows_have_no_trials():
    X, y = table(m=990)
    assert DeepBoostClassifier(5).fit(X, y).chosen_ == {**VOTES, "n_rounds": 5, "complexity_penalty": 0.03}
    same = np.zeros((1200, 2))
    with pytest.warns(UserWarning, match="The model is empty"):
        model = DeepBoostClassifier(5).fit(same, np.arange(1200) % 2)
    assert model.chosen_["leaves"] == "votes"


def test_copies_and_weights_do_not_count_as_rows_for_trials():
    X, y = table(m=150)
    heavy = DeepBoostClassifier(5).fit(X, y, sample_weight=np.full(150, 10**6))
    assert heavy.chosen_["leaves"] == "votes"
    repeated = DeepBoostClassifier(5).fit(np.repeat(X, 10, axis=0), np.repeat(y, 10))
    assert repeated.chosen_["leaves"] == "votes"


def test_trials_of_wide_rows_use_some_of_them(monkeypatch):
    """Held-back rows are made dense: there are never more cells of them than MOST_CELLS."""
    X, y = table(m=2400)
    seen = []
    monkeypatch.setattr(_trials, "choose", lambda trials, start, free: seen.append(trials._held_back.X.shape))
    monkeypatch.setattr(_held_back, "MOST_CELLS", 6 * 300)
    DeepBoostClassifier(3).fit(scipy.sparse.csr_array(X), y)
    assert seen == [(300, 6)]
    monkeypatch.setattr(_held_back, "MOST_CELLS", 6 * 200)
    DeepBoostClassifier(3).fit(X, y)
    assert len(seen) == 1


def test_trials_use_some_of_many_rows():
    X, y = table(m=4000)
    estimator = DeepBoostClassifier()
    rows = prepare(estimator, X, y)
    trials = Trials(estimator, rows, estimator._read_parameters(), _held_back.Parts(750, 250), rows.n_different(1))
    n_rows, n_held = len(trials._rows.order), len(trials._held_back.class_ids)
    assert n_rows + n_held == pytest.approx(1000, abs=2)
    assert n_held == pytest.approx(250, abs=2)
    held = {row.tobytes() for row in np.asarray(trials._held_back.X)}
    assert not held & {X[row].tobytes() for row in trials._rows.order}
    assert trials.fraction == pytest.approx(0.1875, rel=0.02)
    setting = {"thresholds": "random", "max_depth": 6, "complexity_penalty": 0.01}
    assert enough_rounds(trials, setting, 0.1) > trials.rated(setting).n_rounds
    assert rate_for(100.0) == 0.03
    assert rate_for(1e6) == 0.1


def test_losses_do_not_know_the_scale_of_scores():
    rng = np.random.default_rng(0)
    for shape in ((400,), (400, 3)):
        ids = rng.integers(0, 2 if len(shape) == 1 else 3, 400).astype(np.uint16)
        scores = rng.normal(size=shape)
        if len(shape) == 1:
            scores += 2.0 * ids - 1.0
        else:
            scores[np.arange(400), ids] += 1.0
        rows = Rows(np.zeros((400, 1)), ids, None)
        best = calibrated_losses(scores, rows, 1).mean()
        assert calibrated_losses(0.3 * scores, rows, 1).mean() == pytest.approx(best, rel=1e-4)
        factors = np.exp(np.linspace(-2.0, 2.0, 401))
        if len(shape) == 1:
            grid = [np.logaddexp(0.0, -np.where(ids == 1, f * scores, -f * scores)).mean() for f in factors]
        else:
            right = scores[np.arange(400), ids]
            grid = [(np.log(np.exp(f * scores).sum(axis=1)) - f * right).mean() for f in factors]
        assert best == pytest.approx(min(grid), rel=1e-4)


def test_bounds_count_all_depths_that_might_have_been_chosen(quick):
    X, y = table()
    chosen = DeepBoostClassifier(n_rounds=5).fit(X, y)
    assert chosen.ensemble_.n_families == 1200  # a tree of depth 12 could have a leaf for every row
    voted = DeepBoostClassifier(n_rounds=5).fit(*table(0.6, seed=2))
    assert voted.chosen_["leaves"] == "votes"
    assert voted.ensemble_.n_families == 1200
    given = DeepBoostClassifier(n_rounds=5, max_depth=6).fit(X, y)
    assert given.ensemble_.n_families == 64


def test_choices_are_kept_by_fits_that_go_on(quick, tmp_path):
    X, y = table()
    model = DeepBoostClassifier(n_rounds=6).fit(X, y)
    longer = DeepBoostClassifier(n_rounds=3, warm_start=True).fit(X, y).set_params(n_rounds=6).fit(X, y)
    np.testing.assert_array_equal(longer.decision_function(X), model.decision_function(X))
    saved = tmp_path / "fit.ckpt"
    DeepBoostClassifier(n_rounds=3).fit(X, y, callbacks=[radboost.Checkpoint(saved)])
    resumed = DeepBoostClassifier(n_rounds=6).fit(X, y, resume_from=saved)
    np.testing.assert_array_equal(resumed.decision_function(X), model.decision_function(X))


def test_short_fits_are_not_calibrated(quick, monkeypatch):
    calibrated = []
    monkeypatch.setattr(_calibrated, "fit_calibration", lambda *given: calibrated.append(given) or Calibration())
    DeepBoostClassifier(n_rounds=5).fit(*table())
    assert len(calibrated) == 1


def test_trials_are_reported(quick, capsys):
    X, y = table()
    DeepBoostClassifier(n_rounds=5, verbose=1).fit(X, y)
    printed = capsys.readouterr().err
    assert "looking at the data: leaves votes: held-back loss 0." in printed
    assert "complexity_penalty 0.01, leaves rated: held-back loss 0." in printed
    assert "calibrated: Calibration(temperature=" in printed
    DeepBoostClassifier(n_rounds=5).fit(X, y)
    assert capsys.readouterr().err == ""


def test_early_stopping_has_all_rounds(quick):
    X, y = table()
    model = DeepBoostClassifier(early_stopping=5).fit(X, y)
    assert model.chosen_["n_rounds"] == _trials.MOST_ROUNDS
    assert "early stopping" in model.stop_reason_


def test_given_thresholds_are_kept_where_leaves_vote() -> None:
    X, y = smooth(3)
    model = DeepBoostClassifier(5, tree_options=TreeOptions(thresholds="best")).fit(X, y)
    given = DeepBoostClassifier(5, complexity_penalty=0.03, tree_options=TreeOptions(thresholds="best")).fit(X, y)
    assert model.chosen_["thresholds"] == "best"
    np.testing.assert_array_equal(model.decision_function(X), given.decision_function(X))


@pytest.mark.parametrize(
    ("given", "accuracy", "used"),
    [
        ({"family": "stumps", "n_rounds": 200}, 0.77, (200, 0.6)),
        ({"family": "stumps"}, 0.83, (600, 0.6)),
        ({"family": "stump_pairs"}, 0.83, (600, 0.3)),
        ({"family": "kernel", "n_rounds": 300}, 0.83, (300, 1.0)),
        ({"family": radboost.families.stumps_at([[-9.0, *np.linspace(-2.0, 2.0, 17)]] * 10)}, 0.83, (600, 0.6)),
        ({"max_depth": 2, "complexity_penalty": 0.03, "n_rounds": 100}, 0.77, (100, 0.3)),
        ({"n_rounds": 50}, 0.85, (50, 0.06)),
    ],
)
def test_automatic_steps_fit_the_family(given, accuracy, used):
    """A sum of squares above its median: AdaBoost with 200 stumps has .86."""
    X, y = make_hastie_10_2(n_samples=4000, random_state=1)
    family = given.get("family")
    family = radboost.families.Candidates(family) if isinstance(family, list | tuple) else family
    given = given if family is None else {**given, "family": family}
    model = DeepBoostClassifier(**given, calibration=None).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > accuracy
    assert (model.chosen_["n_rounds"], model.chosen_["learning_rate"]) == used


def test_leaves_hold_numbers_where_there_are_too_few_rows_for_trials():
    rng, losses = np.random.default_rng(0), []
    for X, y in (load_breast_cancer(return_X_y=True), load_wine(return_X_y=True)):
        order = rng.permutation(len(y))
        few, new = order[: len(y) // 2], order[len(y) // 2 :]
        labels = np.where(rng.random(len(few)) < 0.2, rng.integers(0, y.max() + 1, len(few)), y[few])
        numbers = DeepBoostClassifier().fit(X[few], labels)
        votes = DeepBoostClassifier(tree_options=TreeOptions(leaves="votes")).fit(X[few], labels)
        losses.append([log_loss(y[new], model.predict_proba(X[new])) for model in (numbers, votes)])
        used = {"leaves": "rated", "n_rounds": 400, "learning_rate": 0.03, "complexity_penalty": 0.03}
        assert {name: numbers.chosen_[name] for name in used} == used
    assert np.less(*np.mean(losses, axis=0))
    for given in ({"n_rounds": 300}, {"learning_rate": 0.1}, {"max_depth": 6}):
        assert DeepBoostClassifier(**given).fit(X[few], labels).chosen_["leaves"] == "votes"
