"""Figure 13 (left) of "Boosting with Structural Sparsity" (Duchi and Singer 2009): kernels as features on MNIST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from papers.harness import Facts, Outcome, Result, Row, Study, distinct, load, mean_std, results_of
from radboost.estimators.sparse import SparseBoostClassifier
from radboost.losses import MultinomialScores
from radboost.metrics import coverage
from radboost.sparsity import Kernel, Training

PENALTIES = ("l1", "l1/l2", "l1/linf", "l2")
# Rows of length 1 and this gamma are the paper's kernel with rows of length 8^(1/2). One pass of a perceptron over
# MNIST then makes about as many mistakes as the paper has centers: 2766.
GAMMA = 4.0
N_VALIDATION = 2000


@dataclass(frozen=True)
class Digits:
    """MNIST, the training part first, and the mistakes of a perceptron on it."""

    rows: NDArray[np.float64]  # shape (n_rows, 784), each of length 1
    y: NDArray[np.int64]
    n_train: int
    order: NDArray[np.int64]
    centers: NDArray[np.float64]


@lru_cache(maxsize=1)
def load_digits(seed: int, n_seen: int, data_dir: str | None) -> Digits:
    """Run the perceptron over the first `n_seen` rows of a random order."""
    data = load("mnist", data_dir)
    assert data.split is not None
    n_train = int(np.sum(data.split == "train"))
    rows = data.X / np.linalg.norm(data.X.astype(np.float64), axis=1, keepdims=True)
    order = np.random.default_rng(seed).permutation(n_train)
    seen = order[:n_seen]
    loss = MultinomialScores(data.y[seen].astype(np.uint16), 10)
    training = Training(rows[seen], loss, np.full(len(seen), 1.0 / len(seen)), seed, 1)
    mistakes = Kernel(gamma=GAMMA).start(training)([], np.zeros((10, len(seen))))
    return Digits(rows, data.y, n_train, order, np.array([mistake.centre for mistake in mistakes]))


@dataclass(frozen=True)
class KernelDigits(Study):
    """Coverage against the training rows per class."""

    sizes: tuple[int, ...] = (20, 50, 100, 200, 400)
    quick_sizes: tuple[int, ...] = (20, 50)
    n_seen: int = 60_000  # by the perceptron
    update: str = "newton"
    rounds: int | str = "auto"

    runs = 3
    columns = ("rows per class", "penalty", "coverage", "error", "features", "alpha")
    legend = (
        "10,000 test digits, means (standard deviations) over the repeats; alpha (its median) has the best\n"
        "coverage on 2,000 other training digits"
    )

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        return [
            {"digits": size, "repeat": repeat, "penalty": penalty, "seen": self.n_seen, "update": self.update,
             "rounds": self.rounds}
            for size in (self.quick_sizes if quick else self.sizes)
            for repeat in range(runs)
            for penalty in PENALTIES
        ]  # fmt: skip

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        data = load_digits(facts["seed"], facts["seen"], data_dir)
        order = np.roll(data.order, facts["repeat"] * len(data.order) // 7)
        held, pool = order[:N_VALIDATION], order[N_VALIDATION:]
        train = np.concatenate([pool[data.y[pool] == digit][: facts["digits"]] for digit in range(10)])
        test = np.arange(data.n_train, len(data.y))
        learn, validate, final = (
            rbf_kernel(data.rows[part], data.centers, gamma=GAMMA) for part in (train, held, test)
        )
        model = SparseBoostClassifier(
            penalty=facts["penalty"], update=facts["update"], n_rounds=facts["rounds"], tol=1e-4, n_jobs=1
        )
        alphas = np.geomspace(0.1, 1e-5, 14) if facts["penalty"] == "l2" else None
        alphas, coefs, intercepts = model.path(learn, data.y[train], alphas=alphas, n_alphas=14, eps=1e-3)
        covered = [coverage(data.y[held], validate @ W.T + b) for W, b in zip(coefs, intercepts, strict=True)]
        best = int(np.argmin(covered))
        scores = final @ coefs[best].T + intercepts[best]
        return {
            "alpha": float(alphas[best]),
            "coverage": coverage(data.y[test], scores),
            "error": float(np.mean(scores.argmax(axis=1) != data.y[test])),
            "features": int(coefs[best].any(axis=0).sum()),
            "centers": len(data.centers),
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        for size in distinct(outcomes, "digits"):
            for penalty in PENALTIES:
                results = results_of(outcomes, digits=size, penalty=penalty)
                errors = (mean_std([one[key] for one in results]) for key in ("coverage", "error"))
                features = f"{np.mean([one['features'] for one in results]):.0f}"
                alpha = f"{np.median([one['alpha'] for one in results]):.1e}"
                rows.append([str(size), penalty, *errors, features, alpha])
        return rows


TITLE = "MNIST, kernels around the mistakes of a perceptron"
STUDIES = (
    KernelDigits("structural-sparsity-13", TITLE),
    # The paper's updates, and so few rounds at each alpha that no penalty is at its optimum.
    KernelDigits("structural-sparsity-13-gradboost", f"{TITLE}, gradboost", update="gradboost", rounds=100),
)
