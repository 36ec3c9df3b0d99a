"""The parameter `class_weight`, as one weight for each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import listed
from radboost._typing import FloatArray


def weights_of_classes(class_weight: Any, classes: npt.NDArray[Any], totals: Callable[[], FloatArray]) -> FloatArray:
    """Weight of each class, shape (n_classes,); `totals` returns the exactly summed sample weights of each class."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        found = totals()
        return math.fsum(found) / (len(classes) * found)
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f'class_weight must be a dict from labels to weights, "balanced" or None; got {class_weight!r}.'
        )
    labels = classes.tolist()
    strangers = [label for label in class_weight if label not in labels]
    if strangers and any(label not in class_weight for label in labels):
        raise ValueError(
            f"class_weight has a weight for {strangers[0]!r}, and the labels in y are "
            f"{listed(labels)}. Labels without a weight count 1."
        )
    for label in labels:
        weight = class_weight.get(label, 1.0)
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.integer | np.floating):
            raise TypeError(f"class_weight must hold numbers; got {weight!r} for the label {label!r}.")
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(f"class_weight must hold finite weights of at least 0; got {weight!r} for {label!r}.")
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])
