"""How trees are grown: the settings and the way to the native grower."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from radboost._validation import check_choice, check_integer, check_real
from radboost.engine import (
    AnswerWeighting,
    BinnedData,
    Collective,
    GradientWeighting,
    Grower,
    RegressionTrees,
    WeightedTrees,
)
from radboost.model_file import storable_value


@storable_value
@dataclass(frozen=True)
class TreeOptions:
    """Options of the trees that few people touch.

    Parameters
    ----------
    growth : {"layers", "best_first"}
        "layers" splits every leaf that has a useful split, one layer after the other, and each depth is a candidate
        (Deep Boosting, section 4). "best_first" splits the leaf with the largest gain next, and each size is one
        (Multi-Class Deep Boosting, section 4).
    max_leaves : int or None
        Where "best_first" ends, besides `max_depth`.
    min_leaf_weight : float
        The least sum of sample weights in a leaf.
    max_bins : int
        Bins per column, besides the one for missing values; 2 to 255.
    """

    growth: str = "layers"
    max_leaves: int | None = None
    min_leaf_weight: float = 0.0
    max_bins: int = 255

    def validate(self) -> None:
        check_choice("growth", self.growth, ["layers", "best_first"])
        check_real("min_leaf_weight", self.min_leaf_weight, low=0.0)
        check_integer("max_bins", self.max_bins, 2, 255)
        if self.max_leaves is not None:
            check_integer("max_leaves", self.max_leaves, 2)
            if self.growth == "layers":
                raise ValueError('max_leaves needs growth="best_first"; growth by layers ends at max_depth.')


@dataclass(frozen=True)
class GrowthSettings:
    """What a fit tells its families about growing, resolved for the data at hand."""

    max_depth: int = 6
    criterion: str = "gini"
    max_features: int = 0  # 0: all
    subsample: float = 1.0
    random_thresholds: bool = False
    seed: int = 0
    n_threads: int = 1
    options: TreeOptions = field(default_factory=TreeOptions)

    @property
    def randomised(self) -> bool:
        """Whether two rounds on the same weights may propose different hypotheses."""
        return self.random_thresholds or self.max_features > 0 or self.subsample < 1.0


def make_grower(
    data: BinnedData,
    weighting: AnswerWeighting,
    settings: GrowthSettings,
    *,
    growth: str,
    criterion: str,
    max_depth: int,
) -> Grower:
    """A native grower; it keeps its buffers from round to round."""
    return Grower(
        data,
        weighting,
        growth=growth,
        criterion=criterion,
        max_depth=max_depth,
        max_leaves=settings.options.max_leaves or 0,
        max_features=settings.max_features,
        subsample=settings.subsample,
        random_thresholds=settings.random_thresholds,
        minimum_leaf_weight=float(settings.options.min_leaf_weight),
        seed=settings.seed,
        n_threads=settings.n_threads,
    )


def make_weighted_trees(
    data: BinnedData, n_classes: int, settings: GrowthSettings, collective: Collective | None = None
) -> WeightedTrees:
    """The native grower of ordinary classification trees on rows, classes and weights that are handed in."""
    return WeightedTrees(
        data,
        n_classes,
        growth=settings.options.growth,
        criterion=settings.criterion,
        max_depth=settings.max_depth,
        max_leaves=settings.options.max_leaves or 0,
        max_features=settings.max_features,
        random_thresholds=settings.random_thresholds,
        minimum_leaf_weight=float(settings.options.min_leaf_weight),
        seed=settings.seed,
        n_threads=settings.n_threads,
        collective=collective,
    )


def make_gradient_grower(
    data: BinnedData, weighting: GradientWeighting, settings: GrowthSettings, directions: npt.NDArray[np.int8]
) -> RegressionTrees:
    """The native grower of regression trees; `directions` as in `RGBRegressor`, or empty."""
    return RegressionTrees(
        data,
        weighting,
        max_features=settings.max_features,
        subsample=settings.subsample,
        random_thresholds=settings.random_thresholds,
        minimum_leaf_weight=float(settings.options.min_leaf_weight),
        directions=directions,
        seed=settings.seed,
        n_threads=settings.n_threads,
    )
