"""Tables 1 to 3 of "Multi-Class Deep Boosting" (Kuznetsov, Mohri, Syed 2014), with the grids of section 4.

Four folds. Table 1 chooses by the validation fold. Tables 2 and 3 (appendix A) report "the average test error of the
best parameter tuples over all runs": here the one tuple of the lowest mean test error. The paper does not say what the
size of a tree counts (here: all nodes, as in "Deep Boosting"), nor how many rounds there are: only that 200 and 500
change little. Its tables have 7 to 24 trees, so that one study chooses the number of rounds too.

The text says that MDeepBoost outperforms the others on each data set; in Table 1 it does not on satimage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from papers.grid_tables import Column, GridTable

PENALTIES = tuple(float(f"1e-{i}") for i in range(13))
DEPTHS = tuple(range(1, 21))
TREES = {"family": "trees", "growth": "best_first"}


def _columns(objective: str, loss: str, plain: str) -> tuple[Column, ...]:
    """Plain algorithm (no penalty), its L1 version (lambda = 0), and MDeepBoost, over the ranges of section 4."""
    trees = {"objective": objective, "loss": loss} | TREES
    no_lambda, no_beta = {"complexity_penalty": 0.0}, {"l1_penalty": 0.0}
    depth: dict[str, Any] = {"max_depth": DEPTHS[:5]}
    coarse_depth: dict[str, Any] = {"max_depth": (2, 5)}
    beyond: dict[str, Any] = {"max_depth": DEPTHS}
    beta = {"l1_penalty": PENALTIES[5:11]}
    coarse_beta = {"l1_penalty": (1e-5, 1e-8)}
    beyond_beta = {"l1_penalty": PENALTIES}
    return (
        Column(plain, trees | no_lambda | no_beta, depth, coarse_depth, beyond),
        Column(f"{plain}-L1", trees | no_lambda, depth | beta, coarse_depth | coarse_beta, beyond | beyond_beta),
        Column(
            "MDeepBoost",
            trees,
            depth | beta | {"complexity_penalty": PENALTIES[5:11]},
            coarse_depth | coarse_beta | {"complexity_penalty": (1e-5, 1e-8)},
            beyond | beyond_beta | {"complexity_penalty": PENALTIES},
        ),
    )


def _objective(name: str, objective: str, loss: str) -> Column:
    """One objective over a small grid, the same for all, with deeper trees where they are better."""
    return Column(
        name,
        {"objective": objective, "loss": loss, "l1_penalty": 0.0} | TREES,
        {"max_depth": (2, 4, 6), "complexity_penalty": (0.0, 1e-5, 1e-3)},
        {"max_depth": (2, 6), "complexity_penalty": (0.0, 1e-3)},
        {"max_depth": (2, 4, 6, 8, 10, 12)},
    )


@dataclass(frozen=True)
class MultiClassTable(GridTable):
    """Four folds, each testing once."""

    published: ClassVar[str] = "multi-class-deep-boosting"
    runs = 4
    quick_runs = 2


ROUNDS = {"n_rounds": (5, 10, 20, 50, 100, 200, 500)}
SUM = _columns("sum", "exponential", "AdaBoost.MR")
SUM_ROUNDS = tuple(replace(one, grid={**one.grid, **ROUNDS}, coarse={**one.coarse, **ROUNDS}) for one in SUM)
COMPSUM = _columns("compsum", "logistic", "LogReg")
NAME = "multi-class-deep-boosting"

STUDIES = (
    MultiClassTable(f"{NAME}-1", "Sum with the exponential loss, chosen by validation", "1", SUM),
    MultiClassTable(f"{NAME}-2", "Sum with the exponential loss, best over all runs", "2", SUM, "hindsight"),
    MultiClassTable(f"{NAME}-2-rounds", "the same, best over numbers of rounds too", "2", SUM_ROUNDS, "hindsight"),
    MultiClassTable(f"{NAME}-3", "CompSum, best parameters over all runs", "3", COMPSUM, "hindsight"),
    # Section 4 says of its preliminary findings that Sum and CompSum do better than Max and MaxSum, without figures.
    MultiClassTable(
        f"{NAME}-objectives",
        "the four objectives side by side, chosen by validation",
        "1",
        (
            _objective("Sum", "sum", "exponential"),
            _objective("CompSum", "compsum", "logistic"),
            _objective("MaxSum", "maxsum", "exponential"),
            _objective("Max", "max", "exponential"),
        ),
        favorite="Sum",
    ),
)
