"""Settings of tree growth, and constructors of the native growers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from radboost.engine import (
    AnswerWeighting,
    BinnedData,
    Collective,
    GradientWeighting,
    Grower,
    RegressionTrees,
    WeightedTrees,
    current,
)
from radboost.trees.options import TreeOptions


@dataclass(frozen=True)
class Constraints:
    """Constraints of trees on the columns of the data."""

    directions: tuple[int, ...] = ()  # -1, 0 or +1 for each column: values may only fall (-1) or rise (+1); empty: none
    groups: tuple[tuple[int, ...], ...] = ()  # the columns of a path must be in one of them; empty: any
    most_columns: int = 0  # of a path; 0: any number

    @property
    def native(self) -> dict[str, Any]:
        """Arguments of native growers."""
        directions = np.array(self.directions, dtype=np.int8)
        return {"directions": directions, "groups": self.groups, "most_columns": self.most_columns}


@dataclass(frozen=True)
class GrowthSettings:
    """Settings of growing for the families of a fit, resolved for its data."""

    max_depth: int = 6
    criterion: str = "gini"
    max_features: int = 0  # 0: all
    subsample: float = 1.0
    random_thresholds: bool = False
    seed: int = 0
    n_threads: int = 1
    options: TreeOptions = field(default_factory=TreeOptions)
    constraints: Constraints = field(default_factory=Constraints)

    @property
    def rated(self) -> bool:
        """True if leaves are real-valued instead of votes."""
        return self.options.leaves == "rated"

    @property
    def native(self) -> dict[str, Any]:
        """Arguments of all native growers."""
        return {
            "max_features": self.max_features,
            "random_thresholds": self.random_thresholds,
            "minimum_leaf_weight": self.options.least_leaf,
            "seed": self.seed,
            "n_threads": self.n_threads,
        }

    @property
    def randomised(self) -> bool:
        """True if two rounds on the same weights may propose different hypotheses."""
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
    """Native grower for boosting; it keeps its buffers between rounds."""
    return current().grower(
        data,
        weighting,
        growth=growth,
        criterion=criterion,
        max_depth=max_depth,
        max_leaves=settings.options.max_leaves or 0,
        subsample=settings.subsample,
        rated=settings.rated,
        **settings.native,
        **settings.constraints.native,
    )


def make_weighted_trees(
    data: BinnedData, n_classes: int, settings: GrowthSettings, collective: Collective | None = None
) -> WeightedTrees:
    """Native grower of classification trees on given classes and weights."""
    return current().weighted_trees(
        data,
        n_classes,
        growth=settings.options.growth,
        criterion=settings.criterion,
        max_depth=settings.max_depth,
        max_leaves=settings.options.max_leaves or 0,
        collective=collective,
        **settings.native,
    )


def make_gradient_grower(data: BinnedData, weighting: GradientWeighting, settings: GrowthSettings) -> RegressionTrees:
    """Native grower of regression trees on gradients."""
    return current().regression_trees(
        data, weighting, subsample=settings.subsample, **settings.native, **settings.constraints.native
    )
