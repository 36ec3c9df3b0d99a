"""Offsets: scores that rows begin with, in `fit` and in predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import r2_score

import radboost
from prepared_rows import prepare
from radboost import (
    AgnosticBoostClassifier,
    Checkpoint,
    DeepBoostClassifier,
    EarlyStopping,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    TreeFamilies,
    TreeOptions,
)
from radboost.baselines import SAMMEClassifier
from radboost.estimators._learning import learn
from radboost.losses import GammaLoss
from radboost.rows.hashing import joined

Settings = tuple[type[Any], dict[str, Any]]
CLASSIFIERS: list[Settings] = [
    (DeepBoostClassifier, {"complexity_penalty": 0.001}),
    (DeepBoostClassifier, {"complexity_penalty": 0.001, "tree_options": TreeOptions(leaves="rated")}),
    (RGBClassifier, {}),
    (SoftmaxBoostClassifier, {"learning_rate": 0.3}),
    (AgnosticBoostClassifier, {}),
]
EVERYONE: list[Settings] = [*CLASSIFIERS, (RGBRegressor, {}), (RGBRegressor, {"loss": "poisson"})]
by_name: dict[str, Any] = {"ids": lambda one: f"{one[0].__name__}{len(one[1])}" if isinstance(one, tuple) else None}
with_classes = pytest.mark.parametrize(
    ("setting", "n_classes"), [*((one, 2) for one in EVERYONE), *((one, 3) for one in CLASSIFIERS)], **by_name
)


def rows(seed: int, n_classes: int = 2, n: int = 160) -> tuple[Any, Any, Any]:
    """Rows, labels (or counts), and offsets that say something about them."""
    draws = np.random.default_rng(seed)
    X = draws.integers(-8, 9, size=(n, 4)).astype(float)
    f = 0.4 * X[:, 0] + 0.2 * X[:, 1] * (X[:, 2] > 0)
    known = draws.integers(-8, 9, size=n) / 4.0
    total = f + known + draws.logistic(size=n)
    y = np.digitize(total, np.quantile(total, np.arange(1, n_classes) / n_classes))
    offset = known if n_classes == 2 else known[:, None] * np.linspace(-1.0, 1.0, n_classes)
    return X, y, offset


def made(setting: Settings, n_rounds: int = 15, **more: Any) -> Any:
    return setting[0](n_rounds, n_jobs=1, **setting[1], **more)


def scores(model: Any, X: Any, offset: Any = None) -> Any:
    return model.predict(X, offset) if isinstance(model, RGBRegressor) else model.decision_function(X, offset)


@pytest.mark.parametrize("setting", EVERYONE, **by_name)
def test_an_offset_of_zero_is_none(setting: Settings) -> None:
    X, y, offset = rows(0)
    plain = made(setting, early_stopping=5).fit(X, y)
    zero = made(setting, early_stopping=5).fit(X, y, offset=0.0 * offset)
    assert zero.history_ == plain.history_
    np.testing.assert_array_equal(scores(zero, X), scores(plain, X))
    np.testing.assert_array_equal(scores(zero, X, -0.0 * offset), scores(plain, X))


@with_classes
def test_the_history_is_about_scores_with_offsets(setting: Settings, n_classes: int) -> None:
    """What training and validation rows say of each round, against the stages of the model with the offsets added."""
    X, y, offset = rows(1, n_classes)
    if setting[0] is RGBRegressor:
        model = made(setting).fit(X, y, offset=offset, X_val=X, y_val=y, offset_val=offset, eval_metric="r2")
        expected = [r2_score(y, p) for p in model.staged_predict(X, offset)]
        np.testing.assert_allclose(model.history_["validation_r2"], expected, rtol=1e-6)
    else:
        calibration = {} if setting[0] is AgnosticBoostClassifier else {"calibration": None}
        model = made(setting, **calibration)
        model.fit(X, y, offset=offset, X_val=X, y_val=y, offset_val=offset, eval_metric="accuracy")
        expected = [np.mean(p == y) for p in model.staged_predict(X, offset)]
        np.testing.assert_allclose(model.history_["validation_accuracy"], expected, rtol=1e-6)
        np.testing.assert_allclose(model.history_["train_error"], model.history_["validation_error"], atol=1e-12)
        np.testing.assert_allclose(model.score(X, y, offset=offset), expected[-1])
        assert expected[-1] != np.mean(model.predict(X) == y)  # a model does not keep offsets
    if setting[0] not in (AgnosticBoostClassifier, DeepBoostClassifier):  # a soft maximum; a penalty
        np.testing.assert_allclose(model.history_["objective"], model.history_["validation_loss"], rtol=1e-5)
    # Every answer is that of the scores plus the offset.
    if setting[0] is not RGBRegressor:
        f = model.decision_function(X) + offset
        np.testing.assert_array_equal(model.decision_function(X, offset), f)
        np.testing.assert_array_equal(model.predict_proba(X, offset), model._calibrated(f))
        np.testing.assert_array_equal(model.predict_log_proba(X, offset), np.log(model._calibrated(f)))
        np.testing.assert_array_equal(model.predict(X, offset), model._predictions(f))
        for stages, whole in (
            (model.staged_decision_function(X, offset), f),
            (model.staged_predict_proba(X, offset), model.predict_proba(X, offset)),
        ):
            np.testing.assert_allclose(list(stages)[-1], whole, atol=1e-9)


SETTINGS: list[dict[str, Any]] = [
    {"family": ["kernel", "stumps"], "subsample": 0.5},
    {"objective": "maxsum"},
    {"objective": "max"},
    {"objective": "compsum"},
    {"loss": "exponential"},
    {"tree_options": TreeOptions(leaves="rated")},
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_objectives_begin_at_the_offset_and_fall(setting: dict[str, Any], n_classes: int) -> None:
    X, y, offset = rows(18, n_classes)
    model = DeepBoostClassifier(10, n_jobs=1, complexity_penalty=0.0, calibration=None, **setting)
    model.fit(X, y, offset=offset, X_val=X, y_val=y, offset_val=offset)
    found, watched = np.array(model.history_["objective"]), np.array(model.history_["validation_loss"])
    assert np.all(np.diff(found) <= 1e-12)
    if setting.get("objective") == "maxsum" and n_classes > 2:
        assert np.all(watched <= found + 1e-12)  # that of "max", which is not larger
    else:
        np.testing.assert_allclose(found, watched, atol=1e-9)


def test_poisson_with_exposure_is_the_known_solution() -> None:
    """The maximum of the likelihood for cells of a table: events over exposure, cell by cell."""
    draws = np.random.default_rng(2)
    cells = draws.integers(0, 6, 400)
    exposure = draws.uniform(0.1, 8.0, 400)
    rate = np.array([0.2, 1.0, 0.5, 3.0, 0.1, 2.0])
    counts = draws.poisson(exposure * rate[cells])
    model = RGBRegressor(
        300,
        loss="poisson",
        complexity_penalty=0.0,
        subsample=1.0,
        learning_rate=1.0,
        n_jobs=1,
        family=TreeFamilies(sizes=[8], norms=[32.0]),
        tree_options=TreeOptions(min_leaf_weight=0.0),
    ).fit(cells[:, None].astype(float), counts, offset=np.log(exposure))
    known = np.array([counts[cells == cell].sum() / exposure[cells == cell].sum() for cell in range(6)])
    found = model.predict(np.arange(6.0)[:, None])
    np.testing.assert_allclose(found, known, rtol=1e-4)
    np.testing.assert_allclose(model.predict(np.arange(6.0)[:, None], np.full(6, np.log(3.0))), 3.0 * found)
    # Without its offset the model is another one: rows of long exposure count more.
    assert np.abs(known / [counts[cells == cell].mean() for cell in range(6)] - 1.0).max() > 0.5


@pytest.mark.parametrize(
    ("loss", "mean"),
    [
        ("poisson", lambda y, o: np.log(y.sum() / np.exp(o).sum())),
        (GammaLoss(), lambda y, o: np.log(np.mean(y * np.exp(-o)))),
        ("squared", lambda y, o: np.mean(y - o)),
        ("absolute", lambda y, o: np.sort(y - o)[99]),
    ],
)
def test_the_constant_is_the_best_one_beside_the_offset(loss: Any, mean: Any) -> None:
    draws = np.random.default_rng(3)
    offset, y = draws.normal(size=200), draws.gamma(2.0, size=200) + 0.1
    model = RGBRegressor(1, loss=loss, n_jobs=1, learning_rate=1e-12).fit(np.ones((200, 1)), y, offset=offset)
    constant = model.ensemble_.decision_function(np.ones((1, 1)))[0]
    np.testing.assert_allclose(constant, mean(y, offset), rtol=1e-6)


class OwnPoisson:
    """A loss of the user's own, whose constant has to be searched for."""

    def value(self, y: Any, f: Any) -> Any:
        return np.exp(f) - y * f

    def derivative(self, y: Any, f: Any) -> Any:
        return np.exp(f) - y


@pytest.mark.parametrize("shift", [-700.0, -40.0, 30.0, 100.0, 700.0])
@pytest.mark.parametrize("loss", ["poisson", "gamma", "squared"])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_models_answer_the_same_wherever_offsets_are(loss: Any, n_targets: int, shift: float) -> None:
    """An exposure of e^100 is that of 1 in another unit: constants take it up, and trees are the same."""
    X, counts, of_classes = rows(8, 4)
    y, offset = counts + 0.5, of_classes[:, 0]
    if n_targets > 1:
        y, offset = np.column_stack([y, 4.0 - counts]), of_classes[:, :2]
    near, far = (RGBRegressor(8, loss=loss, n_jobs=1).fit(X, y, offset=offset + by) for by in (0.0, shift))
    found, wanted = far.predict(X, offset + shift), near.predict(X, offset)
    # Constants are kept to 24 bits, and that of 700 is rounded accordingly.
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("shift", [-700.0, 30.0, 100.0, 600.0])
def test_the_constant_of_a_loss_of_ones_own_is_found_wherever_offsets_are(shift: float) -> None:
    X, counts, of_classes = rows(8, 4)
    offset = of_classes[:, 0] + shift
    found, wanted = (
        RGBRegressor(8, loss=loss, n_jobs=1).fit(X, counts, offset=offset) for loss in (OwnPoisson(), "poisson")
    )
    np.testing.assert_allclose(found.history_["objective"][0], wanted.history_["objective"][0], rtol=1e-3)


@pytest.mark.parametrize("shift", [-900.0, -40.0, 30.0, 100.0, 900.0])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_classes_are_as_likely_wherever_offsets_are(loss: str, shift: float) -> None:
    X, y, offset = rows(9)
    near, far = (
        RGBClassifier(8, loss=loss, n_jobs=1, calibration=None).fit(X, y, offset=offset + by) for by in (0.0, shift)
    )
    found, wanted = far.predict_proba(X, offset + shift), near.predict_proba(X, offset)
    np.testing.assert_allclose(found, wanted, atol=2e-4)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_constant_of_classes_balances_them(n_classes: int) -> None:
    """With the best constants the mean probability of each class is its share of the rows."""
    _, y, offset = rows(4, n_classes, n=300)
    w = np.random.default_rng(5).integers(1, 4, 300)
    model = RGBClassifier(1, n_jobs=1, learning_rate=1e-12, calibration=None)
    model.fit(np.ones((300, 1)), y, w, offset=3.0 * offset)
    chances = np.average(model.predict_proba(np.ones((300, 1)), 3.0 * offset), axis=0, weights=w)
    np.testing.assert_allclose(chances, np.bincount(y, w) / w.sum(), atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile"])
@pytest.mark.parametrize("of_rows", [False, True])
def test_offsets_of_differences_are_shifted_targets(loss: str, of_rows: bool) -> None:
    """f + o - y = f - (y - o): the same trees."""
    X, _, offset = rows(6)
    y = np.random.default_rng(7).integers(-64, 65, len(X)) / 8.0
    offset = 4.0 * offset if of_rows else np.full(len(X), 3.25)
    # Draws of rows are keyed by their targets, which differ.
    model = RGBRegressor(10, loss=loss, n_jobs=1, subsample=1.0).fit(X, y, offset=offset)
    shifted = RGBRegressor(10, loss=loss, n_jobs=1, subsample=1.0).fit(X, y - offset)
    np.testing.assert_allclose(model.history_["objective"], shifted.history_["objective"], rtol=1e-9)
    np.testing.assert_allclose(model.predict(X, offset), shifted.predict(X) + offset, rtol=1e-9, atol=1e-9)
    if loss == "huber":
        assert model.loss_ == shifted.loss_


@with_classes
def test_order_copies_and_threads_do_not_matter(setting: Settings, n_classes: int) -> None:
    X, y, offset = rows(10, n_classes)
    X[80:], y[80:] = X[:80], y[:80]  # rows that differ in their offsets alone
    w = np.random.default_rng(11).integers(0, 4, len(X))
    stopping = EarlyStopping(5, 0.3)
    model = made(setting, 20, early_stopping=stopping).fit(X, y, w, offset=offset)
    places = np.random.default_rng(12).permutation(np.repeat(np.arange(len(X)), w))
    again = made(setting, 20, early_stopping=stopping).set_params(n_jobs=3)
    again.fit(X[places], y[places], offset=offset[places])
    assert again.history_ == model.history_
    np.testing.assert_array_equal(scores(again, X, offset), scores(model, X, offset))
    assert getattr(again, "calibration_", None) == getattr(model, "calibration_", None)


@with_classes
def test_warm_starts_and_checkpoints(setting: Settings, n_classes: int, tmp_path: Path) -> None:
    X, y, offset = rows(13, n_classes)
    given: dict[str, Any] = {"offset": offset / 3.0, "X_val": X[::2], "y_val": y[::2], "offset_val": offset[::2] / 3.0}
    whole = made(setting, 12).fit(X, y, **given)
    warm = made(setting, 5, warm_start=True).fit(X, y, **given).set_params(n_rounds=12).fit(X, y, **given)
    assert warm.history_ == whole.history_
    path = str(tmp_path / "fit")
    made(setting, 5).fit(X, y, **given, callbacks=[Checkpoint(path)])
    assert made(setting, 12).fit(X, y, **given, resume_from=path).history_ == whole.history_
    with pytest.raises(radboost.ModelFileError, match="the offsets differ; the validation offsets differ"):
        made(setting, 12).fit(X, y, **given | {"offset": offset, "offset_val": offset[::2]}, resume_from=path)
    with pytest.raises(radboost.ModelFileError, match="it had offsets, and now there are none"):
        made(setting, 12).fit(X, y, resume_from=path)
    whole.save(str(tmp_path / "model"))
    loaded = radboost.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(scores(loaded, X, offset), scores(whole, X, offset))


@pytest.mark.filterwarnings("ignore:The model is empty")  # as it should be
@pytest.mark.parametrize("kind", [DeepBoostClassifier, RGBClassifier])
def test_looks_and_calibration_carry_offsets_along(kind: Any) -> None:
    """Everything is in the offset: a look or a calibration without it would find rows that are badly predicted."""
    draws = np.random.default_rng(14)
    X, offset = draws.normal(size=(1500, 2)), draws.normal(scale=3.0, size=1500)
    y = (draws.random(1500) < expit(offset)).astype(int)
    model = kind("auto", n_jobs=1).fit(X, y, offset=offset)
    chances = model.predict_proba(X, offset)[:, 1]
    loss = -np.mean(np.log(np.where(y == 1, chances, 1.0 - chances)))
    best = -np.mean(np.log(np.where(y == 1, expit(offset), 1.0 - expit(offset))))
    assert loss < best + 0.03


def test_prepared_rows_carry_offsets_along() -> None:
    X, y, offset = rows(15)
    model = RGBClassifier(10, n_jobs=1, calibration=None)
    with_offset = prepare(model, X, y, offset=offset)
    np.testing.assert_array_equal(with_offset.offset, offset[with_offset.order])
    found, fitted = learn(model, with_offset), model.fit(X, y, offset=offset)
    np.testing.assert_array_equal(found.decision_function(X), fitted.decision_function(X))
    half = np.arange(0, 160, 2)
    kept = with_offset.select(half)
    assert sorted(kept.offset.tolist()) == sorted(offset[half].tolist())
    learned, held, _ = with_offset.hold_back(0.25, 0, 1)
    assert sorted([*learned.offset.tolist(), *held.offset.tolist()]) == sorted(offset.tolist())
    np.testing.assert_array_equal(with_offset.draw(0.5, 0, 1).offset.shape, with_offset.draw(0.5, 0, 1).order.shape)


def test_hashes_tell_offsets_apart() -> None:
    hashes = np.arange(5, dtype=np.uint64)
    assert joined(hashes, None) is hashes
    one, other = np.array([[1.0, 2.0]] * 5), np.array([[2.0, 1.0]] * 5)
    assert not np.any(joined(hashes, one) == joined(hashes, other))


def test_offsets_of_rows_without_weight_do_not_count() -> None:
    X, y, _ = rows(15)
    weights = (np.arange(len(y)) > 3).astype(float)
    prepared = prepare(RGBClassifier(), X, y, weights, offset=np.where(weights == 0.0, 1.0, 0.0))
    assert prepared.offset is None


def test_what_is_refused() -> None:
    X, y, offset = rows(17)
    model = RGBClassifier(3, n_jobs=1)
    for given, message in (
        (
            {"offset": np.column_stack([offset, offset])},
            r"one number for each row; got the shape \(160, 2\), and X has 160",
        ),
        ({"offset": offset[:9]}, r"offset must be one number for each row; got the shape \(9,\)"),
        ({"offset": np.where(offset > 0, offset, -np.inf)}, "The logarithm of an exposure of 0 is infinite"),
        ({"offset": ["a"] * 160}, "must hold numbers"),
        ({"offset": 1e6 * offset}, "must not begin beyond 1000"),
        ({"offset": offset, "X_val": X, "y_val": y}, "offset and offset_val belong together"),
        ({"offset": offset, "offset_val": offset}, "offset_val was given without X_val and y_val"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, **given)
    with pytest.raises(ValueError, match=r"a line of 3 numbers, one per class or target, for each row; got"):
        model.fit(X, np.arange(160) % 3, offset=offset)
    with pytest.raises(ValueError, match="loss='exponential' is larger than any number"):
        DeepBoostClassifier(3, loss="exponential", n_jobs=1).fit(X, y, offset=np.full(160, 900.0))
    fitted = model.fit(X, y, offset=offset[:, None])
    with pytest.raises(ValueError, match=r"got the shape \(3,\), and X has 160 rows"):
        fitted.predict(X, offset[:3])
    several = MultiSourceBoostClassifier(3, n_jobs=1)
    for without in (SAMMEClassifier(3), several):
        with pytest.raises(TypeError, match="has no argument 'offset'"):
            without.fit(X, y, offset=offset)
    with pytest.raises(TypeError, match="MultiSourceBoostClassifier takes no offset"):
        several.fit(X, y).predict(X, offset)
