"""Table 4.1 of Storcheus's thesis (2021): errors on each source, on their uniform mixture, on the worst.

SVHN and MNIST-M, and with them the two problems on digits, are not among the data sets. The thesis says of the columns
only that those of amazon are bigrams. There are two studies: the columns of the registry (adult with education,
categories split by subsets, amazon with unigrams), and those that fit the errors of the thesis better (adult without
education, an indicator for each category, amazon with bigrams alone).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from papers import datasets as registry
from papers.harness import Facts, Outcome, Result, Row, Study, chance_of_lead, distinct, mean_std, published, results_of
from radboost.estimators import DeepBoostClassifier, MultiSourceBoostClassifier
from radboost.trees import TreeOptions

ALGORITHMS = (
    *("AdaBoost-1", "AdaBoost-2", "AdaBoost-3", "AdaBoost-all"),
    *("MultiBoost", "MultiBoost, softmax", "MultiBoost, sum", "MultiBoost, defaults"),
    *("reweighted", "group DRO", "fairlearn", "DeepBoost, defaults", "scikit-learn"),
)
# Terms in fewer reviews than these are left out: stumps scan every column in every round.
FEWEST_REVIEWS = 20
# t-shirt, trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot: the source of each, and what is worn
# below the waist.
SOURCE_OF_CLOTHES = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 3])
BOTTOMS = (1, 5, 7, 9)
UNIVERSITY = ("Bachelors", "Masters", "Doctorate")
DRO_TURNS, DRO_RATE = 10, 4.0


@dataclass(frozen=True)
class ErrorsBySource(Study):
    """Every algorithm on every fold of every data set; errors by source."""

    preparation: str = "registry"
    """`registry` or `thesis`: which columns there are, see `load_sourced`."""
    algorithms: tuple[str, ...] = ALGORITHMS
    rounds: int = 100
    quick_rounds: int = 100

    runs = 10
    quick_runs = 3
    published: ClassVar[str] = "multi-boost"
    against: ClassVar[str] = "AdaBoost-all"
    """The algorithm that the others are tested against."""
    columns: ClassVar[Row] = (
        *("data set", "algorithm", "error 1", "error 2", "error 3", "uniform", "agnostic", "paper", "p"),
    )
    legend = (
        "means (standard deviations) over the folds; agnostic: the mean of the largest of the three errors; paper:\n"
        "its agnostic error; p: one-tailed paired t-test, that the agnostic error is below that of AdaBoost-all.\n"
        "AdaBoost and MultiBoost: stumps, exponential loss, 100 rounds. fairlearn: its bounded group loss over the\n"
        "same stumps, if it is installed (pip install 'radboost[bench]')"
    )

    @property
    def paper(self) -> dict[tuple[str, str], float]:
        """Agnostic errors of the thesis by data set and algorithm."""
        return {(row["data set"], row["algorithm"]): float(row["agnostic"]) for row in published(self.published)}

    @property
    def datasets(self) -> tuple[str, ...]:
        names = dict.fromkeys(name for name, _ in self.paper)
        return tuple(name for name in names if self.preparation == "registry" or name != "fashion_mnist")

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        missing = () if find_spec("fairlearn") else ("fairlearn",)
        return [
            {"sources": name, "columns": self.preparation, "fold": fold, "folds": self.runs, "algorithm": algorithm,
             "rounds": self.quick_rounds if quick else self.rounds}
            for name in chosen
            for fold in range(runs)
            for algorithm in self.algorithms
            if algorithm not in missing
        ]  # fmt: skip

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Deal each source into folds by itself; test errors on the three sources."""
        data = load_sourced(facts["sources"], facts["columns"], data_dir)
        fold = np.empty(len(data.y), dtype=int)
        for source in (1, 2, 3):
            rows = np.flatnonzero(data.sources == source)
            order = np.random.default_rng([facts["seed"], source]).permutation(len(rows))
            fold[rows[order]] = np.arange(len(rows)) % facts["folds"]
        train, test = data.part(np.flatnonzero(fold != facts["fold"])), data.part(np.flatnonzero(fold == facts["fold"]))
        predicted = _predictor(facts["algorithm"], facts["rounds"], train)(test.X)
        return {"errors": [float(np.mean((predicted != test.y)[test.sources == source])) for source in (1, 2, 3)]}

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        for name in distinct(outcomes, "sources"):
            against = [max(one["errors"]) for one in results_of(outcomes, sources=name, algorithm=self.against)]
            for algorithm in distinct(outcomes, "algorithm"):
                errors = np.array([one["errors"] for one in results_of(outcomes, sources=name, algorithm=algorithm)])
                columns = [*errors.T, errors.mean(axis=1), errors.max(axis=1)]
                paper = self.paper.get((name, algorithm))
                cells = [mean_std(column, 3) for column in columns]
                is_tested = algorithm != self.against and len(against) > 1
                p = f"{chance_of_lead(errors.max(axis=1).tolist(), against):.4f}" if is_tested else "-"
                rows.append([name, algorithm, *cells, "-" if paper is None else f"{paper:.3f}", p])
        return rows


@dataclass(frozen=True)
class Sourced:
    """Rows with the number of their source: 1, 2 or 3."""

    X: Any
    y: NDArray[Any]
    sources: NDArray[np.int64]  # 1, 2, 3
    categorical: list[int]

    def part(self, rows: NDArray[Any]) -> Sourced:
        return Sourced(self.X[rows], self.y[rows], self.sources[rows], self.categorical)


@lru_cache(maxsize=1)
def load_sourced(name: str, preparation: str, data_dir: str | None) -> Sourced:
    """Load a data set of the thesis with its three sources, and with the columns of a preparation (see above)."""
    data, as_thesis = registry.load(name, data_dir), preparation == "thesis"
    if name == "amazon":
        kinds = ["books", "dvd", "electronics"]
        domains = np.asarray(data.domains)
        kept = np.isin(domains, kinds)
        X = sparse.csr_array(data.X)[np.flatnonzero(kept)]
        wanted = np.bincount(X.indices, minlength=X.shape[1]) >= FEWEST_REVIEWS
        if as_thesis:
            wanted &= np.array(["_" in term for term in data.feature_names])
        sources = 1 + np.searchsorted(kinds, domains[kept])
        return Sourced(sparse.csr_array(X[:, np.flatnonzero(wanted)], dtype=np.float64), data.y[kept], sources, [])
    if name == "fashion_mnist":
        return Sourced(data.X, np.isin(data.y, BOTTOMS).astype(int), SOURCE_OF_CLOTHES[data.y.astype(int)], [])
    # adult: rows without missing values, by education
    X = np.asarray(data.X, dtype=np.float64)
    whole = ~np.isnan(X).any(axis=1)
    X, y, names, known = X[whole], data.y[whole], list(data.feature_names), dict(data.categories or {})
    education = np.array(known["education"], dtype=object)[X[:, names.index("education")].astype(int)]
    sources = np.where(np.isin(education, UNIVERSITY), 1, np.where(education == "HS-grad", 2, 3))
    if not as_thesis:
        return Sourced(X, y, sources, sorted(map(names.index, known)))
    columns = [
        (X[:, [i]] == np.unique(X[:, i])).astype(np.float64) if name in known else X[:, [i]]
        for i, name in enumerate(names)
        if not name.startswith("education")
    ]
    return Sourced(np.hstack(columns), y, sources, [])


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
    weight_of, models = np.full(3, 1.0 / 3.0), []
    for _ in range(DRO_TURNS):
        weights = (weight_of / np.bincount(train.sources)[1:])[train.sources - 1] * len(train.y)
        model = DeepBoostClassifier.paper(rounds, family="stumps", **same).fit(train.X, train.y, weights)
        wrong = model.predict(train.X) != train.y
        weight_of = weight_of * np.exp(
            DRO_RATE * np.array([wrong[train.sources == source].mean() for source in (1, 2, 3)])
        )
        weight_of /= weight_of.sum()
        models.append(model)

    def predict(X: Any) -> NDArray[Any]:
        total = sum(model.decision_function(X) for model in models)
        return np.asarray(models[0].classes_[(np.asarray(total) > 0).astype(int)])

    return predict


def _bounded_group_loss(rounds: int, train: Sourced, same: dict[str, Any]) -> Callable[[Any], NDArray[Any]]:
    # Fairlearn's reduction (Agarwal, Dudik and Wu, 2019) with a bound of 0 makes the largest error as small as it can.
    # It draws one of its models for each row.
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
        warnings.simplefilter("ignore")  # about changes that pandas announces
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


TITLE = "Storcheus (2021), Table 4.1: several sources"
STUDIES = (
    ErrorsBySource("multiboost-4.1", TITLE),
    ErrorsBySource("multiboost-4.1-thesis", f"{TITLE}, adult and amazon with columns as in the thesis", "thesis"),
)
