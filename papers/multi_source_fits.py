"""The fits of Table 4.1: data sets with their sources, and who learns from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from papers import datasets as registry
from radboost.estimators import DeepBoostClassifier, MultiSourceBoostClassifier
from radboost.trees import TreeOptions

# Terms in fewer reviews than these are left out: stumps look at every column in every round.
FEWEST_REVIEWS = 20
# t-shirt, trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot: the source of each, and what is worn
# below the waist.
SOURCE_OF_CLOTHES = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 3])
BOTTOMS = (1, 5, 7, 9)
UNIVERSITY = ("Bachelors", "Masters", "Doctorate")
DRO_TURNS, DRO_RATE = 10, 4.0


@dataclass(frozen=True)
class Sourced:
    X: Any
    y: NDArray[Any]
    sources: NDArray[np.int64]  # 1, 2, 3
    categorical: list[int]

    def part(self, rows: NDArray[Any]) -> Sourced:
        return Sourced(self.X[rows], self.y[rows], self.sources[rows], self.categorical)


@lru_cache(maxsize=1)
def load_sourced(name: str, data_dir: str | None) -> Sourced:
    """A data set of the thesis with its three sources."""
    data = registry.load(name, data_dir)
    if name == "amazon":
        kinds = ["books", "dvd", "electronics"]
        domains = np.asarray(data.domains)
        kept = np.isin(domains, kinds)
        X = sparse.csr_array(data.X)[np.flatnonzero(kept)]
        often = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= FEWEST_REVIEWS)
        sources = 1 + np.searchsorted(kinds, domains[kept])
        return Sourced(sparse.csr_array(X[:, often], dtype=np.float64), data.y[kept], sources, [])
    if name == "fashion_mnist":
        return Sourced(data.X, np.isin(data.y, BOTTOMS).astype(int), SOURCE_OF_CLOTHES[data.y.astype(int)], [])
    # adult: rows without missing values, by education
    whole = ~np.isnan(np.asarray(data.X, dtype=np.float64)).any(axis=1)
    names = list(data.feature_names)
    known = dict(data.categories or {})
    levels = np.array(known["education"], dtype=object)
    education = levels[np.asarray(data.X[whole, names.index("education")], dtype=int)]
    sources = np.where(np.isin(education, UNIVERSITY), 1, np.where(education == "HS-grad", 2, 3))
    return Sourced(np.asarray(data.X[whole], dtype=np.float64), data.y[whole], sources, sorted(map(names.index, known)))


def fit_sources_unit(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """The test errors on the three sources, of one algorithm on one fold. Each source is dealt into folds by itself."""
    data = load_sourced(facts["sources"], data_dir)
    fold = np.empty(len(data.y), dtype=int)
    for source in (1, 2, 3):
        rows = np.flatnonzero(data.sources == source)
        order = np.random.default_rng([facts["seed"], source]).permutation(len(rows))
        fold[rows[order]] = np.arange(len(rows)) % facts["folds"]
    train, test = data.part(np.flatnonzero(fold != facts["fold"])), data.part(np.flatnonzero(fold == facts["fold"]))
    predicted = _predictor(facts["algorithm"], facts["rounds"], train)(test.X)
    return {"errors": [float(np.mean((predicted != test.y)[test.sources == source])) for source in (1, 2, 3)]}


def _predictor(algorithm: str, rounds: int, train: Sourced) -> Callable[[Any], NDArray[Any]]:
    same: dict[str, Any] = {"categorical_features": train.categorical, "n_jobs": 1}
    if algorithm.startswith("AdaBoost-"):
        rows = train.sources == int(algorithm[-1]) if algorithm[-1].isdigit() else np.ones(len(train.y), dtype=bool)
        part = train.part(np.flatnonzero(rows))
        return DeepBoostClassifier.paper(rounds, family="stumps", **same).fit(part.X, part.y).predict
    if algorithm.startswith("MultiBoost"):
        if algorithm.endswith("defaults"):
            model = MultiSourceBoostClassifier(**same)
        else:
            name = algorithm.partition(", ")[2] or "max"
            model = MultiSourceBoostClassifier.paper(rounds, source_objective=name, **same)
        return model.fit(train.X, train.y, sources=train.sources).predict
    if algorithm == "DeepBoost, defaults":
        return DeepBoostClassifier(tree_options=TreeOptions(leaves="votes"), **same).fit(train.X, train.y).predict
    if algorithm == "reweighted":
        weights = (len(train.y) / 3.0 / np.bincount(train.sources)[1:])[train.sources - 1]
        stumps = DeepBoostClassifier.paper(rounds, family="stumps", **same)
        return stumps.fit(train.X, train.y, weights).predict
    if algorithm == "group DRO":
        return _group_dro(rounds, train, same)
    return _bounded_group_loss(rounds, train, same) if algorithm == "fairlearn" else _scikit_learn(train)


def _group_dro(rounds: int, train: Sourced, same: dict[str, Any]) -> Callable[[Any], NDArray[Any]]:
    """Sources gain weight by their errors, turn by turn; the scores of all turns are added (Sagawa et al., 2020)."""
    share, models = np.full(3, 1.0 / 3.0), []
    for _ in range(DRO_TURNS):
        weights = (share / np.bincount(train.sources)[1:])[train.sources - 1] * len(train.y)
        model = DeepBoostClassifier.paper(rounds, family="stumps", **same).fit(train.X, train.y, weights)
        wrong = model.predict(train.X) != train.y
        share = share * np.exp(DRO_RATE * np.array([wrong[train.sources == source].mean() for source in (1, 2, 3)]))
        share /= share.sum()
        models.append(model)

    def predict(X: Any) -> NDArray[Any]:
        total = sum(model.decision_function(X) for model in models)
        return np.asarray(models[0].classes_[(np.asarray(total) > 0).astype(int)])

    return predict


def _bounded_group_loss(rounds: int, train: Sourced, same: dict[str, Any]) -> Callable[[Any], NDArray[Any]]:
    """Fairlearn's reduction (Agarwal, Dudik and Wu, 2019) with a bound of 0: the largest error becomes as small as it
    can. It draws one of its models for each row.
    """
    from fairlearn.reductions import BoundedGroupLoss, ExponentiatedGradient, ZeroOneLoss

    model = ExponentiatedGradient(
        DeepBoostClassifier.paper(rounds, family="stumps", **same),
        BoundedGroupLoss(ZeroOneLoss(), upper_bound=0.0),
        max_iter=DRO_TURNS,
    )

    def dense(X: Any) -> Any:  # it takes nothing else, nor labels that are no numbers
        return X.toarray() if sparse.issparse(X) else X

    classes, numbers = np.unique(train.y, return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what pandas means to change
        model.fit(dense(train.X), numbers, sensitive_features=train.sources)
    return lambda X: np.asarray(classes[np.asarray(model.predict(dense(X), random_state=0), dtype=int)])


def _scikit_learn(train: Sourced) -> Callable[[Any], NDArray[Any]]:
    """Its gradient boosting on all rows; logistic regression for text, which that does not take."""
    if sparse.issparse(train.X):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000).fit(train.X, train.y).predict  # type: ignore[no-any-return]
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(categorical_features=train.categorical or None, random_state=0)
    return model.fit(train.X, train.y).predict  # type: ignore[no-any-return]
