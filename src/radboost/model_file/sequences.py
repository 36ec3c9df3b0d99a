"""Model files of sequence classifiers: header and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from radboost.model_file.checks import read_array, read_integer, require
from radboost.model_file.container import AnyArray
from radboost.model_file.encoding import decode_labels, encode_labels
from radboost.model_file.sections import FIT, Content, history_arrays, restore_course, section


def describe(estimator: Any) -> Content:
    """Header and arrays of a fitted model."""
    observations = estimator._observations
    header = {
        "classes": encode_labels(estimator.classes_),
        "observations": None if observations.known is None else encode_labels(observations.known),
        "n_values": int(observations.n_values),
        "stop_reason": str(estimator.stop_reason_),
        "exact": bool(estimator.exact_),
    }
    arrays = {
        f"{FIT}weights": np.asarray(estimator._weights, dtype="<f8"),
        f"{FIT}objective_error": np.array([estimator.objective_error_]),
    }
    return header, arrays | history_arrays(estimator.history_)


def restore(model: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Put the content of a file into an unfitted model."""
    model.classes_ = decode_labels(header["classes"])
    known = None if header["observations"] is None else decode_labels(header["observations"])
    n_values = read_integer(header, "n_values", 1)
    require(known is None or len(known) == n_values, "the number of observed symbols is not the one that is noted")
    require(isinstance(header["exact"], bool), "whether losses were exact must be true or false")
    model.exact_ = header["exact"]
    restore_course(model, header, arrays, {"objective"})
    fit = section(FIT, arrays)
    model.objective_error_ = float(read_array(fit, "objective_error", "<f8", 1)[0])
    require("weights" in fit and fit["weights"].dtype == np.dtype("<f8"), "the weights are missing")
    model._take_fit(known, n_values, fit["weights"].copy())
