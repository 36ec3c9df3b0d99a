"""The parameter `class_weight`, as one weight for each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray


def weights_of_classes(class_weight: Any, classes: npt.NDArray[Any], totals: Callable[[], FloatArray]) -> FloatArray:
    """Weight of each class, shape (n_classes,); `totals` returns the exactly summed sample weights of each class."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        found = totals()
        return np.array([math.fsum(found) / (len(classes) * total) for total in found])
    if isinstance(class_weight, Mapping):
        return _of_mapping(class_weight, classes.tolist())
    raise ValueError(f'class_weight must be a dict from labels to weights, "balanced" or None; got {class_weight!r}.')


def _of_mapping(class_weight: Mapping[Any, Any], classes: list[Any]) -> FloatArray:
    strangers = [label for label in class_weight if label not in classes]
    if strangers and any(label not in class_weight for label in classes):
        raise ValueError(
            f"class_weight has a weight for {strangers[0]!r}, and the labels in y are "
            f"{', '.join(map(repr, classes[:10]))}{', ...' if len(classes) > 10 else ''}. "
            "Labels without a weight count 1."
        )
    of_class = []
    for label in classes:
        weight = class_weight.get(label, 1.0)
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.integer | np.floating):
            raise TypeError(f"class_weight must hold numbers; got {weight!r} for the label {label!r}.")
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(f"class_weight must hold finite weights of at least 0; got {weight!r} for {label!r}.")
        of_class.append(float(weight))
    return np.array(of_class)
