"""Table 3.1 of Storcheus's thesis (Cortes, Mohri and Storcheus, Regularized Gradient Boosting, NeurIPS 2019).

RGB and XGBoost run for 100 rounds; parameters are chosen by 5-fold cross-validation, and the error of the best ones is
reported with its standard deviation over the folds. The grid of XGBoost is the paper's, 7 norms x 7 depths x 5 learning
rates; those of the other libraries are their counterparts, as large. Of RGB the paper tunes its penalty beta alone,
over five values (section 3.5), with the complexity of the largest family at 1 and whole steps: the column "RGB". How
many families a round draws it does not say; here it is the default of the estimator. The other columns of RGB have
grids as large as those of the libraries: penalty, candidates and learning rate, so that their steps are mostly damped.

The paper does not say how the folds are made. `FOLDS` has what was tried: shuffled, in the order of the file (the
default of scikit-learn's GridSearchCV, which matters where a file is sorted), and shuffled with one fold to train and
four to test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from papers.spec import Choice, Figures, Grid
from radboost.estimators.rgb import RGBClassifier

ROUNDS = 100
PENALTIES = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)
DEPTHS = (1, 2, 3, 4, 5, 6, 7)
RATES = (0.001, 0.01, 0.1, 0.5, 1.0)
FEW_RATES = (0.1, 0.5)


@dataclass(frozen=True)
class Contender:
    """One column: what is fitted, and the grid that its parameters are chosen from."""

    name: str
    make: Callable[..., Any]
    grid: Grid
    coarse: Grid
    """The smaller grid of a quick run."""

    def configurations(self, *, quick: bool = False) -> list[Choice]:
        grid = self.coarse if quick else self.grid
        return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


@dataclass(frozen=True)
class ComparisonTable:
    """Contenders on the same folds, beside what the paper reports of some of them."""

    name: str
    title: str
    contenders: tuple[Contender, ...]
    figures: Mapping[str, Mapping[str, Figures]]
    """Data set -> contender -> the paper's error."""
    against: str
    """The contender that the others are tested against."""
    notes: tuple[str, ...] = ()
    folds: int = 5

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(self.figures)


BETAS = (0.001, 0.01, 0.1, 0.3, 1.0)
FOLDS = {
    "shuffled": "stratified, shuffled",
    "contiguous": "stratified, in the order of the file",
    "one-fifth": "stratified, shuffled; one trains and four test",
}


def _rgb(**parameters: Any) -> Any:
    return RGBClassifier.paper(ROUNDS, n_jobs=1, **parameters)


def _rgb_default(**parameters: Any) -> Any:
    return RGBClassifier(ROUNDS, n_jobs=1, **parameters)


def _rgb_line_search(**parameters: Any) -> Any:
    return RGBClassifier(ROUNDS, n_jobs=1, step="line_search", **parameters)


def _xgboost(**parameters: Any) -> Any:
    import xgboost

    return xgboost.XGBClassifier(n_estimators=ROUNDS, n_jobs=1, **parameters)


def _lightgbm(**parameters: Any) -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=ROUNDS, n_jobs=1, verbosity=-1, **parameters)


def _catboost(**parameters: Any) -> Any:
    import catboost

    return catboost.CatBoostClassifier(
        iterations=ROUNDS, thread_count=1, verbose=False, allow_writing_files=False, **parameters
    )


def _hist_gradient_boosting(**parameters: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False, **parameters)


_LEAVES = tuple(2**depth for depth in DEPTHS)
_RGB_GRID: Grid = {
    "complexity_penalty": (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    "n_candidates": (1, 2, 4, 7, 14, 28, 49),
    "learning_rate": (0.05, 0.1, 0.2, 0.5, 1.0),
}
_RGB_COARSE: Grid = {"complexity_penalty": (0.1, 1.0), "n_candidates": (7,), "learning_rate": (0.1, 0.2, 0.5)}


def _peer(name: str, make: Callable[..., Any], norm: str, size: str, sizes: tuple[int, ...], rate: str) -> Contender:
    few = (sizes[1], sizes[3], sizes[5])
    return Contender(
        name, make, {norm: PENALTIES, size: sizes, rate: RATES}, {norm: (1.0,), size: few, rate: FEW_RATES}
    )


CONTENDERS = (
    Contender("RGB", _rgb, {"complexity_penalty": BETAS}, {"complexity_penalty": BETAS}),
    Contender("RGB tuned", _rgb, _RGB_GRID, _RGB_COARSE),
    Contender("RGB default", _rgb_default, _RGB_GRID, _RGB_COARSE),
    Contender("RGB line search", _rgb_line_search, _RGB_GRID, _RGB_COARSE),
    _peer("XGBoost", _xgboost, "reg_lambda", "max_depth", DEPTHS, "learning_rate"),
    _peer("LightGBM", _lightgbm, "reg_lambda", "num_leaves", _LEAVES, "learning_rate"),
    _peer("CatBoost", _catboost, "l2_leaf_reg", "depth", DEPTHS, "learning_rate"),
    _peer("HistGradBoost", _hist_gradient_boosting, "l2_regularization", "max_leaf_nodes", _LEAVES, "learning_rate"),
)


def _figures(rgb: tuple[float, float], boosting: tuple[float, float]) -> dict[str, Figures]:
    """Percent, as printed, and XGBoost's as the paper's GB."""
    ours, theirs = (Figures(mean / 100, std / 100) for mean, std in (rgb, boosting))
    return {"RGB": ours, "RGB tuned": ours, "RGB default": ours, "RGB line search": ours, "XGBoost": theirs}


TABLES = (
    ComparisonTable(
        "rgb-3.1",
        "Regularized Gradient Boosting beside gradient boosting, 100 rounds",
        CONTENDERS,
        {
            "sonar": _figures((26.94, 2.10), (28.64, 2.13)),
            "breastcancer": _figures((5.19, 0.97), (6.14, 0.94)),
            "diabetes": _figures((28.86, 4.85), (28.39, 5.08)),
            "ocr17": _figures((0.90, 0.45), (1.35, 0.52)),
            "ocr49": _figures((3.10, 0.69), (3.50, 0.65)),
            "mnist17": _figures((0.43, 0.10), (0.55, 0.11)),
            "mnist49": _figures((1.53, 0.38), (1.66, 0.32)),
            "higgs_part": _figures((28.60, 0.41), (29.11, 0.37)),
        },
        against="XGBoost",
        notes=(
            "higgs_part: 35,298 of the 98,050 rows that the paper has; the registry has the others from OpenML only",
        ),
    ),
)
