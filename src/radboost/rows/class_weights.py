"""The parameter `class_weight`, as one weight for each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.rows.read import class_codes


def times_class_weight(class_weight: Any, y: npt.NDArray[Any], weights: FloatArray | None) -> FloatArray | None:
    """Sample weights times the weights of the classes, shape (n_rows,).

    "balanced" is m / (K m_c) for class c of K classes, where m and m_c are sums of sample weights, of all rows and of
    class c. A weight of w therefore equals w copies.
    """
    if class_weight is None:
        return weights
    given = np.ones(len(y)) if weights is None else weights
    learned = given > 0
    classes, class_ids = class_codes(y[learned])

    def totals() -> list[float]:
        return [math.fsum(given[learned][class_ids == c]) for c in range(len(classes))]

    result = given.copy()
    result[learned] *= weights_of_classes(class_weight, classes, totals)[class_ids]
    return result


def weights_of_classes(class_weight: Any, classes: npt.NDArray[Any], totals: Callable[[], list[float]]) -> FloatArray:
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
